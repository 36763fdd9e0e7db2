//go:build !linux

package proc

// Stopped is not told here.
func (id Identity) Stopped() bool { return false }
