package cmd

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ouro-timer/ouro-timer/cmd/cli"
	"github.com/ouro-timer/ouro-timer/cmd/clitest"
	"github.com/ouro-timer/ouro-timer/cmd/option"
	"github.com/ouro-timer/ouro-timer/completions"
	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/state/files"
	"github.com/ouro-timer/ouro-timer/timer/clock/clocktest"
)

// sample fills the state folder home with tasks, and returns their IDs by what they are called below.
func sample(t *testing.T, home string, now time.Time) map[string]string {
	t.Helper()
	st, err := files.Open(home, files.Options{})
	if err != nil {
		t.Fatal(err)
	}
	ids := map[string]string{}
	for _, task := range []struct {
		name string
		due  time.Duration
		kind string
		task state.Task
	}{
		{"TEA", time.Hour, "once", state.Task{Text: "tea", Tags: []string{"home", "food"}}},
		{"NEWS", time.Minute, "interval", state.Task{Tags: []string{"food"}, Run: state.Job{Argv: []string{"fetch", "news"}}}},
		{"ODD", 40 * 24 * time.Hour, "once", state.Task{Description: "a\tb\x1b[31m\nc: \"d\" $(touch pwned) `touch pwned`"}},
		{"GONE", 2 * time.Hour, "once", state.Task{Text: "gone"}},
	} {
		task.task.Created = now.UTC()
		task.task.When = state.Timing{Text: "every 5m", Kind: task.kind, Zone: "Europe/Warsaw", Start: now}
		e, err := st.Add(t.Context(), task.task, now.Add(task.due))
		if err != nil {
			t.Fatal(err)
		}
		ids[task.name] = e.Task.ID
	}
	if _, err := st.Remove(t.Context(), ids["GONE"], now); err != nil {
		t.Fatal(err)
	}
	return ids
}

// complete calls __complete with the words, checks that it neither fails nor talks, and returns the lines it printed.
func complete(t *testing.T, w cli.World, words ...string) []string {
	t.Helper()
	var out, errs strings.Builder
	w.Out, w.Err = &out, &errs
	if code := Main(append([]string{"ouro-timer", "__complete", "--"}, words...), w); code != 0 || errs.Len() > 0 {
		t.Errorf("%q: exit %d, said %q", words, code, errs.String())
	}
	if out.Len() == 0 {
		return nil
	}
	return strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
}

