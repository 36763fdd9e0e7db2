package state

import (
	"fmt"
	"slices"
	"time"
)

// Rule takes the document of a task, and returns the document after a change, with the lines that
// the ledger gets. An error says why the change is refused, and then nothing has changed. A rule
// reads no clock, file or other task. Only the store checks what depends on other tasks: that no
// two have the same key, and that there are not too many (Admit).
//
// Only the rules decide how a document may change. Every store, the simulation and the tests apply
// them.
type Rule func(Doc) (Doc, []Line, error)

// Create returns the document of a new task with an ID. The caller has called Check before.
func Create(t Task, due time.Time) (Doc, []Line) {
	t = t.Clone().UTC()
	t.Format, t.Revision = Format, 1
	d := Doc{Task: t, Due: UTC(due), Phase: Pending}
	return d, []Line{d.line(EventCreated, t.Created)}
}

// Update replaces what a task says, as Store.Update promises. With a line, the instants that it
// stands for, from the due instant on, first end as it says. It returns ErrTaken if the line is not
// about the task's due instant, or if that instant would be due again.
func Update(t Task, due, now time.Time, passed *Line) Rule {
	return update(t, due, now, passed, EventEdited)
}

// Rewind is Update to a due instant that may have ended: after the clock was set back, the instants
// from it on come again.
func Rewind(t Task, due, now time.Time) Rule { return update(t, due, now, nil, EventClock) }

func update(t Task, due, now time.Time, passed *Line, event string) Rule {
	return func(d Doc) (Doc, []Line, error) {
		if !d.Waits() {
			return d, nil, ErrEnded
		}
		if t.Revision != d.Task.Revision {
			return d, nil, ErrConflict
		}
		var lines []Line
		if passed != nil {
			if passed.Due == nil || !passed.Due.Equal(d.Due) {
				return d, nil, ErrTaken
			}
			if err := CheckSkip(passed.Outcome); err != nil {
				return d, nil, err
			}
			d, lines = d.pass(*passed)
		}
		to := d.Due
		if !due.IsZero() && !due.Equal(d.Due) {
			to = UTC(due)
			floor := d.Tally.Floor()
			if event == EventClock {
				floor = time.Time{}
			}
			if err := d.checkFree(to, floor, d.Open); err != nil {
				return d, nil, err
			}
		} else if len(lines) > 0 {
			if err := CheckFree(to, d.Tally.Floor()); err != nil {
				return d, nil, err
			}
		}
		next := t.Clone().UTC()
		next.Format, next.Revision, next.Key, next.Created = Format, t.Revision+1, d.Task.Key, d.Task.Created
		if err := Check(next, to); err != nil {
			return d, nil, err
		}
		was := d.Task.Said()
		d.Task, d.Due = next, to
		line := d.line(event, now)
		if said := next.Said(); said != was {
			line.Text = said
		}
		if line.Counts() {
			d.Tally.Count(line)
		}
		return d, append(lines, line), nil
	}
}

// Pause takes a task out of the queue, until the instant resume or, if that is zero, until somebody
// resumes it.
func Pause(resume, now time.Time) Rule {
	return func(d Doc) (Doc, []Line, error) {
		if !d.Waits() {
			return d, nil, ErrEnded
		}
		if !resume.IsZero() {
			if err := CheckDue(resume); err != nil {
				return d, nil, err
			}
		}
		d.Phase, d.Resume = Paused, UTC(resume)
		line := d.line(EventPaused, now)
		if !d.Resume.IsZero() {
			line.Resume = &d.Resume
		}
		return d, []Line{line}, nil
	}
}

// Resume puts a paused task back into the queue at the due instant that it has.
func Resume(now time.Time) Rule {
	return func(d Doc) (Doc, []Line, error) {
		if !d.Waits() {
			return d, nil, ErrEnded
		}
		if _, held := d.Task.Wait.Rest(); held || d.Phase != Paused {
			return d, nil, ErrTaken // only GoOnWaiting can give back the rest of a held wait
		}
		if err := d.checkFree(d.Due, d.Tally.Floor(), d.Open); err != nil {
			return d, nil, err
		}
		d.Phase, d.Resume = Pending, time.Time{}
		return d, []Line{d.line(EventResumed, now)}, nil
	}
}

// HoldWait takes a wait with this much left out of the queue. Nobody is told of it until
// GoOnWaiting. It returns ErrTaken if the task is not in the queue at the due instant.
func HoldWait(due time.Time, left time.Duration, now time.Time) Rule {
	return func(d Doc) (Doc, []Line, error) {
		if !d.queued(due) || d.Task.Type() != TypeWait {
			return d, nil, ErrTaken
		}
		d.Task.Wait.Left = max(left, 0).String()
		d.Task.Revision++
		return Pause(time.Time{}, now)(d)
	}
}

