//go:build !unix

package plainfile

import (
	"errors"
	"os"
	"path/filepath"
)

// OpenFile is os.OpenFile of a plain file, and returns ErrOdd for anything else. Between the look
// and the opening, the file could be replaced.
func OpenFile(path string, flags int, mode os.FileMode) (*os.File, error) {
	info, err := os.Lstat(path)
	if err == nil && !info.Mode().IsRegular() {
		return nil, &os.PathError{Op: "open", Path: path, Err: ErrOdd}
	}
	if err != nil && (flags&os.O_CREATE == 0 || !errors.Is(err, os.ErrNotExist)) {
		return nil, err
	}
	f, err := os.OpenFile(path, flags, mode)
	if err != nil {
		err = orOdd(path, err)
	}
	return f, err
}

// Folder opens a folder. It follows links.
func Folder(path string) (*os.File, error) { return os.Open(path) }

// SyncFolder does nothing, because there is no such call here.
func SyncFolder(string) error { return nil }

// SyncAll does nothing, because there is no such call here.
func SyncAll() {}

// Read reads a plain file that is not larger than limit. It does not call check, because modes do
// not say who may read and write a file here.
func Read(path string, limit int64, check func(uid int, mode os.FileMode) error) ([]byte, error) {
	return ReadInto(nil, nil, path, limit, check)
}

// ReadInto is Read of the file with a name in an open folder. If folder is nil, name is a path. The
// data are in buf if its capacity is enough.
func ReadInto(buf []byte, folder *os.File, name string, limit int64, _ func(uid int, mode os.FileMode) error) ([]byte, error) {
	path := name
	if folder != nil {
		path = filepath.Join(folder.Name(), name)
	}
	f, err := OpenFile(path, os.O_RDONLY, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	return readAll(buf, info.Size(), limit, f.Read)
}

// Create makes a plain file that must not exist, and writes it. On error it removes it.
func Create(path string, data []byte) error {
	f, err := OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err = errors.Join(err, f.Close()); err != nil {
		os.Remove(path)
	}
	return err
}

// Write writes data into a plain file from an offset on. It makes the file if it does not exist.
func Write(path string, at int64, data []byte) error {
	return write(path, os.O_WRONLY|os.O_CREATE, at, data)
}

// Patch overwrites the beginning of a plain file, which must exist.
func Patch(path string, data []byte) error { return write(path, os.O_WRONLY, 0, data) }

// write opens a plain file and writes data into it from an offset on.
func write(path string, flags int, at int64, data []byte) error {
	f, err := OpenFile(path, flags, 0o600)
	if err != nil {
		return err
	}
	_, err = f.WriteAt(data, at)
	return errors.Join(err, f.Close())
}

// Handle is an open plain file.
type Handle struct {
	*os.File
	size int64
}

// OpenHandle opens a plain file for reading, and for writing if write is true.
func OpenHandle(path string, write bool) (*Handle, error) {
	flags := os.O_RDONLY
	if write {
		flags = os.O_RDWR
	}
	f, err := OpenFile(path, flags, 0)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err != nil {
		f.Close()
		return nil, err
	}
	return &Handle{f, info.Size()}, nil
}

// Size is the size of the file when it was opened.
func (h *Handle) Size() int64 { return h.size }

// Sync waits until the disk has what was written. It returns ErrSync if the disk refuses it.
func (h *Handle) Sync() error { return refused(h.File.Sync()) }

// Same reports whether two handles belong to the same file.
func (h *Handle) Same(other *Handle) bool {
	a, err := h.Stat()
	b, bad := other.Stat()
	return err == nil && bad == nil && os.SameFile(a, b)
}

// Rename is os.Rename.
func Rename(from, to string) error { return os.Rename(from, to) }
