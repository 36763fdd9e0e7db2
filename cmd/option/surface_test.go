package option

import (
	"testing"

	"github.com/ouro-timer/ouro-timer/timer/problem"
)

// TestObjects has options, values and calls in the words of objects.
func TestObjects(t *testing.T) {
	objects := Objects{Command: "at", Rows: Rows{
		{Name: "c", Kind: Text, Key: "shell"}, {Name: "shell", Kind: File, Key: "program"}, {Name: "file", Aliases: []string{"f"}, Kind: File},
		{Name: "until-ok", Kind: Flag}, {Name: "jitter", Kind: Duration}, {Name: "retries", Kind: Whole}, {Name: "notify", Kind: Channel, Many: true},
		{Name: "env", Kind: Name, Many: true, Pairs: true}, {Name: "agent", Kind: File}, {Name: "title", Kind: Text}, {Name: "json", Kind: Flag, OfCall: true},
	}}
	for _, c := range []struct {
		text          problem.Text
		shell, object string
	}{
		{problem.T("%s has no effect here", problem.Option("until-ok")), "--until-ok has no effect here", `"until_ok" has no effect here`},
		{problem.T("such as %s", problem.Set("jitter", "10m")), "such as --jitter 10m", `such as "jitter": "10m"`},
		{problem.T("give %s", problem.Set("retries", 3)), "give --retries 3", `give "retries": 3`},
		{problem.T("give %s", problem.Set("retries", "N")), "give --retries N", `give "retries": N`},
		{problem.T("%s takes a program", problem.Option("shell")), "--shell takes a program", `"program" takes a program`},
		{problem.T("use %s", problem.Set("c", "it's")), `use -c 'it'\''s'`, `use "shell": "it's"`},
		{problem.T("give %s", problem.Set("notify", "slack")), "give --notify slack", `give "notify": ["slack"]`},
		{problem.T("give %s", problem.Set("notify", []string{"a", "b"})), "give --notify a --notify b", `give "notify": ["a","b"]`},
		{problem.T("%s", problem.Set("json", true)), "--json", "--json"},
		{problem.T("a command: %s", problem.Set(problem.Command, []string{"make", "backup"})), "a command: -- make backup", `a command: "command": ["make","backup"]`},
		{problem.T("%s exclude each other", problem.Options(" and ", "c", problem.Command)), "-c and -- exclude each other", `"shell" and "command" exclude each other`},
		{problem.T("%s", problem.To("ls").With("all", true)), "ouro-timer ls --all", "ouro-timer ls --all"},
		{problem.T("%s", problem.To("at", "1 hour").With("agent", "./agent.py --quiet").With("title", "x")), "ouro-timer at '1 hour' --agent './agent.py --quiet' --title x",
			`{"agent":"./agent.py --quiet","title":"x","when":"1 hour"}`},
		{problem.T("%s", problem.To("at", "1h").Running("a b", "c")), "ouro-timer at 1h -- 'a b' c", `{"command":["a b","c"],"when":"1h"}`},
		{problem.T("100% of it"), "100% of it", "100% of it"},
		{problem.Texts("; ", problem.T("one"), problem.Text{}, problem.T("two %d", 2)), "one; two 2", "one; two 2"},
	} {
		if got := c.text.String(); got != c.shell {
			t.Errorf("in a shell %s, want %s", got, c.shell)
		}
		if got := c.text.In(objects); got != c.object {
			t.Errorf("in an object %s, want %s", got, c.object)
		}
	}
	typed := problem.Shell{Program: "./ouro timer", Typed: map[string]string{"until-ok": "ok"}}
	if got := problem.T("%s %s", problem.Option("until-ok"), problem.To("ls")).In(typed); got != "--ok './ouro timer' ls" {
		t.Errorf("as it was typed: %s", got)
	}
}
