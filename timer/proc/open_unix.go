//go:build unix

package proc

import (
	"os"
	"syscall"
)

// openFile is os.OpenFile of a file that is there for a child. It does not offer it to the poller, as the library does, and so need not
// take it back from there for the child: those are most of the system calls.
func openFile(path string, flags int, mode os.FileMode) (*os.File, error) {
	for {
		fd, err := syscall.Open(path, flags|syscall.O_CLOEXEC, uint32(mode.Perm()))
		switch err {
		case nil:
			return os.NewFile(uintptr(fd), path), nil
		case syscall.EINTR:
		default:
			return nil, &os.PathError{Op: "open", Path: path, Err: err}
		}
	}
}
