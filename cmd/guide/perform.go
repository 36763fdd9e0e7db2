package guide

import (
	"bytes"
	"context"
	"io"
	"strings"

	"github.com/ouro-timer/ouro-timer/cmd/cli"
	"github.com/ouro-timer/ouro-timer/cmd/mcp"
)

// answerCall makes one call of a command in this process, and returns its answer in JSON. It drops
// what the command writes to standard error. The call ends with ctx, and not by signals. Calls
// share only the world of server, so any number of them may run at once.
func answerCall(ctx context.Context, server *cli.Call, called string, r mcp.Request) mcp.Answer {
	w := server.World
	var out bytes.Buffer
	w.In, w.Out, w.Err = strings.NewReader(""), &out, io.Discard
	s := cli.NewCall(w.WithAbsoluteHome())
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
