//go:build unix

package lock

import "syscall"

// noFollow refuses to open what a link stands for, and not to wait for who is at the other end of a
// pipe.
const noFollow = syscall.O_NOFOLLOW | syscall.O_NONBLOCK
