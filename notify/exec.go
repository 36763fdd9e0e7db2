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

// sendExec runs the channel's command, without a shell, with the event as JSON on its standard
// input. That it ends with 0 is success; else the last line of its standard error is told. At the
// time-out its whole group is killed. On Linux the program does not outlive us either, but what it
// has started can; elsewhere both can, when we are killed.
func sendExec(ctx context.Context, c state.Channel, m Message, env Env) (string, error) {
	if len(c.Command) == 0 || c.Command[0] == "" {
		return "", mendable("channel %s has no command", c.Name)
	}
	name := plain.Line(c.Command[0])
	program, args, err := env.command(c.Command)
	if err != nil {
		return "", mendable("%s", plain.Line(err.Error())).of("channel " + c.Name)
	}
	var errs tail
	cmd := exec.CommandContext(ctx, program)
	cmd.Args = args
	cmd.Stdin = bytes.NewReader(append(bytes.Clone(m.event(c, env)), '\n'))
	cmd.Stderr = &errs
	if env.Environ != nil {
		cmd.Env = env.Environ()
	}
	defer grouped(cmd)()
	if err := cmd.Start(); err != nil {
		return "", mendable("%s", plain.Line(err.Error())).of("channel " + c.Name)
	}
	err = cmd.Wait()
	ended := cmd.ProcessState
	// Exit 0 is success even when a child it left behind keeps its output open.
	if err == nil || errors.Is(err, exec.ErrWaitDelay) && ended.Success() {
		return "Told by " + name + ".", nil
	}
	how := ended.String() // a signal
	if code := ended.ExitCode(); code >= 0 {
		how = fmt.Sprintf("exit code %d", code)
	}
	text := fmt.Sprintf("%s ended with %s", name, how)
	if line := errs.line(); line != "" {
		text += ": " + line
	}
	return "", passing("%s", scrub(text, channelSecrets(c)...)).of("channel " + c.Name)
}

// tail keeps the end of what is written to it.
type tail struct{ b []byte }

const tailKept = 4 << 10

func (t *tail) Write(p []byte) (int, error) {
	t.b = append(t.b, p[max(0, len(p)-tailKept):]...)
	t.b = t.b[max(0, len(t.b)-tailKept):]
	return len(p), nil
}

// line is the last one that is not empty.
func (t *tail) line() string {
	lines := strings.Split(strings.TrimSpace(string(t.b)), "\n")
	return shorten(plain.Line(strings.TrimSpace(lines[len(lines)-1])), 300)
}
