package state

import (
	"context"
	"errors"
	"slices"
	"time"
)

// Change is a rule to apply to a task.
type Change struct {
	ID   string
	Rule Rule
	Now  time.Time // by which limits are counted
	// Due, if it is not zero, is the due instant that the task is expected to have. It is a hint
	// where to look first.
	Due time.Time
	// Claim, if it is not nil, says that the rule concerns only this open claim. Of the Doc that it
	// gets, only Open and Tally count.
	Claim *Record
	// Undone, if it is not nil, is the open claim that the rule gives back. Nothing of its run is
	// kept.
	Undone *Record
}

// Applied is the answer to a change: how the task stands afterwards. If the error is ErrKept, it is
// the other task that has the key.
type Applied struct {
	Doc Doc
	Err error
}

// Changer makes changes of tasks. The answers are in the order of the changes. Each change is made
// whole, or refused on its own; changes that are given together wait for the disk together. The
// error of a change is ErrNotFound if there is no such task.
type Changer interface {
	Apply(ctx context.Context, changes ...Change) []Applied

	// AddAll does for each draft, in order, what TaskWriter.Add does, with far fewer waits for the
	// disk. Each is added or refused on its own, and the answers are in the order of the drafts.
	// After ctx has ended, no further one is begun.
	AddAll(ctx context.Context, drafts []Draft) []Added
}

// Verbs are the changes of tasks by name, as Store has them. Each is one rule, so every Changer
// gets them all.
type Verbs struct{ Changer }

func (v Verbs) one(ctx context.Context, c Change) (Doc, error) {
	answer := v.Apply(ctx, c)[0]
	return answer.Doc, answer.Err
}

func (v Verbs) entry(ctx context.Context, id string, now time.Time, rule Rule) (Entry, error) {
	d, err := v.one(ctx, Change{ID: id, Now: now, Rule: rule})
	if err != nil && !errors.Is(err, ErrKept) {
		return Entry{}, err
	}
	return d.Entry(), err
}

// Add makes a task pending.
func (v Verbs) Add(ctx context.Context, t Task, due time.Time) (Entry, error) {
	answer := v.AddAll(ctx, []Draft{{Task: t, Due: due}})[0]
	return answer.Entry, answer.Err
}

// Update replaces what a task says. With a line, the instants that it stands for also end as it
// says.
func (v Verbs) Update(ctx context.Context, t Task, due, now time.Time, passed *Line) (Entry, error) {
	if passed != nil {
		line := dated(*passed)
		passed = &line
	}
	return v.entry(ctx, t.ID, now, Update(t, due, now, passed))
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
	return v.occurrence(ctx, Change{ID: id, Due: due, Now: now, Rule: Move(due, to, now)})
}

// Rewind is Update to a due instant that may have ended.
func (v Verbs) Rewind(ctx context.Context, t Task, due, now time.Time) (Entry, error) {
	return v.entry(ctx, t.ID, now, Rewind(t, due, now))
}

// Skip ends occurrences without a run.
func (v Verbs) Skip(ctx context.Context, id string, due, next time.Time, line Line) error {
	line = dated(line)
	return v.occurrence(ctx, Change{ID: id, Due: due, Now: line.At, Rule: Skip(due, next, line)})
}

// occurrence changes the next occurrence of a task. If the task is gone, the occurrence was taken.
func (v Verbs) occurrence(ctx context.Context, c Change) error {
	_, err := v.one(ctx, c)
	return gone(err, c.ID, ErrTaken)
}

// gone returns the error of a change of a task that is gone. A text that is not an ID was never
// there.
func gone(err error, id string, then error) error {
	if errors.Is(err, ErrNotFound) && WholeID(id) {
		return then
	}
	return err
}

// Claim takes an occurrence.
func (v Verbs) Claim(ctx context.Context, id string, due, next time.Time, by Ident, now time.Time) (Record, error) {
	rule, opened := Claim(due, next, by, now), false
	d, err := v.one(ctx, Change{ID: id, Due: due, Now: now, Rule: func(d Doc) (Doc, []Line, error) {
		after, lines, err := rule(d)
		opened = len(after.Open) > len(d.Open)
		return after, lines, err
	}})
	if err != nil {
		return Record{}, gone(err, id, ErrTaken)
	}
	if !opened {
		return Record{}, ErrTaken // it has ended, or goes on
	}
	return d.Open[d.Claim(due)].Clone(), nil
}

// Fire opens a claim that is not an occurrence of the schedule.
func (v Verbs) Fire(ctx context.Context, id string, by Ident, now time.Time) (Record, error) {
	d, err := v.one(ctx, Change{ID: id, Now: now, Rule: Fire(by, now)})
	if err != nil {
		return Record{}, err
	}
	for _, r := range slices.Backward(d.Open) {
		if r.Manual && r.Runner == by && r.Claimed.Equal(now) {
			return r.Clone(), nil
		}
	}
	return Record{}, ErrTaken // it has ended already
}

// Release undoes a claim for which nothing was started.
func (v Verbs) Release(ctx context.Context, r Record) error {
	_, err := v.one(ctx, Change{ID: r.Task.ID, Due: r.Due, Rule: Release(r), Undone: &r})
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

// claim changes an open claim. If the task is gone, the claim has ended.
func (v Verbs) claim(ctx context.Context, r Record, rule Rule) error {
	_, err := v.one(ctx, Change{ID: r.Task.ID, Claim: &r, Rule: rule})
	return gone(err, r.Task.ID, ErrEnded)
}

// EndAll does for each ending, in order, what End does.
func (v Verbs) EndAll(ctx context.Context, ends []Ending) []error {
	changes := make([]Change, len(ends))
	for i, e := range ends {
		changes[i] = Change{ID: e.Record.Task.ID, Claim: &e.Record, Rule: func(d Doc) (Doc, []Line, error) {
			return End(e.Record, e.told(d.Tally))(d)
		}}
	}
	all := make([]error, len(ends))
	for i, answer := range v.Apply(ctx, changes...) {
		all[i] = gone(answer.Err, ends[i].Record.Task.ID, ErrEnded)
	}
	return all
}

// dated is the line with an instant of writing.
func dated(l Line) Line {
	if l.At.IsZero() {
		l.At = time.Now()
	}
	l.Tell = slices.Clone(l.Tell)
	return l
}
