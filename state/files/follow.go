package files

import (
	"context"
	"iter"
	"slices"
	"sync"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/state/watch"
)

// queue is a watched queue: the names of the pending and the paused tasks.
type queue struct {
	*Store
	signal <-chan struct{}

	mu    sync.Mutex
	whole bool         // names may have come and gone unnoticed
	seen  []state.Slot // what came and went since the last Take
}

// seenMost bounds what is kept for a caller that does not ask. Beyond this, listing all costs less.
const seenMost = 1 << 14

// Follow watches names come and go in the queue and among the paused. Among the open records it
// watches claims and requests to end them come; the end of a claim makes no signal. It makes the
// folders, because nothing can be watched without them. If events or a folder were lost, it signals
// and watches again.
//
// It is for the process that serves the queue. On systems that name what has changed (Linux,
// Windows), it reads files that are edited by hand after nobody has touched them for a while, and
// sets aside and reports what cannot be understood. If the system's limit of watches is reached, or
// other machines may make changes, it signals every 2 s.
func (s *Store) Follow(ctx context.Context) (state.Queue, error) {
	if err := s.ready(); err != nil {
		return nil, err
	}
	q, w := s.queueWatch(ctx)
	q.signal = s.watch(ctx, w)
	s.followed.Store(true)
	return q, nil
}

// queueWatch watches the tasks and their claims.
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
	return q, w
}

// Changed receives after changes.
func (q *queue) Changed() <-chan struct{} { return q.signal }

// missed makes the next Take list all names.
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

// slot is the task's place in the runner's queue. It is false for a task that is paused without an
// end.
func (f found) slot() (state.Slot, bool) {
	return state.Slot{ID: f.id, Due: f.time(), Resume: f.moment()}, f.dir != pausedDir || f.extra != ""
}

// Take returns the names that have come and gone. The first time, and after events may have been
// missed, it returns all names.
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
