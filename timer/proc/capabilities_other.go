//go:build !linux

package proc

// hasCapabilities: files have none here.
func hasCapabilities(string) bool { return false }
