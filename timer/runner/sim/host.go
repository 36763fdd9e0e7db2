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
	waiting  stage = iota // it waits for its instant
	noting                // it notes in the store that it is about to start
	asking                // it waits for the gate
	telling               // it delivers a message, or tells an agent
	running               // its command runs
	resting               // it is the pause before the next attempt
	adopting              // it waits for a command that another runner started
)

// attempt is one attempt at a claim, or the pause before one, as a runner's host makes it.
type attempt struct {
	by    *Runner
	r     state.Record
	fate  Fate
	seq   uint64
	stage stage
	next  *event // what ends the stage
	child *child
	res   rules.Result
	halt  string // why it is to end as soon as it has started; empty if it is not
}

// child is the process of a command.
type child struct {
	w       *World
	by      *Runner // who started it
	ident   state.Ident
	r       state.Record
	noted   bool // the store knows the process
	end     *event
	fate    Fate
	watcher *attempt // who waits for its end
}

// begin makes an attempt in a stage.
func (r *Runner) begin(rec state.Record, s stage) *attempt {
	a := &attempt{by: r, r: rec, stage: s, seq: r.w.next()}
	r.attempts[a] = true
	return a
}

// report ends the attempt and gives its event to the runner.
func (a *attempt) report(ev runner.Event) {
	a.next.off = true
	delete(a.by.attempts, a)
	a.by.inbox = append(a.by.inbox, ev)
	a.by.w.after(0, a.by.work)
}

// ends ends the attempt with a result.
func (a *attempt) ends(res rules.Result) { a.report(runner.Event{Record: a.r, Result: res}) }

// Start makes an attempt. If it waits for its instant and the clock is set back meanwhile, it
// reports that it has not started.
func (r *Runner) Start(rec state.Record, _ string) {
	a := r.begin(rec, waiting)
	if rec.Attempt < 2 && rec.Claimed.Before(rec.Due) && rec.Due.After(r.w.Now()) {
		a.next = r.w.when(rec.Due, a.starts)
		r.w.after(time.Second+50*time.Millisecond, func() {
			if a.stage == waiting && !r.dead && r.attempts[a] && !a.next.off && rec.Due.After(r.w.Now()) {
				// The clock was set back.
				a.report(runner.Event{Record: a.r, Result: rules.Result{Unstarted: true}})
			}
		})
	} else {
		a.next = r.w.after(0, a.starts)
	}
}

// starts notes that the attempt starts, asks the gate, and goes on if that lets it.
func (a *attempt) starts() {
	w := a.by.w
	a.fate = w.Fate(a.r)
	a.r.Starting = w.Now()
	a.next = &event{}
	lives, noted := a.note()
	if !lives {
		return
	}
	if !noted && a.r.Attempt < 2 {
		a.stage = noting
		a.next = w.after(100*time.Millisecond, a.starts)
		return
	}
	if a.r.Task.Policy.If == "" || a.r.Attempt > 1 {
		a.perform()
		return
	}
	a.stage = asking
	if a.halt != "" {
		a.ends(rules.Result{Halted: a.halt})
		return
	}
	a.next = w.after(a.fate.GateTakes, func() {
		if a.fate.Gate != "" {
			a.ends(rules.Result{Gate: a.fate.Gate})
			return
		}
		a.perform()
	})
}

// note writes the claim to the store. noted says that the store took it. lives is false if the
// runner or the attempt ended during the call, because the engine goes on meanwhile.
func (a *attempt) note() (lives, noted bool) {
	survive(func() {
		noted = a.by.store.Started(context.Background(), a.r) == nil
		if a.child != nil {
			a.child.noted = noted
		}
	})
	return !a.by.dead && a.by.attempts[a], noted
}

