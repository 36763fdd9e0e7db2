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

// answering names the file systems that answer as long as the machine works. Any other may be on
// another machine, or in a process that hangs: nfs, cifs, fuse, 9p, autofs and unknown ones. That
// only costs a start a few milliseconds.
const answering = `
		aufs bcachefs binfmt_misc bpf btrfs cgroup cgroup2 configfs cramfs debugfs devpts devtmpfs ecryptfs efivarfs erofs exfat ext2 ext3 ext4 f2fs
		fusectl hfs hfsplus hugetlbfs iso9660 jffs2 jfs minix mqueue msdos nilfs2 nsfs ntfs3 overlay overlayfs proc pstore ramfs reiserfs romfs rootfs
		rpc_pipefs securityfs selinuxfs squashfs sysfs tmpfs tracefs ubifs udf vfat xfs zfs`

// mounts are the mount points below which a system call may never return. They come from the
// kernel's table, which can be read without asking any file system. The table is read again after a
// change.
type mounts struct {
	mu     sync.Mutex
	table  int // its descriptor; 0: not opened yet
	points map[string]bool

	free recent // the paths on which no such point was found
}

// theMounts are those of this process.
var theMounts mounts

// current returns the mount points at this moment. It returns none if the kernel does not tell.
func (m *mounts) current() map[string]bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.table == 0 {
		table, err := again(func() (int, error) { return unix.Open("/proc/self/mountinfo", unix.O_RDONLY|unix.O_CLOEXEC, 0) })
		if err != nil {
			return nil
		}
		m.table = table
	} else if n, err := unix.Poll([]unix.PollFd{{Fd: int32(m.table), Events: unix.POLLPRI}}, 0); n == 0 && err == nil {
		return m.points
	}
	if text, err := readAll(m.table); err == nil {
		m.points = silentPoints(text)
		m.free.forget()
	}
	return m.points
}

// readAll reads a file of the kernel from its beginning.
func readAll(fd int) (string, error) {
	text := make([]byte, 0, 8<<10)
	for {
		n, err := again(func() (int, error) { return unix.Pread(fd, text[len(text):cap(text)], int64(len(text))) })
		switch {
		case err != nil:
			return "", err
		case n == 0:
			return string(text), nil
		}
		text = slices.Grow(text[:len(text)+n], 4<<10)
	}
}

// silentPoints finds them in the kernel's table (proc_pid_mountinfo(5)): "36 35 98:0 / /mnt rw
// shared:1 - fuse.sshfs me@host: rw". If the root itself does not answer, nothing does.
func silentPoints(table string) map[string]bool {
	points, answer := map[string]bool{}, strings.Fields(answering)
	for line := range strings.Lines(table) {
		before, after, _ := strings.Cut(line, " - ")
		f, kind := strings.Fields(before), strings.Fields(after)
		if len(f) < 5 || len(kind) == 0 || slices.Contains(answer, kind[0]) || f[4] == "/" {
			continue
		}
		points[unescaped(f[4])] = true
	}
	return points
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

// linksMost is how many links of a path are followed, as by the kernel.
const linksMost = 40

// ways checks what is on the way to several paths. They share folders, and each folder is checked
// once.
type ways struct {
	points map[string]bool // see mounts
	passed map[string]bool // names that are neither links nor such points
}

func newWays() *ways { return &ways{theMounts.current(), map[string]bool{}} }

// silentPoint returns the mount point of a file system that may not answer on the way to an
// absolute path, or empty. It goes from name to name like the kernel, and stops before it would
// have to ask that file system. The error concerns a name that cannot be looked up; the start
// itself reports it.
func (w *ways) silentPoint(path string) (point string, err error) {
	if everywhere != "" {
		return everywhere, nil
	}
	if len(w.points) == 0 {
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
		if w.points[next] {
			return next, nil
		}
		if w.passed[next] {
			here = next
			continue
		}
		info, err := os.Lstat(next)
		if err != nil {
			return "", err
		}
		if info.Mode()&os.ModeSymlink == 0 {
			w.passed[next] = true
			here = next
			continue
		}
		target, err := os.Readlink(next)
		if links++; err != nil || links > linksMost {
			return "", err
		}
		if filepath.IsAbs(target) {
			here = "/"
		}
		rest = target + "/" + rest
	}
	return "", nil
}

// silentPoint returns such a mount point on the way to what the start of the program would look at,
// or empty. It is empty for a program in the foreground, because only its caller waits for it.
// program is where the program is, if that was found.
func (s Spec) silentPoint() (point, program string) {
	if s.Foreground || len(s.Argv) == 0 || s.Argv[0] == "" {
		return "", ""
	}
	w := newWays()
	if len(w.points) == 0 && everywhere == "" {
		return "", ""
	}
	way := strings.Join([]string{s.Argv[0], s.Dir, pathOf(s.Env)}, "\x00")
	if _, free := theMounts.free.answer(way); free && everywhere == "" {
		return "", ""
	}
	if point, program = s.pointOnTheWay(w); point == "" {
		theMounts.free.note(way, "")
	}
	return point, program
}

// pointOnTheWay is silentPoint for a named program.
func (s Spec) pointOnTheWay(w *ways) (point, path string) {
	if s.Dir != "" {
		if p, _ := w.silentPoint(s.Dir); p != "" {
			return p, ""
		}
	}
	for _, file := range candidates(s.Argv[0], pathOf(s.Env), s.Dir) {
		p, err := w.silentPoint(file)
		if p != "" {
			return p, ""
		}
		if err != nil { // it is not there
			continue
		}
		if _, err := program(file); err == nil {
			p, _ := w.silentPoint(interpreterOf(file))
			return p, file
		}
	}
	return "", ""
}

// everywhere, unless it is empty, is a point that counts as being on every way. Tests set it.
var everywhere string

// MayHang reports whether the start of the program, or a look at its folder, may never end because
// a file system on the way may not answer. It asks no such file system.
func (s Spec) MayHang() bool {
	point, _ := s.silentPoint()
	return point != ""
}

// Look is LookPath of the program, unless that may hang: then it looks for nothing.
func (s Spec) Look() (path string, hangs bool, err error) {
	point, path := s.silentPoint()
	if point == "" && path == "" {
		path, err = LookPath(s.Argv[0], pathOf(s.Env), s.Dir)
	}
	return path, point != "", err
}
