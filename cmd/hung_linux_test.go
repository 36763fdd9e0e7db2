package cmd

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ouro-timer/ouro-timer/cmd/cli"
	"github.com/ouro-timer/ouro-timer/timer/proc/fusetest"
)

// Tasks whose folder or program is where nobody answers stop nothing: what else is due runs,
// everybody can see why they do not, the runner ends when it is told to, nothing is lost with one
// that is killed, and when there is an answer each runs, once.
func TestAFileSystemThatDoesNotAnswer(t *testing.T) {
	t.Parallel()
	silent := fusetest.Mount(t)
	c, dir := newCaller(t)
	ran := filepath.Join(dir, "ran")
	if err := os.MkdirAll(c.home, 0o700); err != nil {
		t.Fatal(err)
	}
	// A channel's program is there, too.
	if err := os.WriteFile(filepath.Join(c.home, "config.toml"), []byte(fmt.Sprintf("[channels.odd]\ntype = \"exec\"\ncommand = [%q]\n", silent.Dir+"/tell")), 0o600); err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(dir, "ouro-timer")
	if err := os.Symlink(c.self, program); err != nil {
		t.Fatal(err)
	}
	at := func(folder string, args ...string) string { // which itself looks at the folder that it is called in, and at the program
		t.Helper()
		silent.Answer(true)
		defer silent.Answer(false)
		// A shell enters the folder: a child of ours that does would stop us, and we are who
		// answers.
		cmd := exec.Command("/bin/sh", append([]string{"-c", `cd "$0" && exec "$@"`, folder, program, "at", "now", "-q"}, args...)...)
		cmd.Env = c.env()
		out, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		return strings.TrimSpace(string(out))
	}
	var hung []string
	for i := range 4 { // two more than are asked at a time
		hung = append(hung, at(silent.Dir, "-c", fmt.Sprintf("echo %d >>%s", i, ran)))
	}
	gone := at(silent.Dir, "--", "true")
	missing := at("/", "--", silent.Dir+"/program")
	c.wants(cli.ExitOK, "", "at", "now", "-q", "--notify", "odd", "--task", "told by a program that is not found")
	run := func() (*exec.Cmd, chan struct{}) {
		t.Helper()
		cmd := exec.Command(c.self)
		cmd.Args, cmd.Env, cmd.Dir = []string{"ouro-timer", "run", "--max-parallel", "3"}, append(c.env(), "GOGC=1"), "/"
		log, err := os.OpenFile(filepath.Join(dir, "runner.log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		defer log.Close()
		cmd.Stdout, cmd.Stderr = log, log
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		ended := make(chan struct{})
		go func() { defer close(ended); _ = cmd.Wait() }()
		t.Cleanup(func() {
			_ = cmd.Process.Kill() // it may have ended
			silent.Answer(true)
			select {
			case <-ended:
			case <-time.After(10 * time.Second):
				t.Log("it cannot be killed")
			}
		})
		return cmd, ended
	}
	await := func(what string, ended <-chan struct{}) {
		t.Helper()
		select {
		case <-ended:
		case <-time.After(2 * time.Minute):
			t.Fatalf("waited in vain for %s", what)
		}
	}
	first, ended := run()
	goesOn := func() {
		t.Helper()
		id := strings.TrimSpace(c.wants(cli.ExitOK, "", "at", "now", "-q", "--", "true"))
		c.until("another task", hasWords("ok ("), "log", id)
	}
	goesOn()
	c.until("the reason", hasWords("does not answer"), "show", hung[0])
	c.until("all of them to be put off", func(out string) bool { return strings.Count(out, "does not answer") >= 6 }, "run", "--status")
	goesOn()
	c.wants(cli.ExitOK, "put off      folder ", "show", hung[0])
	c.wants(cli.ExitOK, "cannot be started for now", "ls")
	if out, _, code := c.call("doctor"); code != cli.ExitFailed || !strings.Contains(out, "does not answer; its start is put off until it does") {
		t.Errorf("doctor: exit %d\n%s", code, out)
	}
	c.wants(cli.ExitOK, "removed", "rm", gone)

	// It ends when it is told to, and what one leaves that is killed is the next one's.
	if err := first.Process.Signal(syscall.SIGTERM); err != nil {
		t.Error(err)
	}
	await("the end of a runner", ended)
	second, ended := run()
	goesOn()
	if err := second.Process.Kill(); err != nil {
		t.Error(err)
	}
	await("the death of a runner", ended)
	_, _ = run()
	goesOn()
	if out, _, _ := c.call("log", "-n", "1000"); strings.Contains(out, "failed") || strings.Contains(out, "interrupted") {
		t.Errorf("something has ended:\n%s", out)
	}

	silent.Answer(true)
	for _, id := range hung {
		c.until("its run", hasWords("ok ("), "log", id)
	}
	c.until("the end of the one without a program", hasWords("failed"), "log", missing)
	text, err := os.ReadFile(ran)
	if err != nil || len(strings.Fields(string(text))) != len(hung) {
		t.Errorf("ran: %q, %v", text, err)
	}
	c.wants(cli.ExitOK, `"balanced":true`, "log", "--audit", "--json")
}

// A change of a task whose folder is where nobody answers has its answer, with a warning that says
// so, and doctor goes on to its other checks. Signals end them meanwhile.
func TestAFolderThatDoesNotAnswer(t *testing.T) {
	t.Parallel()
	silent := fusetest.Mount(t)
	c, dir := newCaller(t)
	begin := func(words ...string) *exec.Cmd {
		t.Helper()
		cmd := exec.Command(c.self)
		cmd.Args, cmd.Env, cmd.Dir = append([]string{"ouro-timer"}, words...), c.env(), "/"
		return cmd
	}
	at := func() string { // as in TestAFileSystemThatDoesNotAnswer
		t.Helper()
		silent.Answer(true)
		defer silent.Answer(false)
		program := filepath.Join(dir, "ouro-timer")
		if err := os.Symlink(c.self, program); err != nil && !os.IsExist(err) {
			t.Fatal(err)
		}
		cmd := exec.Command("/bin/sh", "-c", `cd "$0" && exec "$@"`, silent.Dir, program, "at", "1h", "-q", "--", "true")
		cmd.Env = c.env()
		out, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		return strings.TrimSpace(string(out))
	}
	id, removed := at(), at()
	c.wants(cli.ExitOK, "", "rm", "-q", removed)
	why := fmt.Sprintf("folder %q cannot be entered: the file system it is on does not answer; its start is put off until it does", silent.Dir)
	says := func(code int, words ...string) {
		t.Helper()
		var said strings.Builder
		cmd := begin(words...)
		cmd.Stdout, cmd.Stderr = &said, &said
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		kill := time.AfterFunc(time.Minute, func() { _ = cmd.Process.Kill() })
		defer kill.Stop()
		_ = cmd.Wait() // how it ended is looked at
		if got := cmd.ProcessState.ExitCode(); got != code || !strings.Contains(said.String(), why) {
			t.Errorf("ouro-timer %s: exit %d, want %d and %q:\n%s", strings.Join(words, " "), got, code, why, said.String())
		}
		if words[0] == "doctor" && !strings.Contains(said.String(), "config.toml") {
			t.Errorf("doctor does not go on:\n%s", said.String())
		}
	}
	says(cli.ExitOK, "edit", id, "+1h")
	says(cli.ExitOK, "edit", id, "--task", "x")
	says(cli.ExitOK, "restore", removed)
	says(cli.ExitFailed, "doctor")
	c.wants(cli.ExitOK, "removed", "rm", removed)

	for i, words := range [][]string{{"doctor"}, {"edit", id, "--task", "y"}, {"restore", removed}} {
		for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT} {
			before := silent.Asked()
			cmd := begin(words...)
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			for end := time.Now().Add(30 * time.Second); silent.Asked() == before && time.Now().Before(end); {
				time.Sleep(time.Millisecond)
			}
			if err := cmd.Process.Signal(sig); err != nil {
				t.Error(err)
			}
			kill := time.AfterFunc(30*time.Second, func() { _ = cmd.Process.Kill() })
			_ = cmd.Wait() // how it ended is looked at
			kill.Stop()
			if ws := cmd.ProcessState.Sys().(syscall.WaitStatus); ws.Signaled() && ws.Signal() == syscall.SIGKILL {
				t.Errorf("case %d: %v does not end it", i, sig)
			}
			if words[0] == "restore" {
				c.wants(cli.ExitOK, "removed", "rm", removed)
			} else if words[0] == "edit" {
				words[3] += "z" // the next one is a change, too
			}
		}
	}
	c.wants(cli.ExitOK, `"yz"`, "show", id, "--json")
}
