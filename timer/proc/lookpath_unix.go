//go:build unix

package proc

import (
	"os"
	"syscall"
)

const defaultPath = "/usr/bin:/bin"

func sameKey(a, b string) bool { return a == b }

// program says whether path is a file that may be executed.
func program(path string) (string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return "", reason(err)
	}
	if info.IsDir() {
		return "", syscall.EISDIR
	}
	// The superuser may pass access(2) without any x bit on some systems; exec would refuse.
	if info.Mode()&0o111 == 0 {
		return "", syscall.EACCES
	}
	return path, executable(path)
}
