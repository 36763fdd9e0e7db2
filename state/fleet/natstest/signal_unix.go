//go:build unix

package natstest

import "syscall"

// Signals for a server.
var (
	halt = syscall.SIGSTOP
	goOn = syscall.SIGCONT
	quit = syscall.SIGTERM
)
