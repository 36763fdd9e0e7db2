package needs

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/timer/clock"
)

func TestShellProgram(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"make backup", "make"},
		{"  make\tbackup", "make"},
		{"make", "make"},
		{"make; true", "make"},
		{"make&&true", "make"},
		{"make|mail me", "make"},
		{"./backup -v", "./backup"},
		{"/opt/x/bin/backup", "/opt/x/bin/backup"},
		{"g++ x.cc", "g++"},
		{"! pgrep backup", "pgrep"},
		{"make\ntrue", "make"},
		{"", ""},
		{"  ", ""},
		{"!", ""},
		{"test -e go", ""},
		{"[ -e go ]", ""},
		{"[[ -e go ]]", ""},
		{": nothing", ""},
		{". ./lib.sh", ""},
		{"if make; then true; fi", ""},
		{"A=b make", ""},
		{"A= make", ""},
		{"$HOME/bin/make", ""},
		{"~/bin/make", ""},
		{`"make it" so`, ""},
		{"'make' so", ""},
		{`m\ake`, ""},
		{"`which make`", ""},
		{"(cd /; make)", ""},
		{"{ make; }", ""},
		{"f() { make; }; f", ""},
		{"f () { make; }; f", ""},
		{"2>/dev/null make", ""},
		{">out make", ""},
		{"make>out", ""},
		{"# make", ""},
		{"*.sh", ""},
		{"exec make", ""},
		{"über alles", ""},
	} {
		if got, ok := shellProgram(c.text); got != c.want || ok != (c.want != "") {
			t.Errorf("%q: %q, %v, want %q", c.text, got, ok, c.want)
		}
	}
}

func TestMissingInShell(t *testing.T) {
	dir := t.TempDir()
	for name, mode := range map[string]os.FileMode{"here": 0o755, "notes": 0o644} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"), mode); err != nil {
			t.Fatal(err)
		}
	}
	job := state.Job{Dir: dir, Prog: "/bin/sh", Env: map[string]string{"PATH": dir}}
	python, message := job, state.Job{}
	python.Prog = "/usr/bin/python3"
	for _, c := range []struct {
		text string
		job  state.Job
		want string
	}{
		{"here x", job, ""},
		{"./here x", job, ""},
		{"notes x", job, `"notes" cannot be run now`},
		{"gone x", job, `there is no program "gone" now`},
		{"./gone x", job, `there is no program "./gone" now`},
		{"gone x", python, ""},
		{"ls x", message, ""},
		{"no-such-program-of-that-name x", message, `there is no program "no-such-program-of-that-name" now`},
		{"./gone x", message, ""},
	} {
		got := ""
		if m := New(clock.System).MissingInShell(t.Context(), c.text, c.job); m != nil {
			got = m.Says("now")
		}
		if got != c.want && (c.want == "" || !strings.HasPrefix(got, c.want)) {
			t.Errorf("%q by %q: %q, want %q", c.text, c.job.Prog, got, c.want)
		}
	}
}
