package plainfile

import (
	"errors"
	"fmt"
	"os"
)

// ErrSync is a sync that failed. What the system then believes to be on the disk may not be: the
// same file is never synced again, a new one is written instead.
var ErrSync = errors.New("the disk did not take it")

// refused is the error of a sync, or nil.
func refused(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%w: %w", ErrSync, err)
}

// Finish waits until the disk has a file, and closes it. ErrSync when the disk did not take it.
func Finish(f *os.File) error {
	if err := f.Sync(); err != nil {
		f.Close()
		return refused(err)
	}
	return f.Close()
}
