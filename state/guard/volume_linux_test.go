package guard

import (
	"slices"
	"testing"
)

// TestNetworkKinds: those of statfs(2) and of the table of mounts.
func TestNetworkKinds(t *testing.T) {
	for magic, network := range map[uint32]bool{0x6969: true, 0xff534d42: true, 0xfe534d42: true, 0x517b: true, 0x01021997: true,
		0x5346414f: true, 0x6b414653: true, 0x00c36400: true, 0xef53: false, 0x01021994: false, 0x9123683e: false} {
		if kind := kindsByMagic()[magic]; kind == "" || slices.Contains(networkKinds, kind) != network {
			t.Errorf("%#x is %q, network %v", magic, kind, slices.Contains(networkKinds, kind))
		}
	}
	table := "22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw\n" +
		"90 22 0:57 / /mnt/far rw,nosuid shared:9 - fuse.sshfs me@far:/x rw,user_id=0\n" +
		"91 22 0:58 / /mnt/ntfs rw - fuseblk /dev/sdb1 rw\n"
	for device, want := range map[string]string{"0:57": "fuse.sshfs", "0:58": "fuseblk", "0:5": "fuse"} {
		if got := mountKind(table, device); got != want {
			t.Errorf("%s is %q, want %q", device, got, want)
		}
	}
	if !slices.Contains(networkKinds, "fuse.sshfs") || slices.Contains(networkKinds, "fuseblk") {
		t.Error("which of user space are of the network")
	}
	v, err := statVolume(t.TempDir())
	if err != nil || v.Free <= 0 {
		t.Errorf("here: %+v %v", v, err)
	}
}
