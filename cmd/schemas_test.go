package cmd

import (
	"bytes"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ouro-timer/ouro-timer/cmd/guide"
	"github.com/ouro-timer/ouro-timer/cmd/schema"
)

// schemas is where the schemas of the answers lie, one file each.
const schemas = "../docs/schemas"

// TestSchemas compares the schemas in docs with the types of the answers, and renews them when asked.
func TestSchemas(t *testing.T) {
	const renew = "OURO_UPDATE_SCHEMAS"
	stale := map[string]bool{}
	old, err := filepath.Glob(filepath.Join(schemas, "*.json"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range old {
		stale[name] = true
	}
	for _, a := range guide.EveryAnswer(table.All()) {
		name := filepath.Join(schemas, a.Name+".json")
		delete(stale, name)
		want, err := schema.Page(a.Name, a.Means, a.Of)
		if err != nil {
			t.Fatalf("%s: %v", a.Name, err)
		}
		got, err := os.ReadFile(name)
		if err == nil && bytes.Equal(got, want) {
			continue
		}
		if os.Getenv(renew) == "" {
			t.Errorf("%s does not say what the code answers: renew it by %s=1 go test ./cmd -run TestSchemas", name, renew)
			continue
		}
		if err := os.WriteFile(name, want, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for name := range stale {
		if os.Getenv(renew) == "" {
			t.Errorf("%s is the schema of no answer: drop it by %s=1 go test ./cmd -run TestSchemas", name, renew)
		} else if err := os.Remove(name); err != nil {
			t.Error(err)
		}
	}
}

// TestAnswers holds the registered answers to what their names promise.
func TestAnswers(t *testing.T) {
	types := map[string]reflect.Type{}
	for _, c := range table.All() {
		for _, a := range c.Answers {
			switch of := reflect.TypeOf(a.Of); {
			case of == nil || of.Kind() != reflect.Struct || of.Name() == "":
				t.Errorf("%s: the answer %s has no named struct for a type", c.Name, a.Name)
			case a.Means == "" || strings.HasSuffix(a.Means, "."):
				t.Errorf("%s: the answer %s says %q: a few words without a full stop", c.Name, a.Name, a.Means)
			case types[a.Name] != nil && types[a.Name] != of:
				t.Errorf("%s: the answer %s is %v here and %v elsewhere", c.Name, a.Name, of, types[a.Name])
			case !hasNow(of):
				t.Errorf("%s: the answer %s does not say which instant it calls now", c.Name, a.Name)
			default:
				types[a.Name] = of
			}
		}
	}
}

// hasNow reports whether an answer of the type has the field now.
func hasNow(of reflect.Type) bool {
	return slices.ContainsFunc(reflect.VisibleFields(of), func(f reflect.StructField) bool {
		return f.Tag.Get("json") == "now" && f.Type == reflect.TypeFor[time.Time]()
	})
}
