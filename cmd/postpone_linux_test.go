package cmd

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ouro-timer/ouro-timer/cmd/cli"
)

// newCaller is a caller with a folder of its own, for its state and for what its tasks do.
func newCaller(t *testing.T) (c caller, dir string) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir = t.TempDir()
	c = caller{t: t, self: self, home: filepath.Join(dir, "ouro")}
	tidyUp(t, c.home, dir)
	return c, dir
}

// until calls until what it says is as wanted. How long that takes decides nothing.
func (c caller) until(what string, as func(stdout string) bool, args ...string) {
	c.t.Helper()
	out := ""
	for end := time.Now().Add(2 * time.Minute); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if out, _, _ = c.call(args...); as(out) {
			return
		}
	}
	c.t.Fatalf("waited in vain for %s; ouro-timer %s says %s", what, strings.Join(args, " "), out)
}

func hasWords(words string) func(string) bool {
	return func(out string) bool { return strings.Contains(out, words) }
}

// A program that somebody writes is started when they have done. Until then everybody can see what
// is the matter, and other tasks run.
func TestAProgramThatIsBeingWritten(t *testing.T) {
	t.Parallel()
	c, dir := newCaller(t)
	prog, ran := filepath.Join(dir, "prog"), filepath.Join(dir, "ran")
	script, err := os.ReadFile("/bin/true")
	if err != nil {
		t.Skip("there is no program to copy: ", err)
	}
	if err := os.WriteFile(prog, script, 0o700); err != nil {
		t.Fatal(err)
	}
	writer, err := os.OpenFile(prog, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer writer.Close()
	if err := exec.Command(prog).Run(); !errors.Is(err, syscall.ETXTBSY) {
		t.Skip("this kernel lets programs be written while they run: ", err)
	}
	busy := strings.TrimSpace(c.wants(cli.ExitOK, "", "at", "now", "-q", "--", prog))
	c.wants(cli.ExitOK, "", "at", "now", "-q", "--", "touch", ran)
	c.wants(cli.ExitOK, "started", "run", "--background")
	const why = "text file busy"
	c.until("the reason in ls", func(out string) bool {
		var l struct {
			Tasks []struct {
				ID        string  `json:"id"`
				Postponed *string `json:"put_off"`
			} `json:"tasks"`
		}
		return json.Unmarshal([]byte(out), &l) == nil && len(l.Tasks) == 1 && l.Tasks[0].ID == busy && l.Tasks[0].Postponed != nil && strings.Contains(*l.Tasks[0].Postponed, why)
	}, "ls", "--json")
	c.wants(cli.ExitOK, "1 task cannot be started for now, and is tried again: start ", "ls")
	c.wants(cli.ExitOK, "put off      start ", "show", busy)
	c.wants(cli.ExitOK, "postponed since ", "run", "--status")
	if out, _, _ := c.call("doctor"); !strings.Contains(out, "\tstarts\ttask "+busy+" ") || !strings.Contains(out, why) {
		t.Errorf("doctor does not say it:\n%s", out)
	}
	c.until("the other task", hasWords("\tok\t"), "log")
	if _, err := os.Stat(ran); err != nil {
		t.Error(err)
	}
	if out, _, _ := c.call("log", busy); strings.Contains(out, "failed") {
		t.Errorf("it has ended: %s", out)
	}
	writer.Close()
	c.until("its run", hasWords(busy+"/1 "), "log", busy)
	c.until("its end", hasWords("ok ("), "log", busy)
	c.wants(cli.ExitOK, "balanced", "log", "--audit", "--json")
}
