package mcp

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/ouro-timer/ouro-timer/cmd/option"
	"github.com/ouro-timer/ouro-timer/timer/problem"
)

// theTools are the tools, with some options of their commands.
func theTools() []*tool {
	rows := map[string]option.Rows{
		"wait": {{Name: "resume", Kind: option.ID}, {Name: "delay", Kind: option.Duration}, {Name: "cron", Kind: option.Cron}, {Name: "max", Kind: option.Duration}, {Name: "every", Kind: option.Duration}},
		"at": {{Name: "c", Key: "shell"}, {Name: "task"}, {Name: "every", Kind: option.Duration}, {Name: "notify", Many: true},
			{Name: "env", Many: true, Pairs: true}, {Name: "notify-on"}, {Name: "timeout"}, {Name: "retries", Kind: option.Whole}, {Name: "tz"}, {Name: "except", Many: true}, {Name: "expect"},
			{Name: "description"}, {Name: "key"}, {Name: "replace", Kind: option.Flag}, {Name: "wait", Kind: option.Flag}, {Name: "max"}},
		"ls":          {{Name: "all", Kind: option.Flag}, {Name: "limit", Kind: option.Whole}, {Name: "before", Kind: option.Time}},
		"rm":          {{Name: "match"}, {Name: "kill", Kind: option.Flag}, {Name: "max"}},
		"edit":        {{Name: "description", Aliases: []string{"d"}}, {Name: "until"}, {Name: "c", Key: "shell"}, {Name: "task"}},
		"when":        {{Name: "number", Kind: option.Whole}, {Name: "tz"}},
		"log":         {{Name: "number", Kind: option.Whole, Aliases: []string{"n"}}, {Name: "since"}, {Name: "outcome", Many: true}, {Name: "output-limit", Kind: option.Whole}, {Name: "after"}, {Name: "wait", Kind: option.Flag}, {Name: "max"}},
		"inbox":       {{Name: "take", Kind: option.Duration, Bare: true}, {Name: "wait", Kind: option.Flag}, {Name: "limit", Kind: option.Whole}, {Name: "max"}},
		"health-wait": {{Name: "timeout", Kind: option.Duration}, {Name: "stable", Kind: option.Duration}, {Name: "max"}, {Name: "any", Kind: option.Flag}, {Name: "invert", Kind: option.Flag}},
		"notify": {{Name: "list", Kind: option.Flag}, {Name: "channel", Many: true}, {Name: "to", Many: true}, {Name: "subject"},
			{Name: "dry-run", Kind: option.Flag}},
	}
	return allTools(&Options{Rows: func(command string) option.Rows { return rows[command] }})
}

// TestSurface says in the words of tools what a command line says in its own. What it says is read
// by the tool that it is for, as the call that was meant.
func TestSurface(t *testing.T) {
	tools := theTools()
	for _, c := range []struct {
		tool string
		text problem.Text
		want string
	}{
		{"list_tasks", problem.T("%s shows every task", problem.To("ls").With("all", true)), `list_tasks {"all":true} shows every task`},
		{"list_tasks", problem.T("%s shows them; or name one by %s", problem.To("ls"), problem.Set("match", "TEXT")), `list_tasks shows them; or name one by --match TEXT`},
		{"cancel_task", problem.T("or name one by %s", problem.Set("match", "TEXT")), `or name one by "match": "TEXT"`},
		{"schedule_task", problem.T("use %s", problem.Set("c", "it's --every x")), `use "shell": "it's --every x"`},
		{"schedule_task", problem.T("%s has no text", problem.Option("c")), `"shell" has no text`},
		{"schedule_task", problem.T("try %s", problem.To("at", "tomorrow at 10:00").Running("make", "backup")), `try schedule_task {"command":["make","backup"],"when":"tomorrow at 10:00"}`},
		{"schedule_task", problem.T("%s", problem.To("at", "in 1 hour").With("task", "call Bob")), `schedule_task {"task":"call Bob","when":"in 1 hour"}`},
		{"cancel_task", problem.T("%s undoes that", problem.To("restore", "k7m2")), `edit_task {"action":"restore","id":"k7m2"} undoes that`},
		{"edit_task", problem.T("%s ends it", problem.To("stop", "k7m2/2", "k7m2/3", "w3xq")), `cancel_task {"ids":["k7m2","w3xq"],"kill":true} ends it`},
		{"edit_task", problem.T("%s gives it another time", problem.To("edit", "k7m2")), `edit_task {"id":"k7m2"} gives it another time`},
		{"task_log", problem.T("%s shows the latest", problem.To("log", "k7m2").With("number", 20)), `task_log {"id":"k7m2","number":20} shows the latest`},
		{"inbox", problem.T("it waits in the inbox (%s); %s", problem.To("inbox").With("wait", true), problem.Set("notify", "desktop")),
			`it waits in the inbox (inbox {"wait":true}); --notify desktop`},
		{"inbox", problem.T("all items of a task: %s", problem.To("ack").With("task", "k7m2")), `all items of a task: inbox {"ack_task":"k7m2"}`},
		{"inbox", problem.T("one item is given as an argument: %s", problem.To("ack", "k7m2/3")), `one item is given as an argument: inbox {"ack":["k7m2/3"]}`},
		{"wait_for_health", problem.T("give a longer %s, or a shorter %s", problem.Option("max"), problem.Option("stable")), `give a longer "max_seconds", or a shorter "stable"`},
		{"wait_for_health", problem.T("%s", problem.To("health-wait", "tcp://localhost:5432")), `wait_for_health {"targets":["tcp://localhost:5432"]}`},
		{"notify", problem.T("give it a body: %s", problem.To("notify", "the build is done")), `give it a body: notify {"body":"the build is done"}`},
		{"wait", problem.T("start one with %s", problem.To("run").With("background", true)), "start one with ouro-timer run --background"},
		{"schedule_task", problem.T("for less there is %s", problem.To("wait", "every 1ms")), `for less there is wait {"when":"every 1ms"}`},
		{"schedule_task", problem.T("%s or %s", problem.Set("every", "5m"), problem.Set("notify", "desktop")), `"every": "5m" or "notify": ["desktop"]`},
		{"list_tasks", problem.T("a higher %s, or %s", problem.Set("limit", "N"), problem.Set("limit", 20)), `a higher "limit": N, or "limit": 20`},
		{"edit_task", problem.T("%s takes it back", problem.Set("description", "")), `"clear": ["description"] takes it back`},
		{"wait", problem.T("ask %s", problem.To("when", "at 7")), `ask explain_time {"when":"at 7"}`},
		{"inbox", problem.T("%s or %s", problem.To("inbox").With("take", problem.Bare("")), problem.Set("take", problem.Bare("2m"))), `inbox {"take":true} or "take": "2m"`},
		{"list_tasks", problem.T("leave it out for %s", problem.Usual{Name: "limit", Text: "all"}), "leave it out for 50"},
	} {
		for _, tool := range tools {
			if tool.name != c.tool {
				continue
			}
			if got := c.text.In(surface{tools: tools, tool: tool}); got != c.want {
				t.Errorf("%s: %q is said as %q, not %q", c.tool, c.text, got, c.want)
			}
		}
	}
}

