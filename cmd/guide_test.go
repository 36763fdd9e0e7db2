package cmd

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ouro-timer/ouro-timer/cmd/cli"
	"github.com/ouro-timer/ouro-timer/cmd/clitest"
	"github.com/ouro-timer/ouro-timer/cmd/daemon"
	"github.com/ouro-timer/ouro-timer/cmd/guide"
	"github.com/ouro-timer/ouro-timer/cmd/option"
	"github.com/ouro-timer/ouro-timer/timer/clock/clocktest"
	"github.com/ouro-timer/ouro-timer/timer/runner"
)

// TestGuideIsShort keeps the page readable at one look, and true: the commands and options that it names exist.
func TestGuideIsShort(t *testing.T) {
	text := guide.GuideText()
	if n := len(text); n > 8<<10 {
		t.Errorf("the guide has %d bytes", n)
	}
	for _, c := range table.All() {
		if c.Hidden {
			continue
		}
		w, out, _ := clitest.World(t, clocktest.NewManual(clitest.Noon))
		if code := Main([]string{"ouro-timer", "guide", "--json", c.Name}, w); code != 0 || out.Len() > 6<<10 {
			t.Errorf("guide --json %s: exit %d, %d bytes", c.Name, code, out.Len())
		}
		w, out, _ = clitest.World(t, clocktest.NewManual(clitest.Noon))
		long := "/opt/tools/someone/bin/ouro-timer"
		if code := Main([]string{long, "guide", "--json", c.Name}, w); code != 0 || out.Len() > 6<<10-200 {
			t.Errorf("%s guide --json %s: exit %d, %d bytes", long, c.Name, code, out.Len())
		}
	}
	if strings.Contains(text, "{{") {
		t.Error("something was not put in")
	}
	flags := map[string]bool{"--help": true}
	for _, c := range table.All() {
		for _, o := range c.Options {
			for _, name := range o.Names() {
				flags["--"+name] = true
			}
		}
	}
	for _, m := range regexp.MustCompile(`ouro-timer ([a-z][a-z-]*)`).FindAllStringSubmatch(text, -1) {
		if table.Find(m[1]) == nil {
			t.Errorf("there is no command %s", m[1])
		}
	}
	for _, name := range regexp.MustCompile(`--[a-z][a-z-]+`).FindAllString(text, -1) {
		if !flags[name] {
			t.Errorf("there is no option %s", name)
		}
	}
}

// shownCall is a call of the guide and the answer it shows.
type shownCall struct{ line, answer string }

// examples are the calls in the parts of a page that are marked as a session.
func examples(page string) (list []shownCall) {
	in := false
	for line := range strings.Lines(page) {
		line = strings.TrimSuffix(line, "\n")
		switch call, isCall := strings.CutPrefix(line, "$ "); {
		case strings.HasPrefix(line, "```"):
			in = line == "```console"
		case in && isCall:
			list = append(list, shownCall{line: call})
		case in && len(list) > 0:
			list[len(list)-1].answer += line
		}
	}
	return list
}

// TestGuideExamples makes the calls of the guide and compares the answers with those that are shown: each field is there, and of that type;
// the code of an error, a state and a status are the same. An ID stands for the one that was given in its place.
func TestGuideExamples(t *testing.T) {
	home := t.TempDir()
	t.Cleanup(func() { endAll(t, 3*time.Second, home+"/state", home) })
	ids := map[string]string{}
	list := examples(guide.GuideText())
	if len(list) < 8 {
		t.Fatalf("found only %d examples", len(list))
	}
	for _, e := range list {
		line := strings.ReplaceAll(e.line, "--max 110s", "--max 50ms")
		for shown, id := range ids {
			line = regexp.MustCompile(`\b`+shown+`\b`).ReplaceAllString(line, id)
		}
		c := exec.Command("/bin/sh", "-c", line)
		c.Dir = home
		c.Env = append(os.Environ(), "HOME="+home, "OURO_HOME="+home+"/state", "TZ=Europe/Warsaw", "OURO_MAX=")
		out, err := c.Output()
		var ended *exec.ExitError
		if err != nil && !errors.As(err, &ended) {
			t.Fatalf("%s: %v", line, err)
		}
		var got, want map[string]any
		if err := json.Unmarshal(out, &got); err != nil {
			t.Errorf("%s: answered %q: %v", line, out, err)
			continue
		}
		if err := json.Unmarshal([]byte(strings.NewReplacer(",…}", "}", ",…]", "]").Replace(e.answer)), &want); err != nil {
			t.Errorf("the answer to %s is not JSON: %v", e.line, err)
			continue
		}
		if a, ok := want["id"].(string); ok && ids[a] == "" {
			ids[a], _ = got["id"].(string)
		}
		for _, diff := range shape("", want, got) {
			t.Errorf("%s: %s\nshown    %s\nanswered %s", line, diff, e.answer, out)
		}
	}
}

// exact are the fields whose value is compared, not only its type.
var exact = []string{"code", "state", "status", "type", "kind", "outcome", "created", "healthy", "reason", "changed"}

// shape compares what is shown with what there is.
func shape(at string, want, got any) (diffs []string) {
	switch want := want.(type) {
	case map[string]any:
		object, ok := got.(map[string]any)
		if !ok {
			return []string{at + " is not an object"}
		}
		for name, v := range want {
			if _, ok := object[name]; !ok {
				diffs = append(diffs, at+"."+name+" is not there")
				continue
			}
			if slices.Contains(exact, name) && fmt.Sprint(v) != fmt.Sprint(object[name]) {
				diffs = append(diffs, fmt.Sprintf("%s.%s is %v, not %v", at, name, object[name], v))
			}
			diffs = append(diffs, shape(at+"."+name, v, object[name])...)
		}
	case []any:
		list, ok := got.([]any)
		if !ok || len(want) > 0 && len(list) == 0 || len(want) == 0 && len(list) > 0 {
			return []string{fmt.Sprintf("%s is %v, not %v", at, got, want)}
		}
		for i, v := range want {
			diffs = append(diffs, shape(fmt.Sprintf("%s[%d]", at, i), v, list[min(i, len(list)-1)])...)
		}
	default:
		if fmt.Sprintf("%T", want) != fmt.Sprintf("%T", got) {
			return []string{fmt.Sprintf("%s is %v, not of the kind of %v", at, got, want)}
		}
	}
	return diffs
}

// TestGuideNamesTheEnvironment holds the list of variables to those that doctor knows to be heeded, or given to runs,
// and what says of runs which they see to all of them.
func TestGuideNamesTheEnvironment(t *testing.T) {
	for _, name := range append(slices.Clone(daemon.Heeded), runner.Handed...) {
		if !slices.ContainsFunc(guide.Variables, func(v guide.VariableJSON) bool { return v.Name == name }) {
			t.Errorf("the guide does not name %s", name)
		}
	}
	page, err := os.ReadFile("../docs/semantics.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range append(runner.CapturedNames(), runner.Handed...) {
		if !strings.Contains(string(page), "`"+name+"`") || !regexp.MustCompile(`\b`+name+`\b`).MatchString(table.Find("at").Long) {
			t.Errorf("docs/semantics.md and at --help do not both name %s", name)
		}
	}
	everyOption(func(c cli.Command, o option.Option) {
		if o.Env != "" && !slices.ContainsFunc(guide.Variables, func(v guide.VariableJSON) bool { return v.Name == o.Env }) {
			t.Errorf("--%s has the variable %s, which is not in the list", o.Name, o.Env)
		}
	})
}
