//go:build unix

package lock

import "syscall"

// noFollow are the flags with which opening follows no link and does not wait at a pipe.
const noFollow = syscall.O_NOFOLLOW | syscall.O_NONBLOCK
