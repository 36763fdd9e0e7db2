//go:build !linux && !darwin

package plainfile

func bootName() string { return "" }
