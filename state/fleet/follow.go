package fleet

import (
	"context"
	"iter"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"
	"unique"

	"github.com/ouro-timer/ouro-timer/state"
)

// follower is the queue of one caller: the tasks that may run on this node. There may be very many,
// so each has only a number and an instant here.
type follower struct {
	changed <-chan struct{}
	mu      sync.Mutex
	known   map[uint64]state.Instant // when tasks are due, by the numbers of their IDs
	resumes map[uint64]time.Time     // when the paused ones resume
	whole   bool                     // the next Take reports everything, as the first one does
	drained bool                     // this node may start nothing
	seen    []state.Slot             // what has appeared and disappeared since the last Take
	// elsewhere has the tasks that other nodes may run too, with the words that say where
	elsewhere  map[uint64]unique.Handle[string]
	heartbeats map[string]arrival // the last heartbeats
	drains     map[string]bool    // the keys of drained nodes
}

// Follow returns a queue of the tasks that may run on this node.
func (s *Store) Follow(ctx context.Context) (state.Queue, error) {
	changed, tell := signal()
	f := &follower{
		changed: changed, whole: true,
		known: map[uint64]state.Instant{}, resumes: map[uint64]time.Time{},
		elsewhere:  map[uint64]unique.Handle[string]{},
		heartbeats: map[string]arrival{}, drains: map[string]bool{},
	}
	for _, prefix := range []string{drains, heartbeats} {
		if _, err := s.scan(ctx, prefix, 0, func(c Cell) { f.apply(c, s) }); err != nil {
			return nil, err
		}
	}
	// A runner asks for the open claims next, so both are filled by one reading of all tasks.
	s.opened.mu.Lock()
	s.opened.until = 0
	last, err := s.opened.refresh(ctx, s, func(id string, r *record) { f.task(id, r, s.o.Node) })
	s.opened.mu.Unlock()
	if err != nil {
		return nil, err
	}
	err = s.patiently(ctx, func(context.Context) error {
		return s.kv.Watch(ctx, last, func(c Cell) {
			f.mu.Lock()
			f.apply(c, s)
			f.mu.Unlock()
			if !strings.HasPrefix(c.Key, heartbeats) { // which alone changes nothing now
				tell()
			}
		}, living, drains, heartbeats)
	})
	s.followed.Store(f)
	return f, err
}

// taskIn returns the ID and the state of the task in a cell. The state is nil when the cell has
// none, or none that can be decoded.
func taskIn(c Cell) (id string, r *record, err error) {
	id = idOf(c.Key)
	if len(c.Data) == 0 {
		return id, nil, nil
	}
	r = &record{}
	if err := decode(c, r); err != nil {
		return id, nil, err
	}
	return id, r, nil
}

// apply records the content of a cell. Cells of one key come in order, but some may come again. A
// task whose state cannot be decoded does not run here.
func (f *follower) apply(c Cell, s *Store) {
	switch {
	case strings.HasPrefix(c.Key, heartbeats):
		if r, there := runnerIn(c); there {
			f.heartbeats[c.Key] = arrival{r, time.Now()}
		} else {
			delete(f.heartbeats, c.Key)
		}
	case strings.HasPrefix(c.Key, drains):
		if f.drains[c.Key] = len(c.Data) > 0; !f.drains[c.Key] {
			delete(f.drains, c.Key)
		}
		if c.Key == hashKey(drains, s.o.Node.Name) {
			f.drained, f.whole = len(c.Data) > 0, true
			s.drained.Store(f.drained)
		}
	default:
		id, r, _ := taskIn(c)
		f.task(id, r, s.o.Node)
	}
}

// task records the state of a task, which is nil when it lives no more. Only a task that may run
// here has a slot.
func (f *follower) task(id string, r *record, here state.Node) {
	n, ok := state.IDNumber(id)
	if !ok {
		return
	}
	slot := state.Slot{ID: id, Gone: true}
	if r != nil && here.Fits(r.On) {
		slot = r.doc(id).Slot()
	}
	delete(f.elsewhere, n)
	if !slot.Gone && len(r.On) > 0 && (len(r.On) > 1 || r.On[0] != here.Name) {
		f.elsewhere[n] = unique.Make(strings.Join(r.On, " "))
	}
	if was, known := f.slot(n); known && (slot.Gone || !was.Same(slot)) {
		was.Gone = true
		f.report(was)
		delete(f.known, n)
		delete(f.resumes, n)
	}
	if !slot.Gone {
		f.known[n] = state.InstantOf(slot.Due)
		if !slot.Resume.IsZero() {
			f.resumes[n] = slot.Resume
		}
		f.report(slot)
	}
}

// slot returns the slot of a task by the number of its ID.
func (f *follower) slot(n uint64) (state.Slot, bool) {
	due, known := f.known[n]
	if !known {
		return state.Slot{}, false
	}
	return state.Slot{ID: state.ID(n), Due: due.Time(), Resume: f.resumes[n]}, true
}

// report notes for the next Take that a slot has appeared or disappeared. When Take will report
// everything, no note is needed.
func (f *follower) report(slot state.Slot) {
	if !f.whole {
		f.seen = append(f.seen, slot)
	}
}

// Changed receives after changes.
func (f *follower) Changed() <-chan struct{} { return f.changed }

// Take returns the slots of the tasks that have changed.
func (f *follower) Take(ctx context.Context) (iter.Seq[state.Slot], bool, error) {
	if err := ctx.Err(); err != nil {
		return nil, false, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	seen, whole := f.seen, f.whole
	f.seen, f.whole = nil, false
	switch {
	case f.drained:
		return slices.Values([]state.Slot{}), whole, nil
	case whole:
		return f.all(slices.Collect(maps.Keys(f.known))), true, nil
	}
	return slices.Values(seen), false, nil
}

// all yields the slots of tasks. A task that has gone meanwhile is left out.
func (f *follower) all(numbers []uint64) iter.Seq[state.Slot] {
	return func(yield func(state.Slot) bool) {
		for _, n := range numbers {
			f.mu.Lock()
			slot, known := f.slot(n)
			f.mu.Unlock()
			if known && !yield(slot) {
				return
			}
		}
	}
}
