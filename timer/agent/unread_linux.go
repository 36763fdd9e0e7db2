package agent

import (
	"os"

	"golang.org/x/sys/unix"
)

// unread is how much of what was written to a pipe nobody has read.
func unread(f *os.File) (n int) {
	rc, err := f.SyscallConn()
	if err != nil {
		return 0
	}
	_ = rc.Control(func(fd uintptr) { n, _ = unix.IoctlGetInt(int(fd), unix.TIOCINQ) }) // 0 where it cannot be told
	return n
}
