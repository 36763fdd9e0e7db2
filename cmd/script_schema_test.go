package cmd

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/rogpeppe/go-internal/testscript"

	"github.com/ouro-timer/ouro-timer/cmd/guide"
)

// schemaOf reads the schema of an answer as docs have it, made strict: a field that it does not name is refused. What answers leave open
// to users, so that fields can be added, is no freedom of ours.
var schemaOf = func() func(name string) (*jsonschema.Resolved, error) {
	var mu sync.Mutex
	known := map[string]*jsonschema.Resolved{}
	return func(name string) (*jsonschema.Resolved, error) {
		mu.Lock()
		defer mu.Unlock()
		if s := known[name]; s != nil {
			return s, nil
		}
		text, err := os.ReadFile(filepath.Join(schemas, name+".json"))
		if err != nil {
			return nil, err
		}
		var doc any
		if err := json.Unmarshal(text, &doc); err != nil {
			return nil, err
		}
		makeStrict(doc)
		if text, err = json.Marshal(doc); err != nil {
			return nil, err
		}
		var root jsonschema.Schema
		if err := json.Unmarshal(text, &root); err != nil {
			return nil, err
		}
		s, err := root.Resolve(nil)
		if err == nil {
			known[name] = s
		}
		return s, err
	}
}()

// instant is the form of RFC 3339, section 5.6.
const instant = `^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$`

// makeStrict forbids fields that have no schema, wherever fields have one, and has instants checked: a format alone is only a remark.
func makeStrict(doc any) {
	switch doc := doc.(type) {
	case map[string]any:
		_, fields := doc["properties"].(map[string]any)
		if _, said := doc["additionalProperties"]; fields && !said {
			doc["additionalProperties"] = false
		}
		if doc["format"] == "date-time" {
			doc["pattern"] = instant
		}
		for _, v := range doc {
			makeStrict(v)
		}
	case []any:
		for _, v := range doc {
			makeStrict(v)
		}
	}
}

// holdsTo compares each line of JSON with the schemas of the names: it must fit one of them. All names must be met, if all is set.
func holdsTo(text string, names []string, all bool) error {
	met := map[string]bool{}
	lines := 0
	for line := range strings.Lines(text) {
		lines++
		var value any
		if err := json.Unmarshal([]byte(line), &value); err != nil {
			return &notJSONError{line, err}
		}
		var first error
		fits := false
		for _, name := range names {
			s, err := schemaOf(name)
			if err != nil {
				return err
			}
			if err := s.Validate(value); err == nil {
				fits, met[name] = true, true
			} else if first == nil {
				first = err
			}
		}
		if !fits {
			return &notJSONError{line, first}
		}
	}
	for _, name := range names {
		if all && !met[name] {
			return &notJSONError{text, os.ErrNotExist}
		}
	}
	if lines == 0 {
		return &notJSONError{"", os.ErrNotExist}
	}
	return nil
}

type notJSONError struct {
	line string
	why  error
}

func (e *notJSONError) Error() string { return e.why.Error() + "\n" + e.line }

// schemaCheck holds each line of the standard output, or of files, to the schemas of docs: schema NAME[,NAME...] [FILE...]. With several
// names a line has to fit one of them, and each must be fitted by one.
func schemaCheck(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: schema NAME[,NAME...] [FILE...]")
	}
	files := args[1:]
	if len(files) == 0 {
		files = []string{"stdout"}
	}
	for _, name := range files {
		if err := holdsTo(ts.ReadFile(name), strings.Split(args[0], ","), true); err != nil {
			ts.Fatalf("%s does not fit the schema %s: %v", name, args[0], err)
		}
	}
}

// TestSchemasAreStrict sees to it that what holds answers to their schemas would notice.
func TestSchemasAreStrict(t *testing.T) {
	const text = `{"now":"0001-01-01T00:00:00Z","version":"1","revision":null,"go":"go1","os":"linux","arch":"amd64"}`
	for _, row := range []struct {
		name, line string
		fits       bool
	}{
		{"as it is", text, true},
		{"a field more", strings.Replace(text, `"os"`, `"more":1,"os"`, 1), false},
		{"a field less", strings.Replace(text, `"os":"linux",`, "", 1), false},
		{"another type", strings.Replace(text, `"linux"`, "7", 1), false},
		{"null for no null", strings.Replace(text, `"linux"`, "null", 1), false},
		{"no instant", strings.Replace(text, `"0001-01-01T00:00:00Z"`, `"noon"`, 1), false},
		{"nothing", "", false},
	} {
		if err := holdsTo(row.line, []string{"version"}, true); (err == nil) != row.fits {
			t.Errorf("%s: %v", row.name, err)
		}
	}
}

// TestEveryAnswerIsChecked requires that the sessions answers_*.txtar call every command that has --json, once in a way that works and once in
// one that does not, and hold every answer that is registered to its schema.
func TestEveryAnswerIsChecked(t *testing.T) {
	names, err := filepath.Glob("testdata/script/answers_*.txtar")
	if err != nil || len(names) == 0 {
		t.Fatalf("no sessions: %v", err)
	}
	var all strings.Builder
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		all.Write(text)
		all.WriteByte('\n')
	}
	checked := map[string]bool{}
	for _, m := range regexp.MustCompile(`(?m)^(?:\[linux\] )?schema (\S+)`).FindAllStringSubmatch(all.String(), -1) {
		for name := range strings.SplitSeq(m[1], ",") {
			checked[name] = true
		}
	}
	cmds := table.All()
	for _, a := range guide.EveryAnswer(cmds) {
		if !checked[a.Name] {
			t.Errorf("no session holds the answer %s to its schema: add the call and a line schema %s to answers_*.txtar", a.Name, a.Name)
		}
	}
	for _, c := range cmds {
		takes := c.Options.Named("json") != nil
		if takes != (len(c.Answers) > 0) {
			t.Errorf("%s takes --json: %v, but has %d answers registered", c.Name, takes, len(c.Answers))
		}
		if !takes {
			continue
		}
		good := regexp.MustCompile(`(?m)^(exec .*|[^!\n]*)\bouro-timer ` + c.Name + `\b[^\n]* --json\b`)
		bad := regexp.MustCompile(`(?m)^! ouro-timer ` + c.Name + `\b[^\n]* --json\b[^\n]*\nschema \S*error`)
		if !good.MatchString(all.String()) {
			t.Errorf("no session has a good call of ouro-timer %s with --json", c.Name)
		}
		if !bad.MatchString(all.String()) {
			t.Errorf("no session has a bad call of ouro-timer %s with --json and the schema of errors below it", c.Name)
		}
	}
}
