package guard

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// kindsByMagic are the numbers of statfs(2) that matter here, as the kernel's headers have them.
func kindsByMagic() map[uint32]string {
	return map[uint32]string{
		0x6969: "nfs", 0x517b: "smb", 0xff534d42: "cifs", 0xfe534d42: "smb2", 0x01021997: "9p", 0x5346414f: "openafs", 0x6b414653: "afs",
		0x00c36400: "ceph", 0x0bd00bd0: "lustre", 0x73757245: "coda", 0x564c: "ncp", 0x786f4256: "vboxsf", 0x47504653: "gpfs", 0x19830326: "beegfs",
		fuseMagic: "fuse",
		0xef53:    "ext4", 0x9123683e: "btrfs", 0x58465342: "xfs", 0x01021994: "tmpfs", 0x794c7630: "overlay", 0x2fc12fc1: "zfs", 0xf2f52010: "f2fs",
	}
}

const fuseMagic = 0x65735546

func statVolume(dir string) (Volume, error) {
	var st unix.Statfs_t
	for {
		err := unix.Statfs(dir, &st)
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			return Volume{}, &os.PathError{Op: "statfs", Path: dir, Err: err}
		}
		break
	}
	v := Volume{Kind: kindsByMagic()[uint32(st.Type)], Free: counted(st.Bavail * uint64(max(st.Bsize, 1))), Inodes: -1}
	if st.Files > 0 { // some file systems have no bound, and say 0
		v.Inodes = counted(st.Ffree)
	}
	if v.Kind == "fuse" {
		v.Kind = fuseKind(dir)
	}
	v.Network = slices.Contains(networkKinds, v.Kind)
	return v, nil
}

// fuseKind asks which file system of user space a folder is on: the number of statfs(2) is the same
// for all of them.
func fuseKind(dir string) string {
	var st unix.Stat_t
	table, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil || unix.Stat(dir, &st) != nil {
		return "fuse"
	}
	return mountKind(string(table), fmt.Sprintf("%d:%d", unix.Major(st.Dev), unix.Minor(st.Dev)))
}

// mountKind finds a device in the kernel's table of mounts (proc_pid_mountinfo(5)):
// "36 35 98:0 / /mnt rw shared:1 - fuse.sshfs me@host: rw".
func mountKind(table, device string) string {
	for line := range strings.Lines(table) {
		before, after, _ := strings.Cut(line, " - ")
		f, kind := strings.Fields(before), strings.Fields(after)
		if len(f) > 2 && f[2] == device && len(kind) > 0 {
			return kind[0]
		}
	}
	return "fuse"
}
