//go:build !linux

package proc

// Suspended reports whether the process is alive and stopped. Only Linux tells.
func (id Identity) Suspended() bool { return false }
