//go:build unix

package files

import "golang.org/x/sys/unix"

// writable says why nothing can be written in a folder; nil when something can. It writes nothing.
func writable(path string) error {
	return unix.Faccessat(unix.AT_FDCWD, path, unix.W_OK|unix.X_OK, unix.AT_EACCESS)
}
