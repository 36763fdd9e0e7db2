package tasks

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/timer/clock"
	"github.com/ouro-timer/ouro-timer/timer/problem"
	"github.com/ouro-timer/ouro-timer/timer/rules"
	"github.com/ouro-timer/ouro-timer/timer/runner"
)

// Wait is a wait that outlives its caller: a task of type wait. When it is due, its caller reports
// it, or a runner if the caller is not present. A nil Wait is not kept as a task, so there is
// nothing to announce or to change.
type Wait struct {
	Entry   state.Entry
	Changed <-chan struct{} // receives when others have changed it; nil: nobody tells
	st      state.Store
	clock   clock.Clock
	release func()
}

// ErrTold says that a wait has ended because somebody else has reported it.
var ErrTold = errors.New("told elsewhere")

// waitPoll is the pause between two checks while a runner is just reporting the wait.
const waitPoll = 20 * time.Millisecond

// KeepWait makes a task of a wait and announces its caller.
func KeepWait(ctx context.Context, st state.Store, c clock.Clock, t state.Task, due time.Time) (*Wait, error) {
	e, err := st.Add(ctx, t, due)
	if err != nil {
		return nil, err
	}
	w := &Wait{Entry: e, st: st, clock: c}
	w.Changed, w.release, err = st.Announce(context.WithoutCancel(ctx), e.Task.ID, e.Due)
	if err != nil {
		// if this fails it is reported twice, which is better than not at all
		_, _ = st.Remove(ctx, e.Task.ID, c.Now())
		return nil, err
	}
	return w, nil
}

// ResumeWait goes on with a wait that was kept before, from now if it is paused, and announces its
// caller. The wait is due at due.
func ResumeWait(ctx context.Context, st state.Store, c clock.Clock, e state.Entry, now time.Time) (w *Wait, due time.Time, err error) {
	due = e.Due
	if left, held := e.Task.Wait.Rest(); held && e.Phase == state.Paused {
		due = now.Add(left)
		answer := st.Apply(ctx, state.Change{ID: e.Task.ID, Rule: state.GoOnWaiting(due, c.Now()), Now: c.Now()})[0]
		switch {
		case answer.Err == nil:
			e = answer.Doc.Entry()
		case errors.Is(answer.Err, state.ErrTaken): // somebody else has resumed it
			if e, err = Reread(ctx, st, e); err != nil {
				return nil, due, err
			}
			due = e.Due
		default:
			return nil, due, answer.Err
		}
	}
	w = &Wait{Entry: e, st: st, clock: c}
	if e.Phase != state.Pending {
		return w, due, nil
	}
	// Announced before it is read: from then on no runner takes it.
	if w.Changed, w.release, err = st.Announce(context.WithoutCancel(ctx), e.Task.ID, e.Due); err != nil {
		return nil, due, err
	}
	if w.Entry, err = Reread(ctx, st, e); err != nil {
		w.Leave()
	}
	return w, due, err
}

// ID returns the ID of the task, or "" when the wait is not kept.
func (w *Wait) ID() string {
	if w == nil {
		return ""
	}
	return w.Entry.Task.ID
}

// Occurrence returns the ID of the occurrence, whoever reports it. A wait has one instant and one
// number, and is never run by hand.
func (w *Wait) Occurrence() string {
	if w == nil {
		return ""
	}
	return state.OccurrenceID(w.Entry.Task.ID, 1)
}

// Leave withdraws the caller from a wait that is not over. It can be resumed.
func (w *Wait) Leave() {
	if w != nil && w.release != nil {
		w.release()
	}
}

// Cancel ends a wait that its caller does not want any more, and reports whether it did: the wait
// may be over already.
func (w *Wait) Cancel(ctx context.Context) (bool, error) {
	t, due := w.Entry.Task, w.Entry.Due
	err := w.st.Skip(ctx, t.ID, due, time.Time{}, state.Line{At: w.clock.Now(), Due: &due, Outcome: state.Cancelled, Reason: rules.Stopped, Description: t.Summary()})
	if lostRace(err) {
		return false, nil
	}
	return err == nil, err
}

// lostRace reports whether a wait could not be changed because somebody else was faster.
func lostRace(err error) bool {
	return errors.Is(err, state.ErrTaken) || errors.Is(err, state.ErrEnded) || errors.Is(err, state.ErrNotFound)
}

// Told records that the caller reported the wait at an instant. If somebody else has taken it
// meanwhile, their item in the inbox is acknowledged: it is the same occurrence.
func (w *Wait) Told(ctx context.Context, at time.Time) error {
	self, err := runner.Self()
	if err != nil {
		return err
	}
	r, err := w.st.Claim(ctx, w.Entry.Task.ID, w.Entry.Due, time.Time{}, self, w.clock.Now())
	if err == nil {
		now := w.clock.Now()
		line := rules.WaitedLine(r, at, now)
		line.At = now
		err = w.st.End(ctx, r, line)
	}
	if lostRace(err) {
		w.Acknowledge(ctx)
		return nil
	}
	return err
}

