//go:build unix

package notify

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
)

func sh(script string) state.Channel {
	return state.Channel{Name: "run", Type: Exec, Command: []string{"sh", "-c", script, "sh"}}
}

func TestExec(t *testing.T) {
	dir := t.TempDir()
	env := outside(nil)
	env.Environ = func() []string { return []string{"GIVEN=yes", "PATH=/usr/bin:/bin"} }
	c := sh(`cat > "$1/in"; env > "$1/env"; echo to nobody`)
	c.Command = append(c.Command, dir)
	detail, err := Send(t.Context(), c, Message{ID: "k7m2/3", Event: json.RawMessage(`{"a":"` + "\u2028" + `b"}`)}, env)
	if err != nil || detail != "Told by sh." {
		t.Fatal(detail, err)
	}
	if b, _ := os.ReadFile(filepath.Join(dir, "in")); string(b) != "{\"a\":\"\u2028b\"}\n" {
		t.Errorf("%q", b)
	}
	if b, _ := os.ReadFile(filepath.Join(dir, "env")); !strings.Contains(string(b), "GIVEN=yes") || strings.Contains(string(b), "HOME=") {
		t.Errorf("%s", b)
	}
}

func TestExecFaults(t *testing.T) {
	for _, row := range []struct {
		name      string
		c         state.Channel
		permanent bool
		text      string
	}{
		{"its last word", sh("echo first >&2; echo '  the disk is full  ' >&2; exit 3"), false, "channel run: sh ended with exit code 3: the disk is full"},
		{"says nothing", sh("exit 1"), false, "channel run: sh ended with exit code 1"},
		{"control characters", sh(`printf '\033[31mred\n\n' >&2; exit 1`), false, `channel run: sh ended with exit code 1: \x1b[31mred`},
		{"a signal", sh("kill -KILL $$"), false, "channel run: sh ended with signal: killed"},
		{"not there", state.Channel{Name: "run", Type: Exec, Command: []string{"/nowhere/prog"}}, true, "no such file"},
		{"no command", state.Channel{Name: "run", Type: Exec}, true, "channel run has no command"},
		{"does not read", sh("exit 7"), false, "exit code 7"},
		{"a long tale", sh(`head -c 1000000 /dev/zero | tr '\0' x >&2; exit 1`), false, "xxx…"},
	} {
		_, err := Send(t.Context(), row.c, Message{Body: strings.Repeat("x", 1<<20)}, outside(nil))
		e := fault(t, err)
		if e.Permanent != row.permanent || !strings.Contains(e.Text, row.text) || len(e.Text) > 2000 {
			t.Errorf("%s: %+v", row.name, e)
		}
	}
}

// TestExecGroup: at the time-out all that the command started is killed, and nobody waits for what holds its output.
func TestExecGroup(t *testing.T) {
	file := filepath.Join(t.TempDir(), "pid")
	c := sh(`sleep 1000 & echo $! > "$1".new; mv "$1".new "$1"; wait`)
	c.Command = append(c.Command, file)
	var b []byte
	var err error
	for _, c.Timeout = range []string{"1s", "10s", "100s"} { // until it has come as far as that, on a busy machine
		_, err = Send(t.Context(), c, Message{Body: "x"}, outside(nil))
		if e := fault(t, err); e.Permanent || e.Text != "run did not answer within "+c.Timeout {
			t.Errorf("%+v", e)
		}
		if b, err = os.ReadFile(file); err == nil {
			break
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	pid, _ := strconv.Atoi(strings.TrimSpace(string(b)))
	for end := time.Now().Add(2 * time.Minute); syscall.Kill(pid, 0) == nil && !zombie(pid); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			syscall.Kill(pid, syscall.SIGKILL)
			t.Fatal("a child of the command lives on")
		}
	}

	// One that is left behind on purpose does not turn success into a fault, and goes on for longer than it may take to say so.
	c = sh(`sleep 1000 & echo $! > "$1"`)
	c.Command = append(c.Command, file)
	begun := time.Now()
	if _, err := Send(t.Context(), c, Message{Body: "x"}, outside(nil)); err != nil || time.Since(begun) > 10*time.Minute {
		t.Errorf("%v after %v", err, time.Since(begun))
	}
	if b, err = os.ReadFile(file); err == nil {
		pid, _ = strconv.Atoi(strings.TrimSpace(string(b)))
		if syscall.Kill(pid, syscall.SIGKILL) != nil {
			t.Error("it was killed")
		}
	}
}

// zombie reports a process that has ended and that nobody has asked about.
func zombie(pid int) bool {
	b, _ := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	_, rest, _ := strings.Cut(string(b), ") ")
	return strings.HasPrefix(rest, "Z")
}
