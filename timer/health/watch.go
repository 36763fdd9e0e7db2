package health

import (
	"context"
	"errors"
	"time"
)

// watch makes attempts on one target until it is healthy, permanently faulty or ctx ends.
func (w *waiter) watch(ctx context.Context, i int) {
	r := report{i: i}
	say := func() {
		select {
		case w.reports <- r:
		case <-w.gone:
		}
	}
	defer func() { r = report{i: i, last: true}; say() }()
	l := newLooker(ctx, w.Options, w.targets[i])

	s := schedule{pace: pace{longest: w.Interval, random: w.random}, begin: time.Now(), due: time.Now()}
	p := proof{successes: w.Successes, stable: w.Stable, interval: w.Interval}
	for known := false; !over(ctx); known = true {
		w.begun[i].Add(1)
		r.attempt++
		started := time.Now()
		f := w.try(ctx, l)
		ended := time.Now()
		r.latency = ended.Sub(started)
		var retryAfter time.Duration
		if f != nil {
			retryAfter = f.retryAfter
		}
		if f != nil && f.late && over(ctx) {
			// An attempt that the end of the wait cut short knows less than the one before it, and
			// finds nothing gone.
			r.fault, r.cut = f, known || errors.Is(ctx.Err(), context.Canceled)
		} else {
			if r.seen = (Cause{}); w.Invert {
				f, r.seen = opposite(f, w.targets[i])
			}
			r.fault, r.proven = f, p.take(f == nil, ended)
			r.streak, r.proof = p.streak, p.soFar()
		}
		say()
		if r.proven || r.fault != nil && r.fault.permanent && !w.KeepTrying {
			return
		}
		pause := max(s.pause(r.fault, &p, l), retryAfter)
		if r.fault != nil && (!l.told || l.wake == nil) {
			pause = s.inTime(ctx, pause, r.latency)
		}
		if !s.rest(ctx, pause, l) {
			return
		}
	}
}

// lastLook is how long before the end of the wait a last attempt is made, in addition to what the
// one before it took.
const lastLook = 50 * time.Millisecond

// schedule is when the attempts on a target are made.
type schedule struct {
	last  bool // the last attempt was brought forward
	pace  pace
	begin time.Time     // of the attempts, or of those since the bell has rung
	due   time.Time     // when the attempt should start: how late it does is not to add up
	calm  time.Duration // after an attempt that the bell asked for, before the next one
}

// pause is how long to rest after an attempt.
func (s *schedule) pause(f *fault, p *proof, l *looker) time.Duration {
	now := time.Now()
	switch {
	case f == nil:
		return p.pause(now, now.Sub(s.due))
	case l.told && l.wake != nil:
		return unasked
	}
	return s.pace.after(s.due.Sub(s.begin), now.Sub(s.due))
}

// inTime shortens a pause that would outlast the wait, once, so that a target that comes while
// nobody looks is found all the same. An attempt takes about as long as the one before did.
func (s *schedule) inTime(ctx context.Context, pause, took time.Duration) time.Duration {
	end, bounded := ctx.Deadline()
	left := time.Until(end)
	if !bounded || s.last || pause < left || left <= eager {
		return pause
	}
	if early := left - took - lastLook; early > 0 {
		s.last = true
		return early
	}
	return pause
}

// rest lets the pause pass, or the time until the bell rings, and reports whether the wait goes on.
func (s *schedule) rest(ctx context.Context, pause time.Duration, l *looker) bool {
	began, bell := time.Now(), l.wake
	s.due = began.Add(pause)
	for {
		timer := time.NewTimer(time.Until(s.due))
		select {
		case <-ctx.Done():
			timer.Stop()
			return false
		case <-timer.C:
			return true
		case _, open := <-bell:
			timer.Stop()
			bell = nil // many rings in a row are one
			soon := began.Add(s.pace.longest)
			if open {
				soon = s.rung(began)
			} else {
				l.wake = nil
			}
			if soon.Before(s.due) {
				s.due = soon
			}
		}
	}
}

// rung says when the attempt that the bell asks for is to start: at once, but for a bell that
// hardly rests. The attempts after it are as eager as in the beginning, as something has moved.
func (s *schedule) rung(began time.Time) time.Time {
	now := time.Now()
	s.begin = now
	s.pace.news()
	s.calm = max(s.calm, leastCalm)
	soon := began.Add(s.calm)
	if soon.After(now) {
		s.calm = min(2*s.calm, mostCalm)
		return soon
	}
	s.calm = 0
	return now
}

// over reports whether ctx has ended, or is about to: a dialler looks at the deadline and may
// notice before ctx does.
func over(ctx context.Context) bool {
	end, bounded := ctx.Deadline()
	return ctx.Err() != nil || bounded && !time.Now().Before(end)
}

// try makes one attempt. A fault that came of running out of time says how much there was.
func (w *waiter) try(ctx context.Context, l *looker) *fault {
	began, had := time.Now(), w.Attempt
	if end, bounded := ctx.Deadline(); bounded {
		had = min(had, end.Sub(began))
	}
	attempt, cancel := context.WithTimeout(ctx, w.Attempt)
	defer cancel()
	err := l.look(attempt)
	if err == nil {
		return nil
	}
	f := *explain(err, answering)
	if f.late {
		if attempt.Err() == nil { // a limit of the system's own, such as the resolver's
			had = time.Since(began)
		}
		f.Span = had
	}
	return &f
}

// opposite judges an attempt for those who wait until the target is gone. When it is, seen says
// what showed that.
func opposite(f *fault, t Target) (judged *fault, seen Cause) {
	switch {
	case f == nil:
		return t.still(), Cause{}
	case f.unseen, f.rank == silent && (t.scheme == "tcp" || t.scheme == "unix"):
		return f, Cause{} // a program that hangs leaves connections waiting, and still has the port
	case f.present:
		there := f.Cause
		there.Still = true
		return &fault{Cause: there, rank: f.rank}, Cause{}
	}
	return nil, f.Cause
}

// still is the fault of a target that is to be gone and is not.
func (t Target) still() *fault {
	kind, ok := map[string]Kind{
		"tcp": StillAccepts, "unix": StillAccepts, "dns": StillResolves, "file": StillThere, "pid": StillRuns, "task": StillWell, "exec": StillZero,
	}[t.scheme]
	if !ok {
		kind = StillAnswers
	}
	return &fault{Cause: Cause{Kind: kind}, permanent: kind == StillWell, rank: wrong}
}
