package cli

import (
	"bufio"
	"fmt"
	"io"

	"github.com/ouro-timer/ouro-timer/timer/problem"
)

// Words are the words of the surface of a call.
type Words struct {
	// Surface is where the call came from, which decides how problems are worded. nil means a
	// command line.
	Surface problem.Surface
	typed   map[string]string // the names by which options were given
	program func() string     // returns the value of Program
}

// AsErrorJSON is a problem in the words of the surface of the call.
func (w *Words) AsErrorJSON(p *problem.Problem) ErrorJSON {
	return ErrorJSON{Code: p.Code, Message: w.Says(p.Message), Hint: OrNull(w.Says(p.Hint)),
		Candidates: AsCandidates(p.Candidates)}
}

// Says is a text in the words of the surface of the call.
func (w *Words) Says(text problem.Text) string {
	if w.Surface == nil {
		return text.In(problem.Shell{Program: w.Program(), Typed: w.typed})
	}
	return text.In(w.Surface)
}

// Speech writes what a call says to people on standard error, beside its answer.
type Speech struct {
	Form
	Words
	Stdout *bufio.Writer // standard output; Flush reports what went wrong with it
	spoken *spoken
	world  *World
}

// Talk writes a line for people to standard error. It is silent with --json and --quiet.
func (o *Speech) Talk(format string, a ...any) {
	if o.InJSON || o.Quiet {
		return
	}
	o.Remark(format+"\n", a...)
}

// Remark writes to standard error after the answer so far, so that the order is right on a
// terminal.
func (o *Speech) Remark(format string, a ...any) {
	if o.Stdout != nil {
		_ = o.Stdout.Flush() // the writer keeps the error until the end
	}
	text := fmt.Sprintf(format, a...)
	if width, terminal := TerminalWidth(o.world.Err, o.world.Getenv); terminal {
		text = Fold(text, width)
	}
	_, _ = io.WriteString(counting{o.world.Err, &o.spoken.err}, text)
}

// Warn writes a warning to standard error, unless it goes into the JSON answer.
func (o *Speech) Warn(format string, a ...any) {
	if !o.InJSON {
		o.Caution(format, a...)
	}
}

// Caution writes a warning to standard error, also with --json, because the answer would have it
// too late or not at all.
func (o *Speech) Caution(format string, a ...any) {
	o.Remark(o.said(Late, "ouro-timer:")+" "+format+"\n", a...)
}

// Advise writes what to type next to standard error, also with --quiet.
func (o *Speech) Advise(format string, a ...any) {
	o.Remark(o.said(Dim, "hint:")+" "+format+"\n", a...)
}

// Hint writes what to do or type next to standard error, as Talk does.
func (o *Speech) Hint(format string, a ...any) { o.Talk(o.said(Dim, "hint:")+" "+format, a...) }

// said is the beginning of a line on standard error.
func (o *Speech) said(m Meaning, word string) string {
	return PaintOn(o.world.Err, o.world.Getenv).As(m, word)
}

// Complain writes a problem to standard error: a line that begins with about, and a hint.
func (o *Speech) Complain(about string, p *problem.Problem) {
	o.Remark("%s %s%s\n", o.said(Bad, "ouro-timer:"), about, Visible(o.Says(p.Message)))
	if !p.Hint.Empty() {
		o.Advise("%s", Visible(o.Says(p.Hint)))
	}
}

// GoOn tells people the call that goes on. In JSON the answer has it.
func (o *Speech) GoOn(words ArgvOrNull) {
	line := ShellLine(words)
	if _, terminal := TerminalWidth(o.world.Err, o.world.Getenv); terminal {
		line = Visible(line)
	}
	if !o.InJSON {
		o.Remark("continue: %s\n", line)
	}
}
