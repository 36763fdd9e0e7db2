//go:build unix

package files

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// noFollow refuses to open what a link stands for.
const noFollow = syscall.O_NOFOLLOW

// syncDir makes the names in a folder durable. Some file systems cannot and say so; there is nothing else to try then.
func syncDir(path string) error {
	d, err := os.Open(path)
	if err != nil {
		return err
	}
	defer d.Close()
	if err := d.Sync(); err != nil && !errors.Is(err, syscall.EINVAL) && !errors.Is(err, syscall.ENOTSUP) {
		return fmt.Errorf("%w: %w", errSync, err)
	}
	return nil
}

// owner is the user a file belongs to, if the system knows.
func owner(info fs.FileInfo) (uid int, ok bool) {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, false
	}
	return int(st.Uid), true
}
