package cmd

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/ouro-timer/ouro-timer/state/output"
	"github.com/ouro-timer/ouro-timer/timer/proc"
)

// orphanage is a state folder with room for one command, where runners are killed under what they run.
type orphanage struct {
	t              *testing.T
	self, home, at string
	env            []string
}

func newOrphanage(t *testing.T) *orphanage {
	t.Parallel()
	if testing.Short() {
		t.Skip("starts many processes")
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	o := &orphanage{t: t, self: self, home: filepath.Join(t.TempDir(), "home"), at: t.TempDir()}
	o.env = append(os.Environ(), "OURO_HOME="+o.home, "TZ=UTC", "OURO_AUTOSTART=0", "GORACE=atexit_sleep_ms=0")
	tidyUp(t, o.home, o.at)
	return o
}

func (o *orphanage) call(words ...string) *exec.Cmd {
	c := exec.Command(o.self)
	c.Args, c.Env, c.Dir = append([]string{"ouro-timer"}, words...), o.env, o.at
	return c
}

// ouro is what a call answers.
func (o *orphanage) ouro(words ...string) string {
	o.t.Helper()
	out, err := o.call(words...).CombinedOutput()
	if err != nil {
		o.t.Fatalf("ouro-timer %s: %v: %s", strings.Join(words, " "), err, out)
	}
	return string(out)
}

// add schedules a command for now, and says under which ID.
func (o *orphanage) add(command string) (id string) {
	o.t.Helper()
	answer := o.ouro("at", "now", "--json", "--", "sh", "-c", command)
	_, id, _ = strings.Cut(answer, `"id":"`)
	id, _, _ = strings.Cut(id, `"`)
	return id
}

// nursed is a runner, and what it says.
type nursed struct {
	*exec.Cmd
	mu   sync.Mutex
	said bytes.Buffer
}

func (n *nursed) Write(p []byte) (int, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.said.Write(p)
}

func (n *nursed) text() string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.said.String()
}

func (o *orphanage) run() *nursed {
	o.t.Helper()
	n := &nursed{Cmd: o.call("run", "--max-parallel", "1")}
	n.Stdout, n.Stderr = n, n
	if err := n.Start(); err != nil {
		o.t.Fatal(err)
	}
	o.t.Cleanup(func() { _ = n.Process.Kill(); _ = n.Wait() })
	return n
}

func (o *orphanage) until(what string, so func() bool) {
	o.t.Helper()
	for end := time.Now().Add(2 * time.Minute); !so(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			o.t.Fatalf("waited in vain until %s\n%s", what, o.ouro("log", "-n", "50"))
		}
	}
}

// pid waits for a file with the number of a process.
func (o *orphanage) pid(name string) (id proc.Identity) {
	o.t.Helper()
	o.until("there is "+name, func() bool {
		text, _ := os.ReadFile(filepath.Join(o.at, name))
		n, err := strconv.Atoi(strings.TrimSpace(string(text)))
		if err != nil || !bytes.HasSuffix(text, []byte("\n")) {
			return false
		}
		id, err = proc.Identify(n)
		return err == nil
	})
	return id
}

// outlive adds a command, has a runner start it, and kills the runner once the command runs, and is known to do so.
func (o *orphanage) outlive(command, ready string) (id string) {
	o.t.Helper()
	id = o.add(command)
	first := o.run()
	o.until("it runs", func() bool { return strings.Contains(first.text(), "started (pid") })
	o.pid(ready)
	if err := first.Process.Kill(); err != nil {
		o.t.Fatal(err)
	}
	_ = first.Wait()
	return id
}

// leavesBehind is a command whose shell ends at TERM, and leaves in its group what does not.
const leavesBehind = `(trap "" TERM; sh -c 'echo $PPID' >rest; while :; do sleep 0.05; done) & wait`

// TestStopEndsTheGroupOfWhatOutlivedItsRunner: with another runner, and with none.
func TestStopEndsTheGroupOfWhatOutlivedItsRunner(t *testing.T) {
	for _, row := range []struct {
		name   string
		runner bool
		how    string
	}{{"adopted", true, ""}, {"adopted, no grace", true, "--kill"}, {"orphan", false, ""}, {"orphan, no grace", false, "--kill"}} {
		t.Run(row.name, func(t *testing.T) {
			o := newOrphanage(t)
			id := o.outlive(leavesBehind, "rest")
			rest := o.pid("rest")
			if row.runner {
				second := o.run()
				o.until("it is adopted", func() bool { return strings.Contains(second.text(), "outlived its runner") })
			}
			words := []string{"stop", id, "--json", "--max", "2m"}
			if row.how != "" {
				words = append(words, row.how)
			}
			if answer := o.ouro(words...); !strings.Contains(answer, `"outcome":"cancelled"`) {
				t.Error(answer)
			}
			o.until("all of its group has ended", func() bool { return !rest.Alive() })
		})
	}
}

// TestWhatOutlivedItsRunnerIsBounded: its output takes little room while it runs, and it takes its place.
func TestWhatOutlivedItsRunnerIsBounded(t *testing.T) {
	o := newOrphanage(t)
	probe := filepath.Join(o.at, "probe")
	if err := os.WriteFile(probe, bytes.Repeat([]byte{'x'}, 8<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := output.File(probe).Bound(64<<10, 192<<10, 0); err != nil {
		t.Skip("this file system gives nothing back: ", err)
	}
	const written = 48 << 20
	id := o.outlive(`echo $$ >up; until test -e go; do sleep 0.05; done
		head -c 50331648 /dev/zero | tr '\0' x; echo $$ >all; sleep 100000`, "up")
	next := o.add("touch next")
	second := o.run()
	o.until("it is adopted", func() bool { return strings.Contains(second.text(), "outlived its runner") })
	if err := os.WriteFile(filepath.Join(o.at, "go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	o.pid("all")
	o.until("its output takes little room", func() bool {
		info, err := os.Stat(filepath.Join(o.home, "runs", "output", id, "1.out"))
		return err == nil && info.Size() == written && info.Sys().(*syscall.Stat_t).Blocks*512 < 4<<20
	})
	if _, err := os.Stat(filepath.Join(o.at, "next")); err == nil {
		t.Error("another was begun beside it, and there is room for one")
	}
	o.ouro("stop", id, "--max", "2m")
	o.until("the next has run", func() bool { _, err := os.Stat(filepath.Join(o.at, "next")); return err == nil })
	o.until("its outcome is there", func() bool { return strings.Contains(o.ouro("log", next, "--json"), `"outcome":"ok"`) })
	if text := o.ouro("log", id, "--json"); !strings.Contains(text, `"outcome":"cancelled"`) || !strings.Contains(text, `"bytes":50331648`) {
		t.Error(text)
	}
}
