//go:build unix

package files

import (
	"errors"
	"fmt"
	"syscall"

	"github.com/ouro-timer/ouro-timer/state/plainfile"
)

// again repeats a call that a signal has interrupted.
func again(call func() (int, error)) (n int, err error) {
	for {
		if n, err = call(); !errors.Is(err, syscall.EINTR) {
			return n, err
		}
	}
}

// syncDir makes the names in a folder durable. Some file systems cannot and say so; there is nothing else to try then.
func syncDir(path string) error {
	d, err := plainfile.Folder(path)
	if err != nil {
		return err
	}
	defer d.Close()
	if err := d.Sync(); err != nil && !errors.Is(err, syscall.EINVAL) && !errors.Is(err, syscall.ENOTSUP) {
		return fmt.Errorf("%w: %w", errSync, err)
	}
	return nil
}
