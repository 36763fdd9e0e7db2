//go:build unix && !linux

package plainfile

import "syscall"

// syncData waits until the disk has the data of a file.
func syncData(fd int) error { return syscall.Fsync(fd) }
