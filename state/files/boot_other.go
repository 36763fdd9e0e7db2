//go:build !linux && !darwin

package files

func bootName() string { return "" }
