package health

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"

	"golang.org/x/sys/unix"
)

// maxLinks is how many symbolic links the kernel follows in a path.
const maxLinks = 40

// folders rings a bell when a path may lead elsewhere than before, or what it leads to has changed. It watches the nearest
// folder that exists, and the folder of every symbolic link on the way.
type folders struct {
	paths []string // absolute
	deep  bool     // what is in a file or a folder matters, and when it changed; else only whether it is there
	bell  chan struct{}
	hub   *hub // nil: nothing is watched
}

// hub is one inotify instance.
type hub struct {
	events *os.File
	seen   map[string]os.FileInfo // the folders watched, as they were just before
	names  map[string][]string    // what matters, by folder
	wanted map[int][]string       // the same, by watch
	lost   atomic.Bool            // a folder has gone, or events have: it is to be made anew
}

const (
	// renames are the events that bring and take names; rewrites those of what is behind a name.
	renames  = unix.IN_CREATE | unix.IN_DELETE | unix.IN_MOVED_FROM | unix.IN_MOVED_TO | unix.IN_DELETE_SELF | unix.IN_MOVE_SELF
	rewrites = unix.IN_MODIFY | unix.IN_ATTRIB
	// losses are those after which not every change is told any more.
	losses = unix.IN_DELETE_SELF | unix.IN_MOVE_SELF | unix.IN_UNMOUNT | unix.IN_IGNORED | unix.IN_Q_OVERFLOW
)

// newFolders watches nothing yet; nil when the paths have no place.
func newFolders(paths []string, deep bool) *folders {
	f := &folders{deep: deep, bell: make(chan struct{}, 1)}
	for _, path := range paths {
		if !filepath.IsAbs(path) {
			here, err := os.Getwd()
			if err != nil {
				return nil
			}
			path = here + "/" + path // not cleaned: ".." behind a link leads elsewhere than it looks
		}
		f.paths = append(f.paths, path)
	}
	return f
}

// arm sees to it that the bell rings for every change from now on, and reports whether it does. Whoever looks at the path
// afterwards misses nothing.
func (f *folders) arm() bool {
	if f == nil {
		return false
	}
	// What was found may have changed before it was watched: it is good when it is found again.
	for range 10 {
		names, ok := f.trace()
		if !ok {
			break
		}
		if f.hub.covers(names) {
			return true
		}
		if !f.place(names) {
			break
		}
	}
	f.close()
	return false
}

// close ends the watching. It may be armed again.
func (f *folders) close() {
	if f != nil && f.hub != nil {
		f.hub.events.Close()
		f.hub = nil
	}
}

// covers reports whether names, and nothing else, are watched, in the folders that are at their places now.
func (h *hub) covers(names map[string][]string) bool {
	if h == nil || h.lost.Load() || len(h.names) != len(names) {
		return false
	}
	for dir, wanted := range names {
		now, err := os.Stat(dir)
		if err != nil || h.seen[dir] == nil || !os.SameFile(now, h.seen[dir]) || !slices.Equal(h.names[dir], wanted) {
			return false
		}
	}
	return true
}

// place watches what is named, and only that.
func (f *folders) place(names map[string][]string) bool {
	f.close()
	for dir := range names {
		if !tells(dir) {
			return false
		}
	}
	fd, err := unix.InotifyInit1(unix.IN_CLOEXEC | unix.IN_NONBLOCK)
	if err != nil {
		return false
	}
	h := &hub{events: os.NewFile(uintptr(fd), "inotify"), names: names}
	h.seen, h.wanted = make(map[string]os.FileInfo), make(map[int][]string)
	f.hub = h
	mask := uint32(renames)
	if f.deep {
		mask |= rewrites
	}
	for dir := range names {
		seen, err := os.Stat(dir)
		if err != nil {
			h.lost.Store(true) // to be traced anew
			continue
		}
		wd, err := unix.InotifyAddWatch(fd, dir, mask)
		if err != nil {
			return false
		}
		h.seen[dir] = seen
		h.wanted[wd] = append(h.wanted[wd], names[dir]...) // a folder that has two names, by a bind mount, has one watch
	}
	go h.listen(f.bell)
	return true
}

