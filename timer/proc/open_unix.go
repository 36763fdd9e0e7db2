//go:build unix

package proc

import (
	"os"
	"syscall"
)

// beginning reads the beginning of a file, up to the size of room. Regular files, and short ones of
// the kernel, give it in one read.
func beginning(path string, room []byte) ([]byte, error) {
	fd, err := again(func() (int, error) { return syscall.Open(path, syscall.O_RDONLY|syscall.O_CLOEXEC, 0) })
	if err != nil {
		return nil, err
	}
	defer syscall.Close(fd)
	n, err := again(func() (int, error) { return syscall.Read(fd, room) })
	return room[:max(n, 0)], err
}

// again calls f until no signal interrupts it.
func again(f func() (int, error)) (n int, err error) {
	for {
		if n, err = f(); err != syscall.EINTR {
			return n, err
		}
	}
}

// openFile is os.OpenFile for an existing file that a child gets. Unlike the library it does not
// register the file with the poller and then take it back for the child, which would be most of the
// system calls.
func openFile(path string, flags int, mode os.FileMode) (*os.File, error) {
	fd, err := again(func() (int, error) { return syscall.Open(path, flags|syscall.O_CLOEXEC, uint32(mode.Perm())) })
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: path, Err: err}
	}
	return os.NewFile(uintptr(fd), path), nil
}
