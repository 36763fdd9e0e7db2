//go:build !linux

package proc

// AsInit calls f and returns what it does. Only on Linux are there first processes that other
// programs can be.
func AsInit(f func() int) int { return f() }
