// Package codec turns tasks, records, tallies and all else that is kept as TOML into text, and
// back.
//
// It is the one door to BurntSushi/toml, and bounds what that is given. Text as the program itself
// writes it is read and written without it: that takes 4 and 5 µs for a task, 6 and 5 for an open
// record; the library, 64 and 54, 127 and 69.
package codec

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/BurntSushi/toml"

	"github.com/ouro-timer/ouro-timer/state"
)

// endLine is the last line of every TOML file of ours. A file cut short is often TOML still, with
// half its variables gone: this line is how that is noticed.
const endLine = "# end\n"

// ErrBroken is a file whose content is wrong: no waiting and no other user will make it right.
var ErrBroken = errors.New("cannot be understood")

// Whole reports whether a text has the last line of our files. That says nothing about the lines
// before it.
func Whole(data []byte) bool { return bytes.Contains(data, []byte("\n"+endLine)) }

// Encode writes any of our TOML files.
func Encode(v any) ([]byte, error) {
	data, ok := writePlain(v)
	if !ok {
		var err error
		if data, err = encodeAny(v); err != nil {
			return nil, err
		}
	}
	return append(data, endLine...), nil
}

// encodeAny is Encode by the library, without the last line.
func encodeAny(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := toml.NewEncoder(&b)
	enc.Indent = ""
	if err := enc.Encode(v); err != nil {
		return nil, fmt.Errorf("%w: %w", state.ErrInvalid, err)
	}
	return b.Bytes(), nil
}

// Decode reads what Encode has written into a struct that v points to, and that is zero.
// state.ErrNewer when a later version wrote it, ErrBroken when it is broken.
func Decode(data []byte, v any) error {
	if plainFile(data, v) {
		return nil
	}
	_, err := decodeAny(data, recordBounds, v)
	return err
}

// decodeAny is Decode by the library, within bounds. It returns the keys that were not read.
func decodeAny(data []byte, most Bounds, v any) (unread []toml.Key, err error) {
	if !utf8.Valid(data) {
		return nil, fmt.Errorf("%w: it is not valid UTF-8", ErrBroken)
	}
	// A newer file may use what this version reads as an error, so its number is looked at first,
	// and alone.
	if n := formatLine(data); n > state.Format {
		return nil, newer(n)
	}
	if !Whole(data) {
		return nil, fmt.Errorf("%w: it was cut short: its last line, %q, is missing", ErrBroken, strings.TrimSpace(endLine))
	}
	md, err := decodeTOML(string(data), most, v)
	var parse toml.ParseError
	if errors.As(err, &parse) {
		return nil, fmt.Errorf("%w: line %d: %s", ErrBroken, parse.Position.Line, shortWord(parse.Message))
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %s", ErrBroken, shortWord(strings.TrimPrefix(err.Error(), "toml: ")))
	}
	return unknownKeys(md), nil
}

func newer(format int) error {
	return fmt.Errorf("%w: its format is %d, and this version knows %d", state.ErrNewer, format, state.Format)
}

// formatLine is the number on the first line that says format = N, 0 when there is none.
func formatLine(data []byte) int {
	for line := range bytes.Lines(data) {
		key, value, ok := bytes.Cut(line, []byte("="))
		if !ok || string(bytes.TrimSpace(key)) != "format" {
			continue
		}
		n := 0
		if _, err := fmt.Sscan(string(value), &n); err != nil {
			return 0
		}
		return n
	}
	return 0
}

// shortWord is a word of the library about a file, which may quote as much of it as it likes.
func shortWord(text string) string {
	const most = 300
	if len(text) <= most {
		return text
	}
	end := most
	for !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end] + "…"
}
