//go:build unix

package plainfile

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"sync/atomic"
	"syscall"

	"golang.org/x/sys/unix"
)

// kept is whether a file that was made anew could be used by its owner, whatever the umask, so that no other has to be looked at for that.
var kept atomic.Bool

// open opens a plain file and looks at it. It asks the system for two things; for one where a file is made anew, which is plain.
func open(path string, flags int, mode os.FileMode) (fd int, is syscall.Stat_t, err error) {
	return openIn(nil, path, flags, mode)
}

// openIn is open of a file by its name in an open folder; nil: by its path.
func openIn(folder *os.File, name string, flags int, mode os.FileMode) (fd int, is syscall.Stat_t, err error) {
	from := unix.AT_FDCWD
	path := func() string { return name }
	if folder != nil {
		from = int(folder.Fd())
		path = func() string { return filepath.Join(folder.Name(), name) }
	}
	fail := func(doing string, err error) error { return &os.PathError{Op: doing, Path: path(), Err: err} }
	// A pipe would block without O_NONBLOCK; a plain file is the same with it.
	flags |= syscall.O_NOFOLLOW | syscall.O_NONBLOCK | syscall.O_NOCTTY | syscall.O_CLOEXEC
	fd, err = again(func() (int, error) { return unix.Openat(from, name, flags, uint32(mode.Perm())) })
	if err != nil {
		if err = fail("open", err); !errors.Is(err, os.ErrNotExist) {
			err = odd(path(), err)
		}
		return -1, is, err
	}
	anew := flags&os.O_CREATE != 0 && flags&os.O_EXCL != 0
	if anew && kept.Load() {
		return fd, is, nil
	}
	if _, err = again(func() (int, error) { return 0, syscall.Fstat(fd, &is) }); err != nil {
		err = fail("stat", err)
	} else if is.Mode&syscall.S_IFMT != syscall.S_IFREG {
		err = fail("open", ErrOdd)
	} else if own := uint32(mode.Perm()); flags&os.O_CREATE != 0 && is.Size == 0 && uint32(is.Mode)&own&0o700 != own&0o700 {
		err = syscall.Fchmod(fd, own) // the umask has taken what its owner needs
	} else if anew {
		kept.Store(own == 0o600)
	}
	if err != nil {
		syscall.Close(fd)
		return -1, is, err
	}
	return fd, is, nil
}

// OpenFile is os.OpenFile of a plain file, ErrOdd for anything else. It does not block, and follows
// no link. One that it makes can be read and written by its owner, as mode says, whatever the
// umask.
//
// The file is not offered to the poller, which takes no plain files: that is five of the six system
// calls that os makes.
func OpenFile(path string, flags int, mode os.FileMode) (*os.File, error) {
	fd, _, err := open(path, flags, mode)
	if err != nil {
		return nil, err
	}
	if _, err := unix.FcntlInt(uintptr(fd), unix.F_SETFL, flags&os.O_APPEND); err != nil { // without O_NONBLOCK; else os takes it for something to wait for, and children inherit it
		syscall.Close(fd)
		return nil, &os.PathError{Op: "open", Path: path, Err: err}
	}
	return os.NewFile(uintptr(fd), path), nil
}

// Folder opens a folder, or what a link leads to.
func Folder(path string) (*os.File, error) {
	fd, err := again(func() (int, error) {
		return syscall.Open(path, syscall.O_RDONLY|syscall.O_DIRECTORY|syscall.O_CLOEXEC, 0)
	})
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: path, Err: err}
	}
	return os.NewFile(uintptr(fd), path), nil
}

// SyncFolder waits until the disk has the names in a folder; ErrSync when it did not take them.
// Some file systems cannot and say so; there is nothing else to try then.
func SyncFolder(path string) error {
	d, err := Folder(path)
	if err != nil {
		return err
	}
	defer d.Close()
	if err := d.Sync(); !errors.Is(err, syscall.EINVAL) && !errors.Is(err, syscall.ENOTSUP) {
		return refused(err)
	}
	return nil
}

// SyncAll has the disks take everything that was written, whoever wrote it and wherever. It is for what cannot be opened.
func SyncAll() { unix.Sync() }

// Read reads a plain file that is not larger than limit. check, unless it is nil, is told first
// whose it is and who may do what with it.
func Read(path string, limit int64, check func(uid int, mode os.FileMode) error) ([]byte, error) {
	return ReadInto(nil, nil, path, limit, check)
}

// ReadInto is Read into the room there is, if it is enough, of a file by its name in an open folder; nil: by its path.
//
// It asks the system for four things, and os for ten: a list reads thousands of files, and the way to their folder is gone once.
func ReadInto(room []byte, folder *os.File, name string, limit int64, check func(uid int, mode os.FileMode) error) ([]byte, error) {
	fd, is, err := openIn(folder, name, os.O_RDONLY, 0)
	if err != nil {
		return nil, err
	}
	defer syscall.Close(fd)
	if check != nil {
		if err := check(int(is.Uid), os.FileMode(is.Mode&0o777)); err != nil {
			return nil, err
		}
	}
	data, err := readAll(room, is.Size, limit, func(into []byte) (int, error) {
		return again(func() (int, error) { return syscall.Read(fd, into) })
	})
	if err != nil && !errors.Is(err, ErrLarge) {
		err = &os.PathError{Op: "read", Path: name, Err: err}
	}
	return data, err
}

