package files

import (
	"context"
	"iter"
	"slices"
	"sync"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/state/watch"
)

// queue is the queue for who follows it: the names among the tasks in the queue and the paused.
type queue struct {
	*Store
	signal <-chan struct{}

	mu    sync.Mutex
	whole bool         // names may have come and gone of which nobody has told
	seen  []state.Slot // that came and went since it was asked last
}

// seenMost bounds what is kept for who does not ask; a listing costs less than so many.
const seenMost = 1 << 14

// Follow sees names come and go in the queue and among the paused, and claims and requests to end
// them come among the open records; that a claim has ended makes no signal. It makes the folders,
// as there is nothing to watch without them. When events were lost, or a folder was, it signals and
// watches anew. It is for the process that serves the queue: where the system names what has
// changed (Linux, Windows), files edited by hand are read, once left alone, and what cannot be
// understood is set aside and reported. Where no watch can be had (the system's limit on them is
// reached), or other machines may make changes, it signals every 2 s.
func (s *Store) Follow(ctx context.Context) (state.Queue, error) {
	q, w := s.queueWatch(ctx)
	signal, err := s.watch(ctx, w)
	if err != nil {
		return nil, err
	}
	q.signal = signal
	s.followed.Store(true)
	context.AfterFunc(ctx, func() { s.followed.Store(false) })
	return q, nil
}

// queueWatch is the watch of the tasks and their claims.
func (s *Store) queueWatch(ctx context.Context) (*queue, *watch.Watch) {
	q := &queue{Store: s, whole: true}
	edits := &edits{Store: s, ctx: ctx, names: map[string]bool{}}
	w := &watch.Watch{Paths: []string{s.path(queueDir), s.path(pausedDir), s.path(openDir)}, Lost: s.remake, Missed: q.missed,
		Tells: func(e watch.Event) bool {
			if e.Folder == s.path(openDir) {
				return tellsOfClaim(e)
			}
			if e.Folder == s.path(queueDir) {
				edits.note(e)
			}
			return q.see(e)
		}}
	if v, err := s.Volume(); err == nil && v.Network { // nobody tells what other machines do
		w.Check = watch.Tick
	}
	return q, w
}

// Changed receives after changes.
func (q *queue) Changed() <-chan struct{} { return q.signal }

// missed has the names listed the next time.
func (q *queue) missed() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.whole, q.seen = true, nil
}

// see takes in what happened to a file, and reports whether it is a task's.
func (q *queue) see(e watch.Event) bool {
	dir := queueDir
	if e.Folder == q.path(pausedDir) {
		dir = pausedDir
	}
	f, ours := parseTask(dir, e.File)
	if !ours {
		return false
	}
	slot, waits := f.slot()
	slot.Gone = e.Gone
	q.mu.Lock()
	defer q.mu.Unlock()
	switch {
	case !waits || q.whole:
	case len(q.seen) == seenMost:
		q.whole, q.seen = true, nil
	default:
		q.seen = append(q.seen, slot)
	}
	return true
}

// slot is where the runner has the task; false for nowhere: it is paused until somebody resumes it.
func (f found) slot() (state.Slot, bool) {
	return state.Slot{ID: f.id, Due: f.time(), Resume: f.moment()}, f.dir != pausedDir || f.extra != ""
}

// Take returns the names that have come and gone or, first and when some may have been missed, all
// names.
func (q *queue) Take(ctx context.Context) (slots iter.Seq[state.Slot], whole bool, err error) {
	q.mu.Lock()
	seen, whole := q.seen, q.whole
	q.seen, q.whole = nil, false
	q.mu.Unlock()
	if !whole {
		return slices.Values(seen), false, nil
	}
	all, err := q.snapshot(ctx, queueOnly, "")
	if err != nil {
		q.missed()
		return nil, false, err
	}
	return func(yield func(state.Slot) bool) {
		for f := range all.found() {
			if slot, waits := f.slot(); waits && !yield(slot) {
				return
			}
		}
	}, true, nil
}
