package cmd

import (
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ouro-timer/ouro-timer/cmd/view"
)

// resize gives the terminal another size. The program in it is not told: it asks before each drawing.
func (s *screen) resize(rows, cols uint16) {
	s.t.Helper()
	if err := unix.IoctlSetWinsize(int(s.keys.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: rows, Col: cols}); err != nil {
		s.t.Fatal(err)
	}
}

// TestHealthWaitResized makes the window smaller in both directions: from then on the lines fit it.
func TestHealthWaitResized(t *testing.T) {
	t.Parallel()
	s := onTerminal(t, `ouro-timer health-wait tcp://127.0.0.1:1 unix:/none.sock file:/ tcp://localhost:2`)
	s.see("waiting  unix:/none.sock  ")
	s.resize(3, 20)
	s.see("waiting  unix:/non…\x1b[K\r\r\n2 more, 1 of them …\x1b[J\x1b[?7h\r\x1b[2A")
	s.resize(1, 40)
	s.see("\r\x1b[?7l1 of 4 healthy, ")
	if _, err := s.keys.WriteString("\x03"); err != nil {
		t.Fatal(err)
	}
	how, text := s.end()
	if ws := how.Sys().(syscall.WaitStatus); !ws.Signaled() || ws.Signal() != syscall.SIGINT {
		t.Errorf("bash ended with %v", how)
	}
	if !strings.Contains(text, view.EraseBelow) || strings.Contains(text[strings.LastIndex(text, view.EraseBelow):], "left") {
		t.Errorf("the lines stayed: %q", text)
	}
}

// TestHealthWaitInBackground draws nothing: the terminal is another job's.
func TestHealthWaitInBackground(t *testing.T) {
	t.Parallel()
	_, sent := onTerminal(t, `set -m; ouro-timer health-wait tcp://127.0.0.1:1 --timeout 1s & wait`).end()
	if strings.Contains(sent, "\x1b") {
		t.Errorf("drew %q", sent)
	}
}

// TestHealthWaitLeavesNoTraceInTmux draws on the first line of the screen. tmux keeps what it takes for a cleared screen in the
// history of the window: a line for each drawing.
func TestHealthWaitLeavesNoTraceInTmux(t *testing.T) {
	t.Parallel()
	tmux, err := exec.LookPath("tmux")
	if err != nil {
		t.Skip("there is no tmux")
	}
	folder := t.TempDir()
	ask := func(words ...string) string {
		t.Helper()
		c := exec.Command(tmux, append([]string{"-S", folder + "/socket", "-f", "/dev/null"}, words...)...)
		c.Env = append(os.Environ(), "OURO_HOME="+folder+"/home", "TZ=UTC", "LC_ALL=C.UTF-8", "TERM=xterm", "TMUX=")
		said, err := c.CombinedOutput()
		if err != nil {
			t.Fatalf("tmux %s: %v: %s", words[0], err, said)
		}
		return string(said)
	}
	until := func(what string, there func() bool) {
		t.Helper()
		for end := time.Now().Add(5 * time.Minute); !there(); time.Sleep(20 * time.Millisecond) {
			if time.Now().After(end) {
				t.Fatalf("%s never came: %q", what, ask("capture-pane", "-p"))
			}
		}
	}
	ask("new-session", "-d", "-x", "70", "-y", "3", `ouro-timer health-wait tcp://127.0.0.1:1 unix:/none.sock file:/ --timeout 2s; echo ended; exec sleep 1000`)
	defer ask("kill-server")
	until("the lines", func() bool {
		seen := ask("capture-pane", "-p")
		return strings.HasPrefix(seen, "waiting  tcp://127.0.0.1:1") && strings.Contains(seen, "waiting  unix:/none.sock  1 second left")
	})
	if kept := strings.TrimSpace(ask("display-message", "-p", "#{history_size}")); kept != "0" {
		t.Errorf("while it draws, %s lines are in the history", kept)
	}
	until("the end", func() bool { return strings.Contains(ask("capture-pane", "-p", "-S", "-"), "ended") })
	all := ask("capture-pane", "-p", "-S", "-")
	if strings.Contains(all, "left") || !strings.Contains(all, "file:/ is healthy (1 attempt, ") {
		t.Errorf("what stays is %q", all)
	}
}