// GoOnWaiting puts a held wait back into the queue, at another due instant. It returns ErrTaken if
// the wait is not held.
func GoOnWaiting(due, now time.Time) Rule {
	return func(d Doc) (Doc, []Line, error) {
		if _, held := d.Task.Wait.Rest(); !held || d.Phase != Paused {
			return d, nil, ErrTaken
		}
		d.Task.Wait.Left, d.Due = "", UTC(due)
		d.Task.Revision++
		return Resume(now)(d)
	}
}

// GoOn is Resume of a task whose due instant may have passed while it was paused. The instants that
// the line stands for, from the due instant on, end as it says. The task moves to next, or ends if
// next is zero, and is then not resumed. It returns ErrTaken if the instants have ended already.
func GoOn(passed Line, next, now time.Time) Rule {
	return func(d Doc) (Doc, []Line, error) {
		if d.Phase != Paused {
			return d, nil, ErrTaken
		}
		if passed.Due == nil || !passed.Due.Equal(d.Due) {
			return d, nil, ErrTaken
		}
		d, skipped, err := Skip(d.Due, next, passed)(d)
		if err == nil && len(skipped) == 0 {
			err = ErrTaken
		}
		if err != nil || next.IsZero() {
			return d, skipped, err
		}
		d, lines, err := Resume(now)(d)
		return d, append(skipped, lines...), err
	}
}

// Remove ends a task that is pending, paused or running. Open runs go on.
func Remove(now time.Time) Rule {
	return func(d Doc) (Doc, []Line, error) {
		if p := d.Shown(); p == Removed || p == Ended {
			return d, nil, ErrEnded
		}
		d.Phase, d.Resume, d.RemovedAt = Removed, time.Time{}, UTC(now)
		return d, []Line{d.line(EventRemoved, now)}, nil
	}
}

// Restore undoes Remove, with the given due instant. A wait that was held is held again.
func Restore(due, now time.Time) Rule {
	return func(d Doc) (Doc, []Line, error) {
		if d.Phase != Removed {
			return d, nil, ErrEnded
		}
		if err := d.checkFree(due, d.Tally.Floor(), d.Open); err != nil {
			return d, nil, err
		}
		d.Phase, d.Due, d.RemovedAt = Pending, UTC(due), time.Time{}
		if _, held := d.Task.Wait.Rest(); held {
			d.Phase = Paused
		}
		return d, []Line{d.line(EventRestored, now)}, nil
	}
}

// Finish ends a task because a stop condition is met.
func Finish(why string, now time.Time) Rule {
	return func(d Doc) (Doc, []Line, error) {
		if !d.Waits() {
			return d, nil, ErrEnded
		}
		line := d.line(EventFinished, now)
		line.Reason = why
		return d.step(time.Time{}), []Line{line}, nil
	}
}

// Move changes the due instant of a task in the queue.
func Move(due, to, now time.Time) Rule {
	return func(d Doc) (Doc, []Line, error) {
		if !d.queued(due) {
			return d, nil, ErrTaken
		}
		if err := d.checkFree(to, d.Tally.Floor(), d.Open); err != nil {
			return d, nil, err
		}
		d.Due = UTC(to)
		return d, []Line{d.line(EventMoved, now)}, nil
	}
}

// Claim opens a claim for the occurrence that is due at due, and moves the task to next, or ends it
// if next is zero. An instant that has ended or is open is not claimed, and the task still moves
// on. This happens if a person restores an old file of the task.
func Claim(due, next time.Time, by Ident, now time.Time) Rule {
	return func(d Doc) (Doc, []Line, error) {
		if err := CheckNext(due, next); err != nil {
			return d, nil, err
		}
		if !d.queued(due) {
			return d, nil, ErrTaken
		}
		if !d.Tally.Taken(due) && d.Claim(due) < 0 {
			d = d.open(Record{Task: d.Task, Due: d.Due, Number: d.next(), Claimed: UTC(now), Runner: by})
		}
		return d.step(next), nil, nil
	}
}

// Fire opens a claim that is not an occurrence of the schedule. Its due instant is now, or soon
// after if a claim with that instant is open.
func Fire(by Ident, now time.Time) Rule {
	return func(d Doc) (Doc, []Line, error) {
		if d.Phase == Removed {
			return d, nil, ErrEnded
		}
		due := UTC(now)
		for due.Equal(d.Due) || d.Claim(due) >= 0 {
			due = due.Add(1)
		}
		return d.open(Record{Task: d.Task, Due: due, Number: d.next(), Manual: true, Claimed: UTC(now), Runner: by}), nil, nil
	}
}

