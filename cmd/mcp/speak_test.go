package mcp

import (
	"strings"
	"testing"
)

// theTools are the tools, with some options of their commands.
func theTools() []*tool {
	flags := map[string][]Flag{
		"at":          {{Name: "c"}, {Name: "task"}, {Name: "every", Kind: Span, Also: []string{"interval"}}, {Name: "notify", Kind: Texts, Says: []string{"desktop"}}, {Name: "expect"}},
		"ls":          {{Name: "all", Kind: Truth}, {Name: "limit", Kind: Whole}},
		"rm":          {{Name: "match"}, {Name: "kill", Kind: Truth}},
		"edit":        {{Name: "description", Also: []string{"d"}}, {Name: "until"}},
		"log":         {{Name: "number", Kind: Whole, Also: []string{"n"}}},
		"inbox":       {{Name: "take"}, {Name: "wait", Kind: Truth}},
		"health-wait": {{Name: "timeout", Kind: Span}, {Name: "stable", Kind: Span}},
		"notify":      {{Name: "list", Kind: Truth}, {Name: "channel", Kind: Texts}},
	}
	return all(&Options{Flags: func(command string) []Flag { return flags[command] }})
}

// TestSpeak says in the words of tools what the command line says in its own.
func TestSpeak(t *testing.T) {
	s := speaker{theTools()}
	for _, c := range []struct{ tool, text, want string }{
		{"list_tasks", "ouro-timer ls --all shows every task", `list_tasks {"all":true} shows every task`},
		{"wait", "ouro-timer ls --all those that ended", `list_tasks {"all":true} those that ended`},
		{"schedule_task", "standard input: --every has no text", `"every" has no text`},
		{"list_tasks", "ouro-timer ls shows them; or name one by --match TEXT", `list_tasks shows them; or name one by --match TEXT`},
		{"cancel_task", "or name one by --match TEXT", `or name one by "match": "TEXT"`},
		{"schedule_task", "--every and --interval exclude each other", `"every" and "every" exclude each other`},
		{"schedule_task", `not allowed: "/bin/sh -c 'echo \"hi\" -c --every'"; leave -c out`, `not allowed: "/bin/sh -c 'echo \"hi\" -c --every'"; leave "shell" out`},
		{"schedule_task", `use -c 'it'\''s --every x', the tasks' own --every`, `use "shell": "it's --every x", the tasks' own "every"`},
		{"schedule_task", `"ouro-timer ls --all" says nothing of --every`, `"ouro-timer ls --all" says nothing of "every"`},
		{"schedule_task", `an open " or ' hides no --every`, `an open " or ' hides no "every"`},
		{"schedule_task", "-c has no text", `"shell" has no text`},
		{"schedule_task", "try ouro-timer at \"tomorrow at 10:00\" -- make backup", `try schedule_task {"command":["make","backup"],"when":"tomorrow at 10:00"}`},
		{"schedule_task", "to be told it: ouro-timer at 'in 1 hour' --task 'call Bob'; to run it: ouro-timer at 1h -- true, or so",
			`to be told it: schedule_task {"task":"call Bob","when":"in 1 hour"}; to run it: schedule_task {"command":["true"],"when":"1h"}, or so`},
		{"cancel_task", "ouro-timer restore k7m2 undoes that", `edit_task {"action":"restore","id":"k7m2"} undoes that`},
		{"edit_task", "ouro-timer edit k7m2 gives it another time", `edit_task {"id":"k7m2"} gives it another time`},
		{"task_log", "ouro-timer log k7m2 -n 20 shows the latest", `task_log {"id":"k7m2","number":20} shows the latest`},
		{"inbox", "it waits in the inbox (ouro-timer inbox --wait); --notify desktop", `it waits in the inbox (inbox {"wait":true}); --notify desktop`},
		{"inbox", "all items of a task: ouro-timer ack --task k7m2", `all items of a task: inbox --task k7m2`},
		{"inbox", "one item is given as an argument: ouro-timer ack k7m2/3", `one item is given as an argument: inbox {"ack":["k7m2/3"]}`},
		{"wait_for_health", "give a longer --max, or a shorter --stable", `give a longer "max_seconds", or a shorter "stable"`},
		{"wait_for_health", "ouro-timer health-wait tcp://localhost:5432", `wait_for_health {"targets":["tcp://localhost:5432"]}`},
		{"notify", `give it a body: ouro-timer notify "the build is done"`, `give it a body: notify {"body":"the build is done"}`},
		{"wait", "start one with ouro-timer run --background", "start one with ouro-timer run --background"},
		{"schedule_task", "start one with ouro-timer run --every; then --every", `start one with ouro-timer run --every; then "every"`},
		{"schedule_task", "give 1s or more; for less there is ouro-timer wait 'every 1ms'", `give 1s or more; for less there is wait {"when":"every 1ms"}`},
		{"schedule_task", "leave it out, or write --every 5m or --notify desktop, if --notify will not do",
			`leave it out, or write "every": "5m" or "notify": ["desktop"], if "notify" will not do`},
		{"list_tasks", "a higher --limit N, or --limit 20; --limit is", `a higher "limit": N, or "limit": 20; "limit" is`},
		{"edit_task", "--until or --delay; --description \"\" takes it back", `"until" or --delay; "description": "" takes it back`},
		{"wait", "ask ouro-timer when 'at 7'", `ask explain_time {"when":"at 7"}`},
	} {
		for _, tool := range s.tools {
			if tool.name != c.tool {
				continue
			}
			if got := s.advise(tool, c.text); got != c.want {
				t.Errorf("%s: %q is said as %q, not %q", c.tool, c.text, got, c.want)
			}
		}
	}
}

// TestRewrite changes the sentences in an answer and nothing else.
func TestRewrite(t *testing.T) {
	s := speaker{theTools()}
	got, err := s.rewrite(s.tools[0], []byte(`{"z":1e400,"a":[{"hint":"ouro-timer ls"},[],{}],"hint":null,"task":"ouro-timer ls","warnings":["ouro-timer ls"],"b":"<&>"}`+"\n"),
		map[string]any{"call": 1})
	const want = `{"z":1e400,"a":[{"hint":"list_tasks"},[],{}],"hint":null,"task":"ouro-timer ls","warnings":["list_tasks"],"b":"<&>","call":1}`
	if err != nil || string(got) != want {
		t.Errorf("%s, %v", got, err)
	}
	for _, bad := range []string{``, `{}{}`, `[]`, `1`, `{"a":`} {
		if got, err := s.rewrite(s.tools[0], []byte(bad), nil); err == nil {
			t.Errorf("%s is rewritten as %s", bad, got)
		}
	}
}

// TestLean leaves out what is null, wherever it is, and nothing else.
func TestLean(t *testing.T) {
	got := lean([]byte(`{"a":null,"b":[null,{"c":null}],"d":{"e":null,"f":1e400},"g":"","h":[],"i":null}`))
	if want := `{"b":[null,{}],"d":{"f":1e400},"g":"","h":[]}`; string(got) != want {
		t.Errorf("%s", got)
	}
}

// FuzzSpeak translates any sentence, and leaves alone what has neither commands nor options in it.
func FuzzSpeak(f *testing.F) {
	f.Add("ouro-timer at '1h --task \"x\" -- a; b")
	f.Add("--every -c -- ouro-timer ")
	s := speaker{theTools()}
	f.Fuzz(func(t *testing.T, text string) {
		for _, tool := range s.tools {
			got := s.advise(tool, text)
			if !strings.Contains(text, "-") && got != text {
				t.Errorf("%q became %q", text, got)
			}
		}
	})
}
