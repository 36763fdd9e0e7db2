package waiting

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/ouro-timer/ouro-timer/cmd/cli"
	"github.com/ouro-timer/ouro-timer/cmd/view"
	"github.com/ouro-timer/ouro-timer/timer/health"
)

const healthRedraw = 200 * time.Millisecond

// healthView is the lines of a terminal that show how a wait stands, one for each target.
type healthView struct {
	*healthOptions
	mu    sync.Mutex
	rows  []health.TargetResult
	begun time.Time
	bound time.Duration // of this call; 0: none
}

// watch draws the lines on standard error, five times a second, until stop; then they are gone.
func (o *healthOptions) watch(s *cli.Call) (stop func()) {
	now := s.Clock.Now()
	v := &healthView{healthOptions: o, rows: make([]health.TargetResult, len(o.targets)), begun: now, bound: o.bound(now)}
	for i, t := range o.targets {
		v.rows[i].Target = t.String()
	}
	o.wait.Observe = func(i int, r health.TargetResult) {
		v.mu.Lock()
		v.rows[i] = r
		v.mu.Unlock()
	}
	ctx, cancel := context.WithCancel(context.Background())
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		drawn := false
		for s.Clock.For(ctx, healthRedraw) == nil { // nothing flashes up for a service that is there
			if cli.Foreground(s.Err) {
				width, _ := cli.TerminalWidth(s.Err, s.Getenv)
				height, _ := cli.TerminalHeight(s.Err, s.Getenv)
				fmt.Fprint(s.Err, frame(v.lines(s.Clock.Now(), height), width))
				drawn = true
			}
		}
		if drawn && cli.Foreground(s.Err) {
			fmt.Fprint(s.Err, view.EraseBelow)
		}
	}()
	return func() {
		cancel()
		select {
		case <-gone:
		case <-time.After(200 * time.Millisecond): // a terminal held by Ctrl-S must not hold what waits for us
		}
	}
}

// frame draws lines in the place of those before: it leaves the cursor at the start of the first, so that a window that is
// resized takes them along, and whatever is printed next replaces them. Each line clears what is left of the one it replaces, the last one
// all below it. While it draws, the terminal cuts what is too wide for it (letters of two columns), so that a line stays one line.
func frame(lines []string, width int) string {
	const cut, wrapped, clear, below = "\x1b[?7l", "\x1b[?7h", "\x1b[K", "\x1b[J"
	for i := range lines {
		lines[i] = cli.Fit(lines[i], width-1)
	}
	text := "\r" + cut + strings.Join(lines, clear+"\r\n") + below + wrapped + "\r"
	if n := len(lines) - 1; n > 0 {
		text += fmt.Sprintf("\x1b[%dA", n)
	}
	return text
}

// lines shows each target, in the order given, in at most height lines. Where there is no room for all, those that are healthy
// are the first to be left out, and the last line counts what is not shown.
func (v *healthView) lines(now time.Time, height int) []string {
	v.mu.Lock()
	defer v.mu.Unlock()
	room := len(v.rows)
	if height = max(1, height); room > height {
		room = height - 1
	}
	healthy := 0
	for _, t := range v.rows {
		if t.Healthy {
			healthy++
		}
	}
	left := v.left(now)
	spare := max(0, room-(len(v.rows)-healthy)) // for those that are healthy
	var lines []string
	hidden, fine := 0, 0
	for _, t := range v.rows {
		switch {
		case len(lines) == room, t.Healthy && spare == 0:
			hidden++
			if t.Healthy {
				fine++
			}
			continue
		case t.Healthy:
			spare--
		}
		lines = append(lines, v.line(t, left))
	}
	switch {
	case room == 0:
		lines = []string{fmt.Sprintf("%d of %d healthy, %s", healthy, len(v.rows), left)}
	case hidden > 0:
		lines = append(lines, fmt.Sprintf("%d more, %d of them healthy, %s", hidden, fine, left))
	}
	return lines
}

// left is the time that is left of this call, or that has passed when it has no bound.
func (v *healthView) left(now time.Time) string {
	if v.bound <= 0 {
		return lasted(now.Sub(v.begun).Truncate(time.Second)) + " so far"
	}
	return lasted(max(0, v.bound-now.Sub(v.begun)).Round(time.Second)) + " left"
}

// line is a target: its state, its name, the time, how often it was tried, and at the end, where it may be cut, what ails it.
func (v *healthView) line(t health.TargetResult, left string) string {
	tried := cli.Plural(t.Attempts, "attempt")
	name := cli.Visible(t.Target)
	switch {
	case t.Healthy && v.wait.Invert:
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
