//go:build unix

package cli

import "golang.org/x/sys/unix"

// hasTerminal reports whether a terminal controls this process.
func hasTerminal() bool {
	fd, err := unix.Open("/dev/tty", unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
	if err != nil {
		return false
	}
	unix.Close(fd)
	return true
}

// ownsTerminal reports whether there is still a terminal that controls this process, and no shell that could send HUP for it: the process
// leads its session, as the first one of a container does that was given a terminal.
func ownsTerminal() bool {
	leader, err := unix.Getsid(0)
	return err == nil && leader == unix.Getpid() && hasTerminal()
}
