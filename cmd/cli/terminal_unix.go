//go:build unix

package cli

import (
	"io"
	"os"
	"path/filepath"
	"syscall"

	"golang.org/x/sys/unix"
	"golang.org/x/term"
)

// TerminalDevice is the path of the terminal of standard error, output or input; empty when there
// is none.
func TerminalDevice(w World) string {
	for _, stream := range []any{w.Err, w.Out, w.In} {
		f, ok := stream.(*os.File)
		if !ok || !term.IsTerminal(int(f.Fd())) {
			continue
		}
		var is syscall.Stat_t
		if syscall.Fstat(int(f.Fd()), &is) != nil {
			continue
		}
		if name := deviceOf(is.Rdev, "/dev/pts", "/dev"); name != "" {
			return name
		}
	}
	return ""
}

// deviceOf finds a character device by its number in folders, as ttyname(3) does.
func deviceOf[N ~uint64 | ~uint32 | ~int32](rdev N, folders ...string) string {
	for _, folder := range folders {
		names, err := os.ReadDir(folder)
		if err != nil {
			continue
		}
		for _, name := range names {
			if name.Type()&os.ModeCharDevice == 0 {
				continue
			}
			path := filepath.Join(folder, name.Name())
			var is syscall.Stat_t
			if syscall.Stat(path, &is) == nil && N(is.Rdev) == rdev && path != "/dev/tty" {
				return path
			}
		}
	}
	return ""
}

// Foreground reports whether this process may draw on the terminal. A shell gives the terminal to
// one job at a time, and a job in the background would spoil the line that is being typed. A
// terminal that does not control this process belongs to nobody else.
func Foreground(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	group, err := unix.IoctlGetInt(int(f.Fd()), unix.TIOCGPGRP)
	return err != nil || group == unix.Getpgrp()
}

// hasTerminal reports whether a terminal controls this process.
func hasTerminal() bool {
	fd, err := unix.Open("/dev/tty", unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
	if err != nil {
		return false
	}
	unix.Close(fd)
	return true
}

// leadsTerminal reports whether a terminal controls this process, and the process leads its
// session, so that no shell could send it HUP. The first process of a container with a terminal
// does.
func leadsTerminal() bool {
	leader, err := unix.Getsid(0)
	return err == nil && leader == unix.Getpid() && hasTerminal()
}
