package tasks

import (
	"slices"
	"strings"
	"testing"

	"github.com/ouro-timer/ouro-timer/state"
)

func TestAgentWords(t *testing.T) {
	for _, c := range []struct {
		line string
		want []string // nil: refused
	}{
		{"", []string{}},
		{"  ", []string{}},
		{"agents/echo.py", []string{"agents/echo.py"}},
		{" python3  -u\tagent.py\n", []string{"python3", "-u", "agent.py"}},
		{`python3 'my agent.py' ""`, []string{"python3", "my agent.py", ""}},
		{`a"b c"d'e f'`, []string{"ab cde f"}},
		{`"a\"b\\c\d" \  x\ y`, []string{`a"b\c\d`, " ", "x y"}},
		{`sh -c 'a | b; c > d'`, []string{"sh", "-c", "a | b; c > d"}},
		{`echo $HOME ~ *`, []string{"echo", "$HOME", "~", "*"}},
		{`echo '|' \;`, []string{"echo", "|", ";"}},
		{`a | b`, nil}, {`a && b`, nil}, {`a > b`, nil}, {`a &`, nil},
		{`a 'b`, nil}, {`a "b`, nil}, {`a "b\"`, nil}, {`a \`, nil},
	} {
		got, err := agentWords(c.line)
		if (err != nil) != (c.want == nil) || err == nil && !slices.Equal(got, c.want) {
			t.Errorf("%q is %q, %v", c.line, got, err)
		}
	}
}

// FuzzAgentWords: words that are written for a shell are read as they were.
func FuzzAgentWords(f *testing.F) {
	f.Add("python3", "my agent.py", "")
	f.Add("'", `"\`, "|\n;")
	f.Fuzz(func(t *testing.T, a, b, c string) {
		want := []string{a, b, c}
		if strings.ContainsRune(a+b+c, 0) {
			return
		}
		got, err := agentWords(state.ShellLine(want))
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%q is read as %q, %v", want, got, err)
		}
	})
}
