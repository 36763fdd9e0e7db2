package files

import (
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/BurntSushi/toml"
	"github.com/ouro-timer/ouro-timer/state"
)

// ConfigError is what is wrong with config.toml.
type ConfigError struct {
	Path string
	Line int    // 0 when it is not known
	Text string // what is wrong
	Hint string // what to type instead, or empty
}

func (e *ConfigError) Error() string {
	text := e.Path
	if e.Line > 0 {
		text += fmt.Sprintf(" line %d", e.Line)
	}
	text += ": " + e.Text
	if e.Hint != "" {
		text += "; " + e.Hint
	}
	return text
}

const configLimit = 1 << 20

// settings are the keys of config.toml and what they take. A test holds them against state.Config.
var settings = map[string]string{
	"tz":               "string",
	"default_time":     "string",
	"run":              "table",
	"run.autostart":    "bool",
	"run.shell":        "string",
	"run.max_parallel": "integer",
}

// LoadConfig reads config.toml in dir. Without the file every setting has its default. A key it does not know, a value of
// the wrong type and text that is no TOML are a *ConfigError that names the line. state.ErrUnusable when others can write
// the file, as it says which shell is run.
func LoadConfig(dir string) (c state.Config, err error) {
	path := filepath.Join(dir, "config.toml")
	data, err := readConfig(path)
	if missing(err) {
		return c, nil
	}
	if err != nil {
		return c, err
	}
	all := map[string]any{}
	md, err := toml.Decode(string(data), &all)
	var parse toml.ParseError
	switch {
	case errors.As(err, &parse):
		return c, &ConfigError{Path: path, Line: parse.Position.Line, Text: parse.Message}
	case err != nil:
		return c, &ConfigError{Path: path, Text: err.Error()}
	}
	for _, key := range md.Keys() {
		want, known := settings[key.String()]
		switch {
		case !known:
			e := &ConfigError{Path: path, Line: lineOf(string(data), key), Text: fmt.Sprintf("there is no setting %q", key.String())}
			if near := nearest(key.String()); near != "" {
				e.Hint = fmt.Sprintf("did you mean %s?", near)
			}
			return c, e
		case kindOf(md.Type(key...)) != want:
			return c, &ConfigError{Path: path, Line: lineOf(string(data), key),
				Text: fmt.Sprintf("%s takes a %s, not a %s", key, want, kindOf(md.Type(key...)))}
		}
	}
	if _, err := toml.Decode(string(data), &c); err != nil {
		return c, &ConfigError{Path: path, Text: err.Error()}
	}
	if c.DefaultTime != "" {
		if _, err := time.Parse("15:04", c.DefaultTime); err != nil || len(c.DefaultTime) != 5 {
			return state.Config{}, &ConfigError{Path: path, Line: lineOf(string(data), toml.Key{"default_time"}),
				Text: fmt.Sprintf("default_time takes a time of day, not %q", c.DefaultTime), Hint: `write it as in "09:00"`}
		}
	}
	if md.IsDefined("run", "max_parallel") && c.Run.MaxParallel < 1 {
		return state.Config{}, &ConfigError{Path: path, Line: lineOf(string(data), toml.Key{"run", "max_parallel"}),
			Text: "run.max_parallel must be 1 or more"}
	}
	return c, nil
}

// kindOf names a type of the library as settings do.
func kindOf(library string) string {
	switch library {
	case "String", "Integer", "Float":
		return strings.ToLower(library)
	case "Bool":
		return "bool"
	case "Hash":
		return "table"
	}
	return strings.ToLower(library)
}

var (
	headLine = regexp.MustCompile(`^\s*\[\[?\s*([^\]]+?)\s*\]`)
	keyLine  = regexp.MustCompile(`^\s*([^=#]+?)\s*=`)
	unquote  = strings.NewReplacer(`"`, "", `'`, "", " ", "", "\t", "")
)

// lineOf is the line a key stands on, 0 when it cannot be told. The library knows lines only of what is no TOML.
func lineOf(text string, key toml.Key) int {
	want, table := strings.Join(key, "."), ""
	n := 0
	for line := range strings.Lines(text) {
		n++
		if m := headLine.FindStringSubmatch(line); m != nil {
			table = unquote.Replace(m[1])
			if table == want {
				return n
			}
			table += "."
		} else if m := keyLine.FindStringSubmatch(line); m != nil {
			if here := table + unquote.Replace(m[1]); here == want || strings.HasPrefix(here, want+".") {
				return n
			}
		}
	}
	return 0
}

// nearest is the setting a mistyped key was meant to be, or empty: at most two symbols differ, or the table is wrong.
func nearest(key string) (near string) {
	least := 3
	for name := range settings {
		if d := distance(key, name); d < least || d == least && d < 3 && name < near {
			near, least = name, d
		}
	}
	if near != "" {
		return near
	}
	last := func(s string) string { return s[strings.LastIndexByte(s, '.')+1:] }
	for name := range settings {
		if settings[name] != "table" && distance(last(key), last(name)) < 2 && (near == "" || name < near) {
			near = name
		}
	}
	return near
}

// distance counts the symbols to add, drop or change to get from a to b, whatever the case of letters.
func distance(a, b string) int {
	a, b = strings.ToLower(a), strings.ToLower(b)
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

// readConfig reads the file. Unlike the state it may be a link: people keep their settings elsewhere.
func readConfig(path string) ([]byte, error) {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		if missing(err) {
			return nil, err
		}
		return nil, fail("reading the settings", err)
	}
	if err := guardFile(real); err != nil {
		return nil, err
	}
	data, err := readFile(real, configLimit)
	if missing(err) {
		return nil, err
	}
	return data, fail("reading "+path, err)
}
