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

// Wait is a wait that outlives its caller: a task of type wait, which a runner tells unless somebody attends to it. A nil one is a wait that
// is not kept, of which all that is asked is nothing.
type Wait struct {
	Entry   state.Entry
	Changed <-chan struct{} // closed once others have changed it
	st      state.Store
	clock   clock.Clock
	release func()
}

// ErrTold is how a wait has ended that was told.
var ErrTold = errors.New("told elsewhere")

// waitNap is the pause between two looks at what a runner is just doing about a wait.
const waitNap = 20 * time.Millisecond

// KeepWait makes a task of a wait, and attends to it.
func KeepWait(ctx context.Context, st state.Store, c clock.Clock, t state.Task, due time.Time) (*Wait, error) {
	e, err := st.Add(ctx, t, due)
	if err != nil {
		return nil, err
	}
	w := &Wait{Entry: e, st: st, clock: c}
	w.Changed, w.release, err = st.Announce(context.WithoutCancel(ctx), e.Task.ID, e.Due)
	if err != nil {
		_, _ = st.Remove(ctx, e.Task.ID, c.Now()) // else it is told twice: better than not at all
		return nil, err
	}
	return w, nil
}

// ResumeWait goes on with a wait that was kept before, from now on if somebody holds it, and attends to it. It is due then.
func ResumeWait(ctx context.Context, st state.Store, c clock.Clock, e state.Entry, now time.Time) (w *Wait, due time.Time, err error) {
	due = e.Due
	if left, held := e.Task.Wait.Rest(); held && e.Phase == state.Paused {
		due = now.Add(left)
		answer := st.Change(ctx, state.Change{ID: e.Task.ID, Rule: state.GoOnWaiting(due, c.Now()), Now: c.Now()})[0]
		switch {
		case answer.Err == nil:
			e = answer.Doc.Entry()
		case errors.Is(answer.Err, state.ErrTaken): // somebody else has had it go on
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
	// Attended to before it is looked at: from then on no runner takes it.
	if w.Changed, w.release, err = st.Announce(context.WithoutCancel(ctx), e.Task.ID, e.Due); err != nil {
		return nil, due, err
	}
	if w.Entry, err = Reread(ctx, st, e); err != nil {
		w.Leave()
	}
	return w, due, err
}

// ID is that of the task; empty when the wait is not kept.
func (w *Wait) ID() string {
	if w == nil {
		return ""
	}
	return w.Entry.Task.ID
}

// Occurrence names what is told, whoever tells it: a wait is for one instant, is never run by hand, and has one number.
func (w *Wait) Occurrence() string {
	if w == nil {
		return ""
	}
	return state.OccurrenceID(w.Entry.Task.ID, 1)
}

// Leave lets go of a wait that is not over: it can be resumed.
func (w *Wait) Leave() {
	if w != nil && w.release != nil {
		w.release()
	}
}

// Cancel notes that whoever waited wants it no more, and reports whether that ended it: it may be over, one way or another.
func (w *Wait) Cancel(ctx context.Context) (bool, error) {
	t, due := w.Entry.Task, w.Entry.Due
	err := w.st.Skip(ctx, t.ID, due, time.Time{}, state.Line{At: w.clock.Now(), Due: &due, Outcome: state.Cancelled, Reason: rules.Stopped, Description: t.Summary()})
	if outrun(err) {
		return false, nil
	}
	return err == nil, err
}

// outrun reports whether a wait could not be changed as somebody else was faster.
func outrun(err error) bool {
	return errors.Is(err, state.ErrTaken) || errors.Is(err, state.ErrEnded) || errors.Is(err, state.ErrNotFound)
}

// Told notes that the wait was told at an instant. Should somebody else have taken it meanwhile, what they have put into the inbox is
// acknowledged: it was the same occurrence.
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
	if outrun(err) {
		w.Acknowledge(ctx)
		return nil
	}
	return err
}

// Unread reports whether what a runner has told of the wait lies in the inbox, where nobody has taken it. One that is just telling it is
// waited for.
func (w *Wait) Unread(ctx context.Context) bool {
	for w.coming(ctx) && w.clock.For(ctx, waitNap) == nil {
	}
	items, _, _, err := w.st.Inbox(ctx, state.Query{Tasks: []string{w.Occurrence()}})
	return err == nil && slices.ContainsFunc(items, func(i state.Item) bool { return i.ID == w.Occurrence() && i.Leased.IsZero() })
}

// coming reports whether a runner is just telling it.
func (w *Wait) coming(ctx context.Context) bool {
	e, err := Reread(ctx, w.st, w.Entry)
	return err == nil && len(e.Open) > 0 && IsRunning(e)
}

// Acknowledge ends the item that stands for the wait, also one that is just being made.
func (w *Wait) Acknowledge(ctx context.Context) {
	for {
		coming := w.coming(ctx)
		if err := w.st.Ack(ctx, []string{w.Occurrence()})[0]; !errors.Is(err, state.ErrNotFound) || !coming {
			return
		}
		if w.clock.For(ctx, waitNap) != nil {
			return
		}
	}
}

// Hold stops a wait that is due then, of which so much is left, and reports whether that was done: somebody else may have been faster. There
// is nothing to change of one that is not kept.
func (w *Wait) Hold(ctx context.Context, due time.Time, left time.Duration) (bool, error) {
	return w.note(ctx, func(now time.Time) state.Rule { return state.HoldWait(due, left, now) })
}

// GoOn has a wait that is held go on until it is due, and reports the same.
func (w *Wait) GoOn(ctx context.Context, due time.Time) (bool, error) {
	return w.note(ctx, func(now time.Time) state.Rule { return state.GoOnWaiting(due, now) })
}

func (w *Wait) note(ctx context.Context, how func(now time.Time) state.Rule) (bool, error) {
	if w == nil {
		return true, nil
	}
	now := w.clock.Now()
	answer := w.st.Change(ctx, state.Change{ID: w.Entry.Task.ID, Rule: how(now), Now: now})[0]
	switch {
	case outrun(answer.Err):
		return false, nil
	case answer.Err != nil:
		return false, answer.Err
	}
	w.attend(ctx, answer.Doc.Entry())
	return true, nil
}

// attend waits for the task as it stands now.
func (w *Wait) attend(ctx context.Context, e state.Entry) {
	if e.Phase == w.Entry.Phase && e.Due.Equal(w.Entry.Due) {
		return
	}
	w.Leave()
	w.Entry, w.release = e, nil
	var err error
	if w.Changed, w.release, err = w.st.Announce(context.WithoutCancel(ctx), e.Task.ID, e.Due); err != nil {
		w.Changed = nil // a runner may tell it too: better than nobody
	}
}

// Look finds out what others have made of the wait: whether Entry is another one now, and why it has ended. What cannot be read has not.
func (w *Wait) Look(ctx context.Context) (changed bool, ended error) {
	for {
		e, err := Reread(ctx, w.st, w.Entry)
		if err != nil {
			return changed, nil
		}
		if ended := WaitEnded(e); ended != nil {
			return changed, ended
		}
		if e.Phase == w.Entry.Phase && e.Due.Equal(w.Entry.Due) {
			return changed, nil
		}
		w.attend(ctx, e)
		changed = true // and perhaps once more, before it was attended to
	}
}

// WaitEnded says how a wait has ended: ErrTold, or the error that whoever waits gets; nil while it has not.
func WaitEnded(e state.Entry) error {
	id := e.Task.ID
	resuming := problem.To("wait").With("resume", id)
	switch {
	case e.Phase == state.Removed:
		return problem.New(problem.Cancelled, problem.T("the wait %s was cancelled by rm: nothing is told", id),
			problem.T("%s brings it back, and %s goes on with it", problem.To("restore", id), resuming))
	case e.Phase == state.Pending, e.Phase == state.Paused:
		return nil
	case len(e.Open) == 0 && !state.Outcome(e.Tally.Last).Ran():
		return problem.New(problem.Cancelled, problem.T("the wait %s was cancelled: whoever waited was interrupted (Ctrl-C)", id),
			problem.T("begin it anew: %s", problem.To("wait", e.Task.Wait.Text, "...")))
	}
	return ErrTold
}
