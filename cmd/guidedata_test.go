package cmd

import (
	"go/ast"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/urfave/cli/v2"

	"github.com/ouro-timer/ouro-timer/cmd/option"
	"github.com/ouro-timer/ouro-timer/state"
)

// everyFlag calls do with each option that is shown.
func everyFlag(do func(c command, f option.Option)) {
	for _, c := range table() {
		if !c.hidden {
			for _, f := range shown(c.flags) {
				do(c, f)
			}
		}
	}
}

// TestFlagsAreData requires that what the help says of the value of an option is data, too: its default, its form, and the words it takes.
func TestFlagsAreData(t *testing.T) {
	seen, used := 0, map[string]bool{"target": true} // of an argument
	everyFlag(func(c command, f option.Option) {
		j, name := asFlagJSON(f, c.optional), c.name+" --"+f.Names()[0]
		prose := f.(cli.DocGenerationFlag).GetUsage()
		if regexp.MustCompile(`\(default [^:]`).MatchString(prose) || regexp.MustCompile(`\bby default\b|\bdefaults? to\b`).MatchString(prose) {
			t.Errorf("%s: the default stands in the prose alone: %q; set DefaultText, of which both are made", name, prose)
		}
		if value := defaultOf(f); value != "" {
			seen++
			if j.Default == nil || !strings.HasSuffix(j.Description, "(default "+value+")") {
				t.Errorf("%s: the default %s is %v as data, and the help says %q", name, value, j.Default, j.Description)
			}
			if len(j.Values) > 0 && !slices.Contains(j.Values, value) {
				t.Errorf("%s: the default %s is none of %q", name, value, j.Values)
			}
		}
		if (j.Type == "string") != (j.Format != nil) {
			t.Errorf("%s: no format: give %s one in placeholders", name, placeholder(f))
		}
		if j.Format != nil && !slices.Contains(format("").Values(), string(*j.Format)) {
			t.Errorf("%s: the format %q is not in the list", name, *j.Format)
		}
		if j.Format != nil {
			used[string(*j.Format)] = true
		}
		if j.Name == "" {
			t.Errorf("%s has no name", name)
		}
		if j.Format != nil && *j.Format == "word" && len(j.Values) == 0 {
			t.Errorf("%s takes words that are not among choices", name)
		}
		if j.Format != nil && (*j.Format == "duration" || *j.Format == "date-time") && j.Default != nil {
			if _, err := state.ParseSpan(j.Default.(string)); err != nil {
				t.Errorf("%s: the default: %v", name, err)
			}
		}
		for _, word := range j.Values {
			if !strings.Contains(prose, word) && *j.Format != "list" {
				t.Errorf("%s takes %q, and the help does not say so: %q", name, word, prose)
			}
		}
	})
	if seen < 15 {
		t.Errorf("saw only %d defaults", seen)
	}
	for _, name := range format("").Values() {
		if !used[name] {
			t.Errorf("nothing has the format %s", name)
		}
	}
	for name := range choices {
		if !slices.ContainsFunc(table(), func(c command) bool { return flagNamed(&c, name) != nil }) {
			t.Errorf("no command has --%s", name)
		}
	}
}

// TestChoicesAreRead sees to it that a closed set of words has one list, which its reader uses: oneOf takes it from choices, and nothing
// else in the package says what a flag takes.
func TestChoicesAreRead(t *testing.T) {
	for flag, words := range choices {
		for _, word := range words {
			if got, err := oneOf(flag, strings.ToUpper(word)); err != nil || got != word {
				t.Errorf("--%s %s: %q, %v", flag, word, got, err)
			}
		}
		if _, err := oneOf(flag, "banana"); err == nil {
			t.Errorf("--%s banana is taken", flag)
		}
	}
	used := map[string]bool{}
	for name, file := range sources(t, "*.go") {
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.CallExpr:
				if word(n.Fun) == "oneOf" && len(n.Args) > 0 {
					used[strings.Trim(word(n.Args[0]), `"`)] = true
				}
			case *ast.IndexExpr:
				if word(n.X) == "choices" {
					used[strings.Trim(word(n.Index), `"`)] = true
				}
			case *ast.CompositeLit:
				for _, e := range n.Elts {
					if s, ok := e.(*ast.SelectorExpr); ok && name != "flagdata.go" && len(n.Elts) > 2 && regexp.MustCompile(`^(Catchup|Overlap|Notify|Priority)[A-Z]`).MatchString(s.Sel.Name) {
						t.Errorf("%s has a list of %s and others of its own: choices has them", name, s.Sel.Name)
					}
				}
			}
			return true
		})
	}
	for flag := range choices {
		if !used[flag] && flag != "catchup" && flag != "overlap" { // read in a loop
			t.Errorf("nothing reads --%s by its choices", flag)
		}
	}
}

