package codec

import (
	"errors"
	"fmt"
	"strings"

	"github.com/BurntSushi/toml"
)

// Key is a key with the tables that it is in, part by part.
type Key []string

// String is the key as it stands in a file.
func (k Key) String() string { return toml.Key(k).String() }

// SyntaxError says where a text is not TOML, in words of our own: those of the library quote what
// stands there, which can be a secret.
type SyntaxError struct {
	Line  int
	Text  string // what is wrong, if there is a word for it
	After string // the last key that was read, as it stands in the file, or empty
	Twice bool   // that key is there twice
}

func (e *SyntaxError) Error() string { return fmt.Sprintf("line %d: %s", e.Line, e.Text) }

// Tree reads a text within bounds: what stands in it, and all its keys in their order. What is
// wrong with the text is a *SyntaxError.
func Tree(text string, most Bounds) (tree map[string]any, keys []Key, err error) {
	tree = map[string]any{}
	md, err := decodeTOML(text, most, &tree)
	var parse toml.ParseError
	if errors.As(err, &parse) {
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
