// Package settings reads config.toml. It lists the settings that there are and those that the file
// gives, and reports all that is wrong with the file.
package settings

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/state/codec"
	"github.com/ouro-timer/ouro-timer/state/guard"
	"github.com/ouro-timer/ouro-timer/state/plain"
	"github.com/ouro-timer/ouro-timer/state/plainfile"
)

// Problem is one thing that is wrong with config.toml.
type Problem struct {
	Path string
	Line int    // 0 if it is not known
	Text string // what is wrong
	Hint string // what to type instead, or empty

	channel string // the channel with the mistake, or empty
}

// Said returns what is wrong, and where, without the hint.
func (e *Problem) Said() string {
	if e.Line > 0 {
		return fmt.Sprintf("%s line %d: %s", e.Path, e.Line, e.Text)
	}
	return e.Path + ": " + e.Text
}

func (e *Problem) Error() string {
	text := e.Said()
	if e.Hint != "" {
		text += "; " + e.Hint
	}
	return text
}

// maxSize is how large the file may be, in bytes.
const maxSize = 1 << 20

// bounds are how much structure the file may have.
var bounds = codec.Bounds{Depth: 16, Keys: 2_000, Path: 1_000}

// Load reads config.toml in dir. Without the file, every setting has its default. The error is a
// *Problem with the line if the text is not TOML, or a key or a value is wrong. It is
// state.ErrUnusable if other users can write the file, because it says which shell is run.
func Load(dir string) (state.Config, error) {
	r, err := Read(dir)
	if err == nil && len(r.Problems) > 0 {
		err = r.Problems[0]
	}
	if err != nil {
		return state.Config{}, err
	}
	return r.Config, nil
}

// Reading is the content of config.toml.
type Reading struct {
	Path   string
	Config state.Config
	// Values are the settings that the file gives, by key: string, bool, int64 or a list. A secret
	// is "…". Lines are their lines, or 0 if the line is not known.
	Values map[string]any
	Lines  map[string]int
	// Problems are in the order of the file. Config does not have the settings that they concern.
	Problems []*Problem
}

// Read reads config.toml in dir like Load, but goes on after a problem. A missing file is like an
// empty one. The error is state.ErrUnusable, for a file that cannot or must not be read.
func Read(dir string) (r Reading, err error) {
	r = Reading{Path: filepath.Join(dir, "config.toml"), Values: map[string]any{}, Lines: map[string]int{}}
	data, mode, err := readFile(r.Path)
	if errors.Is(err, os.ErrNotExist) {
		return r, nil
	}
	if err != nil {
		return r, err
	}
	text := string(data)
	all, keys, err := codec.Tree(text, bounds)
	var syntax *codec.SyntaxError
	switch {
	case errors.As(err, &syntax):
		r.Problems = append(r.Problems, r.notTOML(syntax))
		return r, nil
	case err != nil:
		r.Problems = append(r.Problems, &Problem{Path: r.Path, Text: noTOML})
		return r, nil
	}
	var bad []codec.Key
	lineOf := linesOf(text)
	for _, key := range keys {
		if slices.ContainsFunc(bad, func(above codec.Key) bool { return len(above) < len(key) && slices.Equal(above, key[:len(above)]) }) {
			continue // the key is inside a table that is not known
		}
		line := lineOf(key)
		if problem, hint := wrongWith(key, valueAt(all, key)); problem != "" {
			bad = append(bad, key)
			p := &Problem{Path: r.Path, Line: line, Text: problem, Hint: hint}
			if len(key) > 1 && key[0] == channelsTable {
				p.channel = key[1]
			}
			r.Problems = append(r.Problems, p)
		} else if kindOf(valueAt(all, key)) != kindTable {
			r.Lines[key.String()], r.Values[key.String()] = line, valueAt(all, key)
			if s, _, _ := settingOf(key); s.secret {
				r.Values[key.String()] = "…"
			}
		}
	}
	for _, key := range bad {
		if above, ok := valueAt(all, key[:len(key)-1]).(map[string]any); ok {
			delete(above, key[len(key)-1])
		}
	}
	good, err := codec.Encode(all)
	if err == nil && len(all) > 0 { // Decode would take an empty text for one that was cut short
		err = codec.Decode(good, &r.Config)
	}
	if err != nil {
		r.Problems = append(r.Problems, &Problem{Path: r.Path, Text: "a setting has a value that it cannot have"})
		return r, nil
	}
	r.fillChannels(lineOf, mode)
	slices.SortStableFunc(r.Problems, func(a, b *Problem) int { return a.Line - b.Line })
	return r, nil
}

// noTOML is the message about a text if it is not known what is wrong with it.
const noTOML = "it is not TOML"

// notTOML returns the problem of a file that is not TOML.
func (r *Reading) notTOML(err *codec.SyntaxError) *Problem {
	e := &Problem{Path: r.Path, Line: err.Line, Text: err.Text}
	if err.Text != "" {
		return e
	}
	e.Text, e.Hint = noTOML, `write settings as in name = "text", and tables as in [channels.ops]`
	_, problem, _ := settingOf(strings.Split(err.After, "."))
	known := problem == ""
	switch {
	case known && err.Twice:
		e.Text, e.Hint = err.After+" is given twice", "leave one of them out"
	case known: // it is the last key that was read: the mistake is in its value or after it
		e.Text, e.Hint = noTOML+" at or behind "+err.After, `text stands in quotes, which must be closed, and a list in brackets: name = "text"`
	}
	return e
}

