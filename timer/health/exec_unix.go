//go:build unix

package health

import (
	"bytes"
	"context"
	"errors"
	"os/exec"
	"strings"
	"syscall"

	"github.com/ouro-timer/ouro-timer/timer/proc"
)

// execute runs a command line and returns nil when it ends with 0. When ctx ends it kills the
// process group. When the shell ends it kills what is left of the group. On Linux the shell also
// dies with this process, but what it has started does not; on other systems both go on. The
// command reads nothing. The last line that it writes to stderr becomes part of the fault.
func execute(ctx context.Context, line string, env []string) error {
	var errs tail
	argv := proc.ShellText("", line)
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Stderr, cmd.Env = &errs, env
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	defer diesWithUs(cmd.SysProcAttr)()
	endGroup := func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.Cancel = endGroup
	cmd.WaitDelay = grace / 2 // for a stray child that holds stderr open
	if err := cmd.Start(); err != nil {
		f := *explain(err, executing)
		f.inconclusive = true
		return &f
	}
	err := cmd.Wait()
	// no other group gets this number so soon: the kernel hands out process IDs in a circle
	endGroup()
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		f := *explain(ctx.Err(), executing)
		f.Subject = errs.line()
		return &f
	case err == nil, errors.Is(err, exec.ErrWaitDelay) && cmd.ProcessState.Success():
		return nil
	case !errors.As(err, &exit):
		return err
	}
	c := Cause{Kind: ExitCode, Number: exit.ExitCode(), Subject: errs.line()}
	if status, ok := exit.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		c.Kind, c.Other = Signalled, status.Signal().String()
	}
	// The shell ends so when it cannot start a command. Waiting does not help then.
	never := exit.ExitCode() == 126 || exit.ExitCode() == 127
	return &fault{Cause: c, permanent: never, inconclusive: never, rank: broken}
}

// tail keeps the end of what is written to it.
type tail struct{ buf []byte }

const tailSize = 4096

func (t *tail) Write(b []byte) (int, error) {
	t.buf = append(t.buf, b[max(0, len(b)-tailSize):]...)
	t.buf = t.buf[max(0, len(t.buf)-tailSize):]
	return len(b), nil
}

func (t *tail) line() string {
	lines := strings.Split(string(bytes.TrimSpace(t.buf)), "\n")
	return printable(lines[len(lines)-1])
}
