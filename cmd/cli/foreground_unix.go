//go:build unix

package cli

import (
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// Foreground reports whether this process may draw on the terminal: a shell gives it to one job at a time, and a job in
// the background that moves the cursor would spoil the line that is being typed. A terminal that is not the controlling
// one is nobody else's.
func Foreground(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	group, err := unix.IoctlGetInt(int(f.Fd()), unix.TIOCGPGRP)
	return err != nil || group == unix.Getpgrp()
}
