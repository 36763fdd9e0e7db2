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

// umaskSpares says that the umask leaves the owner's rights: a new file had them. So later new
// files need not be examined.
var umaskSpares atomic.Bool

// open opens a plain file and returns what it is. It takes two system calls, or one for a new file
// if umaskSpares is set. In that case, the Stat_t is zero.
func open(path string, flags int, mode os.FileMode) (fd int, is syscall.Stat_t, err error) {
	return openIn(nil, path, flags, mode)
}

// openIn is open of the file with a name in an open folder. If folder is nil, name is a path.
func openIn(folder *os.File, name string, flags int, mode os.FileMode) (fd int, is syscall.Stat_t, err error) {
	from := unix.AT_FDCWD
	path := func() string { return name }
	if folder != nil {
		from = int(folder.Fd())
		path = func() string { return filepath.Join(folder.Name(), name) }
	}
	fail := func(doing string, err error) error { return &os.PathError{Op: doing, Path: path(), Err: err} }
	// Without O_NONBLOCK, opening a pipe would block. It does not matter for a plain file.
	flags |= syscall.O_NOFOLLOW | syscall.O_NONBLOCK | syscall.O_NOCTTY | syscall.O_CLOEXEC
	fd, err = retryInterrupted(func() (int, error) { return unix.Openat(from, name, flags, uint32(mode.Perm())) })
	if err != nil {
		if err = fail("open", err); !errors.Is(err, os.ErrNotExist) {
			err = orOdd(path(), err)
		}
		return -1, is, err
	}
	anew := flags&os.O_CREATE != 0 && flags&os.O_EXCL != 0
	if anew && umaskSpares.Load() {
		return fd, is, nil
	}
	if _, err = retryInterrupted(func() (int, error) { return 0, syscall.Fstat(fd, &is) }); err != nil {
		err = fail("stat", err)
	} else if is.Mode&syscall.S_IFMT != syscall.S_IFREG {
		err = fail("open", ErrOdd)
	} else if own := uint32(mode.Perm()); flags&os.O_CREATE != 0 && is.Size == 0 && uint32(is.Mode)&own&0o700 != own&0o700 {
		err = syscall.Fchmod(fd, own) // the umask has removed rights of the owner
	} else if anew {
		umaskSpares.Store(own == 0o600)
	}
	if err != nil {
		syscall.Close(fd)
		return -1, is, err
	}
	return fd, is, nil
}

// OpenFile is os.OpenFile of a plain file, and returns ErrOdd for anything else. It does not block
// and follows no link. The owner of a new file has the rights of mode, whatever the umask.
//
// It does not register the file with the poller, which takes no plain files. That saves five of the
// six system calls of os.OpenFile.
func OpenFile(path string, flags int, mode os.FileMode) (*os.File, error) {
	fd, _, err := open(path, flags, mode)
	if err != nil {
		return nil, err
	}
	// This removes O_NONBLOCK, with which os would wait for the file in the poller. Children would
	// inherit it, too.
	if _, err := unix.FcntlInt(uintptr(fd), unix.F_SETFL, flags&os.O_APPEND); err != nil {
		syscall.Close(fd)
		return nil, &os.PathError{Op: "open", Path: path, Err: err}
	}
	return os.NewFile(uintptr(fd), path), nil
}

// Folder opens a folder. It follows links.
func Folder(path string) (*os.File, error) {
	fd, err := retryInterrupted(func() (int, error) {
		return syscall.Open(path, syscall.O_RDONLY|syscall.O_DIRECTORY|syscall.O_CLOEXEC, 0)
	})
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: path, Err: err}
	}
	return os.NewFile(uintptr(fd), path), nil
}

// SyncFolder waits until the disk has the names in a folder. It returns ErrSync if the disk refuses
// them. Some file systems cannot sync a folder; then it returns nil, because nothing else can be
// done.
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

// SyncAll makes all disks take everything that any process has written. It is for files that cannot
// be opened.
func SyncAll() { unix.Sync() }

// Read reads a plain file that is not larger than limit. check, unless it is nil, gets the owner
// and the mode first, and may refuse the file with an error.
func Read(path string, limit int64, check func(uid int, mode os.FileMode) error) ([]byte, error) {
	return ReadInto(nil, nil, path, limit, check)
}

