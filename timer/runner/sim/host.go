package sim

import (
	"context"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/timer/rules"
	"github.com/ouro-timer/ouro-timer/timer/runner"
)

// stage is how far an attempt has come.
type stage int

const (
	waiting  stage = iota // for its instant
	noting                // that it is about to start
	asking                // the gate
	telling               // a message, or an agent
	running               // its command
	resting               // no attempt: the pause before one
	adopting              // a command that another runner started
)

// attempt is what the host does about a claim.
type attempt struct {
	run   *Runner
	r     state.Record
	fate  Fate
	seq   uint64
	stage stage
	ev    *event
	child *child
	res   rules.Result
	told  string // to end, before it could
}

// child is a process of a command.
type child struct {
	w     *World
	by    *Runner
	ident state.Ident
	r     state.Record
	noted bool // the store knows it
	end   *event
	fate  Fate
	watch *attempt // who waits for its end
}

// span reads a duration of a policy; 0 when there is none.
func span(text string) time.Duration {
	d, err := time.ParseDuration(text)
	if err != nil {
		return 0
	}
	return d
}

func (r *Runner) begin(rec state.Record, s stage) *attempt {
	a := &attempt{run: r, r: rec, stage: s, seq: r.w.next()}
	r.attempts[a] = true
	return a
}

// over posts what became of the attempt.
func (a *attempt) over(ev runner.Event) {
	a.ev.off = true
	delete(a.run.attempts, a)
	a.run.inbox = append(a.run.inbox, ev)
	a.run.w.after(0, a.run.work)
}

func (a *attempt) ends(res rules.Result) { a.over(runner.Event{Record: a.r, Result: res}) }

// Start makes an attempt.
func (r *Runner) Start(rec state.Record, _ string) {
	a := r.begin(rec, waiting)
	if rec.Attempt < 2 && rec.Claimed.Before(rec.Due) && rec.Due.After(r.w.Now()) {
		a.ev = r.w.when(rec.Due, a.starts)
		r.w.after(time.Second+50*time.Millisecond, func() {
			if a.stage == waiting && !r.dead && r.attempts[a] && !a.ev.off && rec.Due.After(r.w.Now()) {
				a.over(runner.Event{Record: a.r, Result: rules.Result{Unstarted: true}}) // the clock was put back
			}
		})
	} else {
		a.ev = r.w.after(0, a.starts)
	}
}

func (a *attempt) starts() {
	w := a.run.w
	a.fate = w.Fate(a.r)
	a.r.Starting = w.Now()
	a.ev = &event{}
	lives, noted := a.note()
	if !lives {
		return
	}
	if !noted && a.r.Attempt < 2 {
		a.stage = noting
		a.ev = w.after(100*time.Millisecond, a.starts)
		return
	}
	if a.r.Task.Policy.If == "" || a.r.Attempt > 1 {
		a.goes()
		return
	}
	a.stage = asking
	if a.told != "" {
		a.ends(rules.Result{Halted: a.told})
		return
	}
	a.ev = w.after(a.fate.GateTakes, func() {
		if a.fate.Gate != "" {
			a.ends(rules.Result{Gate: a.fate.Gate})
			return
		}
		a.goes()
	})
}

// note keeps what is known of the claim. It does not live when the runner ended over it, or the attempt. The engine goes on
// meanwhile.
func (a *attempt) note() (lives, noted bool) {
	survive(func() {
		noted = a.run.store.Started(context.Background(), a.r) == nil
		if a.child != nil {
			a.child.noted = noted
		}
	})
	return !a.run.dead && a.run.attempts[a], noted
}

func (a *attempt) goes() {
	w := a.run.w
	now := w.Now()
	if a.r.Task.Type() == state.TypeAgent {
		a.tells()
		return
	}
	if a.r.Task.Told() {
		a.stage = telling
		w.tell(Happening{What: Tells, Runner: a.run, Record: &a.r})
		a.ev = w.after(a.fate.Takes, func() { a.ends(rules.Result{Started: now, Ended: w.Now(), Err: a.fate.Err}) })
		return
	}
	if a.fate.Err != nil {
		a.ends(rules.Result{Started: now, Ended: now, Err: a.fate.Err})
		return
	}
	if w.Short != nil {
		if err := w.Short(a.r); err != nil {
			a.r.Starting = time.Time{}
			if lives, _ := a.note(); lives {
				a.ends(rules.Result{Postponed: err})
			}
			return
		}
	}
	c := &child{w: w, by: a.run, ident: w.ident(a.run.Self.Node), r: a.r, fate: a.fate, watch: a}
	w.children[c.ident.PID] = c
	c.end = w.after(a.fate.Takes, func() { c.ends(a.fate.ExitCode, "") })
	w.tell(Happening{What: Starts, Runner: a.run, Record: &a.r, PID: c.ident.PID})
	a.stage, a.child = running, c
	a.r.Child, a.r.Started = c.ident, now
	if a.r.First.IsZero() {
		a.r.First = now
	}
	a.res.Started = now
	if lives, _ := a.note(); !lives {
		return
	}
	if a.told != "" {
		a.res.Halted = a.told
		c.stop()
	} else if most := span(a.r.Task.Policy.Timeout); most > 0 {
		a.ev = w.after(most, a.timesOut)
	}
}

