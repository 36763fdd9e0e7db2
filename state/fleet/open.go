package fleet

import (
	"context"
	"errors"
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
}

// openTrusted is how long after an answer the next one may rely on it. The servers drop a task that
// has ended after the time of its tombstone, and then nobody is told any more that it has.
const openTrusted = tombstone / 4

// note records the open claims of a task. Its state is nil when it lives no more.
func (o *openClaims) note(id string, r *record) {
	if r == nil || len(r.Open) == 0 {
		delete(o.tasks, id)
		return
	}
	o.tasks[id] = r.doc(id).Open
}

// refresh reads what was written since the last call, or everything when until is 0 or that was too
// long ago by either clock: the machine may have slept. It calls also for each task that it reads,
// and returns the last revision and what could not be decoded, which it reads again the next time.
func (o *openClaims) refresh(ctx context.Context, s *Store, also func(id string, r *record)) (last uint64, broken, err error) {
	now := time.Now()
	awake, wall := now.Sub(o.read), now.Round(0).Sub(o.read.Round(0))
	if max(awake, wall) > openTrusted || wall < 0 {
		o.until = 0
	}
	for {
		if o.until == 0 {
			o.tasks = map[string][]state.Record{}
		}
		last, err = s.scan(ctx, living, o.until, func(c Cell) {
			id, r, err := taskIn(c)
			o.note(id, r)
			also(id, r)
			broken = errors.Join(broken, err)
		})
		if err == nil && broken == nil && last >= o.until {
			o.until, o.read = last, now
			return last, nil, nil
		}
		o.until = 0
		if err != nil || broken != nil {
			return last, broken, err
		}
		// the servers have an older state than before, as from a backup
	}
}

// claims returns the open claims that are wanted, oldest first.
func (s *Store) claims(ctx context.Context, wanted func(state.Record) bool) (list []state.Record, err error) {
	s.opened.mu.Lock()
	_, broken, err := s.opened.refresh(ctx, s, func(string, *record) {})
	if err == nil {
		err = broken
	}
	if err == nil {
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
		return nil, err
	}
	for i, r := range list {
		if list[i].Task, err = s.text(ctx, r.Task.ID, r.Task.Revision); err != nil {
			return nil, err
		}
	}
	s.markPast(ctx, list)
	slices.SortFunc(list, state.CompareClaims)
	return list, nil
}
