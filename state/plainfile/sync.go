package plainfile

import (
	"errors"
	"fmt"
	"os"
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
