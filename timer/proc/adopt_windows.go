package proc

import (
	"errors"
	"os"
	"syscall"
)

// signalGroupOf ends the process for KILL. There is no asking a process of another console.
func signalGroupOf(pid int, sig syscall.Signal) error {
	if sig != syscall.SIGKILL {
		return nil
	}
	p, err := os.FindProcess(pid)
	if err != nil {
		return nil
	}
	defer p.Release()
	if err := p.Kill(); !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	return nil
}
