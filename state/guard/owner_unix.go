//go:build unix

package guard

import (
	"io/fs"
	"syscall"

	"golang.org/x/sys/unix"
)

// Owner is the user a file belongs to, if the system knows.
func Owner(info fs.FileInfo) (uid int, ok bool) {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, false
	}
	return int(st.Uid), true
}

// group is the group a file belongs to, if the system knows.
func group(info fs.FileInfo) (gid int, ok bool) {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, false
	}
	return int(st.Gid), true
}

// Writable says why nothing can be written in a folder; nil when something can. It writes nothing.
func Writable(path string) error {
	return unix.Faccessat(unix.AT_FDCWD, path, unix.W_OK|unix.X_OK, unix.AT_EACCESS)
}
