//go:build unix

package notify

import (
	"os/exec"
	"syscall"
	"time"
)

// inOwnGroup makes a command from exec.CommandContext run in a process group of its own, which is
// killed when its time is up. A child that outlives the command and holds its output open is not
// waited for. On Linux the command is also killed when this process is. The same goroutine must
// call release when the command has ended.
func inOwnGroup(c *exec.Cmd) (release func()) {
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	c.Cancel = func() error { return syscall.Kill(-c.Process.Pid, syscall.SIGKILL) }
	c.WaitDelay = 500 * time.Millisecond
	return diesWithUs(c.SysProcAttr)
}
