//go:build unix

package proc

import (
	"os/exec"
	"syscall"
)

// ownGroup makes a command run in a process group of its own, which Cancel kills. The goroutine
// that runs the command calls release when it has ended.
func ownGroup(c *exec.Cmd) (release func()) {
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	c.Cancel = func() error { return syscall.Kill(-c.Process.Pid, syscall.SIGKILL) }
	return diesWithUs(c.SysProcAttr)
}
