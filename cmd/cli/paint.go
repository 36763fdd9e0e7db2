package cli

import (
	"os"
	"runtime"

	"github.com/charmbracelet/x/ansi" // columns and characters of text
)

// Meaning is what a part of a text means, and its value is how that looks: the parameters of SGR
// (ECMA-48). Colour adds nothing that the words do not say.
type Meaning string

// These are the meanings.
const (
	Ordinary Meaning = ""
	Bad      Meaning = "31" // it failed, or the call did
	Late     Meaning = "33" // it is overdue, missed, or soon will be
	Unread   Meaning = "1"  // nobody has seen it
	Minor    Meaning = "2"  // it matters less: paused, taken, a hint
	Going    Meaning = "36" // the progress of something
)

// Paint is whether a stream shows meanings in colour. Without colour, As leaves texts as they are.
type Paint bool

// As returns the text painted with its meaning.
func (p Paint) As(m Meaning, text string) string {
	if !bool(p) || m == Ordinary || text == "" {
		return text
	}
	return "\x1b[" + string(m) + "m" + text + "\x1b[m"
}

// PaintOn decides whether a stream gets colour, by https://no-color.org and
// https://bixense.com/clicolors. A stream that is not a file of the system, such as the answer of a
// tool, gets none.
func PaintOn(stream any, getenv func(string) string) Paint {
	f, ok := stream.(*os.File)
	return Paint(ok && coloured(getenv, func() bool { return IsTerminal(f) }))
}

// coloured decides from the variables, and from whether the stream is a terminal.
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

// Paint is whether standard output shows colour. It asks the system: call it once for an answer. An
// answer in JSON has no colour.
func (o *Out) Paint() Paint { return Paint(!o.InJSON) && PaintOn(o.world.Out, o.world.Getenv) }

// Columns is the width of a text in columns of a terminal. Wide characters take two. Colour takes
// none.
func Columns(text string) int {
	for i := range len(text) {
		if text[i] < ' ' || text[i] > '~' {
			return ansi.StringWidth(text)
		}
	}
	return len(text)
}

// InColumns returns rows as lines with aligned columns. The last column is not padded.
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

// Fit cuts text to a width in columns, and ends it with an ellipsis. It keeps colour.
func Fit(text string, width int) string {
	switch {
	case width < 1:
		return ""
	case len(text) <= width: // a character has at least as many bytes as columns
		return text
	}
	return Cut(text, width, "…")
}

// Cut cuts text to a width in columns, and ends it with more. It keeps colour.
func Cut(text string, width int, more string) string {
	return ansi.Truncate(text, max(width, 0), more)
}

// Between is the part of a text from column from to before column to.
func Between(text string, from, to int) string { return ansi.Cut(text, from, to) }

// FirstCharacter is the first character of a text as people see it, which may be several code
// points.
func FirstCharacter(text string) string {
	first, _ := ansi.FirstGraphemeCluster(text, ansi.GraphemeWidth)
	return first
}
