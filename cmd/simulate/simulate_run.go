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
	"github.com/ouro-timer/ouro-timer/timer/when/say"
)

// maxOutcomes is the most outcomes of a simulation, because all are kept until they are shown.
const maxOutcomes = 1_000_000

// refuseTooMany refuses a simulation with too many outcomes before it begins, and says which length
// fits. While there is no power many instants share an outcome, so with --down the outcomes are
// counted during the run instead.
func (m *simulation) refuseTooMany() error {
	if m.hasDown {
		return nil
	}
	span := m.to.Sub(m.from)
	fits := span
	total, busiest := m.instants(span)
	if total <= maxOutcomes {
		return nil
	}
	for total > maxOutcomes {
		fits /= 2
		total, busiest = m.instants(fits)
	}
	return tooMany(problem.T("that is more than %s occurrences in %s, most of them of %s, %s",
		view.Thousands(maxOutcomes), spanWords(span), "task "+busiest.ID+" ("+cli.Fit(view.Describe(busiest), 40)+")",
		cli.Quote(busiest.When.Text)),
		fits.Seconds()*maxOutcomes/float64(max(total, 1)))
}

// instants returns how many instants the tasks have in the first span of the simulated time. It
// stops counting after maxOutcomes. busiest is the task that has the most of them.
func (m *simulation) instants(span time.Duration) (total int, busiest state.Task) {
	until, most := m.from.Add(span), 0
	for _, e := range m.entries {
		sched, err := rules.Schedule(e.Task)
		n := 1
		if err == nil && sched != nil && !e.Task.Policy.UntilOK &&
			(!e.Held || !e.Resume.IsZero() && e.Resume.Before(until)) {
			n = sched.Count(m.from, until, maxOutcomes+1-total)
		}
		if total += n; n > most {
			most, busiest = n, e.Task
		}
		if total > maxOutcomes {
			break
		}
	}
	return total, busiest
}

// tooMany returns the error for a simulation that is too long. seconds is the length that would
// fit.
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

// spanWords returns the length of the simulated time for people.
func spanWords(d time.Duration) string {
	if days := int(d / (24 * time.Hour)); days > 0 {
		return cli.Plural(days, "day")
	}
	return d.String()
}

// run runs the simulated world. It stops when ctx ends, and shows its progress on a terminal.
func (m *simulation) run(ctx context.Context, s *cli.Call) error {
	const few, many = 2_000, 20_000 // outcomes of a step; a second computes some 50,000
	terminal := view.ShowsCountdown(s, false)
	show := &progress{out: s.Err, clock: s.Clock, from: m.from, to: m.to, zone: m.zone, at: s.Clock.Now(),
		foreground: func() bool { return terminal && cli.Foreground(s.Err) }}
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
		case m.outcomes > maxOutcomes:
			show.erase()
			seconds := m.world.Now().Sub(m.from).Seconds() * maxOutcomes / float64(m.outcomes)
			return tooMany(problem.T("more than %s outcomes by %s", view.Thousands(maxOutcomes),
				say.Stamp(m.world.Now().In(m.zone))), seconds)
		case got > many:
			step = max(step/4, time.Minute)
		case got < few:
			step = min(2*step, 30*24*time.Hour)
		}
	}
	return nil
}

// progress shows on a line of a terminal how far a simulation is.
type progress struct {
	out        io.Writer
	clock      clock.Clock
	foreground func() bool // reports whether this process may draw on the terminal
	from, to   time.Time
	zone       *time.Location
	at         time.Time // when it was last drawn; at first, when the simulation began
	drawn      bool
}

// drawEvery is the time between two drawings. A shorter simulation shows no progress.
const drawEvery = 500 * time.Millisecond

func (p *progress) draw(now time.Time) {
	if p.clock.Now().Sub(p.at) < drawEvery || !p.foreground() {
		return
	}
	p.at, p.drawn = p.clock.Now(), true
	done := float64(now.Sub(p.from)) / float64(p.to.Sub(p.from))
	fmt.Fprintf(p.out, "%ssimulated until %s (%d %%)\r", view.EraseBelow,
		now.In(p.zone).Format("Mon 2 Jan 2006 15:04"), int(100*max(done, 0)))
}

func (p *progress) erase() {
	if p.drawn {
		fmt.Fprint(p.out, view.EraseBelow)
		p.drawn = false
	}
}