// tells is an attempt to tell an agent, which answers after a while, or too late.
func (a *attempt) tells() {
	w := a.run.w
	a.stage, a.res.Started = telling, w.Now()
	w.tell(Happening{What: Tells, Runner: a.run, Record: &a.r})
	takes, late := a.fate.Takes, false
	if most := span(a.r.Task.Policy.Timeout); most > 0 && takes > most {
		takes, late = most, true
	}
	a.ev = w.after(takes, func() {
		a.ends(rules.Result{Started: a.res.Started, Ended: w.Now(), TimedOut: late, Err: a.fate.Err})
	})
}

func (a *attempt) timesOut() {
	if a.res.Halted == "" && !a.res.TimedOut {
		a.res.TimedOut = true
		a.child.stop()
	}
}

// stop tells a command to end.
func (c *child) stop() {
	at := c.w.awake + int64(min(c.fate.Stubborn, 10*time.Second))
	if c.end.at <= at {
		return
	}
	c.end.off = true
	c.end = c.w.after(min(c.fate.Stubborn, 10*time.Second), func() { c.ends(0, "TERM") })
}

// ends is the end of a process.
func (c *child) ends(code int, sig string) {
	if c.w.children[c.ident.PID] != c {
		return
	}
	delete(c.w.children, c.ident.PID)
	c.end.off = true
	c.w.tell(Happening{What: Ends, Runner: c.by, Record: &c.r, PID: c.ident.PID, Noted: c.noted})
	a := c.watch
	if a == nil || a.run.dead || !a.run.attempts[a] {
		return
	}
	a.res.Ended = c.w.Now()
	a.res.Stdout, a.res.Stderr = state.Output{Bytes: c.fate.Stdout}, state.Output{Bytes: c.fate.Stderr}
	if a.stage == adopting {
		a.res.Started, a.res.Unknown = a.r.Started, true
	} else {
		a.res.Sum = c.fate.Sum
		a.res.ExitCode, a.res.Signal, a.res.Matched = code, sig, c.fate.Matched && a.r.Task.Policy.UntilOutput != ""
	}
	a.ends(a.res)
}

// Adopt waits for the end of a command of another runner.
func (r *Runner) Adopt(rec state.Record) {
	a := r.begin(rec, adopting)
	c := r.w.children[rec.Child.PID]
	if c == nil {
		a.ev = r.w.after(0, func() { a.ends(rules.Result{Started: rec.Started, Ended: r.w.Now(), Unknown: true}) })
		return
	}
	c.watch, a.child = a, c
	a.ev = &event{}
	if most := span(rec.Task.Policy.Timeout); most > 0 {
		a.ev = r.w.after(max(most-r.w.Now().Sub(rec.Started), 0), a.timesOut)
	}
}

// Rest lets a pause pass.
func (r *Runner) Rest(rec state.Record, pause time.Duration) {
	a := r.begin(rec, resting)
	a.ev = r.w.after(pause, func() { a.over(runner.Event{Record: rec, Rested: true}) })
}

// Halt ends what was begun.
func (r *Runner) Halt(rec state.Record, why string) {
	for _, a := range r.ordered() {
		if a.r.Task.ID != rec.Task.ID || a.r.Number != rec.Number {
			continue
		}
		switch a.stage {
		case waiting:
			if a.r.Attempt > 1 || !a.r.Due.After(r.w.Now()) {
				a.told = why // it is about to be started, and ended at once
				return
			}
			a.ends(rules.Result{Halted: why})
		case asking, noting:
			a.ends(rules.Result{Halted: why})
		case telling:
			if a.r.Task.Type() != state.TypeAgent {
				return // a message is told in no time
			}
			a.ends(rules.Result{Started: a.res.Started, Ended: r.w.Now(), Halted: why})
		case resting:
			a.over(runner.Event{Record: a.r, Rested: true, Result: rules.Result{Halted: why}})
		case running, adopting:
			if a.res.Halted == "" && !a.res.TimedOut {
				a.res.Halted = why
				if a.child != nil {
					a.child.stop()
				}
			}
		}
		return
	}
}

// Alive reports whether a process runs.
func (r *Runner) Alive(i state.Ident, begun bool) bool {
	return runner.AliveFor(r.Self, i, r.here, func(node string) bool { return r.w.leased(node, begun) })
}

func (r *Runner) here(i state.Ident) bool {
	if c := r.w.children[i.PID]; c != nil {
		return c.ident == i
	}
	for _, other := range r.w.runners {
		if other.Self == i {
			return true
		}
	}
	return r.w.others[i.PID]
}
