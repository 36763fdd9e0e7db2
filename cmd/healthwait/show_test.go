package healthwait

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/ouro-timer/ouro-timer/cmd/view"
	"github.com/ouro-timer/ouro-timer/timer/health"
)

// TestHealthLines is what is shown of many targets on a terminal that is too low for them.
func TestHealthLines(t *testing.T) {
	row := func(name string, healthy bool) health.TargetResult {
		r := health.TargetResult{Target: name, Healthy: healthy, Attempts: 2}
		if !healthy {
			r.Last = health.Cause{Kind: health.Refused}
		}
		return r
	}
	begun := time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC)
	v := screen{begun: begun, bound: time.Minute,
		rows: []health.TargetResult{row("a", true), row("b", false), row("c", true), row("d", false), row("e", true)}}
	const b, d = "waiting  b  50 seconds left, 2 attempts: connection refused", "waiting  d  50 seconds left, 2 attempts: connection refused"
	for height, want := range map[int][]string{
		9: {"healthy  a  2 attempts", b, "healthy  c  2 attempts", d, "healthy  e  2 attempts"},
		5: {"healthy  a  2 attempts", b, "healthy  c  2 attempts", d, "healthy  e  2 attempts"},
		4: {"healthy  a  2 attempts", b, d, "2 more, 2 of them healthy, 50 seconds left"},
		3: {b, d, "3 more, 3 of them healthy, 50 seconds left"},
		2: {b, "4 more, 3 of them healthy, 50 seconds left"},
		1: {"3 of 5 healthy, 50 seconds left"},
		0: {"3 of 5 healthy, 50 seconds left"},
	} {
		if got := v.lines(begun.Add(10*time.Second), height); strings.Join(got, "\n") != strings.Join(want, "\n") {
			t.Errorf("in %d lines:\n%s\nwant\n%s", height, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
	v.bound = 0
	if got, want := v.lines(begun.Add(10*time.Second), 1)[0], "3 of 5 healthy, 10 seconds so far"; got != want {
		t.Errorf("without a bound: %q, want %q", got, want)
	}
	if got := view.Frame([]string{"one", "a wider line"}, 8); !regexp.MustCompile(`^\r\x1b\[\?7lone\x1b\[K\r\na wide…\x1b\[J\x1b\[\?7h\r\x1b\[1A$`).MatchString(got) {
		t.Errorf("drawn as %q", got)
	}
}