// listen rings the bell until the instance is closed.
func (h *hub) listen(bell chan<- struct{}) {
	buf := make([]byte, 16<<10)
	for {
		n, err := h.events.Read(buf)
		if err != nil {
			return
		}
		if !h.matters(buf[:n]) {
			continue
		}
		select {
		case bell <- struct{}{}:
		default:
		}
	}
}

// matters reports whether an event is of a name that is waited for, or of a folder that is watched.
func (h *hub) matters(events []byte) (does bool) {
	for len(events) > 0 {
		wd := int(int32(binary.NativeEndian.Uint32(events)))
		mask := binary.NativeEndian.Uint32(events[4:])
		end := unix.SizeofInotifyEvent + int(binary.NativeEndian.Uint32(events[12:]))
		name, _, _ := bytes.Cut(events[unix.SizeofInotifyEvent:end], []byte{0})
		events = events[end:]
		wanted := h.wanted[wd]
		switch {
		case mask&losses != 0:
			h.lost.Store(true)
			does = true
		case len(name) > 0 && (slices.Contains(wanted, string(name)) || slices.Contains(wanted, anyName)):
			does = true
		}
	}
	return does
}

// anyName stands for every name in a folder.
const anyName = "*/"

// trace finds the folders to watch, and the names in them.
func (f *folders) trace() (map[string][]string, bool) {
	names := make(map[string][]string)
	for _, path := range f.paths {
		if !f.follow(path, names) {
			return nil, false
		}
	}
	for dir := range names {
		slices.Sort(names[dir])
		names[dir] = slices.Compact(names[dir])
	}
	return names, true
}

// follow goes along a path as the kernel does, as far as it leads.
func (f *folders) follow(path string, names map[string][]string) bool {
	dir, links := "/", 0
	rest := strings.Split(path, "/")
	for len(rest) > 0 {
		name := rest[0]
		rest = rest[1:]
		switch name {
		case "", ".":
			continue
		case "..":
			dir = filepath.Dir(dir) // no link leads here
			continue
		}
		whole := filepath.Join(dir, name)
		info, err := os.Lstat(whole)
		switch {
		case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
			names[dir] = append(names[dir], name)
			return true
		case err != nil:
			return false
		case info.Mode()&fs.ModeSymlink != 0:
			names[dir] = append(names[dir], name)
			to, err := os.Readlink(whole)
			if links++; err != nil || links > maxLinks {
				return false
			}
			if filepath.IsAbs(to) {
				dir = "/"
			}
			rest = append(strings.Split(to, "/"), rest...)
		case info.IsDir() && len(rest) > 0:
			dir = whole
		default:
			names[dir] = append(names[dir], name)
			if info.IsDir() && f.deep {
				names[whole] = append(names[whole], anyName)
			}
			return true // of a file with something behind it there is no more to follow
		}
	}
	if dir == "/" {
		return false
	}
	names[filepath.Dir(dir)] = append(names[filepath.Dir(dir)], filepath.Base(dir))
	if f.deep {
		names[dir] = append(names[dir], anyName)
	}
	return true
}

// tells reports whether a folder is on a file system that tells of every change, which those of other machines, of
// programs and of the kernel itself do not.
func tells(dir string) bool {
	var s unix.Statfs_t
	if err := unix.Statfs(dir, &s); err != nil {
		return errors.Is(err, fs.ErrNotExist) // to be traced anew
	}
	switch uint32(s.Type) {
	case unix.EXT4_SUPER_MAGIC, unix.XFS_SUPER_MAGIC, unix.BTRFS_SUPER_MAGIC, unix.F2FS_SUPER_MAGIC, unix.TMPFS_MAGIC,
		unix.RAMFS_MAGIC, unix.OVERLAYFS_SUPER_MAGIC, unix.MSDOS_SUPER_MAGIC, unix.EXFAT_SUPER_MAGIC, unix.SQUASHFS_MAGIC,
		zfs, bcachefs:
		return true
	}
	return false
}

// Of file systems that the kernel's headers do not list.
const (
	zfs      = 0x2fc12fc1
	bcachefs = 0xca451a4e
)
