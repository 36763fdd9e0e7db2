package proc

import "golang.org/x/sys/unix"

// hasCapabilities reports whether a program is given rights by its file (capabilities(7)), or that cannot be told.
func hasCapabilities(file string) bool {
	_, err := unix.Getxattr(file, "security.capability", nil)
	return err != unix.ENODATA && err != unix.EOPNOTSUPP
}
