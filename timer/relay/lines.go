package relay

import (
	"bytes"

	"github.com/ouro-timer/ouro-timer/state/plain"
)

// maxPiece is the largest piece. Container engines may cut lines at 16 KiB, and the name of the run
// comes before the piece.
const maxPiece = 16_000

// lines cuts a stream into lines. The zero value is at its beginning.
type lines struct {
	partial []byte // the line that is not complete yet; less than maxPiece
	from    int64  // where it begins
}

// add takes the next bytes of the stream, and gives the lines that are complete and the pieces of
// long ones. A line ends with its line feed; more says that it goes on. The text is valid until
// give returns.
func (l *lines) add(text []byte, give func(from int64, text []byte, more bool)) {
	for len(text) > 0 {
		n := bytes.IndexByte(text, '\n') + 1
		whole := n > 0 && len(l.partial)+n <= maxPiece
		if !whole {
			n = min(len(text), maxPiece-len(l.partial))
		}
		piece := text[:n]
		if len(l.partial) > 0 || !whole {
			l.partial = append(l.partial, piece...)
			piece = l.partial
		}
		text = text[n:]
		switch {
		case whole:
			give(l.from, piece, false)
			l.next(len(piece))
		case len(l.partial) == maxPiece:
			l.splitLine(give)
		}
	}
}

// splitLine gives the incomplete line as a piece of one that goes on. The beginning of a character
// stays.
func (l *lines) splitLine(give func(from int64, text []byte, more bool)) {
	n := plain.WholeCharacters(l.partial)
	if n == 0 {
		return
	}
	give(l.from, l.partial[:n], true)
	l.partial = l.partial[:copy(l.partial, l.partial[n:])]
	l.from += int64(n)
}

// end gives the rest of a line without a line feed, and makes the next one begin at from.
func (l *lines) end(from int64, give func(from int64, text []byte, more bool)) {
	if len(l.partial) > 0 {
		give(l.from, l.partial, false)
	}
	l.next(0)
	l.from = from
}

// next begins a line after so many bytes.
func (l *lines) next(n int) {
	l.from += int64(n)
	l.partial = l.partial[:0]
}