// TestComplete has lines as they are typed, cut at spaces; a line that ends with a space has an empty word at its end.
func TestComplete(t *testing.T) {
	w, _, _ := clitest.World(t, clocktest.NewManual(clitest.Noon))
	ids := sample(t, w.Getenv("OURO_HOME"), clitest.Noon)
	named := func(text string) string {
		for name, id := range ids {
			text = strings.ReplaceAll(text, name, id)
		}
		return text
	}
	before := tree(t, w.Getenv("OURO_HOME"))
	var all []string
	for _, c := range table.All() {
		if !c.Hidden {
			all = append(all, c.Name)
		}
	}
	for _, tt := range []struct{ line, want string }{
		{"", strings.Join(all, " ")},
		{"r", "rm restore resume run"},
		{"-", "--help --version"},
		{"help l", "ls log"},
		{"bogus ", ""},
		{"__complete ", ""},
		{"__c", ""},

		{"rm ", "NEWS TEA ODD"},
		{"rm TEA", "TEA"},
		{"rm TEA ", "NEWS ODD"},
		{"rm GONE", ""},
		{"rm TEA NEWS ODD ", ""},
		{"rm --match ", ""},
		{"rm --match x ", ""},
		{"rm zzzz", ""},
		{"rm ../", ""},
		{"rm $(touch pwned)", ""},
		{"restore ", "GONE"},
		{"restore TEA", ""},
		{"restore GONE ", ""},
		{"edit ", "NEWS TEA ODD"},
		{"edit TEA no", "noon"},
		{"edit --match x no", "noon"},
		{"edit TEA noon ", ""},
		{"edit TEA -- ", ":command 4"},
		{"pause TEA ", "NEWS ODD"},
		{"pause --all ", ""},
		{"pause --resume-at tomo", "tomorrow"},
		{"resume ", ""},
		{"show ", "NEWS TEA ODD GONE"},
		{"show GONE", "GONE"},
		{"show TEA ", ""},
		{"log ", "NEWS TEA ODD GONE"},
		{"log -n ", ""},
		{"log -n 3 GON", ""},
		{"log -n 3 GONE", "GONE"},
		{"log -n3 -- GONE", "GONE"},

		{"rm --j", "--json"},
		{"rm --json --j", ""},
		{"rm --json=true --j", ""},
		{"rm -q --q", ""},
		{"at --env A --en", "--env --end"},
		{"at --e", "--each --env --every --end --except --expect"},
		{"at --int", "--interval"},
		{"at --every 5m --int", ""},
		{"at -5", ""},
		{"health-wait --", "--timeout --until --max --interval --attempt-timeout --all --any --invert --successes --stable --keep-trying --status --header " +
			"--body --body-json --method --insecure --ca --min-days --non-empty --newer-than --stream --dry-run --quiet --tz --json --fields --help"},
		{"health-wait --status ", ""},
		{"health-wait http://h/ --header 'A: b' --he", "--header --help"},
		{"health-wait --ca ", ":files"},
		{"health-wait --newer-than=x", ":files"},
		{"health-wait --tz Europe/Warsa", "Europe/Warsaw"},
		{"health-wait -- --", ":command 3"},

		{"when --tz Europe/Warsa", "Europe/Warsaw"},
		{"when --tz=Europe/Warsa", "--tz=Europe/Warsaw"},
		{"when --json=t", ""},
		{"when --json=", "--json=full"},
		{"when --nonsense=t", ""},
		{"ls --tag ", "food home"},
		{"rm --tag=ho", "--tag=home"},
		{"edit TEA --tag x", ""},
		{"guide --schema run-st", "run-status run-stop"},
		{"when --start tomo", "tomorrow"},
		{"at -f ", ":files"},
		{"at --file x", ":files"},
		{"at --file=x", ":files"},
		{"at -qf x", ":files"},
		{"apply ", ":files"},
		{"apply x ", ""},
		{"import crontab ", ":files"},
		{"import systemd x --write y", ":files"},
		{"at -c x", ""},

		{"at now -- ", ":command 4"},
		{"at now -- touch x", ":command 4"},
		{"at now --json -- touch -- x", ":command 5"},
		{"at -c -- touch", ""}, // the text of -c
		{"at t", "tomorrow"},
		{"at ne", "next"},
		{"at next ", ""},
		{"at --delay 5m ", ""},
		{"wait ne", ""}, // one word, and next alone is not a time
		{"wait no", "noon"},
		{"wait noon ", ""},
		{"wait --any noon mi", "midnight"},
		{"wait --any task:", "task:NEWS task:TEA task:ODD task:GONE"},
		{"wait --any 10m task:TE", ""},
		{"wait --any task:TEA", "task:TEA"},
		{"wait --any i", "inbox"},
		{"ls ", ""},
		{"completion ", "bash zsh fish powershell"},
		{"completion bash ", ""},
		{"guide ", ""},
		{"guide --json at l", "ls log"},
		{"guide --json ls l", "log"},
		{"rm --dr", "--dry-run"},
		{"version --", "--quiet --json --fields --help"},
	} {
		words := strings.Split(named(tt.line), " ")
		var got []string
		for _, line := range complete(t, w, words...) {
			word, _, _ := strings.Cut(line, "\t")
			got = append(got, word)
		}
		if got, want := strings.Join(got, " "), named(tt.want); got != want {
			t.Errorf("%q offers %q, want %q", tt.line, got, want)
		}
	}
	if after := tree(t, w.Getenv("OURO_HOME")); after != before {
		t.Errorf("the state was\n%s\nand is\n%s", before, after)
	}
}

// TestCompleteAbout has what is told of tasks, without a control character.
func TestCompleteAbout(t *testing.T) {
	w, _, _ := clitest.World(t, clocktest.NewManual(clitest.Noon))
	ids := sample(t, w.Getenv("OURO_HOME"), clitest.Noon)
	want := []string{
		ids["NEWS"] + "\tfetch news, in 1 minute (every 5m)",
		ids["TEA"] + "\ttea, in 1 hour",
		ids["ODD"] + "\t" + `a\tb\x1b[31m\nc: "d" $(touch pwned) ` + "`to…, in 1 month 10 days",
		ids["GONE"] + "\tgone, removed",
	}
	if got := complete(t, w, "show", ""); strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("told %q, want %q", got, want)
	}
}

