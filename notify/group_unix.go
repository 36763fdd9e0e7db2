//go:build unix

package notify

import (
	"os/exec"
	"syscall"
	"time"
)

// grouped has a command made with exec.CommandContext run in a group of its own, all of which is
// killed when its time is up. Who outlives the command and holds its output open is not waited for.
// On Linux the command is killed with us, too; release is to be called by the same goroutine when
// the command has ended.
func grouped(c *exec.Cmd) (release func()) {
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	c.Cancel = func() error { return syscall.Kill(-c.Process.Pid, syscall.SIGKILL) }
	c.WaitDelay = 500 * time.Millisecond
	return diesWithUs(c.SysProcAttr)
}
