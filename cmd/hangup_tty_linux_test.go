package cmd

import (
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ouro-timer/ouro-timer/cmd/cli"
)

// A terminal that goes away sends HUP, and its shell, too: that is the end of a runner which was started there, when its commands have
// ended, however often it comes.
func TestHangupOfAJobOfAShell(t *testing.T) {
	t.Parallel()
	s := onTerminal(t, `cd "$(dirname $OURO_HOME)"; export OURO_AUTOSTART=0
		ouro-timer at now -q -c 'echo > begun; while [ ! -e go ]; do sleep 0.05; done; echo finished'
		ouro-timer run --output & pid=$!; until [ -e begun ]; do sleep 0.05; done
		kill -HUP $pid; ouro-timer wait 200ms -q; kill -HUP $pid; ouro-timer wait 200ms -q; touch go; wait $pid; echo "ended with $?"`)
	_, text := s.end()
	if !strings.Contains(text, "/1 out: finished\r\n") || !strings.Contains(text, "ended with 129\r\n") || strings.Contains(text, "read again") {
		t.Errorf("HUP has it say %q", text)
	}
}

// The first process of a container may have a terminal of its own. HUP has it read config.toml again, for as long as that terminal is there;
// when it goes, that is the end.
func TestHangupOfTheLeaderOfATerminal(t *testing.T) {
	t.Parallel()
	c, _ := newCaller(t)
	c.wants(cli.ExitOK, "", "at", "now", "-q", "-c", `printf '\033[31mred\n'`)
	keys, tty := newTerminal(t)
	run := exec.Command(c.self)
	run.Args, run.Env, run.Dir = []string{"ouro-timer", "run", "--output"}, c.env(), "/"
	run.Stdin, run.Stdout, run.Stderr = tty, tty, tty
	run.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := run.Start(); err != nil {
		t.Fatal(err)
	}
	tty.Close()
	late := time.AfterFunc(2*time.Minute, func() { _ = run.Process.Kill() })
	defer late.Stop()
	var sent strings.Builder
	see := func(text string) { // nobody else reads the terminal, so that it can be closed
		t.Helper()
		for b := make([]byte, 4096); !strings.Contains(sent.String(), text); {
			n, err := keys.Read(b)
			if sent.Write(b[:n]); err != nil {
				t.Fatalf("%v; it sent %q", err, sent.String())
			}
		}
	}
	see("/1 ok")
	see(`/1 out: \x1b[31mred`)
	if err := run.Process.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	see("config.toml was read again")
	if err := keys.Close(); err != nil {
		t.Fatal(err)
	}
	_ = run.Wait() // its state tells
	if ws := run.ProcessState.Sys().(syscall.WaitStatus); !ws.Signaled() || ws.Signal() != syscall.SIGHUP {
		t.Errorf("without its terminal it ended with %v", run.ProcessState)
	}
}