// Unread reports whether a runner has put the wait into the inbox, where nobody has taken the item.
// When a runner is just doing so, it waits for it.
func (w *Wait) Unread(ctx context.Context) bool {
	for w.beingTold(ctx) && w.clock.For(ctx, waitPoll) == nil {
	}
	items, _, _, err := w.st.Inbox(ctx, state.Query{Tasks: []string{w.Occurrence()}})
	return err == nil && slices.ContainsFunc(items, func(i state.Item) bool { return i.ID == w.Occurrence() && i.Leased.IsZero() })
}

// beingTold reports whether a runner is just reporting it.
func (w *Wait) beingTold(ctx context.Context) bool {
	e, err := Reread(ctx, w.st, w.Entry)
	return err == nil && len(e.Open) > 0 && IsRunning(e)
}

// Acknowledge ends the inbox item of the wait, even one that is just being made.
func (w *Wait) Acknowledge(ctx context.Context) {
	for {
		coming := w.beingTold(ctx)
		if err := w.st.Ack(ctx, []string{w.Occurrence()})[0]; !errors.Is(err, state.ErrNotFound) || !coming {
			return
		}
		if w.clock.For(ctx, waitPoll) != nil {
			return
		}
	}
}

// Hold pauses a wait that is due at due with so much time left, and reports whether it did:
// somebody else may have been faster. A wait that is not kept always succeeds.
func (w *Wait) Hold(ctx context.Context, due time.Time, left time.Duration) (bool, error) {
	return w.note(ctx, func(now time.Time) state.Rule { return state.HoldWait(due, left, now) })
}

// GoOn resumes a paused wait until it is due, and reports whether it did.
func (w *Wait) GoOn(ctx context.Context, due time.Time) (bool, error) {
	return w.note(ctx, func(now time.Time) state.Rule { return state.GoOnWaiting(due, now) })
}

func (w *Wait) note(ctx context.Context, how func(now time.Time) state.Rule) (bool, error) {
	if w == nil {
		return true, nil
	}
	now := w.clock.Now()
	answer := w.st.Apply(ctx, state.Change{ID: w.Entry.Task.ID, Rule: how(now), Now: now})[0]
	switch {
	case lostRace(answer.Err):
		return false, nil
	case answer.Err != nil:
		return false, answer.Err
	}
	w.announce(ctx, answer.Doc.Entry())
	return true, nil
}

// announce announces the caller for the present state of the task.
func (w *Wait) announce(ctx context.Context, e state.Entry) {
	if e.Phase == w.Entry.Phase && e.Due.Equal(w.Entry.Due) {
		return
	}
	w.Leave()
	w.Entry, w.release = e, nil
	var err error
	if w.Changed, w.release, err = w.st.Announce(context.WithoutCancel(ctx), e.Task.ID, e.Due); err != nil {
		w.Changed = nil // a runner may report it as well, which is better than nobody
	}
}

// Look reads what others have done to the wait: whether Entry has changed, and why the wait has
// ended. When it cannot be read, it has not.
func (w *Wait) Look(ctx context.Context) (changed bool, ended error) {
	for {
		e, err := Reread(ctx, w.st, w.Entry)
		if err != nil {
			return changed, nil
		}
		if ended := WaitEnded(e, w.clock.Now()); ended != nil {
			return changed, ended
		}
		if e.Phase == w.Entry.Phase && e.Due.Equal(w.Entry.Due) {
			return changed, nil
		}
		w.announce(ctx, e)
		changed = true // it may have changed once more before it was announced
	}
}

// WaitEnded returns how a wait has ended by now: ErrTold, or the error for its caller; nil while it
// has not.
func WaitEnded(e state.Entry, now time.Time) error {
	id := e.Task.ID
	resuming := problem.To("wait").With("resume", id)
	switch {
	case e.Phase == state.Removed:
		return problem.New(problem.Cancelled, problem.T("the wait %s was cancelled by rm: nothing is told", id),
			Undoing(e, now, problem.T("%s brings it back, and %s goes on with it", problem.To("restore", id), resuming)))
	case e.Phase == state.Pending, e.Phase == state.Paused:
		return nil
	case len(e.Open) == 0 && !state.Outcome(e.Tally.Last).Ran():
		return problem.New(problem.Cancelled, problem.T("the wait %s was cancelled: whoever waited was interrupted (Ctrl-C)", id),
			problem.T("begin it anew: %s", problem.To("wait", e.Task.Wait.Text, "...")))
	}
	return ErrTold
}