// perform does what the task is for: it tells an agent, delivers a message or starts the command.
func (a *attempt) perform() {
	w := a.by.w
	now := w.Now()
	if a.r.Task.Type() == state.TypeAgent {
		a.tellAgent()
		return
	}
	if a.r.Task.Told() {
		a.stage = telling
		w.tell(Happening{What: Tells, Runner: a.by, Record: &a.r})
		a.next = w.after(a.fate.Takes, func() { a.ends(rules.Result{Started: now, Ended: w.Now(), Err: a.fate.Err}) })
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
	c := &child{w: w, by: a.by, ident: w.ident(a.by.Self.Node), r: a.r, fate: a.fate, watcher: a}
	w.children[c.ident.PID] = c
	c.end = w.after(a.fate.Takes, func() { c.ends(a.fate.ExitCode, "") })
	w.tell(Happening{What: Starts, Runner: a.by, Record: &a.r, PID: c.ident.PID})
	a.stage, a.child = running, c
	a.r.Child, a.r.Started = c.ident, now
	if a.r.First.IsZero() {
		a.r.First = now
	}
	a.res.Started = now
	if lives, _ := a.note(); !lives {
		return
	}
	if a.halt != "" {
		a.res.Halted = a.halt
		c.stop()
	} else if timeout := rules.Span(a.r.Task.Policy.Timeout); timeout > 0 {
		a.next = w.after(timeout, a.timesOut)
	}
}

// tellAgent tells an agent, which answers after a while, or too late.
func (a *attempt) tellAgent() {
	w := a.by.w
	a.stage, a.res.Started = telling, w.Now()
	w.tell(Happening{What: Tells, Runner: a.by, Record: &a.r})
	takes, late := a.fate.Takes, false
	if timeout := rules.Span(a.r.Task.Policy.Timeout); timeout > 0 && takes > timeout {
		takes, late = timeout, true
	}
	a.next = w.after(takes, func() {
		a.ends(rules.Result{Started: a.res.Started, Ended: w.Now(), TimedOut: late, Err: a.fate.Err})
	})
}

// timesOut stops the command, unless it is being stopped already.
func (a *attempt) timesOut() {
	if a.res.Halted == "" && !a.res.TimedOut {
		a.res.TimedOut = true
		a.child.stop()
	}
}

// stop tells a command to end, which takes as long as its Fate says.
func (c *child) stop() {
	takes := min(c.fate.Stubborn, 10*time.Second)
	if c.end.at <= c.w.awake+int64(takes) {
		return
	}
	c.end.off = true
	c.end = c.w.after(takes, func() { c.ends(0, "TERM") })
}

// ends ends the process, and the attempt that waits for it.
func (c *child) ends(code int, sig string) {
	if c.w.children[c.ident.PID] != c {
		return
	}
	delete(c.w.children, c.ident.PID)
	c.end.off = true
	c.w.tell(Happening{What: Ends, Runner: c.by, Record: &c.r, PID: c.ident.PID, Noted: c.noted})
	a := c.watcher
	if a == nil || a.by.dead || !a.by.attempts[a] {
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

// Adopt waits for the end of a command that another runner started.
func (r *Runner) Adopt(rec state.Record) {
	a := r.begin(rec, adopting)
	c := r.w.children[rec.Child.PID]
	if c == nil {
		a.next = r.w.after(0, func() { a.ends(rules.Result{Started: rec.Started, Ended: r.w.Now(), Unknown: true}) })
		return
	}
	c.watcher, a.child = a, c
	a.next = &event{}
	if timeout := rules.Span(rec.Task.Policy.Timeout); timeout > 0 {
		a.next = r.w.after(max(timeout-r.w.Now().Sub(rec.Started), 0), a.timesOut)
	}
}

// Rest waits for the pause before the next attempt.
func (r *Runner) Rest(rec state.Record, pause time.Duration) {
	a := r.begin(rec, resting)
	a.next = r.w.after(pause, func() { a.report(runner.Event{Record: rec, Rested: true}) })
}

// Halt ends the attempt at a claim, or the pause before one.
func (r *Runner) Halt(rec state.Record, why string) {
	for _, a := range r.ordered() {
		if a.r.Task.ID != rec.Task.ID || a.r.Number != rec.Number {
			continue
		}
		switch a.stage {
		case waiting:
			if a.r.Attempt > 1 || !a.r.Due.After(r.w.Now()) {
				a.halt = why // it starts at this instant, and then ends at once
				return
			}
			a.ends(rules.Result{Halted: why})
		case asking, noting:
			a.ends(rules.Result{Halted: why})
		case telling:
			if a.r.Task.Type() != state.TypeAgent {
				return // a message is delivered before it could be stopped
			}
			a.ends(rules.Result{Started: a.res.Started, Ended: r.w.Now(), Halted: why})
		case resting:
			a.report(runner.Event{Record: a.r, Rested: true, Result: rules.Result{Halted: why}})
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

// here reports whether a process of the world runs.
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
