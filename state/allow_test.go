package state_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/ouro-timer/ouro-timer/state"
)

func TestAllows(t *testing.T) {
	for _, c := range []struct {
		pattern, command string
		want             bool
	}{
		{"make", "/usr/bin/make", true},
		{"make", "/usr/bin/make clean all", true},
		{"make", "/usr/local/bin/make", true},
		{"make", "/tmp/make", false},
		{"make", "/home/me/usr/bin/make", false},
		{"make", "/usr/bin/cmake", false},
		{"mak?", "/usr/bin/make", true},
		{"*", "/usr/bin/make", true},
		{"*", "/home/me/bin/make", false},
		{"/*", "/usr/bin/make", false},
		{"/home/me/bin/*", "/home/me/bin/backup --all", true},
		{"/home/me/bin/*", "/home/me/bin/x/backup", false},
		{"/home/me/*/*", "/home/me/../evil", false},
		{"/usr/*/*", "/usr/../evil", false},
		{"/usr/bin/*", "/usr/bin/../../tmp/x", false},
		{"git pull", "/usr/bin/git pull", true},
		{"git pull", "/usr/bin/git pull --force", false},
		{"git pull", "/usr/bin/git", false},
		{"git pull", "/usr/bin/git push", false},
		{"git pull *", "/usr/bin/git pull", true},
		{"git pull *", "/usr/bin/git pull origin main", true},
		{"git pull *", "/usr/bin/git push", false},
		{"git * main", "/usr/bin/git a/b main", true},
		{"git * main", "/usr/bin/git main", false},
		{"python3 /opt/jobs/*.py *", "/usr/bin/python3 /opt/jobs/a.py -v", true},
		{"python3 /opt/jobs/*.py", "/usr/bin/python3 /opt/jobs/../../tmp/a.py", false},
		{"python3 /opt/jobs/*.py", "/usr/bin/python3 -c /opt/jobs/a.py", false},
		{"cat /var/log/*", "/bin/cat /var/log/..", false},
		{"cat /var/../log", "/bin/cat /var/../log", true},
		{"sh -c make", "/bin/sh -c make", true},
		{"make", "/bin/sh -c make", false},
	} {
		words := strings.Fields(c.command)
		if got := state.Allows([]string{"nothing-else", c.pattern}, words[0], words[1:]); got != c.want {
			t.Errorf("%q allows %q: %v", c.pattern, c.command, got)
		}
		if err := state.CheckPattern(c.pattern); err != nil {
			t.Error(err)
		}
	}
	for _, c := range []struct {
		pattern string
		args    []string
		want    bool
	}{
		{`make\ all`, []string{"make all"}, true},
		{`make\ all`, []string{"make", "all"}, false},
		{`make all`, []string{"make all"}, false},
		{`-c make\ all`, []string{"-c", "make all"}, true},
		{`-c make\ all`, []string{"-c", "make;all"}, false},
		{`-c make all`, []string{"-c", "make all"}, false},
		{`-c make?all`, []string{"-c", "make all"}, true},
		{`-c make?all`, []string{"-c", "make-all"}, true},
		{`-c make?all`, []string{"-c", "make;all"}, false},
		{`-c make?all`, []string{"-c", "make\nall"}, false},
		{`-c make?all`, []string{"-c", "make&all"}, false},
		{`-lc make?all`, []string{"-lc", "make;all"}, false},
		{`-? make?all`, []string{"-c", "make;all"}, false},
		{`--command make*`, []string{"--command", "make $(x)"}, false},
		{`-c make*`, []string{"-c", "make all -j 4"}, true},
		{`-c make*`, []string{"-c", "make;x"}, false},
		{`-c make*`, []string{"-c", "make`x`"}, false},
		{`-c make*`, []string{"-c", "make 'a"}, false},
		{`-c make[^a]all`, []string{"-c", "make;all"}, false},
		{`-c make;*`, []string{"-c", "make;all"}, true},
		{`-c make;*`, []string{"-c", "make;all;x"}, false},
		{`-c make\;*`, []string{"-c", "make;all"}, true},
		{`-c make\\*`, []string{"-c", "make\\\\"}, false},
		{`-c *`, []string{"-c", "make; anything"}, true},
		{`-x make?all`, []string{"-x", "make;all"}, true}, // no shell reads it
	} {
		if got := state.Allows([]string{"sh " + c.pattern}, "/bin/sh", c.args); got != c.want || state.CheckPattern("sh "+c.pattern) != nil {
			t.Errorf("%q allows %q: %v", c.pattern, c.args, got)
		}
	}
	if state.Allows(nil, "/bin/true", nil) || state.Allows([]string{"true"}, "true", nil) {
		t.Error("no pattern, or a program that was not looked up")
	}
	for _, bad := range []string{"", "  ", "./make", "bin/make", "make [a", `make \`, "~/bin/make",
		"/usr/bin/../bin/make", "/home/*/../x", "/usr//bin/make", "/usr/./bin/make", "/usr/bin/"} {
		if state.CheckPattern(bad) == nil {
			t.Errorf("%q is a pattern", bad)
		}
	}
}

func TestPathOf(t *testing.T) {
	const system = "/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin:/opt/homebrew/bin"
	for _, c := range []struct {
		given    string
		patterns []string
		want     string
	}{
		{"", nil, system},
		{"/tmp/evil", []string{"make *"}, system},
		{"", []string{"make *", "/home/me/bin/*", "/opt/jobs/a -v", "/home/me/bin/b", "/home/*/bin/c", "/a:b/c", `/a\b/c`}, "/home/me/bin:/opt/jobs:" + system},
		{"/tmp/evil:/bin:.::bin:/usr/bin/../../tmp/evil:/home/me/bin:/bin", []string{"/opt/jobs/a", "/home/me/bin/*"},
			"/bin:/home/me/bin:/opt/jobs:/usr/local/bin:/usr/bin:/usr/local/sbin:/usr/sbin:/sbin:/opt/homebrew/bin"},
	} {
		if got := state.PathOf(c.patterns, c.given); got != c.want {
			t.Errorf("%q with %q: %s, want %s", c.given, c.patterns, got, c.want)
		}
	}
}

func TestPattern(t *testing.T) {
	for _, c := range []struct {
		args    []string
		pattern string
	}{
		{nil, "/usr/bin/git"},
		{[]string{"push", "origin"}, "/usr/bin/git push origin"},
		{[]string{"-m", "a b\tc"}, "/usr/bin/git -m a\\ b\\\tc"},
		{[]string{"-c", "\n-x; 'y' | \\$z"}, "/usr/bin/git -c \\\n-x;\\ 'y'\\ |\\ \\\\$z"},
		{[]string{"*", "[x]?", `\`, "/a/b"}, `/usr/bin/git \* \[x]\? \\ /a/b`},
		{[]string{"", "x"}, "/usr/bin/git '' x"},
		{[]string{"''", "'"}, `/usr/bin/git \'\' '`},
	} {
		got, ok := state.Pattern("/usr/bin/git", c.args)
		if !ok || got != c.pattern || state.CheckPattern(got) != nil || !state.Allows([]string{got}, "/usr/bin/git", c.args) {
			t.Errorf("%q: %s, want %s", c.args, got, c.pattern)
		}
		if len(c.args) > 0 && state.Allows([]string{got}, "/usr/bin/git", append(c.args, "more")) {
			t.Errorf("%s allows more", got)
		}
	}
	for _, program := range []string{"/usr/bin/\xff", "/usr/bin/git"} {
		if got, ok := state.Pattern(program, []string{"\xff"}); ok {
			t.Errorf("what is not valid UTF-8 has the pattern %q", got)
		}
	}
}

// TestPatternIsNarrow: the pattern of a command allows that command, and none that is like it.
func TestPatternIsNarrow(t *testing.T) {
	odd := []string{"", " ", "  ", "a b", " a", "a ", "'", "''", "'''", `""`, `"a b"`, "*", "**", "a*", "?", "[", "[a]", "[!a]", "]", "^", "-", `\`, `\\`, `\*`, `a\ b`, "\n", "a\nb",
		"\t", "\x01", "\x7f", "\v", "\u00a0", "\u2028", "\u3000", "ż", "日本", "🐍", "\ufffd", "$(x)", "`x`", ";", "..", "../a", "../a b", `../a*`, "/a/../b\\", "a/b", "-c", "--command", "-rf", "#", "{a,b}", "~"}
	const program = "/usr/bin/rm"
	narrow := func(args []string, neighbours [][]string) {
		t.Helper()
		got, ok := state.Pattern(program, args)
		if !ok || state.CheckPattern(got) != nil || !state.Allows([]string{got}, program, args) {
			t.Errorf("%q: its pattern %q does not allow it", args, got)
		}
		for _, n := range neighbours {
			if !slices.Equal(n, args) && state.Allows([]string{got}, program, n) {
				t.Errorf("%q: its pattern %q allows %q", args, got, n)
			}
		}
		if state.Allows([]string{got}, "/usr/local/bin/rm", args) {
			t.Errorf("%q allows another program", got)
		}
	}
	for _, a := range odd {
		alone := [][]string{nil, {"-rf", "/home/x"}, {a, ""}, {a, "-rf"}, {"", a}, strings.Fields(a), {a + a}, {"x" + a}, {a + "x"}, {a + " "}, {" " + a},
			{strings.ReplaceAll(a, `\`, "")}, {strings.ReplaceAll(a, "*", "x")}, {strings.ReplaceAll(a, "?", "x")}, {strings.ReplaceAll(a, " ", "\t")}, {strings.Trim(a, "'")}, {`\` + a}, {"'" + a + "'"}}
		for _, b := range odd {
			alone = append(alone, []string{b})
			both := [][]string{{a}, {b}, {b, a}, {a + b}, {a + " " + b}, {a, b, ""}, {a, b, "-rf"}, {"", a, b}, {a, "-rf", "/home/x"}, {a, b + "x"}, {"x" + a, b}, {"-rf", b}}
			for _, c := range odd {
				both = append(both, []string{a, c}, []string{c, b})
			}
			narrow([]string{a, b}, both)
		}
		narrow([]string{a}, alone)
	}
}
