package health

import (
	"context"
	"errors"
	"os/exec"
	"syscall"

	"github.com/ouro-timer/ouro-timer/timer/proc"
)

// execute runs a command line and returns nil when it ends with 0. When ctx or the shell ends, it
// kills what is left of its process group. The command reads nothing. The last line that it writes
// to stderr becomes part of the fault.
func execute(ctx context.Context, line string, env []string) error {
	argv := proc.ShellText("", line)
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Env, cmd.WaitDelay = env, grace/2
	said, err := proc.RunGroup(cmd)
	if cmd.Process == nil {
		f := *explain(err, executing)
		f.inconclusive = true
		return &f
	}
	cmd.Cancel()
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		f := *explain(ctx.Err(), executing)
		f.Subject = printable(said)
		return &f
	case err == nil:
		return nil
	case !errors.As(err, &exit):
		return err
	}
	c := Cause{Kind: ExitCode, Number: exit.ExitCode(), Subject: printable(said)}
	if status, ok := exit.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		c.Kind, c.Other = Signalled, status.Signal().String()
	}
	// The shell ends so when it cannot start a command. Waiting does not help then.
	never := exit.ExitCode() == 126 || exit.ExitCode() == 127
	return &fault{Cause: c, permanent: never, inconclusive: never, rank: broken}
}
