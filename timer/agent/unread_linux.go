package agent

import (
	"os"

	"golang.org/x/sys/unix"
)

// unread is how many bytes in a pipe nobody has read yet.
func unread(f *os.File) (n int) {
	rc, err := f.SyscallConn()
	if err != nil {
		return 0
	}
	// 0 where it cannot be told
	_ = rc.Control(func(fd uintptr) { n, _ = unix.IoctlGetInt(int(fd), unix.TIOCINQ) })
	return n
}
