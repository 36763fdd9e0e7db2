package cmd

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"strings"
)

// perform runs one command in this process and returns what it wrote to standard output and its exit code, as if it had been called with the
// words by itself, with the text on standard input. What it says on standard error is for people and is left out. It ends with ctx, not by
// signals. Calls share nothing but the world: any number of them may be under way at once.
func (w World) perform(ctx context.Context, called string, words []string, in string) ([]byte, int) {
	var out bytes.Buffer
	w.In, w.Out, w.Err = strings.NewReader(in), &out, io.Discard
	args := append([]string{called}, words...)
	s := &session{World: w.settled(), called: called, json: asksJSON(args), single: true, out: bufio.NewWriterSize(&out, 32<<10)}
	err := s.dispatchIn(args, table(), func() (context.Context, func()) { return context.WithCancel(ctx) })
	if err != nil && ctx.Err() != nil && out.Len()+s.out.Buffered() > 0 {
		err = exitCode(exitFailed) // it has said how far it came, as it does before it dies of a signal
	}
	code := s.conclude(err)
	return out.Bytes(), code
}
