package relay

import (
	"bytes"
	"unicode/utf8"
)

// lineMost bounds a piece: what passes it on may cut lines at 16 KiB, as container engines do, and
// the name of the run comes in front.
const lineMost = 16_000

// lines cuts a stream into its lines. The zero value stands at its beginning.
type lines struct {
	part []byte // of the line that is not whole yet; less than lineMost
	from int64  // where it begins
}

// add takes in what comes next, and gives the lines that are whole by now, and the pieces of long
// ones. A line ends with its line feed; with more it goes on. What is given is good until give
// returns.
func (l *lines) add(text []byte, give func(from int64, text []byte, more bool)) {
	for len(text) > 0 {
		n := bytes.IndexByte(text, '\n') + 1
		whole := n > 0 && len(l.part)+n <= lineMost
		if !whole {
			n = min(len(text), lineMost-len(l.part))
		}
		piece := text[:n]
		if len(l.part) > 0 || !whole {
			l.part = append(l.part, piece...)
			piece = l.part
		}
		text = text[n:]
		switch {
		case whole:
			give(l.from, piece, false)
			l.next(len(piece))
		case len(l.part) == lineMost:
			l.tear(give)
		}
	}
}

// tear gives the part as a piece of a line that goes on. The beginning of a character stays.
func (l *lines) tear(give func(from int64, text []byte, more bool)) {
	n := WholeCharacters(l.part)
	if n == 0 {
		return
	}
	give(l.from, l.part[:n], true)
	l.part = l.part[:copy(l.part, l.part[n:])]
	l.from += int64(n)
}

// end gives what is left of a line that nobody ended, and has the next one begin at from.
func (l *lines) end(from int64, give func(from int64, text []byte, more bool)) {
	if len(l.part) > 0 {
		give(l.from, l.part, false)
	}
	l.next(0)
	l.from = from
}

// next begins a line behind so many bytes.
func (l *lines) next(n int) {
	l.from += int64(n)
	l.part = l.part[:0]
}

// WholeCharacters is how much of text ends with a whole character, or with bytes that are none.
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
