package cmd

import (
	"strings"
	"syscall"
	"testing"

	"github.com/ouro-timer/ouro-timer/cmd/cli"
)

// Beside a container with the state of its runner, or in one beside it: the runner lives, and so do
// its runs, as it has the lock. Its numbers are said to be those of another container. After its end
// nobody knows what has become of its runs.
func TestBesideAContainer(t *testing.T) {
	t.Parallel()
	c, _ := newCaller(t)
	c.wants(cli.ExitOK, "", "at", "every 1h", "-q", "--", "true")
	c.wants(cli.ExitOK, "", "at", "now", "-q", "--", "sleep", "1000")
	c.wants(cli.ExitOK, "", "at", "now", "-q", "--", "sleep", "1000")
	run := c.inContainer("run")
	run.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := run.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() { defer close(ended); _ = run.Wait() }() // killed
	t.Cleanup(func() { _ = run.Process.Kill(); <-ended })
	c.until("both runs", func(out string) bool { return strings.Count(out, "\trunning\t") == 2 }, "ls")

	out := c.wants(cli.ExitOK, "runner alive: pid 1 of another container, in the foreground, since ", "run", "--status")
	if strings.Contains(out, "left by") || strings.Contains(out, "begun in") {
		t.Errorf("its runs are said to be nobody's:\n%s", out)
	}
	out = c.wants(cli.ExitOK, `"process":{"pid":1,`, "run", "--status", "--json")
	if !strings.Contains(out, `"elsewhere":true},"left":0,`) {
		t.Error(out)
	}
	c.wants(cli.ExitOK, "a runner is already alive (pid 1 of another container)", "run", "--background")
	c.wants(cli.ExitState, "pid 1 of another container, since", "run", "--once")
	c.wants(cli.ExitOK, "The runner (pid 1 of another container) runs it.", "at", "5h", "--", "true")
	c.wants(cli.ExitFailed, "the runner (pid 1 there) is in another container", "fire", "cczu")
	c.wants(cli.ExitFailed, "is in another container", "run", "--stop")
	if out := c.wants(cli.ExitOK, "state        running", "show", "b42p"); !strings.Contains(out, "running      b42p/1") {
		t.Error(out)
	}
	if out, _, _ := c.call("doctor"); !strings.Contains(out, "2 runs going on") {
		t.Errorf("doctor says:\n%s", out)
	}
	c.wants(cli.ExitOK, "ended b42p/1 (cancelled, stopped)", "stop", "b42p")

	if err := run.Process.Kill(); err != nil { // and with it all of the container
		t.Fatal(err)
	}
	<-ended
	c.until("the end of the runner", hasWords("no runner is alive"), "run", "--status")
	c.wants(cli.ExitFailed, "begun in another container by another runner; nobody here sees whether it goes on: 1 run",
		"run", "--status")
	if out, _, _ := c.call("ls"); !strings.Contains(out, "kh57\t") || !strings.Contains(out, "\trunning\t") {
		t.Errorf("ls says:\n%s", out)
	}
	c.wants(cli.ExitOK, "kh57/1 interrupted", "run", "--once")
}