// Release undoes a claim for which nothing was started.
func Release(r Record) Rule {
	return func(d Doc) (Doc, []Line, error) {
		i := d.Claim(r.Due)
		if i < 0 {
			return d, nil, ErrEnded
		}
		if r.Starting.IsZero() && !d.Open[i].Starting.IsZero() {
			return d, nil, ErrConflict
		}
		r := d.Open[i]
		others := without(d.Open, i)
		if r.Manual {
			d.Open = others
			return d, nil, nil
		}
		moved := d.Phase == Pending && d.Due.After(r.Due) || d.Phase == Ended && d.Due.Equal(r.Due)
		if !moved || d.Task.Revision != r.Task.Revision || d.checkFree(r.Due, d.Tally.Floor(), others) != nil {
			return d, nil, ErrTaken
		}
		d.Phase, d.Due, d.Open = Pending, r.Due, others
		return d, nil, nil
	}
}

// Note stores what is known of a claim's attempts, and the runner that has the claim.
func Note(r Record) Rule {
	return changeClaim(r.Due, func(open *Record) {
		*open = open.Noted(r)
		open.Runner = r.Runner
	})
}

// Started stores what is known of a claim's process.
func Started(r Record) Rule {
	return changeClaim(r.Due, func(open *Record) { *open = open.Noted(r) })
}

// Halt asks the runner of the claim to end it.
func Halt(r Record, why string) Rule {
	return changeClaim(r.Due, func(open *Record) { open.Halt = why })
}

// End closes a claim with a line. The line's task, number, due instant and type are the claim's.
func End(r Record, line Line) Rule {
	return func(d Doc) (Doc, []Line, error) {
		i := d.Claim(r.Due)
		if i < 0 {
			return d, nil, ErrEnded
		}
		if line.Outcome == "" {
			return d, nil, fmt.Errorf("%w: a claim ends with an outcome", ErrInvalid)
		}
		r := d.Open[i]
		if r.Number == 0 { // its record was damaged
			others := d
			others.Open = without(d.Open, i)
			r.Number = others.next()
		}
		line := line.Of(r.Task.ID, r.Number, r.Due)
		line.Revision, line.said = r.Task.Revision, r.Task.Said()
		if r.Manual {
			line.Type = LineManual
		}
		d.Open = without(d.Open, i)
		d.Tally.Count(line)
		return d, []Line{line}, nil
	}
}

// Skip ends the occurrences that the line stands for, from due on, without starting anything. The
// task moves to next, or to its end if next is zero. A paused task stays paused. If the occurrences
// have ended already, the task only moves on.
func Skip(due, next time.Time, line Line) Rule {
	return func(d Doc) (Doc, []Line, error) {
		if err := CheckNext(due, next); err != nil {
			return d, nil, err
		}
		if err := CheckSkip(line.Outcome); err != nil {
			return d, nil, err
		}
		if !d.Waits() || !d.Due.Equal(due) {
			return d, nil, ErrTaken
		}
		d, lines := d.pass(line)
		return d.step(next), lines, nil
	}
}

// queued reports whether the task is in the queue and due at due.
func (d Doc) queued(due time.Time) bool { return d.Phase == Pending && d.Due.Equal(due) }

// line returns the ledger's line about a change, of the task as it stands afterwards.
func (d Doc) line(event string, now time.Time) Line { return TaskLine(d.Entry(), event, now) }

// pass ends the instants that a line stands for, from its due instant on, unless they have ended
// already.
func (d Doc) pass(line Line) (Doc, []Line) {
	last := d.Due
	if line.DueLast != nil {
		last = *line.DueLast
	}
	if !last.After(d.Tally.Floor()) {
		return d, nil
	}
	line = line.Of(d.Task.ID, d.next(), d.Due)
	line.Revision, line.said = d.Task.Revision, d.Task.Said()
	d.Tally.Count(line)
	return d, []Line{line}
}

// step moves the task to its next due instant, or to its end if next is zero.
func (d Doc) step(next time.Time) Doc {
	if next.IsZero() {
		d.Phase, d.Resume = Ended, time.Time{}
	} else {
		d.Due = UTC(next)
	}
	return d
}

// open adds a claim.
func (d Doc) open(r Record) Doc {
	r.Task = r.Task.Clone()
	d.Open = append(slices.Clone(d.Open), r)
	return d
}

// without returns the claims except the i-th.
func without(open []Record, i int) []Record { return slices.Delete(slices.Clone(open), i, i+1) }

// changeClaim changes the open claim with this due instant. It returns ErrEnded if there is none.
func changeClaim(due time.Time, change func(*Record)) Rule {
	return func(d Doc) (Doc, []Line, error) {
		i := d.Claim(due)
		if i < 0 {
			return d, nil, ErrEnded
		}
		d.Open = slices.Clone(d.Open)
		change(&d.Open[i])
		return d, nil, nil
	}
}

// checkFree refuses a due instant that cannot be kept, or that is not after the last one that ended
// and after all claims. A run by hand takes only its own instant.
func (d Doc) checkFree(due, last time.Time, open []Record) error {
	if err := CheckDue(due); err != nil {
		return err
	}
	taken := []time.Time{last}
	for _, r := range open {
		if !r.Manual || r.Due.Equal(due) {
			taken = append(taken, r.Due)
		}
	}
	return CheckFree(due, taken...)
}
