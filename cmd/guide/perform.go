package guide

import (
	"bytes"
	"context"
	"io"
	"strings"
	"time"

	"github.com/ouro-timer/ouro-timer/cmd/cli"
	"github.com/ouro-timer/ouro-timer/cmd/mcp"
)

// answerCall makes one call of a command in this process, and returns its answer in JSON. It drops
// what the command writes to standard error. The call ends with ctx, and not by signals. Calls
// share only the world of server, so any number of them may run at once. Whatever a command waits
// for, it does so for at most as long as the server lets a call block.
func answerCall(ctx context.Context, server *cli.Call, called string, most time.Duration, r mcp.Request) mcp.Answer {
	w := server.World
	var out bytes.Buffer
	w.In, w.Out, w.Err = strings.NewReader(""), &out, io.Discard
	w = w.WithAbsoluteHome()
	getenv := w.Getenv
	w.Getenv = func(name string) string {
		if name == "OURO_MAX" {
			return most.String()
		}
		return getenv(name)
	}
	s := cli.NewCall(w)
	s.Called, s.Cmd, s.Table, s.Surface, s.InJSON, s.OneAnswer = called, server.Table.Find(r.Command), server.Table,
		r.Surface, true, true
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	err := cli.Perform(ctx, s, r.Line)
	if err != nil && ctx.Err() != nil && out.Len()+s.Stdout.Buffered() > 0 {
		// The command has answered how far it came, as it does on a signal.
		err = cli.ExitCode(cli.ExitFailed)
	}
	return mcp.Answer{Exit: cli.Conclude(s, err), JSON: out.Bytes(), Next: s.Continuation}
}
