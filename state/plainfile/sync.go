package plainfile

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// ErrSync says that a sync has failed. After that the system may report data as written that are
// not on the disk. So the caller must not sync the same file again, but write a new one.
var ErrSync = errors.New("the disk did not take it")

// refused returns the error of a sync with ErrSync, or nil.
func refused(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%w: %w", ErrSync, err)
}

// Finish waits until the disk has a file, and closes it. It returns ErrSync if the disk refuses it.
func Finish(f *os.File) error {
	if err := f.Sync(); err != nil {
		f.Close()
		return refused(err)
	}
	return f.Close()
}

// Replace writes a file whole, with a mode that no umask changes. A reader sees the old text or the
// new one, and on an error the old one stays.
func Replace(path string, text []byte, mode os.FileMode) error {
	f, err := os.CreateTemp(filepath.Dir(path), ".ouro-timer-*.tmp")
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	if err = cmp.Or(err, f.Chmod(mode), Finish(f)); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		os.Remove(f.Name())
	}
	return err
}
