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

// openFile is os.OpenFile of a plain file or a folder. It does not offer it to the poller, which takes neither: that is five of the six
// system calls that the library makes.
func openFile(path string, flags int, mode os.FileMode) (*os.File, error) {
	fd, err := again(func() (int, error) { return syscall.Open(path, flags|syscall.O_CLOEXEC, uint32(mode.Perm())) })
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: path, Err: err}
	}
	return os.NewFile(uintptr(fd), path), nil
}

// syncDir makes the names in a folder durable. Some file systems cannot and say so; there is nothing else to try then.
func syncDir(path string) error {
	d, err := openFile(path, os.O_RDONLY, 0)
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
