package sim

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/timer/rules"
	"github.com/ouro-timer/ouro-timer/timer/runner"
)

// Runner is a runner of a world. It is also the host of its engine (runner.Host).
type Runner struct {
	Self state.Ident

	w        *World
	store    state.Store
	engine   *runner.Engine
	ctx      context.Context
	cancel   func()
	attempts map[*attempt]bool
	inbox    []runner.Event
	wake     *event
	begins   bool // it has not yet taken over what another runner left open
	changed  bool // a task was changed
	orphans  bool // another process has ended, and may have left something open
	busy     bool // it works, or waits for its disk
	again    bool // it was woken while it was busy
	stopping bool // it was told to end
	dead     bool // it has ended
}

// Killed is the value of a panic that ends what a killed runner was doing.
type Killed struct{}

// Kill ends the runner at once. The processes that it started go on.
func (r *Runner) Kill() {
	if !r.dead {
		r.end()
	}
}

// KillAll ends the runner and all processes that it started.
func (r *Runner) KillAll() {
	if r.dead {
		return
	}
	list := r.children()
	r.end()
	for _, c := range list {
		c.ends(0, "KILL")
	}
}

// children returns the processes that the runner started, in the order of their starts.
func (r *Runner) children() (list []*child) {
	for pid := 0; pid <= r.w.pid; pid++ {
		if c := r.w.children[pid]; c != nil && c.by == r {
			list = append(list, c)
		}
	}
	return list
}

// Stop tells the runner to end: it starts no more attempts, and waits for what runs.
func (r *Runner) Stop() {
	if r.dead || r.stopping {
		return
	}
	r.stopping = true
	r.cancel()
	r.engine.Close()
	r.w.tell(Happening{What: Stops, Runner: r})
	for _, a := range r.ordered() {
		switch {
		case a.stage == noting, a.stage == waiting && a.r.Attempt < 2 && a.r.Due.After(r.w.Now()):
			a.report(runner.Event{Record: a.r, Result: rules.Result{Unstarted: true}})
		case a.stage == resting:
			a.report(runner.Event{Record: a.r, Rested: true})
		}
	}
	r.work()
}

// HaltAll tells the runner to end what it runs, as a second signal does.
func (r *Runner) HaltAll() {
	r.guard(func() { r.engine.HaltAll(r.w.Now()) })
	r.w.after(0, r.work)
}

// Dead reports whether the runner has ended.
func (r *Runner) Dead() bool { return r.dead }

// Stopping reports whether the runner was told to end.
func (r *Runner) Stopping() bool { return r.stopping }

// Changed tells the runner that a task was changed.
func (r *Runner) Changed() {
	r.changed = true
	r.orphans = r.orphans || r.w.OneMachine // as the loop looks at what others have open
	r.w.after(0, r.work)
}

// end removes the runner from the world.
func (r *Runner) end() {
	r.dead = true
	r.cancel()
	for i, other := range r.w.runners {
		if other == r {
			r.w.runners = append(r.w.runners[:i:i], r.w.runners[i+1:]...)
			break
		}
	}
	if r.wake != nil {
		r.wake.off = true
	}
	for a := range r.attempts {
		a.next.off = true
	}
	if node := r.Self.Node; node != "" {
		r.w.leases[node] = r.w.awake + int64(LeaseTime)
		r.w.after(LeaseTime, r.w.ended)
	}
	r.w.tell(Happening{What: Down, Runner: r})
	r.w.ended()
}

// guard calls f as work of the runner, which is busy meanwhile. It returns early if the runner is
// killed.
func (r *Runner) guard(f func()) {
	if r.dead {
		return
	}
	was := r.busy
	r.busy = true
	defer func() { r.busy = was }()
	survive(f)
}

// survive calls f and recovers from a panic of Killed.
func survive(f func()) {
	defer func() {
		if p := recover(); p != nil {
			if _, ok := p.(Killed); !ok {
				panic(p)
			}
		}
	}()
	f()
}

// work is what the loop does when it wakes.
func (r *Runner) work() {
	if r.dead {
		return
	}
	if r.busy {
		r.again = true
		return
	}
	r.guard(func() {
		if r.begins {
			r.begins = false
			if err := r.engine.Begin(r.ctx, r.w.Now()); err != nil {
				r.end()
				panic(Killed{})
			}
		}
		for r.again = true; r.again; {
			r.again = false
			r.step()
		}
	})
	if r.w.Worked != nil {
		r.w.Worked(r)
	}
}

// step gives the engine what came, and lets it do what is due.
func (r *Runner) step() {
	ctx := context.WithoutCancel(r.ctx)
	if r.changed {
		r.changed = false
		r.engine.Halts(ctx, r.w.Now())
	}
	if len(r.inbox) > 0 {
		events := r.inbox
		r.inbox = nil
		r.engine.Take(ctx, r.w.Now(), events...)
	}
	if r.stopping {
		if r.engine.Going() == 0 {
			r.end()
			panic(Killed{})
		}
		return
	}
	if r.orphans {
		r.orphans = false
		if err := r.engine.Recover(ctx, r.w.Now()); err != nil {
			r.orphans = true // the next step tries again
		}
	}
	if r.engine.Unsettled() {
		r.w.after(time.Second, func() { r.orphans = true; r.work() })
	}
	wake, _, err := r.engine.Pass(r.ctx, r.w.Now())
	if err != nil {
		wake = r.w.Now().Add(5 * time.Second)
	}
	if r.wake != nil {
		r.wake.off = true
		r.wake = nil
	}
	if !wake.IsZero() {
		r.wake = r.w.when(wake, r.work)
	}
}

// say writes to the runner's log.
func (r *Runner) say(format string, a ...any) {
	if r.w.Said != nil {
		r.w.Said(fmt.Sprintf(format, a...))
	}
}

// ordered returns the attempts in the order in which they began.
func (r *Runner) ordered() []*attempt {
	return slices.SortedFunc(maps.Keys(r.attempts), func(a, b *attempt) int { return cmp.Compare(a.seq, b.seq) })
}
