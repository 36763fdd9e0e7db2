// Package plainfile opens the files of the state, and waits for the disk. No other package does.
//
// It only opens plain files. At the path of a file there may be anything else: a pipe without a
// writer, a device, or a link to a file of another user. Opening it must not block, because the
// caller may hold the state lock, and must not follow the link.
package plainfile

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
)

// ErrOdd says that something else than a plain file is at the path.
var ErrOdd = errors.New("is not a plain file")

// ErrFolder says that something else than a folder, such as a link to one, is at the path of a
// folder.
var ErrFolder = errors.New("is not a folder of its own")

// ErrLarge says that a file is larger than the limit of the reader.
var ErrLarge = errors.New("it is too large")

// OpenIn is OpenFile, and returns ErrFolder if the folder of the file is a link or not a folder.
func OpenIn(path string, flags int, mode os.FileMode) (*os.File, error) {
	if err := CheckFolder(filepath.Dir(path)); err != nil {
		return nil, err
	}
	return OpenFile(path, flags, mode)
}

// CheckFolder returns ErrFolder if path is a link or not a folder, and os.ErrNotExist if nothing is
// there.
func CheckFolder(path string) error {
	info, err := os.Lstat(path)
	if err == nil && !info.IsDir() {
		return fmt.Errorf("%s %w; look at it, then type: rm %s", path, ErrFolder, path)
	}
	return err
}

// Unname removes the name of a new file, so that the file ends when no process has it open, and
// writes a text into it. The next read begins at the start. On error it closes the file.
func Unname(f *os.File, text string) error {
	os.Remove(f.Name())
	_, err := f.WriteString(text)
	if err == nil {
		_, err = f.Seek(0, io.SeekStart)
	}
	if err != nil {
		f.Close()
	}
	return err
}

// Mkdir makes a folder that only its owner can use, whatever the umask.
func Mkdir(path string) error {
	if err := os.Mkdir(path, 0o700); err != nil {
		return err
	}
	info, err := os.Lstat(path)
	if err == nil && info.Mode().Perm()&0o700 != 0o700 {
		err = os.Chmod(path, 0o700)
	}
	return err
}

// MkdirAll is Mkdir of a folder and of those above it that do not exist.
func MkdirAll(path string) error {
	err := Mkdir(path)
	if errors.Is(err, os.ErrNotExist) && filepath.Dir(path) != path {
		if err = MkdirAll(filepath.Dir(path)); err == nil {
			err = Mkdir(path)
		}
	}
	if errors.Is(err, os.ErrExist) {
		return nil
	}
	return err
}

// orOdd returns ErrOdd if something else than a plain file is at the path, and err otherwise.
func orOdd(path string, err error) error {
	if info, statErr := os.Lstat(path); statErr == nil && !info.Mode().IsRegular() {
		return &os.PathError{Op: "open", Path: path, Err: ErrOdd}
	}
	return err
}

// readAll reads to the end. It returns ErrLarge beyond limit bytes. A file of the expected size
// takes one read. The data are in buf if its capacity is enough.
func readAll(buf []byte, size, limit int64, read func([]byte) (int, error)) ([]byte, error) {
	if size > limit {
		return nil, ErrLarge
	}
	data := slices.Grow(buf[:0], int(size)+1)
	for {
		n, err := read(data[len(data):cap(data)])
		data = data[:len(data)+max(n, 0)]
		switch {
		case int64(len(data)) > limit:
			return nil, ErrLarge
		case errors.Is(err, io.EOF):
			return data, nil
		case err != nil:
			return nil, err
		case n == 0 || int64(len(data)) == size && len(data) < cap(data):
			// The read has returned less than it could: this is the end.
			return data, nil
		case len(data) == cap(data):
			data = append(data, 0)[:len(data)]
		}
	}
}
