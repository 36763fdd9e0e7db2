//go:build unix

package proc

import "syscall"

// readHead reads the first bytes of a file, at most as many as buf holds. It calls read once, which
// returns that much of a regular file, or of a short file of the kernel.
func readHead(path string, buf []byte) ([]byte, error) {
	fd, err := retryInterrupted(func() (int, error) { return syscall.Open(path, syscall.O_RDONLY|syscall.O_CLOEXEC, 0) })
	if err != nil {
		return nil, err
	}
	defer syscall.Close(fd)
	n, err := retryInterrupted(func() (int, error) { return syscall.Read(fd, buf) })
	return buf[:max(n, 0)], err
}

// retryInterrupted calls f until no signal interrupts it.
func retryInterrupted(f func() (int, error)) (n int, err error) {
	for {
		if n, err = f(); err != syscall.EINTR {
			return n, err
		}
	}
}
