package cli

import "strings"

// Fold breaks lines between words, where a terminal of width columns would break them anywhere. It
// does so by filling rows with blanks and not with line feeds, so that what is copied from the
// terminal is still one line, which a shell reads as it was meant. Lines with tabs, and words that
// are wider than the terminal, stay as they are.
func Fold(text string, width int) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if Columns(line) > width && !strings.Contains(line, "\t") {
			lines[i] = foldLine(line, width)
		}
	}
	return strings.Join(lines, "\n")
}

func foldLine(line string, width int) string {
	var b strings.Builder
	column := 0
	for i, word := range strings.Split(line, " ") {
		columns := Columns(word)
		switch blanks := width - column; {
		case i == 0:
		case column+1+columns <= width || columns > width || blanks == 0:
			// a word after a full row keeps its blank
			b.WriteString(" ")
			column++
		default:
			b.WriteString(strings.Repeat(" ", blanks))
			column = 0
		}
		b.WriteString(word)
		if column += columns; column > width {
			column = max(1, column%width)
		}
	}
	return b.String()
}
