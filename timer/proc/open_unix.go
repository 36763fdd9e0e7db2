//go:build unix

package proc

import (
	"os"
	"syscall"
)

// beginning reads the beginning of a file, as much as there is room for. A plain file gives that at once, and so does a short one of the
// kernel.
func beginning(path string, room []byte) ([]byte, error) {
	fd, err := again(func() (int, error) { return syscall.Open(path, syscall.O_RDONLY|syscall.O_CLOEXEC, 0) })
	if err != nil {
		return nil, err
	}
	defer syscall.Close(fd)
	n, err := again(func() (int, error) { return syscall.Read(fd, room) })
	return room[:max(n, 0)], err
}

// again calls f until no signal has come in between.
func again(f func() (int, error)) (n int, err error) {
	for {
		if n, err = f(); err != syscall.EINTR {
			return n, err
		}
	}
}

// openFile is os.OpenFile of a file that is there for a child. It does not offer it to the poller, as the library does, and so need not
// take it back from there for the child: those are most of the system calls.
func openFile(path string, flags int, mode os.FileMode) (*os.File, error) {
	fd, err := again(func() (int, error) { return syscall.Open(path, flags|syscall.O_CLOEXEC, uint32(mode.Perm())) })
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: path, Err: err}
	}
	return os.NewFile(uintptr(fd), path), nil
}
