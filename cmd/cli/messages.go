package cli

import (
	"bufio"
	"fmt"
	"io"

	"github.com/ouro-timer/ouro-timer/timer/problem"
)

// Wording puts problems into the words of a call's surface.
type Wording struct {
	// Surface is where the call came from, which decides how problems are worded. nil means a
	// command line.
	Surface problem.Surface
	typed   map[string]string // the names by which options were given
	program func() string     // returns the value of Program
}

// AsErrorJSON is a problem in the words of the call's surface, for JSON.
func (w *Wording) AsErrorJSON(p *problem.Problem) ErrorJSON {
	return ErrorJSON{Code: p.Code, Message: w.Render(p.Message), Hint: OrNull(w.Render(p.Hint)),
		Candidates: p.Candidates}
}

// Render returns a text in the words of the call's surface.
func (w *Wording) Render(text problem.Text) string {
	if w.Surface == nil {
		return text.In(problem.Shell{Program: w.Program(), Typed: w.typed})
	}
	return text.In(w.Surface)
}

// Messages writes the messages of a call to people to standard error.
type Messages struct {
	Form
	Wording
	Stdout   *bufio.Writer // standard output; Flush reports its errors
	ownBytes *ownBytes
	world    *World
}

// Note writes a line to standard error, but not with --json or --quiet.
func (o *Messages) Note(format string, a ...any) {
	if o.InJSON || o.Quiet {
		return
	}
	o.WriteError(format+"\n", a...)
}

// WriteError writes text to standard error, after the answer so far, so that the order is right on
// a terminal.
func (o *Messages) WriteError(format string, a ...any) {
	if o.Stdout != nil {
		_ = o.Stdout.Flush() // the writer keeps its error for Out.Flush
	}
	text := fmt.Sprintf(format, a...)
	if width, terminal := TerminalWidth(o.world.Err, o.world.Getenv); terminal {
		text = Fold(text, width)
	}
	_, _ = io.WriteString(counting{o.world.Err, &o.ownBytes.err}, text)
}

// Warn writes a warning to standard error, but not with --json, because the answer has it then.
func (o *Messages) Warn(format string, a ...any) {
	if !o.InJSON {
		o.WarnAlways(format, a...)
	}
}

// WarnAlways writes a warning to standard error, also with --json: it is for warnings that the
// answer has too late or not at all.
func (o *Messages) WarnAlways(format string, a ...any) {
	o.WriteError(o.label(Late, "ouro-timer:")+" "+format+"\n", a...)
}

// HintAlways writes a hint to standard error, also with --json and --quiet.
func (o *Messages) HintAlways(format string, a ...any) {
	o.WriteError(o.label(Minor, "hint:")+" "+format+"\n", a...)
}

// Hint writes a hint to standard error, but not with --json or --quiet.
func (o *Messages) Hint(format string, a ...any) { o.Note(o.label(Minor, "hint:")+" "+format, a...) }

// label is the coloured beginning of a line on standard error.
func (o *Messages) label(m Meaning, word string) string {
	return PaintOn(o.world.Err, o.world.Getenv).As(m, word)
}

// ShowProblem writes a problem to standard error: a line that begins with about, and a hint.
func (o *Messages) ShowProblem(about string, p *problem.Problem) {
	o.WriteError("%s %s%s\n", o.label(Bad, "ouro-timer:"), about, Visible(o.Render(p.Message)))
	if !p.Hint.Empty() {
		o.HintAlways("%s", Visible(o.Render(p.Hint)))
	}
}

// ShowContinue writes the call that continues this one to standard error, but not with --json,
// because the answer has it then.
func (o *Messages) ShowContinue(words ArgvOrNull) {
	line := ShellLine(words)
	if _, terminal := TerminalWidth(o.world.Err, o.world.Getenv); terminal {
		line = Visible(line)
	}
	if !o.InJSON {
		o.WriteError("continue: %s\n", line)
	}
}
