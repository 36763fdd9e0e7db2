package codec

import (
	"errors"
	"fmt"
	"strings"

	"github.com/BurntSushi/toml"
)

// Key is a key with the tables that contain it, part by part.
type Key []string

// String is the key as a file has it.
func (k Key) String() string { return toml.Key(k).String() }

// SyntaxError says where a text is not TOML. It does not have the message of the library, because
// that quotes the text, which may be a secret.
type SyntaxError struct {
	Line  int
	Text  string // what is wrong, or empty if that is not known
	After string // the last key that was read, as the file has it, or empty
	Twice bool   // the file has that key twice
}

func (e *SyntaxError) Error() string { return fmt.Sprintf("line %d: %s", e.Line, e.Text) }

// Tree decodes a text within bounds. It returns its content, and all its keys in their order. It
// returns a *SyntaxError if the text is not TOML.
func Tree(text string, bounds Bounds) (tree map[string]any, keys []Key, err error) {
	tree = map[string]any{}
	md, err := decodeTOML(text, bounds, &tree)
	if parse, ok := errors.AsType[toml.ParseError](err); ok {
		err = &SyntaxError{Line: parse.Position.Line, After: parse.LastKey, Twice: strings.Contains(parse.Message, "already")}
	}
	if err != nil {
		return nil, nil, err
	}
	for _, key := range md.Keys() {
		keys = append(keys, Key(key))
	}
	return tree, keys, nil
}
