package client

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/ouro-timer/ouro-timer/cmd/option"
	"github.com/ouro-timer/ouro-timer/state/codec"
)

// tomlFormat is the format TOML. It reads each line on its own. Where a line is part of a longer
// text, the edit would change something else, and check refuses it.
type tomlFormat struct{}

// tomlBounds are the bounds for the structure of a file.
var tomlBounds = codec.Bounds{Depth: 32, Keys: 20_000, Path: 4_000}

func (f tomlFormat) install(text []byte, c Client, program string) (edited, error) {
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
		e.entry += newline + field.key + " = " + option.JSON(field.value)
	}
	after := strings.TrimRight(string(text), "\r\n")
	// A table on one line cannot be added to.
	inline := func(line string) bool {
		tree, _ := f.read(line)
		return tree[c.Table] != nil && f.header(line) == nil
	}
	switch {
	case slices.ContainsFunc(strings.SplitAfter(string(text), "\n"), inline):
		return e, errCannotEdit
	case removeEntry(tree, c.Table) != nil:
		e.effect, after = Replace, f.update(string(text), c.Table, fields, newline)
	case after == "":
		after = e.entry + newline
	default: // the table is added at the end, after an empty line
		if after = string(text); !strings.HasSuffix(after, "\n") {
			after += newline
		}
		after += newline + e.entry + newline
	}
	e.after = []byte(after)
	return e, f.check(string(text), after, c.Table, fields)
}

func (f tomlFormat) uninstall(text []byte, c Client) (edited, error) {
	e := edited{after: text, effect: Remove}
	tree, err := f.read(string(text))
	if err != nil || removeEntry(tree, c.Table) == nil {
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

// section returns the lines of our table, or without exact also of a table within it: from its
// header to its last line that is neither blank nor a comment. from is below zero when there is no
// such table.
func (f tomlFormat) section(lines []string, table string, exact bool) (from, to int) {
	from = -1
	for i, line := range lines {
		switch key := f.header(line); {
		case key == nil && from >= 0 && !blank(line) && strings.TrimSpace(line)[0] != '#':
			to = i + 1
		case key == nil:
		case from >= 0:
			return from, to
		case len(key) >= 2 && key[0] == table && key[1] == server && (!exact || len(key) == 2):
			from, to = i, i+1
		}
	}
	return from, to
}

// header returns the key of a line that is the header of a table; nil for other lines.
func (tomlFormat) header(line string) codec.Key {
	if !strings.HasPrefix(strings.TrimSpace(line), "[") {
		return nil
	}
	_, keys, err := codec.Tree(line, tomlBounds)
	if err != nil || len(keys) == 0 {
		return nil
	}
	return keys[len(keys)-1]
}

// blank reports whether a line is blank.
func blank(line string) bool { return strings.TrimSpace(line) == "" }

// check verifies that an edit changed only what it should.
func (f tomlFormat) check(before, after, table string, fields []field) error {
	was, err := f.read(before)
	is, errAfter := f.read(after)
	if err != nil || errAfter != nil {
		return errCannotEdit
	}
	return verify(was, is, table, fields)
}

// read parses a text.
func (tomlFormat) read(text string) (map[string]any, error) {
	tree, _, err := codec.Tree(text, tomlBounds)
	if syntax, ok := errors.AsType[*codec.SyntaxError](err); ok {
		err = fmt.Errorf("line %d is not TOML", syntax.Line)
	}
	return tree, err
}

// update gives the table the values of the fields, each on a line of its own.
func (f tomlFormat) update(text, table string, fields []field, newline string) string {
	lines := strings.SplitAfter(text, "\n")
	from, to := f.section(lines, table, true)
	if from < 0 {
		return text
	}
	for _, field := range fields {
		set := field.key + " = " + option.JSON(field.value) + newline
		at := from + slices.IndexFunc(lines[from:to], func(line string) bool {
			tree, _ := f.read(line)
			_, has := tree[field.key]
			return has
		})
		if at < from {
			lines, to = slices.Insert(lines, from+1, set), to+1
		} else if tree, _ := f.read(lines[at]); !reflect.DeepEqual(tree[field.key], field.value) {
			lines[at] = set
		}
	}
	return strings.Join(lines, "")
}
