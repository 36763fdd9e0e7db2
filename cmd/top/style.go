package top

import (
	"strings"

	"github.com/ouro-timer/ouro-timer/cmd/cli"
)

// style is how a text is shown, in parameters of SGR (ECMA-48). An empty one changes nothing.
type style string

// looks says what the terminal can show.
type looks struct {
	colour bool
	ascii  bool // only ASCII
	flat   bool // no styles, so the selected row has a sign
	times  cli.Locale
}

// paint returns text in a style. Without colour it stays as it was.
func (l looks) paint(s style, text string) string {
	if s == plain || text == "" || l.flat || !l.colour && s[0] == '3' {
		return text
	}
	return "\x1b[" + string(s) + "m" + text + "\x1b[m"
}

// cut cuts text to a number of columns, and ends it with an ellipsis. Styles are kept.
func (l looks) cut(text string, width int) string {
	more := "…"
	if l.ascii {
		more = "~"
	}
	return cli.Cut(text, width, more)
}

// fill makes text exactly so many columns wide.
func (l looks) fill(text string, width int) string {
	text = l.cut(text, width)
	return text + strings.Repeat(" ", max(width-cli.Columns(text), 0))
}

// wrap breaks text into lines of at most so many columns, at spaces if there are any.
func wrap(text string, width int) (lines []string) {
	for cli.Columns(text) > width {
		head := cli.Cut(text, width, "")
		if at := strings.LastIndexByte(head, ' '); at > 0 && !strings.HasPrefix(text[len(head):], " ") {
			head = head[:at]
		}
		if head == "" { // the letter takes two columns, and there is room for one
			break
		}
		lines, text = append(lines, head), strings.TrimPrefix(text[len(head):], " ")
	}
	return append(lines, text)
}

// rule is a horizontal line with a title in it.
func (l looks) rule(s style, title string, width int) string {
	dash := "─"
	if l.ascii {
		dash = "-"
	}
	left := dash + " " + title + " "
	if title == "" {
		left = ""
	}
	text := l.cut(left, width)
	return l.paint(s, text+strings.Repeat(dash, max(width-cli.Columns(text), 0)))
}

const (
	plain   style = ""
	bold    style = "1"
	dim     style = "2"
	reverse style = "7"
	red     style = "31"
	green   style = "32"
	yellow  style = "33"
	cyan    style = "36"
)
