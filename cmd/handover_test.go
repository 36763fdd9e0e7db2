package cmd

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ouro-timer/ouro-timer/timer/clock/clocktest"
)

// binaries are two builds of the program that differ in their version.
func binaries(t *testing.T, versions ...string) (paths []string) {
	t.Helper()
	dir := t.TempDir()
	for _, v := range versions {
		path := filepath.Join(dir, "ouro-timer-"+v)
		out, err := exec.Command("go", "build", "-o", path, "-ldflags", "-X "+module+"/cmd/cli.Version="+v, module).CombinedOutput()
		if err != nil {
			t.Fatalf("go build: %v: %s", err, out)
		}
		paths = append(paths, path)
	}
	return paths
}

// TestANewerBinaryTakesOver: the runner of an older build gives up the lock at once, claims nothing more, and sees its command to its
// end. Nothing is late or comes twice, and an older build does not take over from a newer one.
func TestANewerBinaryTakesOver(t *testing.T) {
	clocktest.Alone(t)
	t.Parallel()
	if testing.Short() {
		t.Skip("builds two binaries")
	}
	b := binaries(t, "1.0.0", "1.1.0")
	older, newer := b[0], b[1]
	work, home := t.TempDir(), filepath.Join(t.TempDir(), "home")
	tidyUp(t, home, work)
	command := func(binary string, args ...string) *exec.Cmd {
		c := exec.Command(binary, args...)
		c.Dir, c.Env = work, append(os.Environ(), "OURO_HOME="+home, "TZ=UTC", "OURO_AUTOSTART=1")
		return c
	}
	call := func(binary string, args ...string) string {
		t.Helper()
		out, err := command(binary, args...).Output()
		if err != nil {
			t.Fatalf("ouro-timer %s: %v: %s", strings.Join(args, " "), err, out)
		}
		return strings.TrimSpace(string(out))
	}
	until := func(what string, ok func() bool) {
		t.Helper()
		for end := time.Now().Add(5 * time.Minute); !ok(); time.Sleep(10 * time.Millisecond) {
			if time.Now().After(end) {
				t.Fatalf("waited in vain for %s; the log of the runners:\n%s", what, read(filepath.Join(home, "runs", "runner.log")))
			}
		}
	}
	exists := func(name string) func() bool {
		return func() bool { _, err := os.Stat(filepath.Join(work, name)); return err == nil }
	}
	type status struct {
		Runner  string `json:"runner"`
		Process struct {
			PID     int    `json:"pid"`
			Version string `json:"version"`
		} `json:"process"`
		SteppedDown []int `json:"stepped_down"`
	}
	ask := func() (s status) {
		t.Helper()
		out, _ := command(newer, "run", "--status", "--json").Output() // 1 between two runners
		if err := json.Unmarshal(out, &s); err != nil {
			t.Fatal(err)
		}
		return s
	}

	beat := call(older, "at", "every 1s", "-q", "--overlap", "allow", "-c", "echo x >> beats")
	// Or the next call would start a second one, which has the lock when the first gives it up.
	until("the older runner", func() bool { return ask().Process.Version == "1.0.0" })
	long := call(older, "at", "now", "-q", "--retries", "1", "--backoff", "50ms", "-c", "echo > begun; while [ ! -e go ]; do sleep 0.05; done; echo x >> tries; exit 5")
	until("the command", exists("begun"))
	was := ask()
	if was.Process.Version != "1.0.0" {
		t.Fatalf("the runner is %+v", was)
	}

	if out := call(newer, "at", "1h", "--json", "--", "true"); !strings.Contains(out, `"runner":"started"`) {
		t.Errorf("the newer at says %s", out)
	}
	until("the newer runner", func() bool { s := ask(); return s.Process.Version == "1.1.0" })
	now := ask()
	if len(now.SteppedDown) != 1 || now.SteppedDown[0] != was.Process.PID {
		t.Errorf("the older runner, pid %d, has a command; the status is %+v", was.Process.PID, now)
	}
	call(newer, "at", "now", "-q", "--", "touch", "soon")
	until("a new task, beside the command that goes on", exists("soon"))
	if exists("tries")() {
		t.Error("the command has ended too early for the test to mean anything")
	}
	if out := call(older, "at", "1h", "--json", "--", "true"); !strings.Contains(out, `"runner":"alive"`) || ask().Process.PID != now.Process.PID {
		t.Errorf("an older at has replaced a newer runner, or says so: %s", out)
	}

	beats := strings.Count(read(filepath.Join(work, "beats")), "x")
	until("the beat", func() bool { return strings.Count(read(filepath.Join(work, "beats")), "x") > beats })
	if err := os.WriteFile(filepath.Join(work, "go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	until("the end of the older runner", func() bool { return len(ask().SteppedDown) == 0 })
	line := call(newer, "log", long)
	if !strings.Contains(line, "failed (exit code 5") || strings.Count(read(filepath.Join(work, "tries")), "x") != 2 {
		t.Errorf("the older runner was to see its command to the end, and to try it once more: %s", line)
	}
	call(newer, "rm", "-q", beat)
	call(newer, "run", "--stop")
	seen := map[string]int{}
	for _, row := range strings.Split(call(newer, "log", beat, "-n", "1000", "--json"), `"id":"`+beat+"/") {
		if number, _, ok := strings.Cut(row, `"`); ok && strings.Contains(row, `"outcome":`) {
			if _, err := strconv.Atoi(number); err == nil {
				seen[number]++
			}
		}
	}
	for number, n := range seen {
		if n != 1 {
			t.Errorf("%s/%s has %d outcomes", beat, number, n)
		}
	}
	if want := strings.Count(read(filepath.Join(work, "beats")), "x"); len(seen) < want || want == 0 {
		t.Errorf("%d beats, and %d outcomes", want, len(seen))
	}
}

// read is what is in a file; empty when there is none.
func read(path string) string {
	text, _ := os.ReadFile(path)
	return string(text)
}
