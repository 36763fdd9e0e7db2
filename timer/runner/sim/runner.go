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

// Runner is a runner of a world. It is the host of its engine as well.
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
	begins   bool // it has yet to take over what another left open
	changed  bool
	orphans  bool // another process has ended, and may have left something open
	busy     bool // it is at work, be it that it waits for its disk
	again    bool // something came meanwhile
	stopping bool
	dead     bool
	mail
}

// Killed unwinds, as a panic, what a runner that was killed was about to do.
type Killed struct{}

// Kill ends the runner where it stands. What it started goes on.
func (r *Runner) Kill() {
	if !r.dead {
		r.gone()
	}
}

// KillAll ends the runner and all that it started.
func (r *Runner) KillAll() {
	if r.dead {
		return
	}
	list := r.children()
	r.gone()
	for _, c := range list {
		c.ends(0, "KILL")
	}
}

func (r *Runner) children() (list []*child) {
	for pid := 0; pid <= r.w.pid; pid++ {
		if c := r.w.children[pid]; c != nil && c.by == r {
			list = append(list, c)
		}
	}
	return list
}

// Stop tells the runner to end: it begins nothing any more, and waits for what runs.
func (r *Runner) Stop() {
	if r.dead || r.stopping {
		return
	}
	r.stopping = true
	r.cancel()
	r.engine.Close()
	r.w.relieve(r)
	r.w.tell(Happening{What: Stops, Runner: r})
	for _, a := range r.ordered() {
		switch {
		case a.stage == noting, a.stage == waiting && a.r.Attempt < 2 && a.r.Due.After(r.w.Now()):
			a.over(runner.Event{Record: a.r, Result: rules.Result{Unstarted: true}})
		case a.stage == resting:
			a.over(runner.Event{Record: a.r, Rested: true})
		}
	}
	r.work()
}

// HaltAll tells the runner to end what it runs: the second signal to end.
func (r *Runner) HaltAll() {
	r.guard(func() { r.engine.HaltAll(r.w.Now()) })
	r.w.after(0, r.work)
}

// Dead reports whether it is down.
func (r *Runner) Dead() bool { return r.dead }

// Stopping reports whether it was told to end.
func (r *Runner) Stopping() bool { return r.stopping }

// Changed lets the runner know that somebody changed a task.
func (r *Runner) Changed() {
	r.changed = true
	r.w.after(0, r.work)
}

// gone takes the runner out of the world.
func (r *Runner) gone() {
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
		a.ev.off = true
	}
	if node := r.Self.Node; node != "" {
		r.w.leases[node] = r.w.awake + int64(LeaseMost)
		r.w.after(LeaseMost, r.w.ended)
	}
	r.w.relieve(r)
	r.w.tell(Happening{What: Down, Runner: r})
	r.w.ended()
}

// guard does what the runner does, until it is killed.
func (r *Runner) guard(f func()) {
	if r.dead {
		return
	}
	was := r.busy
	r.busy = true
	defer func() { r.busy = was }()
	survive(f)
}

// survive catches the end of a runner.
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
				r.gone()
				panic(Killed{})
			}
		}
		for r.again = true; r.again; {
			r.again = false
			r.step()
		}
	})
	r.posted = true
	r.deliver()
}

// step takes in what came, and passes.
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
			r.gone()
			panic(Killed{})
		}
		return
	}
	if r.orphans {
		r.orphans = false
		if err := r.engine.Recover(ctx, r.w.Now()); err != nil {
			r.orphans = true // with the next pass
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

func (r *Runner) say(format string, a ...any) {
	if r.w.Said != nil {
		r.w.Said(fmt.Sprintf(format, a...))
	}
}

// ordered are the attempts in the order in which they were begun.
func (r *Runner) ordered() []*attempt {
	return slices.SortedFunc(maps.Keys(r.attempts), func(a, b *attempt) int { return cmp.Compare(a.seq, b.seq) })
}