// TestCallsAreRead requires that the call of a tool which stands for a call of a command asks for
// that call.
func TestCallsAreRead(t *testing.T) {
	tools := theTools()
	for _, c := range []problem.Call{
		problem.To("ls").With("all", true), problem.To("show", "k7m2"), problem.To("rm", "k7m2", "w3xq").With("kill", true), problem.To("restore", "k7m2"),
		problem.To("pause", "k7m2"), problem.To("edit", "k7m2", "+1h").With("description", "later"), problem.To("at", "1h").With("c", "a | b").With("retries", 3),
		problem.To("at", "1h").With("notify", []string{"desktop"}).Running("make", "backup"), problem.To("log", "k7m2").With("number", 20), problem.To("ack", "k7m2/3"), problem.To("ack").With("task", "k7m2"),
		problem.To("inbox").With("take", problem.Bare("")).With("wait", true), problem.To("inbox").With("take", problem.Bare("2m")), problem.To("when", "at 7"), problem.To("notify", "done").With("to", []string{"a", "b"}),
		problem.To("health-wait", "tcp://x:1").With("any", true), problem.To("wait", "10m").Saying("check it"), problem.To("wait").With("resume", "w3xq"),
		problem.To("wait").With("every", "5m").Saying("x"),
	} {
		tool, args := surface{tools: tools}.arguments(c)
		if tool == nil {
			t.Errorf("%v has no tool", c)
			continue
		}
		s := server{Options: Options{BlockMost: 50}}
		r, err := s.read(tool, json.RawMessage(option.JSON(args)))
		if err != nil {
			t.Errorf("%v as %s %v: %v", c, tool.name, args, err)
			continue
		}
		if r.Command != c.Command || !reflect.DeepEqual(r.Line.Tail, c.Tail) {
			t.Errorf("%v as %s %v asks for %s %v -- %v", c, tool.name, args, r.Command, r.Line.Args, r.Line.Tail)
		}
		if want := append(append([]string{}, c.Args...), c.Text...); len(want)+len(r.Line.Args) > 0 && !reflect.DeepEqual(r.Line.Args, want) {
			t.Errorf("%v as %s %v has the words %v", c, tool.name, args, r.Line.Args)
		}
		for _, set := range c.Set {
			if bare, is := set.Value.(problem.Bare); is {
				set.Value = string(bare)
			}
			if got := r.Line.Values.Value(string(set.Name)); !reflect.DeepEqual(got, set.Value) {
				t.Errorf("%v as %s %v: %s is %#v", c, tool.name, args, set.Name, got)
			}
		}
	}
}

// TestWith adds to an answer and changes nothing else.
func TestWith(t *testing.T) {
	got, err := withFields([]byte(`{"z":1e400,"a":[{"hint":"ouro-timer ls"},[],{}],"hint":null,"b":"<&>"}`+"\n"), map[string]any{"call": 1})
	const want = `{"z":1e400,"a":[{"hint":"ouro-timer ls"},[],{}],"hint":null,"b":"<&>","call":1}`
	if err != nil || string(got) != want {
		t.Errorf("%s, %v", got, err)
	}
	for _, bad := range []string{``, `{}{}`, `[]`, `1`, `{"a":`} {
		if got, err := withFields([]byte(bad), nil); err == nil {
			t.Errorf("%s is taken as %s", bad, got)
		}
	}
}
