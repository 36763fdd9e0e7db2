package cmd

import (
	"os"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/ouro-timer/ouro-timer/cmd/cli"
	"github.com/ouro-timer/ouro-timer/cmd/guide"
	"github.com/ouro-timer/ouro-timer/cmd/option"
	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/timer/tasks"
)

// everyOption calls do with each option that is shown.
func everyOption(do func(c cli.Command, o option.Option)) {
	for _, c := range table.All() {
		if !c.Hidden {
			for _, o := range c.Options.Shown() {
				do(c, o)
			}
		}
	}
}

// TestUsageNamesWhatPicks requires that the usage of a command that takes IDs names the options that stand in their place.
func TestUsageNamesWhatPicks(t *testing.T) {
	picks := map[string][]string{cli.MatchFlag.Help: {"match"}}
	for _, name := range []string{"rm", "pause", "resume"} {
		picks[name] = []string{"tag", "origin", "all"}
	}
	seen := 0
	everyOption(func(c cli.Command, o option.Option) {
		if !slices.Contains(append(picks[c.Name], picks[o.Help]...), o.Name) {
			return
		}
		if seen++; !strings.Contains(c.Args, "--"+o.Name) {
			t.Errorf("the usage of %s does not name --%s: %s", c.Name, o.Name, c.Args)
		}
	})
	if seen < 15 {
		t.Errorf("found only %d such options", seen)
	}
}

// TestOptionsAreData requires that what the help says of the value of an option is data, too: its default, its kind, and the words it takes.
func TestOptionsAreData(t *testing.T) {
	seen, used := 0, map[option.Kind]bool{option.Target: true} // of an argument
	everyOption(func(c cli.Command, o option.Option) {
		j, name := guide.AsFlagJSON(o), c.Name+" --"+o.Name
		if regexp.MustCompile(`\(default [^:]`).MatchString(o.Help) || regexp.MustCompile(`\bby default\b|\bdefaults? to\b`).MatchString(o.Help) {
			t.Errorf("%s: the default stands in the prose alone: %q; set Default, of which both are made", name, o.Help)
		}
		if o.Default != "" {
			seen++
			if j.Default == nil || !strings.HasSuffix(j.Description, "(default "+o.Default+")") {
				t.Errorf("%s: the default %s is %v as data, and the help says %q", name, o.Default, j.Default, j.Description)
			}
			if len(j.Values) > 0 && !slices.Contains(j.Values, o.Default) {
				t.Errorf("%s: the default %s is none of %q", name, o.Default, j.Values)
			}
			if _, err := state.ParseSpan(o.Default); err != nil && o.Kind == option.Duration {
				t.Errorf("%s: the default: %v", name, err)
			}
		}
		if o.IsText() && !slices.Contains(option.Kind("").Values(), string(o.Kind)) {
			t.Errorf("%s: the kind %q is not in the list", name, o.Kind)
		}
		used[o.Kind] = true
		if j.Name == "" {
			t.Errorf("%s has no name", name)
		}
		if o.Kind == option.Word && len(o.Choices) == 0 {
			t.Errorf("%s takes words that are not among its choices", name)
		}
		for _, word := range o.Choices {
			if !strings.Contains(o.Help, word) && o.Kind != option.List {
				t.Errorf("%s takes %q, and the help does not say so: %q", name, word, o.Help)
			}
			if got, err := o.Choose(strings.ToUpper(word)); err != nil || got != word {
				t.Errorf("%s %s: %q, %v", name, word, got, err)
			}
		}
		if len(o.Choices) > 0 {
			if _, err := o.Choose("banana"); err == nil {
				t.Errorf("%s banana is taken", name)
			}
		}
	})
	if seen < 15 {
		t.Errorf("saw only %d defaults", seen)
	}
	for _, k := range option.Kinds {
		if !used[k.Kind] {
			t.Errorf("nothing has the kind %s", k.Kind)
		}
	}
}

// TestArgumentsAreData requires that each <argument> of a line of use is data, unless it is the value of an option or follows --.
func TestArgumentsAreData(t *testing.T) {
	got := map[string]string{}
	for _, c := range table.All() {
		if c.Hidden {
			continue
		}
		var list []string
		for _, a := range guide.AsArgumentsJSON(c, table) {
			if a.Format == "" || a.Format == "word" && len(a.Values) == 0 {
				t.Errorf("%s: the argument %s has no format: give it one", c.Name, a.Name)
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
		got[c.Name] = strings.Join(list, " ")
	}
	want := map[string]string{
		"wait": "when? task...?", "at": "when...?", "ls": "word...?", "show": "id?", "log": "id?", "rm": "id...?", "restore": "id...?", "edit": "id? when...?",
		"pause": "id...?", "resume": "id...?", "top": "", "fire": "id?", "stop": "id...?", "inbox": "id...?", "ack": "item...?", "run": "", "service": "word",
		"health-wait": "target...", "notify": "body...?", "when": "when...?", "simulate": "", "doctor": "", "fleet": "word node? agent?", "agent": "word name", "metrics": "", "import": "kind file...?", "export": "form", "apply": "file", "mcp": "word? program...?", "guide": "command...?",
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
	for _, sig := range cli.Endings {
		n := 128 + int(sig.(syscall.Signal))
		if !slices.ContainsFunc(cli.ExitCodes, func(e struct {
			Code  int
			Means string
		}) bool {
			return e.Code == n
		}) {
			t.Errorf("%v ends a command, and %d is not an exit code of the list", sig, n)
		}
	}
	scripts, err := os.ReadFile("../docs/scripts.md")
	if err != nil {
		t.Fatal(err)
	}
	for page, text := range map[string]string{"docs/scripts.md": string(scripts), "--help": guide.Epilogue, "guide": guide.GuideText()} {
		for _, e := range cli.ExitCodes {
			if !regexp.MustCompile(`\b` + strconv.Itoa(e.Code) + `\b`).MatchString(text) {
				t.Errorf("%s does not have the exit code %d", page, e.Code)
			}
		}
	}
}

// TestGuideNamesLimits requires that the page names each setting that bounds what is scheduled, and the numbers in force.
func TestGuideNamesLimits(t *testing.T) {
	text := guide.GuideText()
	for field := range reflect.TypeOf(state.Config{}.Limits).Fields() {
		if name := field.Tag.Get("toml"); !strings.Contains(text, "`"+name+"`") {
			t.Errorf("the guide does not name [limits] %s", name)
		}
	}
	for _, what := range []string{strconv.Itoa(cli.LineagePending) + " may wait", strconv.Itoa(cli.LineagePerHour) + " be made within an hour", tasks.LineageMinInterval + " lie between", "OURO_ORIGIN",
		"INT (Ctrl-C) cancels"} {
		if !strings.Contains(text, what) {
			t.Errorf("the guide does not say %q", what)
		}
	}
}
