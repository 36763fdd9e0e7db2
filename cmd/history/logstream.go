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
	"github.com/ouro-timer/ouro-timer/state/plain"
)

// runOutput is the output of a run that is shown while the run writes it.
type runOutput struct {
	id      string
	number  int
	streams [2]*stream
}

// stream is the standard output or the standard error of a run.
type stream struct {
	name    string
	source  state.Stream
	file    state.StreamReader // nil when the file does not exist yet
	offset  int64              // how far it was read; below zero when a long beginning is left out
	partial []byte             // was read and not told: the beginning of a character
	midLine bool               // the told text does not end with a line feed
}

func newRunOutput(st state.Outputs, id string, number int, at [2]int64) *runOutput {
	stdout, stderr := st.Output(id, number)
	return &runOutput{id, number, [2]*stream{{name: "stdout", source: stdout, offset: at[0]},
		{name: "stderr", source: stderr, offset: at[1]}}}
}

// shown is how many bytes of the stream were shown.
func (t *stream) shown() int64 { return max(t.offset, 0) - int64(len(t.partial)) }

func (r *runOutput) close() {
	for _, t := range r.streams {
		if t.file != nil {
			t.file.Close()
		}
	}
}

// showOutput shows what a run has written since the last time. When the run has ended, end is its
// line of the ledger, and showOutput shows the rest.
func (f *logFollower) showOutput(ctx context.Context, r *runOutput, end *state.Line) {
	recorded := [2]state.Output{}
	if end != nil {
		recorded = [2]state.Output{end.Stdout, end.Stderr}
	}
	var buf [32 << 10]byte
	for i, t := range r.streams {
		if !t.open(ctx, end != nil, recorded[i]) {
			continue
		}
		for f.fatal == nil {
			n, err := t.file.ReadAt(buf[:], t.offset)
			if n > 0 {
				from := t.shown()
				t.offset += int64(n)
				f.showPiece(r, t, from, append(t.partial, buf[:n]...), false)
			}
			if err != nil || n == 0 {
				break
			}
		}
		if end != nil && len(t.partial) > 0 {
			f.showPiece(r, t, t.shown(), t.partial, true)
		}
		if _, terminal := cli.TerminalWidth(f.Err, f.Getenv); end != nil && t.midLine && !f.InJSON &&
			(i == 0 || terminal) {
			f.write(t, "\n") // the entry begins on a new line
		}
	}
}

// open opens the stream if its file exists, and sets the offset to read from. Another attempt
// begins the file anew. The middle of a long output may have been removed when the run ended; then
// the offset counts from the end.
func (t *stream) open(ctx context.Context, ended bool, recorded state.Output) bool {
	fresh := t.file == nil
	if fresh {
		var err error
		if t.file, err = t.source.Open(ctx); err != nil {
			t.file = nil
			return false
		}
	}
	size, err := t.file.Size()
	if err != nil {
		return false
	}
	switch {
	case t.offset < 0 && size > view.OutputMost:
		t.offset = startOfLine(t.file, size-view.OutputMost)
	case t.offset < 0:
		t.offset = 0
	case fresh && ended && recorded.Truncated && t.offset > view.OutputMost:
		t.offset = min(max(size-(recorded.Bytes-t.offset), view.OutputMost), size)
	case size < t.offset:
		t.offset, t.partial = 0, nil
	}
	return true
}

// startOfLine is where the first whole line after an offset begins, or the offset when that line is
// far.
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

// showPiece shows a piece of output. It keeps an incomplete character for the next piece, unless
// this is the last.
func (f *logFollower) showPiece(r *runOutput, t *stream, from int64, text []byte, last bool) {
	whole := len(text)
	if !last {
		whole = plain.WholeCharacters(text)
	}
	t.partial = slices.Clone(text[whole:])
	if last {
		t.partial = nil
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
	f.fatal = errors.Join(f.fatal, f.Flush())
}

// write writes output to the stream that it was written to. A terminal gets control characters as
// text.
func (f *logFollower) write(t *stream, text string) {
	t.midLine = !strings.HasSuffix(text, "\n")
	to := f.World.Out
	if t.name == "stderr" {
		to = f.Err
	}
	if _, terminal := cli.TerminalWidth(to, f.Getenv); terminal {
		text = cli.VisibleLines(text)
	}
	if t.name == "stderr" {
		f.fatal = errors.Join(f.fatal, f.Flush())
		_, _ = io.WriteString(f.Err, text) // an error means that nobody reads
		return
	}
	_, _ = f.Stdout.WriteString(text) // Flush returns the error
	f.fatal = errors.Join(f.fatal, f.Flush())
}
