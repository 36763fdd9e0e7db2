//go:build darwin || dragonfly || freebsd || netbsd || openbsd

package proc

import "syscall"

// spawn forks and executes with the given umask.
func spawn(path string, argv []string, attr *syscall.ProcAttr, umask int) forked {
	return spawnLocked(path, argv, attr, umask)
}

// diesWithUs does nothing on these systems: a child outlives us when we are killed without warning.
func diesWithUs(*syscall.SysProcAttr) (release func()) { return func() {} }
