package main

import (
	"fmt"
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// screen is a terminal of 40 lines that discards all that is written to it.
type screen struct{ keys, tty *os.File }

func openScreen() (s screen, err error) {
	if s.keys, err = os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0); err != nil {
		return s, err
	}
	fd := int(s.keys.Fd())
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0)
	}
	if err == nil {
		err = unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Row: 40, Col: 120})
	}
	if err == nil {
		s.tty, err = os.OpenFile(fmt.Sprint("/dev/pts/", n), os.O_RDWR|unix.O_NOCTTY, 0)
	}
	if err == nil {
		go io.Copy(io.Discard, s.keys)
	}
	return s, err
}

func (s screen) close() {
	s.tty.Close()
	s.keys.Close()
}
