package cli

import (
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/term" // is this a terminal, and how wide

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/state/plain"
	"github.com/ouro-timer/ouro-timer/timer/problem"
)

// Out writes the answer of a call to standard output, and messages to standard error. NewCall makes
// one.
type Out struct {
	Messages
	lost bool // standard output cannot be written, so that problems go to standard error
}

// Form says how a call is answered.
type Form struct {
	InJSON bool
	Quiet  bool     // --quiet
	DryRun bool     // --dry-run: say what would be done
	full   bool     // --json=full: absent fields are null, an empty list or false
	fields []string // --fields: only these fields are written
}

// Compact reports whether the answer is in JSON without absent fields and without --fields.
func (f Form) Compact() bool { return f.InJSON && f.fields == nil && !f.full }

// Answer is the answer of a command: a struct that is encoded as one JSON object, or written as
// text.
type Answer interface {
	// Text writes the answer for people to standard output, and what else they should know to
	// standard error.
	Text(o *Out)
}

// Answer writes the answer in the form that the call asks for.
func (o *Out) Answer(a Answer) {
	switch lines, streams := a.(Streamed); {
	case streams && o.Compact():
		lines.WriteJSON(o)
	case o.InJSON:
		o.Emit(a)
	default:
		a.Text(o)
	}
}

// Streamed is an answer that writes its own JSON, so that it is never in memory as a whole.
type Streamed interface{ WriteJSON(o *Out) }

// Emit writes one JSON object on a line of standard output.
func (o *Out) Emit(v any) {
	o.Stdout.Write(Encode(o.inForm(written(v)))) // Flush reports an error
}

// Line writes a line of the answer. The text is written as it is: escape what users wrote with
// Visible.
func (o *Out) Line(format string, a ...any) {
	if o.DryRun {
		format = "dry run: " + format
	}
	text := fmt.Sprintf(format+"\n", a...)
	if width, terminal := o.Width(); terminal {
		text = Fold(text, width)
	}
	o.Stdout.WriteString(text) // Flush reports an error
}

// LineUnlessQuiet writes a line of the answer that --quiet leaves out.
func (o *Out) LineUnlessQuiet(format string, a ...any) {
	if !o.Quiet {
		o.Line(format, a...)
	}
}

// Flush sends the answer so far. An answer is sent in one piece if possible, because a reader that
// has seen enough (head, grep -q) would otherwise end the program before it is done. A stream is
// flushed line by line.
func (o *Out) Flush() error {
	if err := o.Stdout.Flush(); err != nil {
		o.Stdout.Reset(io.Discard) // so that the error is reported once
		o.lost = true
		return Unwritten(err)
	}
	return nil
}

// Unwritten is the problem of an answer that could not be written.
func Unwritten(err error) *problem.Problem {
	return problem.New(problem.Failed, problem.T("the answer could not be written: %v", err),
		problem.T("send standard output to a file or program that takes it"))
}

// Stamp is the instant that answers call now, in the zone of the user, or in UTC when that zone is
// not known.
func (s *Call) Stamp() time.Time {
	if !s.Reference.IsZero() {
		return s.Reference
	}
	zone, err := s.Zone()
	if err != nil {
		zone = time.UTC
	}
	return s.Clock.Now().In(zone)
}

// Visible is text on one line, with the characters escaped that a terminal would act on.
func Visible(text string) string { return plain.Line(text) }

// VisibleLines is text with its lines and tabs, and with the other characters escaped that a
// terminal would act on.
func VisibleLines(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		lines[i] = strings.ReplaceAll(Visible(line), `\t`, "\t")
	}
	return strings.Join(lines, "\n")
}

// Quote is a word of the user in quotation marks for a message, shortened if it is long.
func Quote(word string) string { return plain.Quote(word) }

// ShellQuote writes a word so that sh reads it back unchanged.
func ShellQuote(word string) string { return state.ShellLine([]string{word}) }

// ShellLine writes words as a line that can be pasted into sh.
func ShellLine(words []string) string { return state.ShellLine(words) }

// terminals says of each *os.File that was asked for whether it is a terminal. That never changes,
// and an answer asks for each of its lines.
var terminals sync.Map

// IsTerminal reports whether a stream is a terminal.
func IsTerminal(stream any) bool {
	f, ok := stream.(*os.File)
	if !ok {
		return false
	}
	if known, asked := terminals.Load(f); asked {
		return known.(bool)
	}
	is := term.IsTerminal(int(f.Fd()))
	terminals.Store(f, is)
	return is
}

// Ring rings the bell of the terminal of standard error, or else of standard output.
func Ring(w World) {
	for _, stream := range []io.Writer{w.Err, w.Out} {
		if IsTerminal(stream) {
			_, _ = io.WriteString(stream, "\a")
			return
		}
	}
}

// IsPiped reports whether a stream is a pipe or a file, which may have something to read.
func IsPiped(stream any) bool {
	f, ok := stream.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeDevice == 0
}

// Width is the number of columns of the terminal that the answer goes to; false when it goes
// elsewhere.
func (o *Out) Width() (int, bool) { return TerminalWidth(o.world.Out, o.world.Getenv) }

// Height is the number of lines of the terminal that the answer goes to; false when it goes
// elsewhere.
func (o *Out) Height() (int, bool) { return TerminalHeight(o.world.Out, o.world.Getenv) }

// TerminalWidth is the number of columns of the terminal that a stream goes to; false when it goes
// elsewhere.
func TerminalWidth(w io.Writer, getenv func(string) string) (int, bool) {
	width, _, terminal := terminalSize(w, getenv)
	return width, terminal
}

// TerminalHeight is the number of lines of the terminal that a stream goes to; false when it goes
// elsewhere.
func TerminalHeight(w io.Writer, getenv func(string) string) (int, bool) {
	_, height, terminal := terminalSize(w, getenv)
	return height, terminal
}

func terminalSize(w io.Writer, getenv func(string) string) (width, height int, terminal bool) {
	if !IsTerminal(w) {
		return 0, 0, false
	}
	known := func(n int, variable string, usual int) int {
		if n > 0 {
			return n
		}
		if n, err := strconv.Atoi(getenv(variable)); err == nil && n > 0 {
			return n
		}
		return usual
	}
	width, height, _ = term.GetSize(int(w.(*os.File).Fd())) // an error leaves them below 1
	return known(width, "COLUMNS", 80), known(height, "LINES", 24), true
}

// Pad adds spaces to text up to the width in columns.
func Pad(text string, width int) string {
	if n := width - Columns(text); n > 0 {
		return text + strings.Repeat(" ", n)
	}
	return text
}

// Seconds is a duration in seconds for JSON, to the microsecond.
func Seconds(d time.Duration) float64 {
	return float64(d.Round(time.Microsecond)) / float64(time.Second)
}

// Plural is "1 task", "2 tasks".
func Plural(n int, word string) string { return plain.Plural(n, word) }
