package cli

import (
	"os"
	"runtime"

	"github.com/charmbracelet/x/ansi" // columns and letters of text
)

// Meaning is what a part of a text tells, for an eye that looks for it. What it looks like is
// decided here alone, in parameters of SGR (ECMA-48); the words say the same without.
type Meaning string

// The meanings.
const (
	Ordinary Meaning = ""
	Bad      Meaning = "31" // it failed, or the call did
	Late     Meaning = "33" // overdue, missed, or to be looked at before it is
	Unread   Meaning = "1"  // nobody has seen it yet
	Dim      Meaning = "2"  // beside the point: paused, taken, a hint
	Going    Meaning = "36" // how far something has come
)

// Paint shows meanings on a stream that has colour, and leaves text as it is for one that has none.
type Paint bool

// As is the text with what it means.
func (p Paint) As(m Meaning, text string) string {
	if !bool(p) || m == Ordinary || text == "" {
		return text
	}
	return "\x1b[" + string(m) + "m" + text + "\x1b[m"
}

// PaintOn decides whether a stream gets colour, by https://no-color.org and
// https://bixense.com/clicolors. What is not a file of the system, such as the answer of a tool,
// gets none.
func PaintOn(stream any, getenv func(string) string) Paint {
	f, ok := stream.(*os.File)
	return Paint(ok && coloured(getenv, func() bool { return IsTerminal(f) }))
}

// coloured is the same by the variables, and by whether the stream is a terminal.
func coloured(getenv func(string) string, terminal func() bool) bool {
	if getenv("NO_COLOR") != "" {
		return false
	}
	if forced := getenv("CLICOLOR_FORCE"); forced != "" && forced != "0" {
		return true
	}
	kind := getenv("TERM")
	return getenv("CLICOLOR") != "0" && kind != "dumb" && (kind != "" || runtime.GOOS == "windows") && terminal()
}

// Paint is that of standard output. It is asked for once for an answer, and an answer in JSON has
// none.
func (o *Out) Paint() Paint { return Paint(!o.InJSON) && PaintOn(o.world.Out, o.world.Getenv) }

// Columns is how many columns of a terminal a text takes: letters as they are read, of two columns
// where they are wide. What paints takes none.
func Columns(text string) int {
	for i := range len(text) {
		if text[i] < ' ' || text[i] > '~' {
			return ansi.StringWidth(text)
		}
	}
	return len(text)
}

// InColumns are rows as lines in which the columns stand below each other. The last one is as long
// as its text.
func InColumns(rows [][]string) []string {
	var widest []int
	for _, row := range rows {
		widest = append(widest, make([]int, max(len(row)-len(widest), 0))...)
		for i, field := range row {
			widest[i] = max(widest[i], Columns(field))
		}
	}
	lines := make([]string, len(rows))
	for n, row := range rows {
		for i, field := range row {
			if i < len(row)-1 {
				field = Pad(field, widest[i]) + "  "
			}
			lines[n] += field
		}
	}
	return lines
}

// Fit cuts text to the width in columns, with an ellipsis where something is missing. What is
// painted stays so.
func Fit(text string, width int) string {
	switch {
	case width < 1:
		return ""
	case len(text) <= width: // no letter takes more columns than bytes
		return text
	}
	return Cut(text, width, "…")
}

// Cut is text in at most so many columns, with more at its end where something is missing. What is
// painted stays so.
func Cut(text string, width int, more string) string {
	return ansi.Truncate(text, max(width, 0), more)
}

// Between is what of a text stands in the columns from the one to before the other.
func Between(text string, from, to int) string { return ansi.Cut(text, from, to) }

// Letter is the first letter of a text, as it is read: of one code point or more.
func Letter(text string) string {
	first, _ := ansi.FirstGraphemeCluster(text, ansi.GraphemeWidth)
	return first
}
