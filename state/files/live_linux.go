package files

import (
	"bytes"
	"encoding/binary"
	"slices"
	"sync"
	"syscall"

	"golang.org/x/sys/unix" // inotify, read when asked and not when something comes
)

// live is what a handle that watches knows of the names in the queue and among the paused, so that a runner with very many
// tasks does not list them all at every wake.
//
// The kernel notes each change of a watched folder before the call that makes the change returns. Whoever holds the state
// lock and has read those notes knows the names as well as one who lists them. When notes were lost, a folder is not the
// one that is watched, or it has changed and no note says how, the names are listed and the watch is set anew.
type live struct {
	mu      sync.Mutex
	watches int // of this handle; without any, nothing is kept
	fd      int // 0: none
	folders [2]liveFolder
	tasks   []listed
	lent    bool // tasks is in somebody's hands and must not be written to
	listed  int  // how often the names were listed
}

// liveDirs are the folders that are kept, the first of taskDirs.
var liveDirs = taskDirs[:2]

// liveFolder is one of them.
type liveFolder struct {
	wd      int
	is      syscall.Stat_t
	index   *index // where in tasks a file is
	changed bool   // as was noted
}

// liveMask is what changes names.
const liveMask = unix.IN_CREATE | unix.IN_MOVED_TO | unix.IN_DELETE | unix.IN_MOVED_FROM | unix.IN_DELETE_SELF | unix.IN_MOVE_SELF |
	unix.IN_ONLYDIR | unix.IN_DONT_FOLLOW

// keep begins to keep the names, until the function it returns is called. Where other machines may change the folder
// nothing is kept: nobody notes what they do.
func (l *live) keep(s *Store) (stop func()) {
	if v, err := s.Volume(); err != nil || v.Network {
		return func() {}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.watches++
	return sync.OnceFunc(func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		if l.watches--; l.watches == 0 {
			l.forget()
		}
	})
}

// watching reports whether this handle watches, and names may be kept.
func (l *live) watching() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.watches > 0
}

// forget lists again the next time.
func (l *live) forget() {
	if l.fd != 0 {
		unix.Close(l.fd)
	}
	l.fd, l.tasks, l.lent, l.folders = 0, nil, false, [2]liveFolder{}
}

// known returns the names in the queue and among the paused, not to be written to; false when they are not kept. It needs
// the state lock, shared or exclusive.
func (l *live) known(s *Store) ([]listed, bool, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.watches == 0 {
		return nil, false, nil
	}
	if l.fd == 0 || !l.catchUp() || !l.same(s) {
		if ok, err := l.list(s); !ok || err != nil {
			l.forget()
			return nil, false, err
		}
	}
	l.lent = true
	return slices.Clip(l.tasks), true, nil
}

// list sets the watch, and then lists; false where no watch can be had.
func (l *live) list(s *Store) (bool, error) {
	l.forget()
	fd, err := unix.InotifyInit1(unix.IN_CLOEXEC | unix.IN_NONBLOCK)
	if err != nil {
		return false, nil
	}
	l.fd = fd
	l.listed++
	for i, dir := range liveDirs {
		f := &l.folders[i]
		if f.wd, err = unix.InotifyAddWatch(fd, s.path(dir), liveMask); err != nil {
			return false, nil
		}
		if syscall.Lstat(s.path(dir), &f.is) != nil {
			return false, nil
		}
		files, err := readNames(s.path(dir))
		if err != nil {
			return false, err
		}
		f.index = newIndex(len(files), func(i int) string { return l.tasks[i].file })
		l.tasks = slices.Grow(l.tasks, len(files))
		for _, file := range files {
			l.add(i, file)
		}
	}
	return true, nil
}

// same reports whether the folders are those that are watched, and have not changed but for what was noted.
func (l *live) same(s *Store) bool {
	for i, dir := range liveDirs {
		f := &l.folders[i]
		var now syscall.Stat_t
		if syscall.Lstat(s.path(dir), &now) != nil || now.Dev != f.is.Dev || now.Ino != f.is.Ino {
			return false
		}
		if now.Mtim != f.is.Mtim && !f.changed {
			return false
		}
		f.is, f.changed = now, false
	}
	return true
}

// catchUp takes in what was noted since; false when that is not all that happened.
func (l *live) catchUp() bool {
	var buf [16 << 10]byte
	for {
		n, err := unix.Read(l.fd, buf[:])
		if err == unix.EINTR {
			continue
		}
		if err == unix.EAGAIN {
			return true
		}
		if err != nil || n < unix.SizeofInotifyEvent {
			return false
		}
		for at := 0; at < n; {
			wd := int(int32(binary.NativeEndian.Uint32(buf[at:])))
			mask := binary.NativeEndian.Uint32(buf[at+4:])
			end := at + unix.SizeofInotifyEvent + int(binary.NativeEndian.Uint32(buf[at+12:]))
			file, _, _ := bytes.Cut(buf[at+unix.SizeofInotifyEvent:end], []byte{0})
			at = end
			i := slices.IndexFunc(l.folders[:], func(f liveFolder) bool { return f.wd == wd })
			switch {
			case i < 0, mask&(unix.IN_Q_OVERFLOW|unix.IN_IGNORED|unix.IN_UNMOUNT|unix.IN_DELETE_SELF|unix.IN_MOVE_SELF) != 0:
				return false
			case mask&(unix.IN_CREATE|unix.IN_MOVED_TO) != 0:
				l.add(i, string(file))
			case mask&(unix.IN_DELETE|unix.IN_MOVED_FROM) != 0:
				l.remove(i, string(file))
			}
			l.folders[i].changed = true
		}
	}
}

// own makes tasks writable.
func (l *live) own() {
	if l.lent {
		l.tasks = append(make([]listed, 0, len(l.tasks)+len(l.tasks)/8+16), l.tasks...)
		l.lent = false
	}
}

func (l *live) add(folder int, file string) {
	f := &l.folders[folder]
	_, ok := parseTask(taskDirs[folder], file)
	if !ok {
		return
	}
	if _, there := f.index.add(file, len(l.tasks)); there {
		return
	}
	l.own()
	l.tasks = append(l.tasks, listed{file, uint8(folder)})
}

// remove puts the last in the place of the one that is gone.
func (l *live) remove(folder int, file string) {
	f := &l.folders[folder]
	at, ok := f.index.find(file)
	if !ok {
		return
	}
	l.own()
	f.index.drop(file)
	end := len(l.tasks) - 1
	if last := l.tasks[end]; at != end {
		l.folders[last.dir].index.move(last.file, at)
		l.tasks[at] = last
	}
	l.tasks[end] = listed{}
	l.tasks = l.tasks[:end]
}
