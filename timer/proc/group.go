package proc

import (
	"errors"
	"os/exec"
	"strings"
)

// RunGroup runs a command that exec.CommandContext has made to its end, in a process group of its
// own, which is killed when the context ends. It returns the last line that the command has written
// to its standard error. A child that outlives the command and holds its output open is waited for
// as long as WaitDelay says, and makes no error of exit code 0. Cancel still kills the group after
// the end: the kernel hands out numbers in a circle, so that no other group has this one so soon.
//
// When this process is killed, Linux kills the command, but not what it has started; on other
// systems both go on. Windows has no groups: only the command itself is killed.
func RunGroup(c *exec.Cmd) (said string, err error) {
	var errs tail
	c.Stderr = &errs
	defer ownGroup(c)()
	if err = c.Run(); errors.Is(err, exec.ErrWaitDelay) && c.ProcessState.Success() {
		err = nil
	}
	lines := strings.Split(strings.TrimSpace(string(errs)), "\n")
	return strings.TrimSpace(lines[len(lines)-1]), err
}

// tail keeps the end of what is written to it.
type tail []byte

const tailSize = 4 << 10

func (t *tail) Write(b []byte) (int, error) {
	*t = append(*t, b[max(0, len(b)-tailSize):]...)
	*t = (*t)[max(0, len(*t)-tailSize):]
	return len(b), nil
}
