package waiting

import (
	"strings"

	"github.com/ouro-timer/ouro-timer/cmd/cli"
)

// glyph returns a letter of a countdown as five rows of cells.
func glyph(letter rune) []string {
	rows, known := map[rune]string{
		'0': "###/# #/# #/# #/###",
		'1': "## / # / # / # /###",
		'2': "###/  #/###/#  /###",
		'3': "###/  #/###/  #/###",
		'4': "# #/# #/###/  #/  #",
		'5': "###/#  /###/  #/###",
		'6': "###/#  /###/# #/###",
		'7': "###/  #/  #/  #/  #",
		'8': "###/# #/###/# #/###",
		'9': "###/# #/###/  #/###",
		':': " /#/ /#/ ",
		'.': " / / / /#",
		'd': "  #/  #/###/# #/###",
		's': "   / ##/ # /  #/ ##",
	}[letter]
	if !known {
		rows = " / / / / "
	}
	return strings.Split(rows, "/")
}

// large returns the countdown in the largest digits that fit, with the name above and the bar
// below. It returns nil when none fit.
func (c countdown) large(at frame, width, height int) []string {
	remains := strings.TrimSpace(c.remains(at.left))
	line, ok := c.row("", at, width-1)
	if !ok {
		return nil
	}
	meaning := cli.Going
	if at.held {
		meaning = cli.Minor
	}
	var above []string
	if c.name != "" {
		above = []string{c.name, ""}
	}
	// A cell of a terminal is about twice as high as wide.
	for _, size := range []struct{ columns, rows int }{{6, 3}, {4, 2}, {2, 1}, {1, 1}} {
		digits := c.digits(remains, size.columns, size.rows)
		lines := len(above) + len(digits) + 2
		// The last row stays free for what is typed next.
		if cli.Columns(digits[0]) > width-1 || lines > height-1 {
			continue
		}
		for i, d := range digits {
			digits[i] = c.paint.As(meaning, d)
		}
		return append(append(above, digits...), "", line)
	}
	return nil
}

// digits returns the lines of a text in glyphs. Each cell of a glyph takes the given columns and
// rows.
func (c countdown) digits(text string, columns, rows int) (lines []string) {
	on, off := strings.Repeat("█", columns), strings.Repeat(" ", columns)
	if c.ascii {
		on = strings.Repeat("#", columns)
	}
	cells := strings.NewReplacer("#", on, " ", off)
	for row := range 5 {
		var parts []string
		for _, letter := range text {
			parts = append(parts, glyph(letter)[row])
		}
		line := cells.Replace(strings.Join(parts, " "))
		for range rows {
			lines = append(lines, line)
		}
	}
	return lines
}
