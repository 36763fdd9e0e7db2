package top

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/ouro-timer/ouro-timer/cmd/cli"
)

// input is a line that is being typed, with the place of the cursor in bytes.
type input struct {
	text string
	at   int
}

// insert puts text at the cursor. Line breaks and control characters become spaces.
func (in input) insert(text string) input {
	text = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, text)
	in.text = in.text[:in.at] + text + in.text[in.at:]
	in.at += len(text)
	return in
}

// before is where the letter before a place begins, and after where the letter after it ends.
// Letters are what people take for one.
func (in input) before() int {
	at, last := 0, 0
	for at < in.at {
		last = at
		at += letter(in.text[at:])
	}
	return last
}

func (in input) after() int { return in.at + letter(in.text[in.at:]) }

// letter is how many bytes the first letter of a text has.
func letter(text string) int {
	return len(cli.Letter(text))
}

// wordBefore is where the word before a place begins.
func (in input) wordBefore() int {
	left := strings.TrimRight(in.text[:in.at], " ")
	return strings.LastIndexByte(left, ' ') + 1
}

// press returns the line after a key; false when the key does not change it.
func (in input) press(k tea.Key) (input, bool) {
	cut := func(from, to int) input { return input{in.text[:from] + in.text[to:], from} }
	switch k.Keystroke() {
	case "left", "ctrl+b":
		return input{in.text, in.before()}, true
	case "right", "ctrl+f":
		return input{in.text, in.after()}, true
	case "home", "ctrl+a":
		return input{in.text, 0}, true
	case "end", "ctrl+e":
		return input{in.text, len(in.text)}, true
	case "backspace", "ctrl+h":
		return cut(in.before(), in.at), true
	case "delete", "ctrl+d":
		return cut(in.at, in.after()), true
	case "ctrl+w", "alt+backspace":
		return cut(in.wordBefore(), in.at), true
	case "ctrl+u":
		return cut(0, in.at), true
	case "ctrl+k":
		return input{in.text[:in.at], in.at}, true
	}
	if k.Text != "" {
		return in.insert(k.Text), true
	}
	return in, false
}

// window returns the part of the line that fits into a width, and the column of the cursor in it.
func (in input) window(width int) (text string, column int) {
	column = cli.Columns(in.text[:in.at])
	from := max(column-width+1, 0)
	return cli.Between(in.text, from, from+width), column - from
}
