package healthwait

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/ouro-timer/ouro-timer/cmd/cli"
	"github.com/ouro-timer/ouro-timer/cmd/view"
	"github.com/ouro-timer/ouro-timer/timer/health"
)

const redrawEvery = 200 * time.Millisecond

// screen draws lines on a terminal, one for each target.
type screen struct {
	mu     sync.Mutex
	rows   []health.TargetResult
	invert bool
	begun  time.Time
	bound  time.Duration // the bound of this call; 0 means none
}

// watch draws the lines on standard error five times a second until stop, which erases them.
func (o *healthWait) watch(s *cli.Call) (stop func()) {
	now := s.Clock.Now()
	v := &screen{invert: o.group.Options.Invert, rows: make([]health.TargetResult, len(o.group.Targets)),
		begun: now, bound: o.bounds.bound(now)}
	for i, t := range o.group.Targets {
		v.rows[i].Target = t.String()
	}
	o.group.Options.Observe = func(i int, r health.TargetResult) {
		v.mu.Lock()
		v.rows[i] = r
		v.mu.Unlock()
	}
	return view.DrawBeside(func(ctx context.Context) {
		drawn := false
		for s.Clock.For(ctx, redrawEvery) == nil { // a fast service draws nothing
			if cli.Foreground(s.Err) {
				width, _ := cli.TerminalWidth(s.Err, s.Getenv)
				height, _ := cli.TerminalHeight(s.Err, s.Getenv)
				fmt.Fprint(s.Err, view.Frame(v.lines(s.Clock.Now(), height), width))
				drawn = true
			}
		}
		if drawn && cli.Foreground(s.Err) {
			fmt.Fprint(s.Err, view.EraseBelow)
		}
	})
}

// lines returns a line for each target in the order given, at most height lines. When not all fit,
// healthy targets are left out first, and the last line counts what is not shown.
func (v *screen) lines(now time.Time, height int) []string {
	v.mu.Lock()
	defer v.mu.Unlock()
	space := len(v.rows)
	if height = max(1, height); space > height {
		space = height - 1
	}
	healthy := 0
	for _, t := range v.rows {
		if t.Healthy {
			healthy++
		}
	}
	left := v.left(now)
	free := max(0, space-(len(v.rows)-healthy)) // the rows left for healthy targets
	var lines []string
	hidden, healthyHidden := 0, 0
	for _, t := range v.rows {
		switch {
		case len(lines) == space, t.Healthy && free == 0:
			hidden++
			if t.Healthy {
				healthyHidden++
			}
			continue
		case t.Healthy:
			free--
		}
		lines = append(lines, v.line(t, left))
	}
	switch {
	case space == 0:
		lines = []string{fmt.Sprintf("%d of %d healthy, %s", healthy, len(v.rows), left)}
	case hidden > 0:
		lines = append(lines, fmt.Sprintf("%d more, %d of them healthy, %s", hidden, healthyHidden, left))
	}
	return lines
}

// left returns how much time this call has left, or how much has passed when it has no bound.
func (v *screen) left(now time.Time) string {
	if v.bound <= 0 {
		return lasted(now.Sub(v.begun).Truncate(time.Second)) + " so far"
	}
	return lasted(max(0, v.bound-now.Sub(v.begun)).Round(time.Second)) + " left"
}

// line returns the line of a target: its state, its name, the time, the number of attempts, and at
// the end its fault, which may be cut.
func (v *screen) line(t health.TargetResult, left string) string {
	tried := cli.Plural(t.Attempts, "attempt")
	name := cli.Visible(t.Target)
	switch {
	case t.Healthy && v.invert:
		return "gone     " + name + "  " + tried
	case t.Healthy:
		return "healthy  " + name + "  " + tried
	case t.Permanent:
		return "failed   " + name + "  " + tried + ": " + cli.Visible(t.Last.String())
	case t.Streak > 0:
		return "proving  " + name + "  " + left + ", " + tried + ": " + cli.Visible(t.Last.String())
	case !t.Last.IsZero():
		return "waiting  " + name + "  " + left + ", " + tried + ": " + cli.Visible(t.Last.String())
	}
	return "waiting  " + name + "  " + left
}
