package cmd

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ouro-timer/ouro-timer/cmd/cli"
	"github.com/ouro-timer/ouro-timer/timer/clock/clocktest"
)

// keptClock is a clock that something keeps right, or not.
type keptClock struct {
	*clocktest.Manual
	right bool
}

func (k *keptClock) Synced() bool { return k.right }

// TestClockPutBack: a command runs at nine each day, by a runner that is started anew each time,
// whose clock is wrong now and then. Whatever the clock shows, no instant runs twice, none is left
// out without a line, and all is accounted for.
func TestClockPutBack(t *testing.T) {
	home := t.TempDir()
	ran := filepath.Join(home, "ran")
	c := &keptClock{Manual: clocktest.NewManual(time.Date(2026, 11, 21, 8, 0, 0, 0, time.UTC))}
	call := func(args ...string) string {
		t.Helper()
		var out, errs bytes.Buffer
		w := cli.Real()
		w.Clock, w.In, w.Out, w.Err = c, strings.NewReader(""), &out, &errs
		w.Getenv = func(name string) string {
			return map[string]string{"TZ": "UTC", "HOME": home, "OURO_HOME": home, "PATH": "/usr/bin:/bin", "OURO_AUTOSTART": "0"}[name]
		}
		if code := Main(append([]string{"ouro-timer"}, args...), w); code != cli.ExitOK {
			t.Fatalf("%v by %v: exit %d, stdout %s, stderr %s", args, c.Now(), code, &out, &errs)
		}
		return out.String()
	}
	runs := func(want int) {
		t.Helper()
		call("run", "--once")
		text, _ := os.ReadFile(ran)
		if got := strings.Fields(string(text)); len(got) != want {
			t.Fatalf("by %v it has run for %v, want %d runs\n%s", c.Now(), got, want, call("log"))
		}
		call("log", "--audit")
	}
	clockShows := func(text string) {
		t.Helper()
		to, err := time.Parse(time.DateTime, text)
		if err != nil {
			t.Fatal(err)
		}
		c.Step(to.Sub(c.Now()))
	}
	stays := func(d time.Duration, want int) { // the runner comes every ten minutes
		t.Helper()
		for range d / (10 * time.Minute) {
			c.Advance(10 * time.Minute)
			runs(want)
		}
	}
	left := func(want int) {
		t.Helper()
		if got := strings.Count(call("log", "--json", "--outcome", "missed", "-n", "1000"), `"clock_back"`); got != want {
			t.Errorf("%d were left out, want %d:\n%s", got, want, call("log"))
		}
	}

	call("at", "every", "day", "at", "9:00", "--", "sh", "-c", `echo "$OURO_DUE" >>`+ran)
	clockShows("2026-11-21 09:00:10")
	runs(1)

	// The machine starts with a wrong clock, which is corrected.
	clockShows("2026-11-21 05:00:00")
	stays(30*time.Minute, 1)
	clockShows("2026-11-21 10:01:00")
	runs(1)
	clockShows("2026-11-22 09:00:10")
	runs(2)
	clockShows("2026-11-23 09:00:10")
	runs(3)
	left(0)

	// Somebody sets it back by two days, for good: what has run is left out when it comes again.
	clockShows("2026-11-21 11:00:00")
	stays(70*time.Minute, 3)
	for _, day := range []string{"22", "23"} {
		clockShows("2026-11-" + day + " 09:00:10")
		runs(3)
	}
	left(2)
	clockShows("2026-11-24 09:00:10")
	runs(4)

	// It is a year ahead, runs for an instant of then, and is set right by a time server: the days
	// until then have theirs.
	clockShows("2027-11-24 12:00:00")
	runs(5)
	clockShows("2026-11-24 12:00:00")
	runs(5)
	c.right = true
	c.Advance(2 * time.Minute)
	runs(5)
	for i, day := range []string{"25", "26", "27"} {
		clockShows("2026-11-" + day + " 09:00:10")
		runs(6 + i)
	}
	clockShows("2027-11-23 09:00:10")
	runs(9)
	clockShows("2027-11-24 09:00:10") // it ran a year ago
	runs(9)
	left(3)
	clockShows("2027-11-25 09:00:10")
	runs(10)

	// It is set to before the task was made, for good: it goes on within an hour, and what has come
	// meanwhile runs then.
	c.right = false
	clockShows("2020-05-05 08:30:00")
	stays(time.Hour, 10)
	stays(10*time.Minute, 11)
	clockShows("2020-05-06 09:00:10")
	runs(12)
	left(3)
}
