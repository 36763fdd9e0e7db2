package notify

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/state/plain"
)

// sendExec runs the command of the channel, without a shell, with the event as JSON on its standard
// input. Exit code 0 is a success. For any other, the error has the last line of its standard
// error. At the time-out its whole process group is killed. When this process is killed, the
// program is killed too on Linux, but not what it has started; on other systems both go on.
func sendExec(ctx context.Context, c state.Channel, m Message, env Env) (string, error) {
	if len(c.Command) == 0 || c.Command[0] == "" {
		return "", localError("channel %s has no command", c.Name)
	}
	name := plain.Line(c.Command[0])
	program, args, err := env.command(c.Command)
	if err != nil {
		return "", localError("%s", plain.Line(err.Error())).named("channel " + c.Name)
	}
	var errs tail
	cmd := exec.CommandContext(ctx, program)
	cmd.Args = args
	cmd.Stdin = bytes.NewReader(append(bytes.Clone(m.event(c, env)), '\n'))
	cmd.Stderr = &errs
	if env.Environ != nil {
		cmd.Env = env.Environ()
	}
	defer inOwnGroup(cmd)()
	if err := cmd.Start(); err != nil {
		return "", localError("%s", plain.Line(err.Error())).named("channel " + c.Name)
	}
	err = cmd.Wait()
	ended := cmd.ProcessState
	// Exit code 0 is a success, even when a child keeps the output open.
	if err == nil || errors.Is(err, exec.ErrWaitDelay) && ended.Success() {
		return "Told by " + name + ".", nil
	}
	how := ended.String() // the name of the signal
	if code := ended.ExitCode(); code >= 0 {
		how = fmt.Sprintf("exit code %d", code)
	}
	text := fmt.Sprintf("%s ended with %s", name, how)
	if line := errs.line(); line != "" {
		text += ": " + line
	}
	return "", transient("%s", redactSecrets(text, channelSecrets(c)...)).named("channel " + c.Name)
}

// tail keeps the end of what is written to it.
type tail struct{ b []byte }

const tailKept = 4 << 10

func (t *tail) Write(p []byte) (int, error) {
	t.b = append(t.b, p[max(0, len(p)-tailKept):]...)
	t.b = t.b[max(0, len(t.b)-tailKept):]
	return len(p), nil
}

// line returns the last line that is not empty.
func (t *tail) line() string {
	lines := strings.Split(strings.TrimSpace(string(t.b)), "\n")
	return shorten(plain.Line(strings.TrimSpace(lines[len(lines)-1])), 300)
}
