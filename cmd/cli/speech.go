package cli

import (
	"bufio"
	"fmt"
	"io"

	"github.com/ouro-timer/ouro-timer/timer/problem"
)

// Words are those of the surface that a call came by.
type Words struct {
	// Surface is where the call came from, in whose words problems are told; nil: a command line,
	// on which options were typed.
	Surface problem.Surface
	typed   map[string]string // the names that options were given by
	program func() string     // what Program returns
}

// AsErrorJSON is a problem in the words of the surface that the call came by.
func (w *Words) AsErrorJSON(p *problem.Problem) ErrorJSON {
	return ErrorJSON{Code: p.Code, Message: w.Says(p.Message), Hint: OrNull(w.Says(p.Hint)),
		Candidates: AsCandidates(p.Candidates)}
}

// Says is a text in the words of the surface that the call came by.
func (w *Words) Says(text problem.Text) string {
	if w.Surface == nil {
		return text.In(problem.Shell{Program: w.Program(), Typed: w.typed})
	}
	return text.In(w.Surface)
}

// Speech is what a call says to people on standard error, beside its answer.
type Speech struct {
	Form
	Words
	Stdout *bufio.Writer // standard output; Flush reports what went wrong with it
	spoken *spoken
	world  *World
}

// Talk writes a line to standard error, for people; nothing depends on it. It is silent with --json
// and --quiet.
func (o *Speech) Talk(format string, a ...any) {
	if o.InJSON || o.Quiet {
		return
	}
	o.Remark(format+"\n", a...)
}

// Remark writes to standard error, after what was answered so far: on a terminal the order shows.
func (o *Speech) Remark(format string, a ...any) {
	if o.Stdout != nil {
		_ = o.Stdout.Flush() // the error stays with the writer until the end, where it is told
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

// Caution writes a warning to standard error, also where the answer is in JSON: it comes too late,
// or not at all, for it.
func (o *Speech) Caution(format string, a ...any) {
	o.Remark(o.said(Late, "ouro-timer:")+" "+format+"\n", a...)
}

// Advise writes what to type next to standard error, also with --quiet: without it the call was for
// nothing.
func (o *Speech) Advise(format string, a ...any) {
	o.Remark(o.said(Dim, "hint:")+" "+format+"\n", a...)
}

// Hint writes what to do or type next to standard error, as Talk does.
func (o *Speech) Hint(format string, a ...any) { o.Talk(o.said(Dim, "hint:")+" "+format, a...) }

// said is what a line on standard error begins with.
func (o *Speech) said(m Meaning, word string) string {
	return PaintOn(o.world.Err, o.world.Getenv).As(m, word)
}

// Complain tells a problem on standard error, as a line that names what it is about and a hint.
func (o *Speech) Complain(about string, p *problem.Problem) {
	o.Remark("%s %s%s\n", o.said(Bad, "ouro-timer:"), about, Visible(o.Says(p.Message)))
	if !p.Hint.Empty() {
		o.Advise("%s", Visible(o.Says(p.Hint)))
	}
}

// GoOn tells people how the call goes on. In JSON the answer has it.
func (o *Speech) GoOn(words ArgvOrNull) {
	line := ShellLine(words)
	if _, terminal := TerminalWidth(o.world.Err, o.world.Getenv); terminal {
		line = Visible(line)
	}
	if !o.InJSON {
		o.Remark("continue: %s\n", line)
	}
}
