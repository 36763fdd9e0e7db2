package proc

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/sys/unix"
)

// A risky mount point is that of a file system that may never answer, so that a system call below
// it may never return.

// reliable names the types of file systems that answer as long as the machine works. Any other may
// be on another machine, or in a process that hangs: nfs, cifs, fuse, 9p, autofs and unknown ones.
// A start below such a mount point takes a few milliseconds more.
const reliable = `
		aufs bcachefs binfmt_misc bpf btrfs cgroup cgroup2 configfs cramfs debugfs devpts devtmpfs ecryptfs
		efivarfs erofs exfat ext2 ext3 ext4 f2fs fusectl hfs hfsplus hugetlbfs iso9660 jffs2 jfs minix mqueue
		msdos nilfs2 nsfs ntfs3 overlay overlayfs proc pstore ramfs reiserfs romfs rootfs rpc_pipefs
		securityfs selinuxfs squashfs sysfs tmpfs tracefs ubifs udf vfat xfs zfs`

// mounts are the risky mount points. They come from the kernel's table, which can be read without
// asking any file system. The table is read again after a change.
type mounts struct {
	mu    sync.Mutex
	table int // the descriptor of the table; 0 if it is not open yet
	risky map[string]bool

	safe recent // the searches (Spec.searchKey) that met no risky mount point
}

var ownMounts mounts

// current returns the risky mount points of this process. It returns none if the kernel does not
// tell.
func (m *mounts) current() map[string]bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.table == 0 {
		table, err := retryInterrupted(func() (int, error) { return unix.Open("/proc/self/mountinfo", unix.O_RDONLY|unix.O_CLOEXEC, 0) })
		if err != nil {
			return nil
		}
		m.table = table
	} else if n, err := unix.Poll([]unix.PollFd{{Fd: int32(m.table), Events: unix.POLLPRI}}, 0); n == 0 && err == nil {
		return m.risky
	}
	if text, err := readAll(m.table); err == nil {
		m.risky = riskyMounts(text)
		m.safe.clear()
	}
	return m.risky
}

// readAll reads a file of the kernel from its beginning.
func readAll(fd int) (string, error) {
	text := make([]byte, 0, 8<<10)
	for {
		n, err := retryInterrupted(func() (int, error) { return unix.Pread(fd, text[len(text):cap(text)], int64(len(text))) })
		switch {
		case err != nil:
			return "", err
		case n == 0:
			return string(text), nil
		}
		text = slices.Grow(text[:len(text)+n], 4<<10)
	}
}

// riskyMounts finds the risky mount points in the kernel's table (proc_pid_mountinfo(5)). A line is
// "36 35 98:0 / /mnt rw shared:1 - fuse.sshfs me@host: rw". The root does not count: if it does not
// answer, nothing works.
func riskyMounts(table string) map[string]bool {
	risky, safe := map[string]bool{}, strings.Fields(reliable)
	for line := range strings.Lines(table) {
		before, after, _ := strings.Cut(line, " - ")
		f, kind := strings.Fields(before), strings.Fields(after)
		if len(f) < 5 || len(kind) == 0 || slices.Contains(safe, kind[0]) || f[4] == "/" {
			continue
		}
		risky[unescaped(f[4])] = true
	}
	return risky
}

// unescaped decodes a path of the kernel's table, in which "\040" is a space.
func unescaped(path string) string {
	if !strings.Contains(path, `\`) {
		return path
	}
	var text strings.Builder
	for i := 0; i < len(path); i++ {
		if path[i] == '\\' && i+4 <= len(path) {
			if c, err := strconv.ParseUint(path[i+1:i+4], 8, 8); err == nil {
				text.WriteByte(byte(c))
				i += 3
				continue
			}
		}
		text.WriteByte(path[i])
	}
	return text.String()
}

// maxLinks is how many links of a path the kernel follows.
const maxLinks = 40

// pathChecker looks for risky mount points on the way to several paths. It checks each folder once.
type pathChecker struct {
	risky map[string]bool // see mounts
	plain map[string]bool // paths that are neither links nor risky mount points
}

func newPathChecker() *pathChecker { return &pathChecker{ownMounts.current(), map[string]bool{}} }

// riskyMount returns the first risky mount point on the way to an absolute path, or the empty
// string. It follows names and links like the kernel, and stops before it would ask the file system
// there. The error concerns a name that cannot be looked up; the start itself reports it.
func (c *pathChecker) riskyMount(path string) (mount string, err error) {
	if len(c.risky) == 0 {
		return "", nil
	}
	here, rest := "/", path
	for links := 0; rest != ""; {
		var name string
		name, rest, _ = strings.Cut(strings.TrimLeft(rest, "/"), "/")
		switch name {
		case "", ".":
			continue
		case "..":
			here = filepath.Dir(here)
			continue
		}
		next := filepath.Join(here, name)
		if c.risky[next] {
			return next, nil
		}
		if c.plain[next] {
			here = next
			continue
		}
		info, err := os.Lstat(next)
		if err != nil {
			return "", err
		}
		if info.Mode()&os.ModeSymlink == 0 {
			c.plain[next] = true
			here = next
			continue
		}
		target, err := os.Readlink(next)
		if links++; err != nil || links > maxLinks {
			return "", err
		}
		if filepath.IsAbs(target) {
			here = "/"
		}
		rest = target + "/" + rest
	}
	return "", nil
}

// riskyMount returns the first risky mount point on the way to the files at which the start of the
// program would look, or the empty string. For a program in the foreground it is empty, because
// only the caller waits for such a start, and for a detached one, which is this very program.
func (s Spec) riskyMount() string {
	if s.Foreground || s.detached || len(s.Argv) == 0 || s.Argv[0] == "" {
		return ""
	}
	c := newPathChecker()
	if len(c.risky) == 0 {
		return ""
	}
	if _, safe := ownMounts.safe.get(s.searchKey()); safe {
		return ""
	}
	mount := s.searchRisky(c)
	if mount == "" {
		ownMounts.safe.put(s.searchKey(), "")
	}
	return mount
}

// searchRisky does the search of riskyMount.
func (s Spec) searchRisky(c *pathChecker) string {
	if s.Dir != "" {
		if mount, _ := c.riskyMount(s.Dir); mount != "" {
			return mount
		}
	}
	for _, file := range candidates(s.Argv[0], pathOf(s.Env), s.Dir) {
		mount, err := c.riskyMount(file)
		if mount != "" {
			return mount
		}
		if err != nil { // the file does not exist
			continue
		}
		if _, err := program(file); err == nil {
			mount, _ := c.riskyMount(interpreterOf(file))
			return mount
		}
	}
	return ""
}

// MayHang reports whether the start of the program, or a look at its folder, may never end because
// a file system on the way may not answer. It asks no such file system.
func (s Spec) MayHang() bool { return s.riskyMount() != "" }
