package top

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/ouro-timer/ouro-timer/cmd/cli"
)

// input is a line that is being typed, with the place of the cursor in bytes.
type input struct {
	text   string
	cursor int
}

// insert puts text at the cursor. Line breaks and control characters become spaces.
func (in input) insert(text string) input {
	text = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, text)
	in.text = in.text[:in.cursor] + text + in.text[in.cursor:]
	in.cursor += len(text)
	return in
}

// letterBefore is where the letter before the cursor begins, and letterAfter where the letter after
// it ends. A letter is what people take for one; it may have several code points.
func (in input) letterBefore() int {
	at, last := 0, 0
	for at < in.cursor {
		last = at
		at += letter(in.text[at:])
	}
	return last
}

func (in input) letterAfter() int { return in.cursor + letter(in.text[in.cursor:]) }

// letter is how many bytes the first letter of a text has.
func letter(text string) int {
	return len(cli.FirstCharacter(text))
}

// wordBefore is where the word before the cursor begins.
func (in input) wordBefore() int {
	left := strings.TrimRight(in.text[:in.cursor], " ")
	return strings.LastIndexByte(left, ' ') + 1
}

// press returns the line after a key; false when the key does not change it.
func (in input) press(k tea.Key) (input, bool) {
	cut := func(from, to int) input { return input{in.text[:from] + in.text[to:], from} }
	switch k.Keystroke() {
	case "left", "ctrl+b":
		return input{in.text, in.letterBefore()}, true
	case "right", "ctrl+f":
		return input{in.text, in.letterAfter()}, true
	case "home", "ctrl+a":
		return input{in.text, 0}, true
	case "end", "ctrl+e":
		return input{in.text, len(in.text)}, true
	case "backspace", "ctrl+h":
		return cut(in.letterBefore(), in.cursor), true
	case "delete", "ctrl+d":
		return cut(in.cursor, in.letterAfter()), true
	case "ctrl+w", "alt+backspace":
		return cut(in.wordBefore(), in.cursor), true
	case "ctrl+u":
		return cut(0, in.cursor), true
	case "ctrl+k":
		return input{in.text[:in.cursor], in.cursor}, true
	}
	if k.Text != "" {
		return in.insert(k.Text), true
	}
	return in, false
}

// window returns the part of the line that fits into a width, and the column of the cursor in it.
func (in input) window(width int) (text string, column int) {
	column = cli.Columns(in.text[:in.cursor])
	from := max(column-width+1, 0)
	return cli.Between(in.text, from, from+width), column - from
}
