//go:build unix && !linux

package plainfile

import "syscall"

func syncData(fd int) error { return syscall.Fsync(fd) }
