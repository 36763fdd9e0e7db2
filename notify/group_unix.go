//go:build unix

package notify

import (
	"os/exec"
	"syscall"
	"time"
)

// grouped has a command made with exec.CommandContext run in a group of its own, all of which is killed when its time is up. Who
// outlives the command and holds its output open is not waited for.
func grouped(c *exec.Cmd) {
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	c.Cancel = func() error { return syscall.Kill(-c.Process.Pid, syscall.SIGKILL) }
	c.WaitDelay = 500 * time.Millisecond
}
