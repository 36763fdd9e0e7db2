package health

import (
	"context"
	"errors"
	"time"
)

// watch makes attempts on one target until it is healthy, has a permanent fault, or ctx ends.
func (w *waiter) watch(ctx context.Context, i int, follow func()) {
	r := report{i: i}
	say := func() {
		select {
		case w.reports <- r:
		case <-w.stopped:
		}
	}
	defer func() { r = report{i: i, done: true}; say() }()
	l := &attempter{prober: prober{w.Options}, target: w.targets[i], wait: ctx, changed: w.changed[i], follow: follow}

	s := schedule{pace: pace{longest: w.Interval, random: w.random}, begin: time.Now(), due: time.Now()}
	p := proof{successes: w.Successes, stable: w.Stable, interval: w.Interval}
	for known := false; !over(ctx); known = true {
		w.attempts[i].Add(1)
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
			// does not show that something is gone.
			r.fault, r.cutShort = f, known || errors.Is(ctx.Err(), context.Canceled)
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
		if r.fault != nil && (!l.waitsForChange || l.changed == nil) {
			pause = s.inTime(ctx, pause, r.latency)
		}
		if !s.rest(ctx, pause, l) {
			return
		}
	}
}

// lastAttempt is how long before the end of the wait the last attempt is made, in addition to the
// duration of the one before it.
const lastAttempt = 50 * time.Millisecond

// schedule decides when the attempts on a target are made.
type schedule struct {
	last  bool // the last attempt was brought forward
	pace  pace
	begin time.Time // when the attempts began, or began again after a change
	due   time.Time // when the next attempt is due; a late start does not add up
}

// pause returns how long to pause after an attempt.
func (s *schedule) pause(f *fault, p *proof, l *attempter) time.Duration {
	now := time.Now()
	switch {
	case f == nil:
		return p.pause(now, now.Sub(s.due))
	case l.waitsForChange && l.changed != nil:
		return recheckEvery
	}
	return s.pace.after(s.due.Sub(s.begin), now.Sub(s.due))
}

// inTime shortens a pause that would outlast the wait, once, so that a target that becomes healthy
// meanwhile is found. It expects an attempt to take as long as the one before.
func (s *schedule) inTime(ctx context.Context, pause, took time.Duration) time.Duration {
	end, bounded := ctx.Deadline()
	left := time.Until(end)
	if !bounded || s.last || pause < left || left <= earlyGap {
		return pause
	}
	if early := left - took - lastAttempt; early > 0 {
		s.last = true
		return early
	}
	return pause
}

// rest waits for the pause, or until a change makes an attempt due. It reports whether the wait
// goes on.
func (s *schedule) rest(ctx context.Context, pause time.Duration, l *attempter) bool {
	began, changed := time.Now(), l.changed
	s.due = began.Add(pause)
	for {
		timer := time.NewTimer(time.Until(s.due))
		select {
		case <-ctx.Done():
			timer.Stop()
			return false
		case <-timer.C:
			return true
		case _, open := <-changed:
			timer.Stop()
			changed = nil // many changes in a row are one
			soon := began.Add(s.pace.longest)
			if now := time.Now(); open {
				// at once, unless changes come all the time; the attempts after it are as frequent
				// as in the beginning
				s.begin, s.pace.gap = now, 0
				if soon = began.Add(min(earlyGap, s.pace.longest)); soon.Before(now) {
					soon = now
				}
			} else {
				l.changed = nil
			}
			if soon.Before(s.due) {
				s.due = soon
			}
		}
	}
}

// over reports whether ctx has ended or is about to. A dialler uses the deadline and may notice it
// before ctx ends.
func over(ctx context.Context) bool {
	end, bounded := ctx.Deadline()
	return ctx.Err() != nil || bounded && !time.Now().Before(end)
}

// try makes one attempt. When time ran out, the fault says how much time there was.
func (w *waiter) try(ctx context.Context, l *attempter) *fault {
	began, had := time.Now(), w.Attempt
	if end, bounded := ctx.Deadline(); bounded {
		had = min(had, end.Sub(began))
	}
	attempt, cancel := context.WithTimeout(ctx, w.Attempt)
	defer cancel()
	err := l.attempt(attempt)
	if err == nil {
		return nil
	}
	f := *explain(err, answering)
	if f.late {
		if attempt.Err() == nil { // a limit of the system, such as that of the resolver
			had = time.Since(began)
		}
		f.Span = had
	}
	return &f
}

// opposite judges an attempt when the target should be gone. When it is gone, seen is what showed
// it.
func opposite(f *fault, t Target) (judged *fault, seen Cause) {
	switch {
	case f == nil:
		return t.still(), Cause{}
	case f.inconclusive, f.rank == silent && (t.scheme == "tcp" || t.scheme == "unix"):
		return f, Cause{} // a program that hangs leaves connections waiting, and still has the port
	case f.present:
		there := f.Cause
		there.Still = true
		return &fault{Cause: there, rank: f.rank}, Cause{}
	}
	return nil, f.Cause
}

// still returns the fault of a target that should be gone and is not.
func (t Target) still() *fault {
	kind, ok := map[string]Kind{
		"tcp": StillAccepts, "unix": StillAccepts, "dns": StillResolves, "file": StillThere, "pid": StillRuns, "task": StillWell, "exec": StillZero,
	}[t.scheme]
	if !ok {
		kind = StillAnswers
	}
	return &fault{Cause: Cause{Kind: kind}, permanent: kind == StillWell, rank: wrong}
}
