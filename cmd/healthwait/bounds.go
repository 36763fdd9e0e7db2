package healthwait

import (
	"strings"
	"time"

	"github.com/ouro-timer/ouro-timer/cmd/cli"
	"github.com/ouro-timer/ouro-timer/timer/problem"
	"github.com/ouro-timer/ouro-timer/timer/tasks"
)

const (
	defaultTimeout = 2 * time.Minute
	// onceTimeout bounds a call whose deadline has passed already, or comes within onceWithin. Such
	// a call tries each target once, and ends as soon as each has answered.
	onceTimeout, onceWithin = 2 * time.Second, 100 * time.Millisecond
	// wallGrace is how long after the deadline the wall clock ends a wait that the monotonic clock
	// has not ended.
	wallGrace = 50 * time.Millisecond
)

// bounds say how long to wait.
type bounds struct {
	begun   time.Time
	timeout time.Duration // the value of --timeout; 0 means no bound, or --until
	due     time.Time     // the deadline, to the millisecond; zero means none
	// until means that due was given as an instant. It holds even when the clock is set or the
	// machine sleeps.
	until bool
	most  time.Duration // the value of --max; 0 means no bound
}

// read reads how long to wait.
func (b *bounds) read(s *cli.Call) (err error) {
	if s.Opt.Has("timeout") && s.Opt.Has("until") {
		return cli.Excluding("timeout", "until")
	}
	if s.Opt.Has("tz") {
		if _, err := s.Zone(); err != nil {
			return err
		}
	}
	if b.most, err = cli.Bound(s); err != nil {
		return err
	}
	if s.Opt.Has("until") {
		return b.deadline(s)
	}
	if b.timeout, err = span(s.Opt, "timeout", defaultTimeout); err != nil {
		return err
	}
	if b.timeout > 0 {
		b.due = b.begun.In(zoneOr(s, time.UTC)).Add(b.timeout).Round(time.Millisecond)
	}
	return nil
}

// untilHint is the hint with examples of --until.
func untilHint() problem.Text {
	return problem.T("try %s, %s or %s", problem.Set("until", "10pm"), problem.Set("until", "in 10m"),
		problem.Set("until", "2030-12-24T18:00:00+01:00"))
}

// deadline reads --until. A deadline that has passed is no error, because this may be the last of
// several calls.
func (b *bounds) deadline(s *cli.Call) error {
	times, err := s.TimeOptions()
	if err != nil {
		return err
	}
	times.Now = b.begun.In(times.Zone)
	b.until = true
	if strings.TrimSpace(s.Opt.Text("until")) == "" {
		return problem.Of(problem.T("%s is empty", problem.Option("until")), untilHint())
	}
	if b.due, err = tasks.Moment("until", s.Opt.Text("until"), times); err != nil {
		p := cli.Explain(err)
		return p.Advising(problem.Texts("; ", p.Hint, untilHint()))
	}
	if b.due.IsZero() {
		return problem.Of(problem.T("%s is %s, which is not one instant", problem.Option("until"),
			cli.Quote(s.Opt.Text("until"))), untilHint())
	}
	return nil
}

// zoneOr returns the zone of the user, or fallback when that is not known.
func zoneOr(s *cli.Call, fallback *time.Location) *time.Location {
	if zone, err := s.Zone(); err == nil {
		return zone
	}
	return fallback
}

// bound returns how long this call waits; 0 means no bound.
func (b *bounds) bound(now time.Time) time.Duration {
	bound := b.timeout
	switch {
	case b.onceOnly(now):
		bound = onceTimeout
	case b.until:
		bound = b.due.Sub(now)
	}
	if b.most > 0 && (bound == 0 || b.most < bound) {
		bound = b.most
	}
	return bound
}

// maxCameFirst reports whether a wait that has reached its bound at now has reached --max, and not
// its deadline. That of --timeout is rounded, so it may be a little later than now although it has
// been reached.
func (b *bounds) maxCameFirst(now time.Time) bool {
	switch {
	case b.most == 0:
		return false
	case b.due.IsZero():
		return true
	}
	return (b.until || b.most < b.timeout) && now.Before(b.due)
}

// onceOnly reports whether the deadline has passed or is near, so that each target is tried once.
func (b *bounds) onceOnly(now time.Time) bool { return b.until && b.due.Sub(now) < onceWithin }
