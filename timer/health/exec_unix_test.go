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
		if r.Last.String() != want && !(strings.Contains(line, "two") && strings.HasPrefix(r.Last.String(), "exit code 1: two")) {
			t.Errorf("%s: %+v, want %q", line, r, want)
		}
	}
}

// TestExecThatCannotStart: what the shell does not find, or may not run, does not come by waiting; nor is it gone.
func TestExecThatCannotStart(t *testing.T) {
	for line, want := range map[string]string{
		"exit 126":                              "exit code 126",
		"no-such-program-of-ours":               "exit code 127: ",
		"/":                                     "exit code 126: ",
		"sh -c 'exit 128'":                      "exit code 128",
		"no-such-program-of-ours; test -z full": "exit code 1: ",
	} {
		never := strings.HasPrefix(want, "exit code 126") || strings.HasPrefix(want, "exit code 127")
		if r := once(t, Options{}, "exec:"+line); !strings.HasPrefix(r.Last.String(), want) || r.Permanent != never {
			t.Errorf("%s: %+v, want %q", line, r, want)
		}
		if r := once(t, Options{Invert: true}, "exec:"+line); r.Healthy == never || r.Permanent != never {
			t.Errorf("inverted, %s: %+v", line, r)
		}
		if r := once(t, Options{KeepTrying: true}, "exec:"+line); r.Healthy || r.Permanent {
			t.Errorf("kept trying, %s: %+v", line, r)
		}
	}
}

// TestExecHasItsOwnTime: one that hangs is ended and tried again.
func TestExecHasItsOwnTime(t *testing.T) {
	t.Parallel()
	mark := t.TempDir() + "/tried"
	line := "if [ -e " + mark + " ]; then exit 0; fi; : > " + mark + "; sleep 1000"
	var first TargetResult
	r := Wait(t.Context(), mustParse(t, "exec:"+line), Options{
		Attempt: time.Second, Timeout: patience,
		Observe: func(_ int, r TargetResult) {
			if r.Attempts == 1 {
				first = r
			}
		},
	})
	if !r.Healthy || first.Last.String() != "no end of the command within 1s" || r.Waited < time.Second {
		t.Errorf("first %+v, then %+v", first, r)
	}
}

// TestExecTellsWhatItSaidLast: a command that waits itself says for what.
func TestExecTellsWhatItSaidLast(t *testing.T) {
	t.Parallel()
	const want = "no end of the command within 1s: waiting for db"
	mark := t.TempDir() + "/tried"
	var first string
	r := Wait(t.Context(), mustParse(t, "exec:[ -e "+mark+" ] && exit; : >"+mark+"; echo first >&2; echo waiting for db >&2; sleep 1000"), Options{
		Attempt: time.Second, Timeout: patience,
		Observe: func(_ int, r TargetResult) {
			if r.Attempts == 1 {
				first = r.Last.String()
			}
		},
	})
	if !r.Healthy || first != want {
		t.Errorf("first %q, want %q, then %+v", first, want, r)
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
			t.Parallel()
			file := t.TempDir() + "/pid"
			r := Wait(t.Context(), mustParse(t, "exec:"+strings.ReplaceAll(test.line, "PID", file)), Options{Timeout: timeout})
			if r.Reason != TimedOut || r.Targets[0].Last.String() != test.want || r.Waited > timeout+slack {
				t.Errorf("result %+v", r)
			}
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if len(data) == 0 {
				t.Skip("the machine was too busy for the command to say who it is")
			}
			pid, err := strconv.Atoi(strings.TrimSpace(string(data)))
			if err != nil {
				t.Fatal(err)
			}
			for limit := time.Now().Add(2 * time.Minute); alive(pid); time.Sleep(10 * time.Millisecond) {
				if time.Now().After(limit) {
					t.Fatalf("process %d lives on", pid)
				}
			}
		})
	}
}

// TestExecTakesLines: a line of the shell may have breaks; what is shown of it has none.
func TestExecTakesLines(t *testing.T) {
	for text, want := range map[string]string{
		"exec:if true\nthen\texit 0\nfi":     `exec:if true\nthen\texit 0\nfi`,
		"EXEC:printf '\x1b[31mé' >/dev/null": `EXEC:printf '\x1b[31mé' >/dev/null`,
	} {
		target, err := Parse(text)
		if err != nil || target.String() != want {
			t.Errorf("Parse(%q) is shown as %q, %v", text, target, err)
			continue
		}
		if r := once(t, Options{}, text); !r.Healthy || r.Target != want {
			t.Errorf("%q: %+v", text, r)
		}
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
