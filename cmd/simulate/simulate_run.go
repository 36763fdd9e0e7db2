package simulate

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/ouro-timer/ouro-timer/cmd/cli"
	"github.com/ouro-timer/ouro-timer/cmd/view"
	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/timer/clock"
	"github.com/ouro-timer/ouro-timer/timer/problem"
	"github.com/ouro-timer/ouro-timer/timer/rules"
	"github.com/ouro-timer/ouro-timer/timer/runner/sim"
	"github.com/ouro-timer/ouro-timer/timer/when"
)

// simulateLines is the most outcomes of a simulation. They are all kept until they are shown.
const simulateLines = 1_000_000

// bounded refuses a simulation with too many outcomes before it begins, and says how long one may
// be. Without power many instants share an outcome, so with --down only the outcomes are counted,
// as they come.
func (m *simulation) bounded() error {
	if m.downs {
		return nil
	}
	span := m.to.Sub(m.from)
	fits := span
	total, worst := m.instants(span)
	if total <= simulateLines {
		return nil
	}
	for total > simulateLines {
		fits /= 2
		total, worst = m.instants(fits)
	}
	return tooMany(problem.T("that is more than %s occurrences in %s, most of them of %s, %s",
		grouped(simulateLines), briefSpan(span), "task "+worst.ID+" ("+cli.Fit(view.Describe(worst), 40)+")",
		cli.Quote(worst.When.Text)),
		fits.Seconds()*simulateLines/float64(max(total, 1)))
}

// instants returns how many instants the tasks have in a part of the simulated time, or more than
// enough. worst has the most of them.
func (m *simulation) instants(span time.Duration) (total int, worst state.Task) {
	until, most := m.from.Add(span), 0
	for _, e := range m.entries {
		sched, err := rules.Schedule(e.Task)
		n := 1
		if err == nil && sched != nil && !e.Task.Policy.UntilOK &&
			(!e.Held || !e.Resume.IsZero() && e.Resume.Before(until)) {
			n = sched.Count(m.from, until, simulateLines+1-total)
		}
		if total += n; n > most {
			most, worst = n, e.Task
		}
		if total > simulateLines {
			break
		}
	}
	return total, worst
}

// tooMany is the problem of a simulation that is too long. Only so many seconds could be simulated.
func tooMany(message problem.Text, seconds float64) error {
	to := "1s"
	for _, unit := range []struct {
		name string
		span time.Duration
	}{{"d", 24 * time.Hour}, {"h", time.Hour}, {"m", time.Minute}, {"s", time.Second}} {
		if n := int(seconds / unit.span.Seconds()); n > 0 {
			to = strconv.Itoa(n) + unit.name
			break
		}
	}
	return problem.New(problem.Limit, message,
		problem.T("end sooner, such as %s; or simulate other tasks with %s", problem.Set("to", to),
			problem.Option("file")))
}

// grouped writes a number with its thousands apart.
func grouped(n int) string {
	text := strconv.Itoa(n)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}

// briefSpan writes how long the simulated time is.
func briefSpan(d time.Duration) string {
	if days := int(d / (24 * time.Hour)); days > 0 {
		return cli.Plural(days, "day")
	}
	return d.String()
}

// run runs the simulated world. It stops when ctx ends, and shows its progress on a terminal.
func (m *simulation) run(ctx context.Context, s *cli.Call) error {
	const few, many = 2_000, 20_000 // outcomes in one go: some 50,000 a second are computed
	terminal := view.Counts(s, false)
	show := &progress{out: s.Err, clock: s.Clock, from: m.from, to: m.to, zone: m.zone, at: s.Clock.Now(),
		ours: func() bool { return terminal && cli.Foreground(s.Err) }}
	defer show.erase()
	for step := 24 * time.Hour; m.world.Now().Before(m.to); {
		if err := ctx.Err(); err != nil {
			return err
		}
		now, before := m.world.Now(), m.outcomes
		show.draw(now)
		next := now.Add(step)
		if next.After(m.to) {
			next = m.to
		}
		m.world.RunTo(next)
		switch got := m.outcomes - before; {
		case m.outcomes > simulateLines:
			show.erase()
			seconds := m.world.Now().Sub(m.from).Seconds() * simulateLines / float64(m.outcomes)
			return tooMany(problem.T("more than %s outcomes by %s", grouped(simulateLines),
				when.Stamp(m.world.Now().In(m.zone))), seconds)
		case got > many:
			step = max(step/4, time.Minute)
		case got < few:
			step = min(2*step, 30*24*time.Hour)
		}
	}
	return nil
}

// progress is a line on a terminal with the progress of a simulation.
type progress struct {
	out      io.Writer
	clock    clock.Clock
	ours     func() bool // reports whether this process may draw on the terminal
	from, to time.Time
	zone     *time.Location
	at       time.Time // when it was drawn last; at first the beginning
	drawn    bool
}

// progressStep is the time between two drawings. A shorter simulation needs no progress.
const progressStep = 500 * time.Millisecond

func (p *progress) draw(now time.Time) {
	if p.clock.Now().Sub(p.at) < progressStep || !p.ours() {
		return
	}
	p.at, p.drawn = p.clock.Now(), true
	part := float64(now.Sub(p.from)) / float64(p.to.Sub(p.from))
	fmt.Fprintf(p.out, "%ssimulated until %s (%d %%)\r", view.EraseBelow,
		now.In(p.zone).Format("Mon 2 Jan 2006 15:04"), int(100*max(part, 0)))
}

func (p *progress) erase() {
	if p.drawn {
		fmt.Fprint(p.out, view.EraseBelow)
		p.drawn = false
	}
}

// told counts the outcomes.
func (m *simulation) told(h sim.Happening) {
	if h.What == sim.Outcome {
		m.outcomes++
	}
}
