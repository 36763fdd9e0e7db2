// Package codec encodes tasks, records, tallies and all else that is stored as TOML, and decodes
// them.
//
// It is the only package that imports BurntSushi/toml, and bounds what that reads. It reads and
// writes text in the form that the program itself uses (plain text) without the library, because
// that is faster: 4 and 5 µs for a task, and 6 and 5 for an open record. The library takes 64 and
// 54, and 127 and 69.
package codec

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/BurntSushi/toml"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/state/plain"
)

// endLine is the last line of every TOML file of the state. Without it, a file that was cut short
// would often still be TOML, without half of its variables.
const endLine = "# end\n"

// ErrBroken says that the content of a file is wrong, so that it does not help to try again.
var ErrBroken = errors.New("cannot be understood")

// Whole reports whether a text has endLine, however an editor has ended its lines. It says nothing
// about the lines before that.
func Whole(data []byte) bool {
	for line := range bytes.Lines(data) {
		if string(bytes.TrimRight(line, "\r\n"))+"\n" == endLine {
			return true
		}
	}
	return false
}

// Encode encodes any TOML file of the state.
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

// Decode decodes what Encode has written into the zero struct to which v points. It returns
// state.ErrNewer if a later version wrote it, and ErrBroken if it is damaged.
func Decode(data []byte, v any) error {
	if readPlainFile(data, v) {
		return nil
	}
	_, err := decodeAny(data, recordBounds, v)
	return err
}

// decodeAny is Decode by the library, within bounds. It returns the keys that were not read.
func decodeAny(data []byte, bounds Bounds, v any) (unread []toml.Key, err error) {
	if !utf8.Valid(data) {
		return nil, fmt.Errorf("%w: it is not valid UTF-8", ErrBroken)
	}
	// This version may take what a newer file contains for an error, so it reads the number first.
	if n := formatLine(data); n > state.Format {
		return nil, newer(n)
	}
	if !Whole(data) {
		return nil, fmt.Errorf("%w: it was cut short: its last line, %q, is missing", ErrBroken, strings.TrimSpace(endLine))
	}
	md, err := decodeTOML(string(data), bounds, v)
	if parse, ok := errors.AsType[toml.ParseError](err); ok {
		return nil, fmt.Errorf("%w: line %d: %s", ErrBroken, parse.Position.Line, plain.Cut(parse.Message, messageMost))
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %s", ErrBroken, plain.Cut(strings.TrimPrefix(err.Error(), "toml: "), messageMost))
	}
	return unknownKeys(md), nil
}

// newer is the error of a file with a later format.
func newer(format int) error {
	return fmt.Errorf("%w: its format is %d, and this version knows %d", state.ErrNewer, format, state.Format)
}

// formatLine returns the number in the first line of the form format = N, or 0 if there is none.
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

// messageMost is the most characters of a message of the library, which may quote any amount of the
// file.
const messageMost = 300
