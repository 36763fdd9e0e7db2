package fleet

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
)

// openClaims are the tasks with open claims. Runners ask for them after each change, so only what
// was written since the last answer is read, however many tasks there are.
type openClaims struct {
	mu    sync.Mutex
	until uint64 // the revision up to which they are read; 0: not at all
	read  time.Time
	tasks map[string][]state.Record // by ID, without the texts of the tasks
	// garbled has why the states of tasks cannot be decoded, by ID
	garbled map[string]error
}

// openTrusted is how long after an answer the next one may rely on it. The servers drop a task that
// has ended after the time of its tombstone, and then nobody is told any more that it has.
const openTrusted = tombstone / 4

// note records the open claims of a task. Its state is nil when it lives no more, or cannot be
// decoded.
func (o *openClaims) note(id string, r *record, garbled error) {
	delete(o.tasks, id)
	delete(o.garbled, id)
	switch {
	case garbled != nil:
		o.garbled[id] = garbled
	case r != nil && len(r.Open) > 0:
		o.tasks[id] = r.doc(id).Open
	}
}

// refresh reads what was written since the last call, or everything when until is 0 or that was too
// long ago by either clock: the machine may have slept. It calls also for each task that it reads,
// and returns the last revision.
func (o *openClaims) refresh(ctx context.Context, s *Store, also func(id string, r *record)) (last uint64, err error) {
	now := time.Now()
	awake, wall := now.Sub(o.read), now.Round(0).Sub(o.read.Round(0))
	if max(awake, wall) > openTrusted || wall < 0 {
		o.until = 0
	}
	for {
		if o.until == 0 {
			o.tasks, o.garbled = map[string][]state.Record{}, map[string]error{}
		}
		last, err = s.scan(ctx, living, o.until, func(c Cell) {
			id, r, err := taskIn(c)
			o.note(id, r, err)
			also(id, r)
		})
		if err == nil && last >= o.until {
			o.until, o.read = last, now
			return last, nil
		}
		if o.until = 0; err != nil {
			return last, err
		}
		// the servers have an older state than before, as from a backup
	}
}

// claims returns the open claims that are wanted, oldest first. A claim that is garbled, or whose
// task is, stays open until it can be read.
func (s *Store) claims(ctx context.Context, wanted func(state.Record) bool) (list []state.Record, problems []state.Problem, err error) {
	s.opened.mu.Lock()
	_, err = s.opened.refresh(ctx, s, func(string, *record) {})
	if err == nil {
		for id, why := range s.opened.garbled {
			problems = append(problems, problem(living+idKey(id), why))
		}
		for open := range maps.Values(s.opened.tasks) {
			for _, r := range open {
				if wanted(r) {
					list = append(list, r.Clone())
				}
			}
		}
	}
	s.opened.mu.Unlock()
	if err != nil {
		return nil, nil, err
	}
	kept := list[:0]
	for _, r := range list {
		task, err := s.text(ctx, r.Task.ID, r.Task.Revision)
		switch {
		case garbled(err):
			problems = append(problems, problem(textKey(r.Task.ID, r.Task.Revision), err))
		case err != nil:
			return nil, nil, err
		default:
			r.Task = task
			kept = append(kept, r)
		}
	}
	list = kept
	s.markPast(ctx, list)
	slices.SortFunc(list, state.CompareClaims)
	return list, problems, nil
}
