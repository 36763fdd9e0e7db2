//go:build unix

package agent

import (
	"os"

	"golang.org/x/sys/unix"
)

// maxDrain bounds how many bytes drain reads, because a process may fill the pipe faster.
const maxDrain = 1 << 20

// follow reads a pipe to its end. It holds the recorder's lock while it reads and keeps something,
// so that drain leaves nothing behind that was read and not kept.
func (r *recorder) follow(f *os.File) {
	rc, err := f.SyscallConn()
	if err != nil {
		return
	}
	buf := make([]byte, 32<<10)
	for more := true; more; {
		err := rc.Read(func(fd uintptr) bool {
			r.mu.Lock()
			defer r.mu.Unlock()
			n, err := unix.Read(int(fd), buf)
			switch {
			case n > 0:
				r.add(buf[:n])
			case err == unix.EAGAIN:
				return false
			case err != unix.EINTR:
				more = false
			}
			return true
		})
		if err != nil {
			return
		}
	}
}

// drain reads and keeps what is in the pipe now.
func (r *recorder) drain(f *os.File) {
	rc, err := f.SyscallConn()
	if err != nil {
		return
	}
	buf := make([]byte, 32<<10)
	_ = rc.Control(func(fd uintptr) {
		r.mu.Lock()
		defer r.mu.Unlock()
		for sum := 0; sum < maxDrain; {
			n, err := unix.Read(int(fd), buf)
			if n > 0 {
				r.add(buf[:n])
				sum += n
			} else if err != unix.EINTR {
				return
			}
		}
	})
}
