//go:build unix && !linux

package health

import "syscall"

// diesWithUs cannot be had here: a command outlives us when we are killed without warning.
func diesWithUs(*syscall.SysProcAttr) (release func()) { return func() {} }