// Create makes a plain file that must not exist, and writes it. On error it is gone again.
func Create(path string, data []byte) error {
	fd, _, err := open(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	if err = write(fd, path, 0, data); err != nil {
		os.Remove(path)
	}
	return err
}

// Write puts data into a file from an offset on. The caller has looked at the file, and found a plain one or none; it is made if need be.
func Write(path string, at int64, data []byte) error {
	fd, err := again(func() (int, error) {
		return syscall.Open(path, os.O_WRONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK|syscall.O_NOCTTY|syscall.O_CLOEXEC, 0)
	})
	if errors.Is(err, os.ErrNotExist) {
		if fd, _, err = open(path, os.O_WRONLY|os.O_CREATE, 0o600); err != nil {
			return err
		}
	}
	if err != nil {
		return odd(path, &os.PathError{Op: "open", Path: path, Err: err})
	}
	return write(fd, path, at, data)
}

// Patch puts data at the beginning of a plain file, which must be there.
func Patch(path string, data []byte) error {
	fd, _, err := open(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	return write(fd, path, 0, data)
}

// write puts data into an open file from an offset on, and closes it.
func write(fd int, path string, at int64, data []byte) (err error) {
	for err == nil && len(data) > 0 {
		var n int
		n, err = again(func() (int, error) { return syscall.Pwrite(fd, data, at) })
		data, at = data[max(n, 0):], at+int64(max(n, 0))
	}
	if bad := syscall.Close(fd); err == nil {
		err = bad
	}
	if err != nil {
		return &os.PathError{Op: "write", Path: path, Err: err}
	}
	return nil
}

// again repeats a call that a signal has interrupted.
func again(call func() (int, error)) (n int, err error) {
	for {
		if n, err = call(); !errors.Is(err, syscall.EINTR) {
			return n, err
		}
	}
}

// Handle is a plain file that is open, for who asks the system for as little as possible: os.File
// asks three times more to begin with.
type Handle struct {
	fd   int
	path string
	size int64
}

// OpenHandle opens a plain file to be read and, if asked, to be written.
func OpenHandle(path string, write bool) (*Handle, error) {
	flags := os.O_RDONLY
	if write {
		flags = os.O_RDWR
	}
	fd, is, err := open(path, flags, 0)
	if err != nil {
		return nil, err
	}
	return &Handle{fd, path, is.Size}, nil
}

// Name is the path that the file was opened by.
func (h *Handle) Name() string { return h.path }

// Size is how large the file was when it was opened.
func (h *Handle) Size() int64 { return h.size }

// ReadAt is that of io.ReaderAt.
func (h *Handle) ReadAt(into []byte, at int64) (done int, err error) {
	for done < len(into) {
		n, err := again(func() (int, error) { return syscall.Pread(h.fd, into[done:], at+int64(done)) })
		if err != nil {
			return done, &os.PathError{Op: "read", Path: h.path, Err: err}
		}
		if n == 0 {
			return done, io.EOF
		}
		done += n
	}
	return done, nil
}

// WriteAt is that of io.WriterAt.
func (h *Handle) WriteAt(data []byte, at int64) (done int, err error) {
	for done < len(data) {
		n, err := again(func() (int, error) { return syscall.Pwrite(h.fd, data[done:], at+int64(done)) })
		if err != nil {
			return done, &os.PathError{Op: "write", Path: h.path, Err: err}
		}
		done += n
	}
	return done, nil
}

// Truncate makes the file size bytes long.
func (h *Handle) Truncate(size int64) error {
	_, err := again(func() (int, error) { return 0, syscall.Ftruncate(h.fd, size) })
	return err
}

// Sync waits until the disk has what was written, and what is needed to read it again. ErrSync when
// it did not take it.
func (h *Handle) Sync() error {
	_, err := again(func() (int, error) { return 0, syncData(h.fd) })
	return refused(err)
}

// Same reports whether two handles are of the same file.
func (h *Handle) Same(other *Handle) bool {
	var a, b syscall.Stat_t
	return syscall.Fstat(h.fd, &a) == nil && syscall.Fstat(other.fd, &b) == nil && a.Dev == b.Dev && a.Ino == b.Ino
}

// Close closes the file.
func (h *Handle) Close() error { return syscall.Close(h.fd) }

// Rename is os.Rename, which looks first whether the new name is a folder's.
func Rename(from, to string) error {
	if _, err := again(func() (int, error) { return 0, syscall.Rename(from, to) }); err != nil {
		return &os.LinkError{Op: "rename", Old: from, New: to, Err: err}
	}
	return nil
}
