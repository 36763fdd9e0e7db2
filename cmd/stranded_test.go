package cmd

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ouro-timer/ouro-timer/timer/clock/clocktest"
)

// TestNothingIsStranded adds one-shots one after another, each about when the runner that the one before it started has
// nothing left to do and ends. Every one must run: none may be left to a runner that has just gone. OURO_TEST_STRANDED=5000
// tries it that many times.
func TestNothingIsStranded(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("starts many processes")
	}
	tries := 150
	if clocktest.Raced {
		tries = 30 // what is tried is between processes
	}
	if n, err := strconv.Atoi(os.Getenv("OURO_TEST_STRANDED")); err == nil {
		tries = n
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	home, out := filepath.Join(t.TempDir(), "home"), t.TempDir()
	env := append(os.Environ(), "OURO_HOME="+home, "TZ=UTC", "GORACE=atexit_sleep_ms=0")
	tidyUp(t, home, out)
	ouro := func(args ...string) string {
		c := exec.Command(self)
		c.Args, c.Env = append([]string{"ouro-timer"}, args...), env
		b, err := c.CombinedOutput()
		if err != nil {
			t.Fatalf("ouro-timer %s: %v: %s", strings.Join(args, " "), err, b)
		}
		return string(b)
	}
	started := 0
	for i := range tries {
		answer := ouro("at", "now", "--json", "--", "touch", filepath.Join(out, strconv.Itoa(i)))
		if strings.Contains(answer, `"runner":"started"`) {
			started++
		}
		// From at once to longer than a runner takes to end.
		time.Sleep(time.Duration(i*7%23) * time.Millisecond)
	}
	var fired []os.DirEntry
	for end := time.Now().Add(5 * time.Minute); time.Now().Before(end) && len(fired) < tries; time.Sleep(20 * time.Millisecond) {
		if fired, err = os.ReadDir(out); err != nil {
			t.Fatal(err)
		}
	}
	if len(fired) != tries {
		t.Errorf("%d of %d one-shots ran; pending:\n%s", len(fired), tries, ouro("ls"))
	}
	t.Logf("%d one-shots, %d runners", tries, started)
}