// ReadInto is Read of the file with a name in an open folder. If folder is nil, name is a path. The
// data are in buf if its capacity is enough.
//
// It takes four system calls, where os.ReadFile takes ten, and the path of the folder is resolved
// only once. A list of tasks reads thousands of files.
func ReadInto(buf []byte, folder *os.File, name string, limit int64, check func(uid int, mode os.FileMode) error) ([]byte, error) {
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
	data, err := readAll(buf, is.Size, limit, func(into []byte) (int, error) {
		return retryInterrupted(func() (int, error) { return syscall.Read(fd, into) })
	})
	if err != nil && !errors.Is(err, ErrLarge) {
		err = &os.PathError{Op: "read", Path: name, Err: err}
	}
	return data, err
}

// Create makes a plain file that must not exist, and writes it. On error it removes it.
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

// Write writes data into a file from an offset on. It makes the file if it does not exist. The
// caller has checked that a plain file or nothing is there.
func Write(path string, at int64, data []byte) error {
	fd, err := retryInterrupted(func() (int, error) {
		return syscall.Open(path, os.O_WRONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK|syscall.O_NOCTTY|syscall.O_CLOEXEC, 0)
	})
	if errors.Is(err, os.ErrNotExist) {
		if fd, _, err = open(path, os.O_WRONLY|os.O_CREATE, 0o600); err != nil {
			return err
		}
	}
	if err != nil {
		return orOdd(path, &os.PathError{Op: "open", Path: path, Err: err})
	}
	return write(fd, path, at, data)
}

// Patch overwrites the beginning of a plain file, which must exist.
func Patch(path string, data []byte) error {
	fd, _, err := open(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	return write(fd, path, 0, data)
}

// write writes data into an open file from an offset on, and closes it.
func write(fd int, path string, at int64, data []byte) (err error) {
	for err == nil && len(data) > 0 {
		var n int
		n, err = retryInterrupted(func() (int, error) { return syscall.Pwrite(fd, data, at) })
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

// retryInterrupted repeats a call until no signal interrupts it.
func retryInterrupted(call func() (int, error)) (n int, err error) {
	for {
		if n, err = call(); !errors.Is(err, syscall.EINTR) {
			return n, err
		}
	}
}

// Handle is an open plain file. To open it takes a third of the system calls of an os.File.
type Handle struct {
	fd   int
	path string
	size int64
}

// OpenHandle opens a plain file for reading, and for writing if write is true.
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

// Name is the path with which the file was opened.
func (h *Handle) Name() string { return h.path }

// Size is the size of the file when it was opened.
func (h *Handle) Size() int64 { return h.size }

// ReadAt implements io.ReaderAt.
func (h *Handle) ReadAt(into []byte, at int64) (done int, err error) {
	for done < len(into) {
		n, err := retryInterrupted(func() (int, error) { return syscall.Pread(h.fd, into[done:], at+int64(done)) })
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

// WriteAt implements io.WriterAt.
func (h *Handle) WriteAt(data []byte, at int64) (done int, err error) {
	for done < len(data) {
		n, err := retryInterrupted(func() (int, error) { return syscall.Pwrite(h.fd, data[done:], at+int64(done)) })
		if err != nil {
			return done, &os.PathError{Op: "write", Path: h.path, Err: err}
		}
		done += n
	}
	return done, nil
}

// Truncate makes the file size bytes long.
func (h *Handle) Truncate(size int64) error {
	_, err := retryInterrupted(func() (int, error) { return 0, syscall.Ftruncate(h.fd, size) })
	return err
}

// Sync waits until the disk has what was written, and what is needed to read it again. It returns
// ErrSync if the disk refuses it.
func (h *Handle) Sync() error {
	_, err := retryInterrupted(func() (int, error) { return 0, syncData(h.fd) })
	return refused(err)
}

// Same reports whether two handles belong to the same file.
func (h *Handle) Same(other *Handle) bool {
	var a, b syscall.Stat_t
	return syscall.Fstat(h.fd, &a) == nil && syscall.Fstat(other.fd, &b) == nil && a.Dev == b.Dev && a.Ino == b.Ino
}

// Close closes the file.
func (h *Handle) Close() error { return syscall.Close(h.fd) }

// Rename is os.Rename without its check whether the new name is that of a folder.
func Rename(from, to string) error {
	if _, err := retryInterrupted(func() (int, error) { return 0, syscall.Rename(from, to) }); err != nil {
		return &os.LinkError{Op: "rename", Old: from, New: to, Err: err}
	}
	return nil
}
