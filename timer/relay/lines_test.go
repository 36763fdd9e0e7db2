package relay

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// cut is what becomes of chunks: a piece that goes on ends with +, one that nobody ended with |.
func cut(t *testing.T, chunks ...string) (pieces []string) {
	t.Helper()
	var l lines
	var all, told []byte
	give := func(from int64, text []byte, more bool) {
		if from != int64(len(told)) {
			t.Errorf("%.20q is said to begin at %d, and begins at %d", text, from, len(told))
		}
		if len(text) == 0 || len(text) > maxPiece {
			t.Errorf("a piece of %d bytes", len(text))
		}
		ended := bytes.IndexByte(text, '\n') == len(text)-1
		if !ended && bytes.IndexByte(text, '\n') >= 0 || ended && more {
			t.Errorf("%.20q is more than a line", text)
		}
		told = append(told, text...)
		switch piece := string(text); {
		case more:
			pieces = append(pieces, piece+"+")
		case !ended:
			pieces = append(pieces, piece+"|")
		default:
			pieces = append(pieces, piece)
		}
	}
	for _, chunk := range chunks {
		all = append(all, chunk...)
		if chunk == "" {
			l.splitLine(give)
		} else {
			l.add([]byte(chunk), give)
		}
	}
	l.end(int64(len(all)), give)
	if !bytes.Equal(all, told) {
		t.Errorf("%.60q became %.60q", all, told)
	}
	return pieces
}

func TestLines(t *testing.T) {
	long := strings.Repeat("x", maxPiece)
	for _, c := range []struct {
		name   string
		chunks []string // an empty one is a pause
		want   []string
	}{
		{"nothing", nil, nil},
		{"a line", []string{"one\n"}, []string{"one\n"}},
		{"lines in one chunk", []string{"one\ntwo\n\nthree\n"}, []string{"one\n", "two\n", "\n", "three\n"}},
		{"a line in chunks", []string{"o", "n", "e", "\n"}, []string{"one\n"}},
		{"a line that nobody ends", []string{"one\ntwo"}, []string{"one\n", "two|"}},
		{"carriage returns end no line", []string{"10%\r20%\r\n"}, []string{"10%\r20%\r\n"}},
		{"a question, and its answer", []string{"name? ", "", "\nok\n"}, []string{"name? +", "\n", "ok\n"}},
		{"a pause at the end of a line", []string{"one\n", "", ""}, []string{"one\n"}},
		{"a pause in a character", []string{"a\xc3", "", "\xa4\n"}, []string{"a+", "ä\n"}},
		{"a pause in nothing but a character", []string{"\xe2\x82", "", "\xac\n"}, []string{"€\n"}},
		{"bytes that are no character", []string{"\xff\xfe", "", "\n"}, []string{"\xff\xfe+", "\n"}},
		{"NUL and ESC", []string{"\x00\x1b[31m\n"}, []string{"\x00\x1b[31m\n"}},
		{"as long as a piece", []string{long[1:] + "\n"}, []string{long[1:] + "\n"}},
		{"longer by its line feed", []string{long + "\n"}, []string{long + "+", "\n"}},
		{"much longer", []string{long + long + "y\nz\n"}, []string{long + "+", long + "+", "y\n", "z\n"}},
		{"cut in a character", []string{long[1:] + "€\n"}, []string{long[1:] + "+", "€\n"}},
		{"long, and nobody ends it", []string{long}, []string{long + "+"}},
	} {
		if got := cut(t, c.chunks...); !slices.Equal(got, c.want) {
			t.Errorf("%s: %.80q", c.name, got)
		}
	}
}

// Whatever is written, and however it comes, the pieces are all of it, in order, and hurt no character.
func FuzzLines(f *testing.F) {
	f.Add([]byte("one\ntwo"), uint16(3), uint16(2))
	f.Add([]byte("\xe2\x82\xac\n\xff\n"), uint16(1), uint16(1))
	f.Add(bytes.Repeat([]byte("€"), maxPiece), uint16(1000), uint16(0))
	f.Fuzz(func(t *testing.T, text []byte, size, pause uint16) {
		var chunks []string
		for i, c := range slices.Collect(slices.Chunk(text, int(size)+1)) {
			if chunks = append(chunks, string(c)); pause > 0 && i%int(pause) == 0 {
				chunks = append(chunks, "")
			}
		}
		if valid := utf8.Valid(text); valid {
			for _, piece := range cut(t, chunks...) {
				if !utf8.ValidString(piece) {
					t.Errorf("%.40q hurts a character", piece)
				}
			}
		} else {
			cut(t, chunks...)
		}
	})
}
