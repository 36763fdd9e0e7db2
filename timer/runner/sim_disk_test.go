package runner_test

import (
	"context"
	"iter"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/timer/runner/sim"
)

// disk is the store as a runner has it: each call may take its time, fail, or be the last that the runner makes. Other runners learn of what it
// changes.
type disk struct {
	state.Store
	world *sim.World
	run   *sim.Runner
	// fault, when set, is asked before each call and, done, after it. It may let time pass (World.Run) or end the runner (Runner.Kill); an error
	// before the call is what the runner gets instead.
	fault func(r *sim.Runner, call string, done bool) error
	echo  bool // the runner looks again after each change of its own, as a watched folder makes it
}

// Unwrap is the store below.
func (d *disk) Unwrap() state.Store { return d.Store }

// call makes one call.
func (d *disk) call(name string, f func()) error {
	d.lives()
	if d.fault == nil {
		f()
		return nil
	}
	err := d.fault(d.run, name, false)
	d.lives()
	if err != nil {
		return err
	}
	f()
	_ = d.fault(d.run, name, true)
	d.lives()
	return nil
}

// lives unwinds what a runner was about to do that was killed.
func (d *disk) lives() {
	if d.run.Dead() {
		panic(sim.Killed{})
	}
}

// change is a call that changes something.
func (d *disk) change(name string, f func() error) (err error) {
	if e := d.call(name, func() { err = f() }); e != nil {
		return e
	}
	if err != nil {
		return err
	}
	for _, r := range d.world.Runners() {
		if r != d.run || d.echo {
			r.Changed()
		}
	}
	return nil
}

func (d *disk) Apply(ctx context.Context, changes ...state.Change) []state.Applied {
	all := make([]state.Applied, len(changes))
	for i, c := range changes {
		all[i].Err = d.change("change", func() error {
			all[i] = d.Store.Apply(ctx, c)[0]
			return all[i].Err
		})
	}
	return all
}

// followed is the queue as a runner follows it.
type followed struct {
	state.Queue
	disk *disk
}

func (d *disk) Follow(ctx context.Context) (state.Queue, error) {
	q, err := d.Store.Follow(ctx)
	return followed{q, d}, err
}

func (f followed) Take(ctx context.Context) (slots iter.Seq[state.Slot], whole bool, err error) {
	if e := f.disk.call("take", func() { slots, whole, err = f.Queue.Take(ctx) }); e != nil {
		return nil, false, e
	}
	return slots, whole, err
}

func (d *disk) EndAll(ctx context.Context, ends []state.Ending) []error {
	all := make([]error, len(ends))
	for i := range ends {
		all[i] = d.change("end", func() error { return d.Store.EndAll(ctx, ends[i:i+1])[0] })
	}
	return all
}

func (d *disk) Release(ctx context.Context, r state.Record) error {
	return d.change("release", func() error { return d.Store.Release(ctx, r) })
}

func (d *disk) Started(ctx context.Context, r state.Record) error {
	return d.call("started", func() { _ = d.Store.Started(ctx, r) })
}

func (d *disk) Note(ctx context.Context, r state.Record) error {
	return d.change("note", func() error { return d.Store.Note(ctx, r) })
}

func (d *disk) Halt(ctx context.Context, r state.Record, why string) error {
	return d.change("halt", func() error { return d.Store.Halt(ctx, r, why) })
}

func (d *disk) Finish(ctx context.Context, id, why string, now time.Time) error {
	return d.change("finish", func() error { return d.Store.Finish(ctx, id, why, now) })
}

func (d *disk) Rewind(ctx context.Context, t state.Task, due, now time.Time) (e state.Entry, err error) {
	err = d.change("rewind", func() (err error) { e, err = d.Store.Rewind(ctx, t, due, now); return err })
	return e, err
}

func (d *disk) SetClockShift(ctx context.Context, b state.ClockShift) (err error) {
	if e := d.call("note setback", func() { err = d.Store.SetClockShift(ctx, b) }); e != nil {
		return e
	}
	return err
}

func (d *disk) Outbox(ctx context.Context, by time.Time, limit int, except ...string) (due []state.Notice, next time.Time, problems []state.Problem, err error) {
	if e := d.call("outbox", func() { due, next, problems, err = d.Store.Outbox(ctx, by, limit, except...) }); e != nil {
		return nil, time.Time{}, nil, e
	}
	return due, next, problems, err
}

func (d *disk) Postpone(ctx context.Context, n state.Notice) (err error) {
	if e := d.call("postpone", func() { err = d.Store.Postpone(ctx, n) }); e != nil {
		return e
	}
	return err
}

func (d *disk) Told(ctx context.Context, n state.Notice, line state.Line) (err error) {
	if e := d.call("told", func() { err = d.Store.Told(ctx, n, line) }); e != nil {
		return e
	}
	return err
}

func (d *disk) Open(ctx context.Context) (list []state.Record, problems []state.Problem, err error) {
	if e := d.call("open", func() { list, problems, err = d.Store.Open(ctx) }); e != nil {
		return nil, nil, e
	}
	return list, problems, err
}
