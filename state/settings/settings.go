// Package settings reads config.toml, and explains it: every setting that there is, what is given,
// and all that is wrong.
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
	"github.com/ouro-timer/ouro-timer/state/plainfile"
)

// Problem is what is wrong with config.toml.
type Problem struct {
	Path string
	Line int    // 0 when it is not known
	Text string // what is wrong
	Hint string // what to type instead, or empty

	channel string // that has the mistake in it, or empty
}

// Said is what is wrong, and where, without what to do.
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

// sizeMost and bounds are how large the file may be, and how much structure it may have.
const sizeMost = 1 << 20

var bounds = codec.Bounds{Depth: 16, Keys: 2_000, Path: 1_000}

// Load reads config.toml in dir. Without the file every setting has its default. A key it does not
// know, a value of the wrong type, one that cannot be, and text that is not TOML are a *Problem
// that names the line. state.ErrUnusable when others can write the file, as it says which shell is
// run.
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

// Reading is all that config.toml says.
type Reading struct {
	Path   string
	Config state.Config
	// the settings that are given, by key: string, bool, int64 or a list; "…" for a secret
	Values map[string]any
	Lines  map[string]int // where each of them stands; 0 when that cannot be told
	// Problems are in the order of the file. What they are about is left out of Config.
	Problems []*Problem
}

// Read reads config.toml in dir as Load does, and goes on after what is wrong in it. A file that is
// not there says nothing. The error is state.ErrUnusable, for a file that must not be read, or
// cannot be.
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
		r.Problems = append(r.Problems, r.unread(syntax))
		return r, nil
	case err != nil:
		r.Problems = append(r.Problems, &Problem{Path: r.Path, Text: noTOML})
		return r, nil
	}
	var bad []codec.Key
	lineOf := linesOf(text)
	for _, key := range keys {
		if slices.ContainsFunc(bad, func(above codec.Key) bool { return len(above) < len(key) && slices.Equal(above, key[:len(above)]) }) {
			continue // what is in a table that is not known
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
			r.Lines[key.String()], r.Values[key.String()] = line, shownValue(key, valueAt(all, key))
		}
	}
	for _, key := range bad {
		if above, ok := valueAt(all, key[:len(key)-1]).(map[string]any); ok {
			delete(above, key[len(key)-1])
		}
	}
	good, err := codec.Encode(all)
	if err == nil && len(all) > 0 { // nothing at all is what a file cut short has, too
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

// noTOML is what is wrong with a file of which no more can be said.
const noTOML = "it is not TOML"

// unread says where a file is not TOML.
func (r *Reading) unread(err *codec.SyntaxError) *Problem {
	e := &Problem{Path: r.Path, Line: err.Line, Text: err.Text}
	if err.Text != "" {
		return e
	}
	e.Text, e.Hint = noTOML, `write settings as in name = "text", and tables as in [channels.ops]`
	key := codec.Key(strings.Split(err.After, "."))
	_, known := settingOf(err.After)
	if len(key) == 3 && key[0] == channelsTable {
		_, _, problem, _ := channelKey(key)
		known = problem == ""
	}
	switch {
	case known && err.Twice:
		e.Text, e.Hint = err.After+" is given twice", "leave one of them out"
	case known: // it is the last one that was read: the mistake is in its value, or behind it
		e.Text, e.Hint = noTOML+" at or behind "+err.After, `text stands in quotes, which must be closed, and a list in brackets: name = "text"`
	}
	return e
}

// shownValue is a setting as Values has it: secrets are not shown.
func shownValue(key codec.Key, value any) any {
	if len(key) == 3 && key[0] == channelsTable {
		if _, secret, _, _ := channelKey(key); secret {
			return "…"
		}
	}
	return value
}

// wrongWith says what is wrong with a key and its value, and what to write instead; empty: nothing.
func wrongWith(key codec.Key, value any) (problem, hint string) {
	s, known := settingOf(key.String())
	if len(key) > 1 && key[0] == channelsTable {
		if s, _, problem, hint = channelKey(key); problem != "" {
			return problem, hint
		}
	} else if !known {
		if near := nearest(key.String()); near != "" {
			hint = fmt.Sprintf("did you mean %s?", near)
		}
		return fmt.Sprintf("there is no setting %q", key.String()), hint
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
	return s.check(value)
}

// valueAt is what stands under a key; the tree itself for the empty one.
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

// linesOf says of each key the line it stands on, 0 when it cannot be told. The library knows lines
// only of what is not TOML. Beside keys it may take lines of a long text for some, so it is asked
// about keys that are there.
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
		if len(line) > 2*bounds.Path { // a value, or part of one: all that matters is at the front
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

// nearest is the setting a mistyped key was meant to be, or empty: at most two symbols differ, or
// the table is wrong.
func nearest(key string) (near string) {
	least := 3
	for _, s := range entries() {
		if d := distance(key, s.Key); d < least || d == least && d < 3 && s.Key < near {
			near, least = s.Key, d
		}
	}
	if near != "" {
		return near
	}
	last := func(s string) string { return s[strings.LastIndexByte(s, '.')+1:] }
	for _, s := range entries() {
		if s.Kind != kindTable && distance(last(key), last(s.Key)) < 2 && (near == "" || s.Key < near) {
			near = s.Key
		}
	}
	return near
}

// farMost is beyond what anybody who asks for a distance takes for near.
const farMost = 8

// distance counts the symbols to add, drop or change to get from a to b, whatever the case of
// letters; of what is of very different length no more than that.
func distance(a, b string) int {
	a, b = strings.ToLower(a), strings.ToLower(b)
	if far := len(a) - len(b); far > farMost || -far > farMost {
		return max(far, -far)
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			diagonal, row[j+1] = row[j+1], min(row[j+1]+1, row[j]+1, diagonal+cost)
		}
	}
	return row[len(b)]
}

// readFile reads the file. Unlike the state it may be a link: people keep their settings elsewhere.
func readFile(path string) (data []byte, mode os.FileMode, err error) {
	real := path
	read := func() {
		data, err = plainfile.Read(real, sizeMost, func(uid int, is os.FileMode) error {
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
		err = fmt.Errorf("%w: it is larger than %d bytes", codec.ErrBroken, sizeMost)
	}
	return nil, 0, fmt.Errorf("%w: reading %s: %w", state.ErrUnusable, path, err)
}
