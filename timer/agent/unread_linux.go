package agent

import (
	"os"

	"golang.org/x/sys/unix"
)

// unread returns how many bytes are in a pipe, or 0 if the system does not tell.
func unread(f *os.File) (n int) {
	rc, err := f.SyscallConn()
	if err != nil {
		return 0
	}
	_ = rc.Control(func(fd uintptr) { n, _ = unix.IoctlGetInt(int(fd), unix.TIOCINQ) })
	return n
}
