package simulate

import (
	"bytes"
	"testing"
	"time"

	"github.com/ouro-timer/ouro-timer/cmd/cli"
	"github.com/ouro-timer/ouro-timer/cmd/view"
	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/timer/clock/clocktest"
	"github.com/ouro-timer/ouro-timer/timer/problem"
)

// The progress of a simulation is drawn when it takes long, now and then, on a terminal that is
// ours, and leaves nothing behind.
func TestSimulateProgress(t *testing.T) {
	var out bytes.Buffer
	from := time.Date(2026, 11, 23, 9, 0, 0, 0, time.UTC)
	c, foreground := clocktest.NewManual(from), true
	p := &progress{out: &out, clock: c, foreground: func() bool { return foreground }, from: from, to: from.Add(100 * time.Hour), zone: time.UTC, at: c.Now()}
	said := func(what, want string) {
		t.Helper()
		if got := out.String(); got != want {
			t.Errorf("%s: %q, want %q", what, got, want)
		}
		out.Reset()
	}
	p.draw(from)
	p.erase()
	said("at once", "")
	c.Advance(drawEvery)
	p.draw(from.Add(25 * time.Hour))
	p.draw(from.Add(26 * time.Hour))
	said("after a while", view.EraseBelow+"simulated until Tue 24 Nov 2026 10:00 (25 %)\r")
	foreground = false
	c.Advance(drawEvery)
	p.draw(from.Add(27 * time.Hour))
	said("in the background", "")
	p.erase()
	p.erase()
	said("at the end", view.EraseBelow)
}

func TestTooMany(t *testing.T) {
	for _, c := range []struct {
		seconds float64
		want    string
	}{{1e6, "--to 11d;"}, {86400, "--to 1d;"}, {86399, "--to 23h;"}, {3599, "--to 59m;"}, {5, "--to 5s;"}} {
		if got := cli.Explain(tooMany(problem.T("x"), c.seconds)).Hint.String(); !bytes.Contains([]byte(got), []byte(c.want)) {
			t.Errorf("%v seconds: %q, want %q", c.seconds, got, c.want)
		}
	}
	for n, want := range map[int]string{0: "0", 999: "999", 1000: "1,000", 1234567: "1,234,567"} {
		if got := view.Thousands(n); got != want {
			t.Errorf("%d: %q", n, got)
		}
	}
}

// TestTallyKeepsALineOfATask: the sums of many occurrences take the memory of one line.
func TestTallyKeepsALineOfATask(t *testing.T) {
	var y tally
	for i := range 1000 {
		due := time.Unix(int64(1000-i), 0)
		y.add(state.Line{Type: state.LineOccurrence, TaskID: "k7m2", Due: &due, Count: 1, Outcome: state.OK}, time.UTC)
	}
	if len(y.lines) != 1 || len(y.list) != 1 || y.list[0].Count != 1000 || y.list[0].First.Unix() != 1 || y.list[0].latest.Unix() != 1000 {
		t.Errorf("it keeps %d lines of %+v", len(y.lines), y.list)
	}
}
