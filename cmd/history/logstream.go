package history

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"

	"github.com/ouro-timer/ouro-timer/cmd/cli"
	"github.com/ouro-timer/ouro-timer/cmd/view"
	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/timer/relay"
)

// runOutput is the output of a run that is told while it is written.
type runOutput struct {
	id      string
	number  int
	streams [2]*stream
}

// stream is the standard output or the standard error of a run.
type stream struct {
	name string
	from state.Stream
	file state.StreamReader // nil when the file does not exist yet
	at   int64              // how far it was read; below zero when a long beginning is left out
	rest []byte             // was read and not told: the beginning of a character
	open bool               // the told text does not end with a line feed
}

func newRunOutput(st state.Outputs, id string, number int, at [2]int64) *runOutput {
	stdout, stderr := st.Output(id, number)
	return &runOutput{id, number, [2]*stream{{name: "stdout", from: stdout, at: at[0]},
		{name: "stderr", from: stderr, at: at[1]}}}
}

// told is how many bytes of it were told.
func (t *stream) told() int64 { return max(t.at, 0) - int64(len(t.rest)) }

func (r *runOutput) close() {
	for _, t := range r.streams {
		if t.file != nil {
			t.file.Close()
		}
	}
}

// drain tells what the run has written since the last look. With its line it is the end of the run.
func (f *logFollower) drain(ctx context.Context, r *runOutput, end *state.Line) {
	was := [2]state.Output{}
	if end != nil {
		was = [2]state.Output{end.Stdout, end.Stderr}
	}
	var buf [32 << 10]byte
	for i, t := range r.streams {
		if !t.find(ctx, end != nil, was[i]) {
			continue
		}
		for f.lost == nil {
			n, err := t.file.ReadAt(buf[:], t.at)
			if n > 0 {
				from := t.told()
				t.at += int64(n)
				f.piece(r, t, from, append(t.rest, buf[:n]...), false)
			}
			if err != nil || n == 0 {
				break
			}
		}
		if end != nil && len(t.rest) > 0 {
			f.piece(r, t, t.told(), t.rest, true)
		}
		if _, terminal := cli.TerminalWidth(f.Err, f.Getenv); end != nil && t.open && !f.InJSON &&
			(i == 0 || terminal) {
			f.write(t, "\n") // the entry begins on a new line
		}
	}
}

// find opens the stream if it exists, and sets the place. Another attempt writes the file anew. An
// attempt that has ended may have been cut in the middle, and what is left of it counts from its
// end.
func (t *stream) find(ctx context.Context, ended bool, was state.Output) bool {
	fresh := t.file == nil
	if fresh {
		var err error
		if t.file, err = t.from.Open(ctx); err != nil {
			t.file = nil
			return false
		}
	}
	size, err := t.file.Size()
	if err != nil {
		return false
	}
	switch {
	case t.at < 0 && size > view.OutputMost:
		t.at = startOfLine(t.file, size-view.OutputMost)
	case t.at < 0:
		t.at = 0
	case fresh && ended && was.Truncated && t.at > view.OutputMost:
		t.at = min(max(size-(was.Bytes-t.at), view.OutputMost), size)
	case size < t.at:
		t.at, t.rest = 0, nil
	}
	return true
}

// startOfLine is where the first whole line after an offset begins. When lines are long it is the
// offset.
func startOfLine(f io.ReaderAt, at int64) int64 {
	var buf [4 << 10]byte
	n, _ := f.ReadAt(buf[:], at)
	for i, c := range buf[:n] {
		if c == '\n' {
			return at + int64(i) + 1
		}
	}
	return at
}

// piece tells a piece of output. It keeps an incomplete character for the next piece, unless this
// is the last.
func (f *logFollower) piece(r *runOutput, t *stream, from int64, text []byte, last bool) {
	whole := len(text)
	if !last {
		whole = relay.WholeCharacters(text)
	}
	t.rest = slices.Clone(text[whole:])
	if last {
		t.rest = nil
	}
	text = text[:whole]
	if len(text) == 0 {
		return
	}
	if !f.InJSON {
		f.write(t, string(text))
		return
	}
	now := f.Clock.Now().In(f.o.zone)
	f.Emit(view.PieceJSON{Type: "output", At: now, ID: state.OccurrenceID(r.id, r.number), TaskID: r.id,
		Stream: t.name, Offset: from, Text: strings.ToValidUTF8(string(text), "\uFFFD"), Now: now})
	f.lost = errors.Join(f.lost, f.Flush())
}

// write writes output to the stream that it was written to. A terminal gets control characters as
// text.
func (f *logFollower) write(t *stream, text string) {
	t.open = !strings.HasSuffix(text, "\n")
	to := f.World.Out
	if t.name == "stderr" {
		to = f.Err
	}
	if _, terminal := cli.TerminalWidth(to, f.Getenv); terminal {
		lines := strings.Split(text, "\n")
		for i, line := range lines {
			lines[i] = strings.ReplaceAll(cli.Visible(line), `\t`, "\t")
		}
		text = strings.Join(lines, "\n")
	}
	if t.name == "stderr" {
		f.lost = errors.Join(f.lost, f.Flush())
		_, _ = io.WriteString(f.Err, text) // an error means that the reader has gone
		return
	}
	_, _ = f.Stdout.WriteString(text) // flush tells
	f.lost = errors.Join(f.lost, f.Flush())
}