// wrongWith returns what is wrong with a key or its value, and what to write instead. problem is
// empty if nothing is wrong.
func wrongWith(key codec.Key, value any) (problem, hint string) {
	s, problem, hint := settingOf(key)
	if problem != "" {
		return problem, hint
	}
	if kind := kindOf(value); kind != s.Kind {
		if s.Default != "" {
			hint = fmt.Sprintf("write it as in %s = %s", key[len(key)-1], s.Default)
		}
		return fmt.Sprintf("%s takes %s, not %s", key, aKind(s.Kind), aKind(kind)), hint
	}
	if s.check == nil {
		return "", ""
	}
	return s.check(s.Key, value)
}

// valueAt returns the value of a key, or the tree itself if the key is empty.
func valueAt(tree map[string]any, key codec.Key) any {
	var v any = tree
	for _, part := range key {
		below, ok := v.(map[string]any)
		if !ok {
			return nil
		}
		v = below[part]
	}
	return v
}

// kindOf names the kind of a value.
func kindOf(value any) string {
	switch value.(type) {
	case string:
		return kindString
	case bool:
		return kindBool
	case int64:
		return kindInteger
	case float64:
		return "float"
	case map[string]any:
		return kindTable
	case []any, []map[string]any:
		return kindArray
	}
	return "datetime"
}

var (
	headLine = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^\s*\[\[?\s*([^\]]+?)\s*\]`) })
	keyLine  = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^\s*([^=#]+?)\s*=`) })
	unquote  = strings.NewReplacer(`"`, "", `'`, "", " ", "", "\t", "")
)

// linesOf returns a function that returns the line of a key, or 0 if it is not known. The library
// only says lines of errors. The function may take a line of a long text for a key, so it must be
// called with keys that exist.
func linesOf(text string) func(key codec.Key) int {
	lines := map[string]int{}
	note := func(key string, n int) {
		if _, ok := lines[key]; !ok {
			lines[key] = n
		}
	}
	table, n := "", 0
	for line := range strings.Lines(text) {
		n++
		if len(line) > 2*bounds.Path { // the key is at the beginning; the rest is a long value
			line = line[:2*bounds.Path]
		}
		if m := headLine().FindStringSubmatch(line); m != nil {
			table = unquote.Replace(m[1])
			note(table, n)
			table += "."
		} else if m := keyLine().FindStringSubmatch(line); m != nil {
			here := table + unquote.Replace(m[1])
			for i, parts := 0, 0; i < len(here) && parts < bounds.Depth; i++ {
				if here[i] == '.' {
					parts++
					note(here[:i], n)
				}
			}
			note(here, n)
		}
	}
	return func(key codec.Key) int { return lines[unquote.Replace(strings.Join(key, "."))] }
}

// nearest returns the setting that a mistyped key probably means: at most two characters differ, or
// only the table does. It returns the empty string if there is none.
func nearest(key string) string {
	var names []string
	for _, s := range entries() {
		names = append(names, s.Key)
	}
	slices.Sort(names)
	if near := closest(key, names); near != "" {
		return near
	}
	last := func(s string) string { return s[strings.LastIndexByte(s, '.')+1:] }
	for _, name := range names {
		if s, _, _ := settingOf(strings.Split(name, ".")); s.Kind != kindTable && plain.Distance(strings.ToLower(last(key)), last(name), 1) < 2 {
			return name
		}
	}
	return ""
}

// closest returns the first of the names that differ least from a word, by at most two characters.
// It returns the empty string if there is none.
func closest(word string, names []string) (near string) {
	least := 3
	for _, name := range names {
		if d := plain.Distance(strings.ToLower(word), strings.ToLower(name), 2); d < least {
			near, least = name, d
		}
	}
	return near
}

// readFile reads the file. Unlike a file of the state it may be a link, because some users keep
// their settings in another folder.
func readFile(path string) (data []byte, mode os.FileMode, err error) {
	real := path
	read := func() {
		data, err = plainfile.Read(real, maxSize, func(uid int, is os.FileMode) error {
			mode = is
			return guard.File(real, uid, is)
		})
	}
	if read(); errors.Is(err, plainfile.ErrOdd) {
		if real, err = filepath.EvalSymlinks(path); err == nil {
			read()
		}
	}
	switch {
	case err == nil:
		return data, mode, nil
	case errors.Is(err, os.ErrNotExist), errors.Is(err, state.ErrUnusable):
		return nil, 0, err
	case errors.Is(err, plainfile.ErrOdd):
		err = fmt.Errorf("%s %w", real, plainfile.ErrOdd)
	case errors.Is(err, plainfile.ErrLarge):
		err = fmt.Errorf("%w: it is larger than %d bytes", codec.ErrBroken, maxSize)
	}
	return nil, 0, fmt.Errorf("%w: reading %s: %w", state.ErrUnusable, path, err)
}
