//go:build unix

package proc

import (
	"os"
	"syscall"
)

const defaultPath = "/usr/bin:/bin"

// sameKey reports whether two names of environment variables are the same.
func sameKey(a, b string) bool { return a == b }

// program returns path if it may be executed, and otherwise why it may not.
func program(path string) (string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return "", reason(err)
	}
	if info.IsDir() {
		return "", syscall.EISDIR
	}
	// On some systems access(2) succeeds for the superuser without any x bit, but exec fails.
	if info.Mode()&0o111 == 0 {
		return "", syscall.EACCES
	}
	return path, executable(path)
}
