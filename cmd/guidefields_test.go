package cmd

import (
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/ouro-timer/ouro-timer/cmd/cli"
	"github.com/ouro-timer/ouro-timer/cmd/guide"
	"github.com/ouro-timer/ouro-timer/timer/problem"
)

// fieldsOf are the commands that a part of the page's list of fields is of, in backquotes before
// the colon, and the names behind it.
var fieldsOf = regexp.MustCompile("((?:A run \\()?`[^:.]*): ([a-z_. ]+)")

// TestGuideNamesFields requires that --fields of each command takes the names that the page has for
// it.
func TestGuideNamesFields(t *testing.T) {
	_, list, found := strings.Cut(guide.GuideText(), "guide at --fields fields`).")
	list, _, ended := strings.Cut(list, "- Branch on")
	if !found || !ended {
		t.Fatal("the page has no list of fields")
	}
	seen := map[string]bool{}
	for _, part := range fieldsOf.FindAllStringSubmatch(strings.ReplaceAll(list, "(`show`: next", "`show`: next"), -1) {
		for _, name := range regexp.MustCompile("`([a-z-]+)").FindAllStringSubmatch(part[1], -1) {
			c := table.Find(name[1])
			if c == nil {
				t.Errorf("there is no command %s", name[1])
				continue
			}
			for _, field := range strings.Fields(part[2]) {
				if seen[c.Name] = true; !cli.TakesField(c.Answers, strings.TrimSuffix(field, ".")) {
					t.Errorf("no answer of %s has the field %s", c.Name, field)
				}
			}
		}
	}
	for _, name := range []string{"at", "ls", "log", "rm", "show", "wait", "health-wait", "simulate", "inbox"} {
		if !seen[name] {
			t.Errorf("the page has no fields of %s", name)
		}
	}
}

// TestEveryFieldIsTaken requires of every command that --fields takes the names that it is said to
// have, and that the names of all its answers are among them or below one.
func TestEveryFieldIsTaken(t *testing.T) {
	for _, c := range table.All() {
		names := cli.FieldNames(c.Answers)
		for _, name := range names {
			if !cli.TakesField(c.Answers, name) {
				t.Errorf("%s --fields %s is refused", c.Name, name)
			}
		}
		for _, a := range c.Answers {
			of := reflect.TypeOf(a.Of)
			if of.Kind() == reflect.Pointer {
				of = of.Elem()
			}
			for _, f := range reflect.VisibleFields(of) {
				name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
				if name != "" && name != "-" && f.IsExported() && !slices.Contains(names, name) {
					t.Errorf("%s is not told that %s has the field %s", c.Name, a.Name, name)
				}
			}
		}
		if cli.TakesField(c.Answers, "banana") || cli.TakesField(c.Answers, "") || cli.TakesField(c.Answers, "now.now") {
			t.Errorf("%s takes fields that nothing has", c.Name)
		}
	}
}

// TestGuideNamesCodes requires that the page has each error code behind the exit code of the calls
// that fail by it, and nowhere else.
func TestGuideNamesCodes(t *testing.T) {
	_, list, _ := strings.Cut(guide.GuideText(), "## Exit codes")
	list = strings.Join(strings.Fields(list), " ")
	told := map[string]string{}
	for _, part := range regexp.MustCompile(`(?:^|· )(\d+) [^·(]*\(([a-z_, ]+)\)`).FindAllStringSubmatch(list, -1) {
		for _, code := range strings.Split(part[2], ", ") {
			told[code] += part[1]
		}
	}
	for _, c := range problem.Codes {
		if told[string(c.Code)] != strconv.Itoa(c.Exit) {
			t.Errorf("%s ends a call with %d, and the page says %q", c.Code, c.Exit, told[string(c.Code)])
		}
		delete(told, string(c.Code))
	}
	if len(told) > 0 {
		t.Errorf("the page has further codes: %v", told)
	}
}
