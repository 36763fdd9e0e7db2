//go:build unix

package agent

import (
	"os"

	"golang.org/x/sys/unix"
)

// drainMost bounds what is read at once from a pipe that is filled faster than it is read.
const drainMost = 1 << 20

// follow reads a pipe to its end. It reads and keeps in one step under the tap's lock, so that
// nothing is in between after drain.
func (t *tap) follow(f *os.File) {
	rc, err := f.SyscallConn()
	if err != nil {
		return
	}
	buf := make([]byte, 32<<10)
	for more := true; more; {
		err := rc.Read(func(fd uintptr) bool {
			t.mu.Lock()
			defer t.mu.Unlock()
			n, err := unix.Read(int(fd), buf)
			switch {
			case n > 0:
				t.add(buf[:n])
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

// drain keeps what is already in the pipe.
func (t *tap) drain(f *os.File) {
	rc, err := f.SyscallConn()
	if err != nil {
		return
	}
	buf := make([]byte, 32<<10)
	_ = rc.Control(func(fd uintptr) {
		t.mu.Lock()
		defer t.mu.Unlock()
		for sum := 0; sum < drainMost; {
			n, err := unix.Read(int(fd), buf)
			if n > 0 {
				t.add(buf[:n])
				sum += n
			} else if err != unix.EINTR {
				return
			}
		}
	})
}
