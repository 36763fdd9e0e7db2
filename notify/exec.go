package notify

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/state/plain"
	"github.com/ouro-timer/ouro-timer/timer/proc"
)

// sendExec runs the command of the channel, without a shell, with the event as JSON on its standard
// input. Exit code 0 is a success. For any other, the error has the last line of its standard
// error. At the time-out its whole process group is killed (proc.RunGroup).
func sendExec(ctx context.Context, c state.Channel, m Message, env Env) (string, error) {
	if len(c.Command) == 0 || c.Command[0] == "" {
		return "", localError("channel %s has no command", c.Name)
	}
	name := plain.Line(c.Command[0])
	program, args, err := env.command(c.Command)
	if err != nil {
		return "", localError("%s", plain.Line(err.Error())).named("channel " + c.Name)
	}
	cmd := exec.CommandContext(ctx, program)
	cmd.Args, cmd.WaitDelay = args, leftOpen
	cmd.Stdin = bytes.NewReader(append(bytes.Clone(m.event(c, env)), '\n'))
	if env.Environ != nil {
		cmd.Env = env.Environ()
	}
	said, err := proc.RunGroup(cmd)
	if err == nil {
		return "Told by " + name + ".", nil
	}
	ended := cmd.ProcessState
	if ended == nil {
		return "", localError("%s", plain.Line(err.Error())).named("channel " + c.Name)
	}
	how := ended.String() // the name of the signal
	if code := ended.ExitCode(); code >= 0 {
		how = fmt.Sprintf("exit code %d", code)
	}
	text := fmt.Sprintf("%s ended with %s", name, how)
	if said != "" {
		text += ": " + shownLine(said)
	}
	return "", transient("%s", redactSecrets(text, channelSecrets(c)...)).named("channel " + c.Name)
}

// leftOpen is how long what a program has left behind may hold its output open.
const leftOpen = 500 * time.Millisecond

// shownLine returns a line of a program as an error has it.
func shownLine(said string) string { return plain.Cut(plain.Line(said), 300) }
