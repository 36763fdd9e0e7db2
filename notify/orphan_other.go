//go:build unix && !linux

package notify

import "syscall"

// diesWithUs does nothing on this system: a child outlives us when we are killed without warning.
func diesWithUs(*syscall.SysProcAttr) (release func()) { return func() {} }
