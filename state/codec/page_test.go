package codec

import (
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/ouro-timer/ouro-timer/state"
)

// TestPage reads the file of a task that docs/state.md shows, and requires that it has every key that such a file can have.
func TestPage(t *testing.T) {
	page, err := os.ReadFile("../../docs/state.md")
	if err != nil {
		t.Fatal(err)
	}
	_, shown, _ := strings.Cut(string(page), "```toml\n")
	shown, _, _ = strings.Cut(shown, "```")
	if _, unknown, err := DecodeTask([]byte(shown)); err != nil || len(unknown) > 0 {
		t.Errorf("the file of docs/state.md has the unknown keys %v: %v", unknown, err)
	}
	tables := map[string]string{}
	for i, table := range regexp.MustCompile(`(?m)^\[`).Split(shown, -1) {
		name := ""
		if i > 0 {
			name, table, _ = strings.Cut(table, "]")
		}
		tables[name] = table
	}
	var check func(table string, of reflect.Type)
	check = func(table string, of reflect.Type) {
		for _, f := range reflect.VisibleFields(of) {
			name, _, _ := strings.Cut(f.Tag.Get("toml"), ",")
			inner := strings.TrimPrefix(table+"."+name, ".")
			switch kind := f.Type.Kind(); {
			case kind == reflect.Map || kind == reflect.Struct && f.Type.PkgPath() != "time":
				if tables[inner] == "" {
					t.Errorf("docs/state.md does not show the table %s", inner)
				} else if kind == reflect.Struct {
					check(inner, f.Type)
				}
			case !regexp.MustCompile(`\b` + name + `\b`).MatchString(tables[table]):
				t.Errorf("docs/state.md does not show the key %s", inner)
			}
		}
	}
	check("", reflect.TypeFor[state.Task]())
}
