// Package plainfile opens the files of the state: plain ones, and nothing else. What lies where a
// file of ours should be may be anything, a pipe that nobody writes to, a device, or a link to a
// file of somebody else. Opening such a thing must neither block, as who opens it may have the
// state lock, nor follow the link. So this is the one place where files of the state are opened, to
// be read or to be written, and where the disk is waited for.
package plainfile

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
)

// ErrOdd is what is not a plain file.
var ErrOdd = errors.New("is not a plain file")

// ErrFolder is what a file of ours is in, and is not a folder of its own: a link to one, or
// something else.
var ErrFolder = errors.New("is not a folder of its own")

// ErrLarge is a file that is larger than the reader takes.
var ErrLarge = errors.New("it is too large")

// OpenIn is OpenFile of a file in a folder that must be one, and no link.
func OpenIn(path string, flags int, mode os.FileMode) (*os.File, error) {
	if err := CheckFolder(filepath.Dir(path)); err != nil {
		return nil, err
	}
	return OpenFile(path, flags, mode)
}

// CheckFolder refuses, with ErrFolder, what is not a folder, and a link to one. What is not there
// is os.ErrNotExist.
func CheckFolder(path string) error {
	info, err := os.Lstat(path)
	if err == nil && !info.IsDir() {
		return fmt.Errorf("%s %w; look at it, then type: rm %s", path, ErrFolder, path)
	}
	return err
}

// Unname takes a new file's name away, so that it goes when nobody has it open any more, and puts a
// text into it that is read from the beginning. On error it is closed.
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

// Mkdir makes a folder for its owner alone, whatever the umask.
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

// MkdirAll is Mkdir of a folder and those above it that are not there.
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

// odd is err, unless it comes of there being no plain file at the path.
func odd(path string, err error) error {
	if info, statErr := os.Lstat(path); statErr == nil && !info.Mode().IsRegular() {
		return &os.PathError{Op: "open", Path: path, Err: ErrOdd}
	}
	return err
}

// readAll reads to the end, at most limit bytes, with one read for a file of the size that is said,
// into the room there is if it is enough.
func readAll(room []byte, size, limit int64, read func([]byte) (int, error)) ([]byte, error) {
	if size > limit {
		return nil, ErrLarge
	}
	data := slices.Grow(room[:0], int(size)+1)
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
			// less than there was room for: the end
			return data, nil
		case len(data) == cap(data):
			data = append(data, 0)[:len(data)]
		}
	}
}
