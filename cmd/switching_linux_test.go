package cmd

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/ouro-timer/ouro-timer/cmd/cli"
	"github.com/ouro-timer/ouro-timer/timer/clock/clocktest"
)

// inCode is a piece of code in a page; aCall is one that calls ouro-timer.
var (
	inCode = regexp.MustCompile("`([^`]+)`")
	aCall  = regexp.MustCompile(`^([^|]*\| *)?ouro-timer [a-z]`)
)

// reader has a stand-in for ouro-timer, which notes the words that the shell gives it.
type reader struct {
	t               *testing.T
	programs, noted string
}

func newReader(t *testing.T) reader {
	t.Helper()
	r := reader{t, t.TempDir(), filepath.Join(t.TempDir(), "noted")}
	stand := "#!/bin/sh\nfor word; do printf '%s\\0' \"$word\"; done >>'" + r.noted + "'\nprintf '\\0' >>'" + r.noted + "'\n"
	for _, name := range []string{"ouro-timer", "generate", "mail"} {
		if name != "ouro-timer" {
			stand = "#!/bin/sh\n"
		}
		if err := os.WriteFile(filepath.Join(r.programs, name), []byte(stand), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return r
}

// calls are those of ouro-timer that a line for the shell makes, each as the shell reads it, in the folder dir.
func (r reader) calls(line, dir, path string) (calls [][]string) {
	r.t.Helper()
	defer os.Remove(r.noted)
	sh := exec.Command("/bin/sh", "-c", line)
	sh.Dir, sh.Env = dir, []string{"PATH=" + r.programs + path, "HOME=" + dir}
	if out, err := sh.CombinedOutput(); err != nil {
		r.t.Errorf("%s: %v: %s", line, err, out)
	}
	words, err := os.ReadFile(r.noted)
	if err != nil {
		r.t.Errorf("%s calls nothing", line)
		return nil
	}
	for call := range strings.SplitSeq(strings.TrimSuffix(string(words), "\x00\x00"), "\x00\x00") {
		calls = append(calls, strings.Split(call, "\x00"))
	}
	return calls
}

// callsOf are the calls of ouro-timer in the last column of the tables of a page, by their lines, with the files that they name in the
// folder dir.
func callsOf(t *testing.T, page, dir string) map[string][][]string {
	t.Helper()
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	r := newReader(t)
	calls := map[string][][]string{}
	for row := range strings.Lines(string(text)) {
		columns := strings.Split(strings.ReplaceAll(strings.TrimSpace(row), `\|`, "\x00"), "|")
		if !strings.HasPrefix(row, "|") || len(columns) < 4 {
			continue
		}
		for _, code := range inCode.FindAllStringSubmatch(columns[len(columns)-2], -1) {
			if line := strings.ReplaceAll(code[1], "\x00", "|"); aCall.MatchString(line) {
				calls[line] = append(calls[line], r.calls(line, dir, "")...)
			}
		}
	}
	return calls
}

// switchingFiles are what the calls of docs/switching.md name.
var switchingFiles = map[string]string{
	"FILE": "0 9 * * * true\n", "crontab": "0 9 * * * true\n", "job.sh": "true\n", "jobs": "true\n", "migrate": "true\n",
	"tasks.toml": "[backup]\nwhen = \"every day at 3am\"\ncommand = [\"true\"]\n",
	"task.json":  `{"when":"1h","task":"x"}`,
	"jobs.sh":    "true\n", "token": "Authorization: Bearer x\n", "tasks.jsonl": "",
}

// TestSwitching makes every call of docs/switching.md, as a dry run where the command has one. What those that wait for something, or
// ask another program, would do else is not matter of the page.
func TestSwitching(t *testing.T) {
	clocktest.Alone(t)
	c, dir := newCaller(t)
	for name, text := range switchingFiles {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	task, _, _ := c.call("at", "1h", "-q", "--", "true")
	wait, _, _ := c.call("wait", "1h", "x", "--max", "1ms", "--fields", "id")
	ids := aWholeID.FindAllString(task+wait, -1)
	if len(ids) != 2 {
		t.Fatal(task, wait)
	}
	calls := callsOf(t, "../docs/switching.md", dir)
	if len(calls) < 100 {
		t.Errorf("found only %d calls", len(calls))
	}
	for line, all := range calls {
		for _, words := range all {
			id := ids[0]
			if slices.Contains(words, "--resume") {
				id = ids[1]
			}
			for i, w := range words {
				words[i] = strings.Replace(w, "k7m2", id, 1)
			}
			if said, code := c.tried(dir, words); slices.Contains([]int{cli.ExitUsage, cli.ExitState}, code) != refusedThere[line] {
				t.Errorf("%s ends with %d: %s", line, code, said)
			}
		}
	}
}

// refusedThere are the calls of the page that are told to be mistakes: one that is none of ours, and one that needs a fleet.
var refusedThere = map[string]bool{
	"ouro-timer wait later 30 x": true,
	`ouro-timer at 30s --on HOST --agent agents/echo_agent.py --title "Ping agent"`: true,
}

// aWholeID is an ID that stands alone.
var aWholeID = regexp.MustCompile(`\b[a-z2-9]{4}\b`)

// tried is what a call says, and how it ends: as a dry run where there is one, and else bounded. A runner in the foreground, which has
// neither, is only read.
func (c caller) tried(dir string, words []string) (said string, code int) {
	c.t.Helper()
	command := table.Find(words[0])
	if command == nil {
		return "no such command", cli.ExitUsage
	}
	if _, err := command.Syntax().Words(words[1:]); err != nil {
		return err.Error(), cli.ExitUsage
	}
	if words[0] == "run" {
		return "", cli.ExitOK
	}
	stdin := `{"when":"1h","task":"x"}`
	if words[0] == "import" {
		stdin = "0 9 * * * true\n"
	}
	call := func(env []string, words ...string) (string, int) {
		run := exec.Command(c.self)
		run.Args, run.Env, run.Dir, run.Stdin = append([]string{"ouro-timer"}, words...), append(append(c.env(), "DISPLAY=:0"), env...), dir, strings.NewReader(stdin)
		out, err := run.CombinedOutput()
		if run.ProcessState == nil {
			c.t.Fatal(err)
		}
		return string(out), run.ProcessState.ExitCode()
	}
	if command.Options.Named("dry-run") != nil {
		dry := slices.Insert(slices.Clone(words), 1, "--dry-run")
		if i := slices.Index(dry, "--wait"); i > 0 {
			dry = slices.Delete(dry, i, i+1)
			if i := slices.Index(dry, "--max"); i > 0 {
				dry = slices.Delete(dry, i, i+2)
			}
		}
		if said, code = call(nil, dry...); !strings.Contains(said, "--dry-run") {
			return said, code
		}
	}
	return call([]string{"OURO_MAX=1ms"}, words...)
}
