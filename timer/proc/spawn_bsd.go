//go:build darwin || dragonfly || freebsd || netbsd || openbsd

package proc

import "syscall"

// spawn forks and executes with the given umask.
func spawn(path string, argv []string, attr *syscall.ProcAttr, umask int) forked {
	return spawnLocked(path, argv, attr, umask)
}