// TestCompleteNothing has homes without anything to offer: there are no tasks then, and no complaint.
func TestCompleteNothing(t *testing.T) {
	w, _, _ := clitest.World(t, clocktest.NewManual(clitest.Noon))
	if got := complete(t, w, "rm", ""); got != nil {
		t.Errorf("offers %q", got)
	}
	home := w.Getenv("OURO_HOME")
	if _, err := os.Stat(home); !os.IsNotExist(err) {
		t.Errorf("the state folder was made: %v", err)
	}
	if err := os.WriteFile(home, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, words := range [][]string{{"rm", ""}, {"rm", "k"}, {"restore", ""}, {"log", ""}} {
		if got := complete(t, w, words...); got != nil {
			t.Errorf("%q offers %q", words, got)
		}
	}
}

// TestCompleteEmpty has the ways to say that the word at the cursor is empty.
func TestCompleteEmpty(t *testing.T) {
	w, out, _ := clitest.World(t, clocktest.NewManual(clitest.Noon))
	for _, words := range [][]string{{"--", "completion", ""}, {"--empty", "--", "completion"}} {
		out.Reset()
		code := Main(append([]string{"ouro-timer", "__complete"}, words...), w)
		if code != 0 || !strings.HasPrefix(out.String(), "bash\t") {
			t.Errorf("%q: exit %d, %q", words, code, out.String())
		}
	}
}

// TestCompleteFlags offers each flag of each command with what it does, until it is given.
func TestCompleteFlags(t *testing.T) {
	w, _, _ := clitest.World(t, clocktest.NewManual(clitest.Noon))
	for _, c := range table.All() {
		if c.Hidden {
			continue
		}
		for _, o := range c.Options {
			for _, n := range o.Names() {
				if len(n) == 1 {
					continue
				}
				want := "--" + n + "\t" + cli.Fit(o.Usage(), 70)
				if got := complete(t, w, c.Name, "--"+n); !slices.Contains(got, want) {
					t.Errorf("%s --%s offers %q, want %q", c.Name, n, got, want)
				}
				given := []string{c.Name, "--" + n}
				if o.Kind != option.Flag {
					given = append(given, "value")
				}
				got := strings.Join(complete(t, w, append(given, "-")...), "\n")
				if offered := strings.Contains("\n"+got, "\n--"+o.Name+"\t"); offered != o.Many {
					t.Errorf("%s --%s is offered again: %v, want %v", c.Name, n, offered, o.Many)
				}
			}
		}
	}
}

// TestCompleteMany bounds the list, and reads no more of a long ledger than that takes.
func TestCompleteMany(t *testing.T) {
	clocktest.Alone(t)
	w, _, _ := clitest.World(t, clocktest.NewManual(clitest.Noon))
	const most = 300
	fill(t, w.Getenv("OURO_HOME"), most+20)
	for _, words := range [][]string{{"rm", ""}, {"log", ""}} {
		if got := len(complete(t, w, words...)); got != most {
			t.Errorf("%q offers %d words, want %d", words, got, most)
		}
	}
}

// fill adds tasks that are due an hour apart.
func fill(t testing.TB, home string, n int) {
	t.Helper()
	st, err := files.Open(home, files.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for i := range n {
		task := state.Task{Created: clitest.Noon.UTC(), Text: fmt.Sprint("task ", i),
			When: state.Timing{Text: "in 5h", Kind: "once", Zone: "Europe/Warsaw", Start: clitest.Noon}}
		if _, err := st.Add(context.Background(), task, clitest.Noon.Add(time.Duration(i+1)*time.Hour)); err != nil {
			t.Fatal(err)
		}
	}
}

// BenchmarkComplete is a key press with 10,000 tasks: without a beginning, with one letter and with two.
func BenchmarkComplete(b *testing.B) {
	home := b.TempDir() + "/home"
	fill(b, home, 10_000)
	var out strings.Builder
	w := cli.World{Out: &out, Err: &out, Clock: clocktest.NewManual(clitest.Noon), Getenv: func(name string) string {
		return map[string]string{"OURO_HOME": home, "TZ": "UTC"}[name]
	}}
	for _, line := range []string{"rm ", "rm k", "rm k7", "log ", "restore "} {
		b.Run(strings.ReplaceAll(line, " ", "_"), func(b *testing.B) {
			for b.Loop() {
				out.Reset()
				Main(append([]string{"ouro-timer", "__complete", "--"}, strings.Split(line, " ")...), w)
			}
		})
	}
}

// tree lists the files of a folder with their sizes and times.
func tree(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err == nil {
			fmt.Fprintln(&b, path, info.Size(), info.ModTime())
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestCompletionScripts has one script a shell, and no evaluation in any of them.
func TestCompletionScripts(t *testing.T) {
	for _, shell := range completions.Shells() {
		script, ok := completions.Script(shell)
		if !ok || !strings.Contains(script, "__complete") {
			t.Errorf("%s: no script", shell)
		}
		for _, line := range strings.Split(script, "\n") {
			line = strings.TrimSpace(line)
			if !strings.HasPrefix(line, "#") && strings.Contains(line, "eval ") {
				t.Errorf("%s evaluates: %s", shell, line)
			}
		}
	}
	if _, ok := completions.Script("tcsh"); ok {
		t.Error("there is a script for tcsh")
	}
}