// TestArgumentsAreData requires that each <argument> of a line of use is data, unless it is the value of an option or follows --.
func TestArgumentsAreData(t *testing.T) {
	got := map[string]string{}
	for _, c := range table() {
		if c.hidden {
			continue
		}
		var list []string
		for _, a := range argumentsOf(c) {
			if a.Format == "" || a.Format == "word" && len(a.Values) == 0 {
				t.Errorf("%s: the argument %s has no format: give it one in argumentFormats", c.name, a.Name)
			}
			text := a.Name
			if a.Repeatable {
				text += "..."
			}
			if !a.Required {
				text += "?"
			}
			list = append(list, text)
		}
		got[c.name] = strings.Join(list, " ")
	}
	want := map[string]string{
		"wait": "when? task...?", "at": "when...?", "ls": "", "show": "id?", "log": "id?", "rm": "id...?", "restore": "id...?", "edit": "id? when...?",
		"pause": "id...?", "resume": "id...?", "fire": "id?", "stop": "id...?", "inbox": "id...?", "ack": "item...?", "run": "", "service": "word",
		"health-wait": "target...", "notify": "body...?", "when": "when...?", "simulate": "", "doctor": "", "mcp": "", "guide": "command...?",
		"completion": "word", "version": "",
	}
	for name, list := range got {
		if w, ok := want[name]; !ok || list != w {
			t.Errorf("%s takes %q as data; is that so? here it is %q", name, list, w)
		}
	}
}

// TestSignalsHaveExitCodes requires that every page that lists the exit codes has those of all signals that end a command.
func TestSignalsHaveExitCodes(t *testing.T) {
	for _, sig := range endings {
		n := 128 + int(sig.(syscall.Signal))
		if !slices.ContainsFunc(exitCodes, func(e struct {
			code  int
			means string
		}) bool {
			return e.code == n
		}) {
			t.Errorf("%v ends a command, and %d is no exit code of the list", sig, n)
		}
	}
	readme, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	for page, text := range map[string]string{"README.md": string(readme), "--help": epilogue, "guide": guideText()} {
		for _, e := range exitCodes {
			if !regexp.MustCompile(`\b` + strconv.Itoa(e.code) + `\b`).MatchString(text) {
				t.Errorf("%s does not have the exit code %d", page, e.code)
			}
		}
	}
}

// TestInboxTypesAreInDocs requires that each type of item has its line in docs/inbox.md, and is in the schema of the answer.
func TestInboxTypesAreInDocs(t *testing.T) {
	page, err := os.ReadFile("../docs/inbox.md")
	if err != nil {
		t.Fatal(err)
	}
	field, _ := reflect.TypeFor[itemJSON]().FieldByName("Type")
	seen := 0
	for _, file := range sources(t, "../state/mail.go") {
		ast.Inspect(file, func(n ast.Node) bool {
			row, ok := n.(*ast.ValueSpec)
			if !ok || !strings.HasPrefix(row.Names[0].Name, "Item") || len(row.Values) != 1 {
				return true
			}
			seen++
			name := strings.Trim(word(row.Values[0]), `"`)
			if !strings.Contains(string(page), "\n| `"+name+"` | ") {
				t.Errorf("docs/inbox.md does not say what an item of type %s is", name)
			}
			if !slices.Contains(strings.Fields(field.Tag.Get("enum")), name) {
				t.Errorf("the schema of inbox does not have the type %s", name)
			}
			return true
		})
	}
	if seen < 6 {
		t.Errorf("found only %d types of items", seen)
	}
}

// TestGuideNamesLimits requires that the page names each setting that bounds what is scheduled, and the numbers in force.
func TestGuideNamesLimits(t *testing.T) {
	text := guideText()
	for field := range reflect.TypeOf(state.Config{}.Limits).Fields() {
		if name := field.Tag.Get("toml"); !strings.Contains(text, "`"+name+"`") {
			t.Errorf("the guide does not name [limits] %s", name)
		}
	}
	for _, what := range []string{strconv.Itoa(lineagePending) + " may wait", strconv.Itoa(lineagePerHour) + " be made within an hour", lineageMinInterval + " lie between", "OURO_ORIGIN",
		"INT (Ctrl-C) cancels"} {
		if !strings.Contains(text, what) {
			t.Errorf("the guide does not say %q", what)
		}
	}
}
