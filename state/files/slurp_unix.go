//go:build unix

package files

import (
	"errors"
	"fmt"
	"os"
	"syscall"
)

// readFile reads a file of ours: a plain file, and not larger than limit, else an error. Links are not followed.
//
// It asks the system for four things, and os for ten: a list reads thousands of files.
func readFile(path string, limit int64) ([]byte, error) { return slurp(path, limit, false) }

// readOwn is readFile of a file whose content is executed: it refuses one that others can write or that is another user's.
func readOwn(path string, limit int64) ([]byte, error) { return slurp(path, limit, true) }

func slurp(path string, limit int64, own bool) ([]byte, error) {
	fail := func(doing string, err error) error { return &os.PathError{Op: doing, Path: path, Err: err} }
	// A pipe would block without O_NONBLOCK; a plain file is the same with it.
	fd, err := again(func() (int, error) {
		return syscall.Open(path, syscall.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK|syscall.O_CLOEXEC, 0)
	})
	if err != nil {
		if info, statErr := os.Lstat(path); statErr == nil && !info.Mode().IsRegular() {
			return nil, errOdd
		}
		return nil, fail("open", err)
	}
	defer syscall.Close(fd)
	var is syscall.Stat_t
	if _, err := again(func() (int, error) { return 0, syscall.Fstat(fd, &is) }); err != nil {
		return nil, fail("stat", err)
	}
	if is.Mode&syscall.S_IFMT != syscall.S_IFREG {
		return nil, errOdd
	}
	if own {
		if err := refuseOthers(path, int(is.Uid), os.FileMode(is.Mode&0o777)); err != nil {
			return nil, err
		}
	}
	if is.Size > limit {
		return nil, fmt.Errorf("%w: it is larger than %d bytes", errDecode, limit)
	}
	data := make([]byte, 0, is.Size+1)
	for {
		n, err := again(func() (int, error) { return syscall.Read(fd, data[len(data):cap(data)]) })
		if err != nil {
			return nil, fail("read", err)
		}
		data = data[:len(data)+n]
		if int64(len(data)) > limit {
			return nil, fmt.Errorf("%w: it is larger than %d bytes", errDecode, limit)
		}
		if n == 0 || int64(len(data)) == is.Size && len(data) < cap(data) { // less than there was room for: the end
			return data, nil
		}
		if len(data) == cap(data) {
			data = append(data, 0)[:len(data)]
		}
	}
}

// again repeats a call that a signal has interrupted.
func again(call func() (int, error)) (n int, err error) {
	for {
		if n, err = call(); !errors.Is(err, syscall.EINTR) {
			return n, err
		}
	}
}
