package memory

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
)

// Claim takes an occurrence.
func (s *Store) Claim(ctx context.Context, id string, due, next time.Time, by state.Ident, now time.Time) (state.Record, error) {
	if err := state.CheckNext(due, next); err != nil {
		return state.Record{}, err
	}
	unlock, err := s.lock(ctx)
	if err != nil {
		return state.Record{}, err
	}
	defer unlock()
	e, err := s.queued(id, due)
	if err != nil {
		return state.Record{}, err
	}
	if e.Tally.Taken(due) { // it has ended; left where it is, it would be found due for ever
		s.step(e, next)
		return state.Record{}, state.ErrTaken
	}
	r := state.Record{Task: e.Task, Due: e.Due, Number: nextNumber(e), Claimed: state.UTC(now), Runner: by}
	e.Open = append(e.Open, r)
	s.step(e, next)
	return copyRecord(r), nil
}

// queued returns the task if it is in the queue and due at due.
func (s *Store) queued(id string, due time.Time) (*task, error) {
	e, ok := s.tasks[id]
	if !ok || e.Phase != state.Pending || !e.Due.Equal(due) {
		return nil, state.ErrTaken
	}
	return e, nil
}

// step moves a task to its next due instant, or to its end, and tells the watchers.
func (s *Store) step(e *task, next time.Time) {
	if next.IsZero() {
		e.Phase, e.Held, e.Resume = state.Ended, false, time.Time{}
	} else {
		e.Due = state.UTC(next)
	}
	s.place(e)
	s.tell()
}

// nextNumber is the number of a task's next occurrence: after the last that ended and after those that are open.
func nextNumber(e *task) int {
	number := e.Tally.Number
	for _, r := range e.Open {
		number = max(number, r.Number)
	}
	return number + 1
}

// Started notes the process of a claim. For one that has ended there is nothing to note.
func (s *Store) Started(ctx context.Context, r state.Record) error {
	unlock, err := s.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	if e, i := s.claim(r); i >= 0 {
		note(&e.Open[i], r)
	}
	return nil
}

// note keeps what Started and Note know.
func note(to *state.Record, r state.Record) {
	to.Child, to.Started, to.Starting = r.Child, state.UTC(r.Started), state.UTC(r.Starting)
	to.First = state.UTC(r.First)
	to.Attempt, to.Retry = r.Attempt, state.UTC(r.Retry)
}

// claim finds an open claim by its task and due instant, which no two share: the index in Open, -1 when it is not there.
func (s *Store) claim(r state.Record) (*task, int) {
	e, ok := s.tasks[r.Task.ID]
	if !ok {
		return nil, -1
	}
	return e, slices.IndexFunc(e.Open, func(o state.Record) bool { return o.Due.Equal(r.Due) })
}

// Skip ends occurrences without a run. Where they have ended already, it only moves the task on.
func (s *Store) Skip(ctx context.Context, id string, due, next time.Time, line state.Line) error {
	if err := state.CheckNext(due, next); err != nil {
		return err
	}
	if err := state.CheckSkip(line.Outcome); err != nil {
		return err
	}
	unlock, err := s.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	e, err := s.queued(id, due)
	if p, ok := s.tasks[id]; ok && p.Phase == state.Paused && p.Due.Equal(due) {
		e, err = p, nil
	}
	if err != nil {
		return err
	}
	last := due
	if line.DueLast != nil {
		last = *line.DueLast
	}
	if last.After(e.Tally.Floor()) {
		line.Revision = e.Task.Revision
		s.write(e, line.Of(id, nextNumber(e), due), e.Task.Said())
	}
	s.step(e, next)
	return nil
}

// End closes a claim.
func (s *Store) End(ctx context.Context, r state.Record, line state.Line) error {
	if err := state.CheckEnd(line.Outcome); err != nil {
		return err
	}
	unlock, err := s.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	e, i := s.claim(r)
	if i < 0 {
		return state.ErrEnded
	}
	r = e.Open[i]
	line = line.Of(r.Task.ID, r.Number, r.Due)
	line.Revision = r.Task.Revision
	if r.Manual {
		line.Type = state.LineManual
	}
	e.Open = slices.Delete(e.Open, i, i+1)
	s.write(e, line, r.Task.Said())
	return nil
}

// write appends the line of an occurrence or of a manual run, of a task that says so, to the ledger. Manual runs do not count.
func (s *Store) write(e *task, line state.Line, said string) {
	if line.At.IsZero() {
		line.At = time.Now()
	}
	s.ledger = append(s.ledger, copyLine(line).Lean(said))
	if line.Counts() {
		e.Tally.Count(line)
	}
	s.post(line)
}

// Open returns the open claims, oldest first.
func (s *Store) Open(ctx context.Context) ([]state.Record, []state.Problem, error) {
	unlock, err := s.lock(ctx)
	if err != nil {
		return nil, nil, err
	}
	defer unlock()
	var list []state.Record
	for _, e := range s.tasks {
		for _, r := range e.Open {
			list = append(list, copyRecord(r))
		}
	}
	slices.SortFunc(list, byClaim)
	return list, nil, nil
}

// byClaim is the order of claims: the oldest first.
func byClaim(a, b state.Record) int {
	return cmp.Or(a.Claimed.Compare(b.Claimed), a.Due.Compare(b.Due), strings.Compare(a.Task.ID, b.Task.ID))
}
