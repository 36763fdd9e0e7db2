package client

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/ouro-timer/ouro-timer/state/codec"
)

// tomlForm is the format TOML. It takes each line for what it is by itself. When a line is part of
// a longer text, the edit changes something else and is refused.
type tomlForm struct{}

// tomlBounds bound the structure of a file.
var tomlBounds = codec.Bounds{Depth: 32, Keys: 20_000, Path: 4_000}

func (f tomlForm) install(text []byte, c Client, program string) (edited, error) {
	tree, err := f.read(string(text))
	if err != nil {
		return edited{}, err
	}
	newline := "\n"
	if strings.Contains(string(text), "\r\n") {
		newline = "\r\n"
	}
	fields := c.entry(program)
	e := edited{effect: Add, entry: "[" + c.Table + "." + server + "]"}
	for _, field := range fields {
		e.entry += newline + field.key + " = " + encoded(field.value)
	}
	after := strings.TrimRight(string(text), "\r\n")
	// such a table cannot be added to, although the library would
	inline := func(line string) bool {
		said, _ := f.read(line)
		return said[c.Table] != nil && f.head(line) == nil
	}
	switch {
	case slices.ContainsFunc(strings.SplitAfter(string(text), "\n"), inline):
		return e, errOther
	case take(tree, c.Table) != nil:
		e.effect, after = Replace, f.renew(string(text), c.Table, fields, newline)
	case after == "":
		after = e.entry + newline
	default: // a table may stand at the end, an empty line behind the one before
		if after = string(text); !strings.HasSuffix(after, "\n") {
			after += newline
		}
		after += newline + e.entry + newline
	}
	e.after = []byte(after)
	return e, f.check(string(text), after, c.Table, fields)
}

func (f tomlForm) uninstall(text []byte, c Client) (edited, error) {
	e := edited{after: text, effect: Remove}
	tree, err := f.read(string(text))
	if err != nil || take(tree, c.Table) == nil {
		return e, err
	}
	lines := strings.SplitAfter(string(text), "\n")
	for {
		from, to := f.section(lines, c.Table, false)
		if from < 0 {
			break
		}
		if from > 0 && blank(lines[from-1]) && (to == len(lines) || blank(lines[to])) {
			from-- // one of two empty lines is removed
		}
		lines = slices.Delete(lines, from, to)
	}
	after := strings.Join(lines, "")
	e.after = []byte(after)
	return e, f.check(string(text), after, c.Table, nil)
}

// section returns the lines of the table, or of one within it: from its head to the last line that
// is not blank. It is below zero when there is none.
func (f tomlForm) section(lines []string, table string, own bool) (from, to int) {
	from = -1
	for i, line := range lines {
		switch key := f.head(line); {
		case key == nil && from >= 0 && !blank(line) && strings.TrimSpace(line)[0] != '#':
			to = i + 1
		case key == nil:
		case from >= 0:
			return from, to
		case len(key) >= 2 && key[0] == table && key[1] == server && (!own || len(key) == 2):
			from, to = i, i+1
		}
	}
	return from, to
}

// head returns the key of a line that is the head of a table; nil for other lines.
func (tomlForm) head(line string) codec.Key {
	if !strings.HasPrefix(strings.TrimSpace(line), "[") {
		return nil
	}
	_, keys, err := codec.Tree(line, tomlBounds)
	if err != nil || len(keys) == 0 {
		return nil
	}
	return keys[len(keys)-1]
}

// blank reports whether a line is blank or a comment.
func blank(line string) bool { return strings.TrimSpace(line) == "" }

// check verifies that an edit changed only what it should.
func (f tomlForm) check(before, after, table string, fields []field) error {
	was, err := f.read(before)
	is, errAfter := f.read(after)
	if err != nil || errAfter != nil {
		return errOther
	}
	return settled(was, is, table, fields)
}

// read parses a text.
func (tomlForm) read(text string) (map[string]any, error) {
	tree, _, err := codec.Tree(text, tomlBounds)
	var syntax *codec.SyntaxError
	if errors.As(err, &syntax) {
		err = fmt.Errorf("line %d is not TOML", syntax.Line)
	}
	return tree, err
}

// renew gives the table the values of the fields, on lines of their own.
func (f tomlForm) renew(text, table string, fields []field, newline string) string {
	lines := strings.SplitAfter(text, "\n")
	from, to := f.section(lines, table, true)
	if from < 0 {
		return text
	}
	for _, field := range fields {
		fresh := field.key + " = " + encoded(field.value) + newline
		at := from + slices.IndexFunc(lines[from:to], func(line string) bool {
			tree, _ := f.read(line)
			_, says := tree[field.key]
			return says
		})
		if at < from {
			lines, to = slices.Insert(lines, from+1, fresh), to+1
		} else if tree, _ := f.read(lines[at]); !reflect.DeepEqual(tree[field.key], field.value) {
			lines[at] = fresh
		}
	}
	return strings.Join(lines, "")
}
