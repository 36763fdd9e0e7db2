// Package plain has texts as they may be shown on a terminal: nothing in what somebody wrote can
// move the cursor or set a title. It also cuts and compares texts, and writes JSON.
package plain

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Line is text as it may be sent to a terminal or a log on one line: every control character is
// written out, line breaks and tabs as \n and \t, so that nothing in a text a user gave can move
// the cursor, set a title or break a line.
func Line(text string) string {
	ok := utf8.ValidString(text)
	for _, r := range text {
		ok = ok && !Control(r)
	}
	if ok {
		return text
	}
	var b strings.Builder
	for i, r := range text {
		switch {
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case r == utf8.RuneError && !strings.HasPrefix(text[i:], "\uFFFD"):
			fmt.Fprintf(&b, `\x%02x`, text[i])
		case Control(r) && r < 0x100:
			fmt.Fprintf(&b, `\x%02x`, r)
		case Control(r):
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// Quote shows a word that a user typed inside a message, cut when it is very long.
func Quote(word string) string {
	return `"` + strings.ReplaceAll(Line(Cut(word, 61)), `"`, `\"`) + `"`
}

// Cut is a text of at most so many characters. The last one is "…" if the text is longer.
func Cut(text string, most int) string {
	if len(text) <= most || utf8.RuneCountInString(text) <= most {
		return text
	}
	return string([]rune(text)[:most-1]) + "…"
}

// Control reports what must not reach a terminal: C0, C1, DEL, line and paragraph separators, and
// the marks that turn the direction of writing round.
func Control(r rune) bool {
	return unicode.IsControl(r) || r == 0x2028 || r == 0x2029 || r >= 0x202A && r <= 0x202E || r >= 0x2066 && r <= 0x2069
}

// Lines is text as it may be sent to a terminal: control characters are written out, but for the
// line breaks between lines. Nothing in a message can move the cursor or set a title.
func Lines(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		lines[i] = Line(strings.ReplaceAll(line, "\t", " "))
	}
	return strings.Join(lines, "\n")
}

// List is "a", "a and b", "a, b and c", or with another word before the last.
func List(words []string, before string) string {
	last := len(words) - 1
	if last < 1 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:last], ", ") + " " + before + " " + words[last]
}

// Plural is "1 task", "2 tasks".
func Plural(n int, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return strconv.Itoa(n) + " " + word + "s"
}

// WholeCharacters returns how much of text ends with a whole character, or with bytes that are not
// one.
func WholeCharacters(text []byte) int {
	for i := len(text) - 1; i >= 0 && len(text)-i < utf8.UTFMax; i-- {
		if utf8.RuneStart(text[i]) {
			if !utf8.FullRune(text[i:]) {
				return i
			}
			break
		}
	}
	return len(text)
}
