package state

import (
	"context"
	"errors"
	"slices"
	"time"
)

// Change is a rule to be applied to a task.
type Change struct {
	ID   string
	Rule Rule
	Now  time.Time // by which limits are counted
}

// Changed is what became of a change: how the task stands afterwards. When the error is ErrKept it is the other task that has the key.
type Changed struct {
	Doc Doc
	Err error
}

// Changer makes changes of tasks. The answers stand in the order of the changes. Each is made or refused on its own, and made whole or not
// at all. ErrNotFound when there is no such task.
type Changer interface {
	Change(ctx context.Context, changes ...Change) []Changed
}

// Verbs are the changes of tasks by name, as Store has them. Each is one rule, so a store that is a Changer has them all. state/memory is
// built so; state/files still has the same rules in its own steps.
type Verbs struct{ Changer }

func (v Verbs) one(ctx context.Context, c Change) (Doc, error) {
	answer := v.Change(ctx, c)[0]
	return answer.Doc, answer.Err
}

func (v Verbs) entry(ctx context.Context, id string, now time.Time, rule Rule) (Entry, error) {
	d, err := v.one(ctx, Change{ID: id, Now: now, Rule: rule})
	if err != nil && !errors.Is(err, ErrKept) {
		return Entry{}, err
	}
	return d.Entry(), err
}

// Update replaces what a task says.
func (v Verbs) Update(ctx context.Context, t Task, due, now time.Time) (Entry, error) {
	return v.entry(ctx, t.ID, now, Update(t, due, now, nil))
}

// Pause takes a task out of the queue.
func (v Verbs) Pause(ctx context.Context, id string, resume, now time.Time) (Entry, error) {
	return v.entry(ctx, id, now, Pause(resume, now))
}

// Resume puts a task back into the queue.
func (v Verbs) Resume(ctx context.Context, id string, now time.Time) (Entry, error) {
	return v.entry(ctx, id, now, Resume(now))
}

// Remove ends a task.
func (v Verbs) Remove(ctx context.Context, id string, now time.Time) (Entry, error) {
	return v.entry(ctx, id, now, Remove(now))
}

// Restore undoes Remove.
func (v Verbs) Restore(ctx context.Context, id string, due, now time.Time) (Entry, error) {
	return v.entry(ctx, id, now, Restore(due, now))
}

// Finish ends a task because a stop condition is met.
func (v Verbs) Finish(ctx context.Context, id, why string, now time.Time) error {
	_, err := v.entry(ctx, id, now, Finish(why, now))
	return err
}

// Move changes the due instant of a task.
func (v Verbs) Move(ctx context.Context, id string, due, to, now time.Time) error {
	return v.occurrence(ctx, Change{ID: id, Now: now, Rule: Move(due, to, now)})
}

// Rewind is Update to a due instant that may have ended.
func (v Verbs) Rewind(ctx context.Context, t Task, due, now time.Time) (Entry, error) {
	return v.entry(ctx, t.ID, now, Rewind(t, due, now))
}

// Skip ends occurrences without a run.
func (v Verbs) Skip(ctx context.Context, id string, due, next time.Time, line Line) error {
	line = dated(line)
	return v.occurrence(ctx, Change{ID: id, Now: line.At, Rule: Skip(due, next, line)})
}

// occurrence is a change of the next occurrence: that of a task that is not there any more was taken.
func (v Verbs) occurrence(ctx context.Context, c Change) error {
	_, err := v.one(ctx, c)
	return gone(err, c.ID, ErrTaken)
}

// gone is the error of a change of a task that is not there any more; what is no ID was never there.
func gone(err error, id string, then error) error {
	if errors.Is(err, ErrNotFound) && WholeID(id) {
		return then
	}
	return err
}

// Claim takes an occurrence.
func (v Verbs) Claim(ctx context.Context, id string, due, next time.Time, by Ident, now time.Time) (Record, error) {
	answer := v.ClaimAll(ctx, []Want{{ID: id, Due: due, Next: next}}, by, now)[0]
	return answer.Record, answer.Err
}

// ClaimAll does for each want, in order, what Claim does.
func (v Verbs) ClaimAll(ctx context.Context, wants []Want, by Ident, now time.Time) []Granted {
	changes := make([]Change, len(wants))
	for i, w := range wants {
		changes[i] = Change{ID: w.ID, Now: now, Rule: Claim(w.Due, w.Next, by, now)}
	}
	all := make([]Granted, len(wants))
	for i, answer := range v.Change(ctx, changes...) {
		if all[i].Err = gone(answer.Err, wants[i].ID, ErrTaken); all[i].Err != nil {
			continue
		}
		if at := answer.Doc.Claim(wants[i].Due); at >= 0 {
			all[i].Record = answer.Doc.Open[at].Clone()
		} else {
			all[i].Err = ErrTaken // it has ended
		}
	}
	return all
}

// Fire opens a claim that is no occurrence of the schedule.
func (v Verbs) Fire(ctx context.Context, id string, by Ident, now time.Time) (Record, error) {
	d, err := v.one(ctx, Change{ID: id, Now: now, Rule: Fire(by, now)})
	if err != nil {
		return Record{}, err
	}
	return d.Open[len(d.Open)-1].Clone(), nil
}

// Release undoes a claim for which nothing was started.
func (v Verbs) Release(ctx context.Context, r Record) error {
	_, err := v.one(ctx, Change{ID: r.Task.ID, Rule: Release(r)})
	if errors.Is(err, ErrNotFound) {
		return ErrEnded
	}
	return err
}

// Note keeps what is known of a claim's attempts.
func (v Verbs) Note(ctx context.Context, r Record) error { return v.claim(ctx, r, Note(r)) }

// Halt asks for the end of a run.
func (v Verbs) Halt(ctx context.Context, r Record, why string) error {
	return v.claim(ctx, r, Halt(r, why))
}

// End closes a claim with a line.
func (v Verbs) End(ctx context.Context, r Record, line Line) error {
	return v.EndAll(ctx, []Ending{{Record: r, Line: line}})[0]
}

// claim is a change of an open claim: that of a task that is not there any more has ended.
func (v Verbs) claim(ctx context.Context, r Record, rule Rule) error {
	_, err := v.one(ctx, Change{ID: r.Task.ID, Rule: rule})
	return gone(err, r.Task.ID, ErrEnded)
}

// EndAll does for each ending, in order, what End does.
func (v Verbs) EndAll(ctx context.Context, ends []Ending) []error {
	changes := make([]Change, len(ends))
	for i, e := range ends {
		changes[i] = Change{ID: e.Record.Task.ID, Rule: End(e.Record, dated(e.Line))}
	}
	all := make([]error, len(ends))
	for i, answer := range v.Change(ctx, changes...) {
		all[i] = gone(answer.Err, ends[i].Record.Task.ID, ErrEnded)
	}
	return all
}

// dated is a line that says when it was written.
func dated(l Line) Line {
	if l.At.IsZero() {
		l.At = time.Now()
	}
	l.Tell = slices.Clone(l.Tell)
	return l
}
