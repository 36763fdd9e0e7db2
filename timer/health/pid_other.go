//go:build !linux && !darwin && !windows

package health

// startOf is not to be told here: the number alone says which process is meant.
func startOf(int) uint64 { return 0 }
