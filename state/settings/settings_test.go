package settings

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/ouro-timer/ouro-timer/state"
)

func TestConfig(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "config.toml")
	if c, err := Load(dir); err != nil || !reflect.DeepEqual(c, state.Config{}) {
		t.Errorf("without a file: %+v %v", c, err)
	}
	load := func(text string) (state.Config, error) {
		os.WriteFile(path, []byte(text), 0o600)
		return Load(dir)
	}
	for _, text := range []string{"", "# nothing yet\n", "[run]\n"} {
		if c, err := load(text); err != nil || !reflect.DeepEqual(c, state.Config{}) {
			t.Errorf("%q: %+v %v", text, c, err)
		}
	}
	c, err := load("tz = \"Europe/Warsaw\"\ndefault_time = \"09:00\"\n[run]\nautostart = false\nshell = \"/bin/bash\"\nmax_parallel = 4\n")
	if err != nil || c.TZ != "Europe/Warsaw" || c.DefaultTime != "09:00" || *c.Run.Autostart || c.Run.Shell != "/bin/bash" || c.Run.MaxParallel != 4 {
		t.Errorf("%+v %v", c, err)
	}
	for _, c := range []struct {
		text string
		line int
		say  string
	}{
		{"tz = 3", 1, "tz takes a string, not an integer"},
		{"\n\nTZ = \"UTC\"", 3, "did you mean tz?"},
		{"# x\ndefualt_time = \"09:00\"", 2, "did you mean default_time?"},
		{"[run]\n\"max-parallel\" = 3", 2, "did you mean run.max_parallel?"},
		{"[run]\nautostart = \"no\"", 2, "run.autostart takes a bool"},
		{"autostart = false", 1, "did you mean run.autostart?"},
		{"run.autostrat = false", 1, "did you mean run.autostart?"},
		{"tz = \"UTC\"\n[colours]\nx = 1", 2, `no setting "colours"`},
		{"[notify]\nx = 1", 2, `no setting "notify.x"`},
		{"run = 3", 1, "run takes a table"},
		{"tz = \"UTC\"\ntz = \"UTC\"", 2, "tz"},
		{"tz = ", 1, ""},
		{"tz = \"\xff\"", 1, ""},
		{"default_time = \"9\"", 1, `"09:00"`},
		{"default_time = \"25:00\"", 1, `"09:00"`},
		{"[run]\nmax_parallel = 0", 2, "1 or more"},
		{"[run]\nmax_parallel = -1", 2, "1 or more"},
	} {
		got, err := load(c.text)
		var bad *Problem
		if !errors.As(err, &bad) || bad.Line != c.line || !strings.Contains(err.Error(), c.say) || !strings.Contains(err.Error(), path) {
			t.Errorf("%q: %+v %v, want line %d and %q", c.text, got, err, c.line, c.say)
		}
	}
	load("tz = \"UTC\"")
	os.Chmod(path, 0o622)
	if _, err := Load(dir); !errors.Is(err, state.ErrUnusable) {
		t.Errorf("others can write it: %v", err)
	}
}

// TestRead: one mistake does not hide the others, nor what is right.
func TestRead(t *testing.T) {
	dir := t.TempDir()
	text := "tz = 7\ncolour = 1\ndefault_time = \"07:30\"\n\n[run]\nshell = \"/bin/bash\"\nmax_parallel = 0\n\n[colours]\nred = 1\n"
	if err := os.WriteFile(filepath.Join(dir, "config.toml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	r, err := Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	if c := r.Config; c.DefaultTime != "07:30" || c.Run.Shell != "/bin/bash" || c.TZ != "" || c.Run.MaxParallel != 0 {
		t.Errorf("%+v", c)
	}
	if want := map[string]int{"default_time": 3, "run.shell": 6}; !reflect.DeepEqual(r.Lines, want) {
		t.Errorf("lines %v, want %v", r.Lines, want)
	}
	var lines []int
	for _, p := range r.Problems {
		lines = append(lines, p.Line)
	}
	slices.Sort(lines)
	if want := []int{1, 2, 7, 9}; !slices.Equal(lines, want) {
		t.Errorf("problems on lines %v, want %v: %v", lines, want, r.Problems)
	}
}

// TestSettings holds the table of settings against the struct they are read into, and against what users are told.
func TestSettings(t *testing.T) {
	var keys, table []string
	var walk func(prefix string, typ reflect.Type)
	walk = func(prefix string, typ reflect.Type) {
		for i := range typ.NumField() {
			f := typ.Field(i)
			key := prefix + f.Tag.Get("toml")
			keys = append(keys, key)
			if f.Type.Kind() == reflect.Struct {
				walk(key+".", f.Type)
			}
		}
	}
	walk("", reflect.TypeFor[state.Config]())
	for _, s := range entries() {
		table = append(table, s.Key)
	}
	if slices.Sort(keys); !slices.Equal(keys, slices.Sorted(slices.Values(table))) {
		t.Errorf("state.Config has %v, the table %v", keys, table)
	}
	docs, err := os.ReadFile("../../docs/config.md")
	if err != nil {
		t.Fatal(err)
	}
	told := map[string]string{} // the row of each setting
	for line := range strings.Lines(string(docs)) {
		cells := strings.Split(line, "|")
		if len(cells) < 4 || !strings.HasPrefix(strings.TrimSpace(cells[1]), "`") {
			continue
		}
		key := strings.Trim(strings.TrimSpace(cells[1]), "`")
		if section, rest, ok := strings.Cut(key, "] "); ok {
			key = strings.TrimPrefix(section, "[") + "." + rest
		}
		told[key] = line
	}
	for _, s := range All() {
		row, ok := told[s.Key]
		if !ok {
			t.Errorf("docs/config.md does not tell of %s", s.Key)
		}
		for _, word := range []string{s.Default, s.Env, s.Flag} {
			if word != "" && !strings.Contains(row, fmt.Sprintf("`%s`", word)) {
				t.Errorf("docs/config.md does not say %s of %s", word, s.Key)
			}
		}
		delete(told, s.Key)
	}
	for key := range told {
		t.Errorf("docs/config.md tells of %s, which there is not", key)
	}
}
