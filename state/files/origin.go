package files

import (
	"context"
	"errors"
	"os"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
)

// An origin's file, its book, says which tasks of it wait and when it made tasks in the last hour, so that neither the queue nor the
// ledger has to be read to know. An entry is durable before its task is, so that no fewer are counted than there are. It is taken
// back when the task does not come to be; where that does not succeed, or the process dies, the task of it is found not to wait when
// that matters, and the creation counts for its hour. Nobody notes the end of a task: only when a limit would be reached is looked which
// of those in the book still wait, where their files were last, and then among all names.

// book is an origin's file.
type book struct {
	Format  int         `toml:"format"`
	Origin  string      `toml:"origin"`
	Pending []string    `toml:"pending"` // the places of its tasks' files, as they were last known
	Made    []time.Time `toml:"made"`

	soon    []string // places of tasks that wait once this turn has done its work
	before  []byte   // the file as it stands for what has happened; nil: it was not there
	written []byte   // what was put in its place for what is about to
	changed bool
}

// bookLimit bounds what is read of a book.
const bookLimit = 1 << 18

// bookMost is how many tasks and creations a book has at the most: config.toml takes no higher limit.
const bookMost = state.LineageMost

func bookPlace(origin string) string { return originsDir + "/" + origin + suffix }

// limited reads the limits for this turn. It is called before the lock is taken.
func (s *Store) limited() (state.Limits, error) {
	if s.limits == nil {
		return state.Limits{}, nil
	}
	return s.limits()
}

// admit refuses a task that is to wait from now on, made anew or not, when a limit has been reached. A wait that is part of no run is
// never refused.
func (t *turn) admit(task state.Task, anew bool, now time.Time) error {
	if task.Type() == state.TypeWait && task.Origin == "" {
		return nil
	}
	if t.limits.Tasks > 0 {
		if t.waiting == nil {
			names, err := t.list(queueOnly, "")
			if err != nil {
				return err
			}
			t.waiting = new(len(names.tasks))
		}
		if err := t.limits.CheckTasks(*t.waiting); err != nil {
			return err
		}
	}
	if !t.counted(task.Origin) {
		return nil
	}
	if err := t.admitPending(task.Origin, now); err != nil || !anew {
		return err
	}
	b, err := t.book(task.Origin, now)
	if err != nil {
		return err
	}
	return t.limits.CheckHour(task.Origin, b.Made, now)
}

// counted reports whether there is a limit for the origin.
func (t *turn) counted(origin string) bool {
	return state.WholeID(origin) && (t.limits.Pending > 0 || t.limits.PerHour > 0)
}

// admitPending refuses one more task of an origin that waits when there are enough.
func (t *turn) admitPending(origin string, now time.Time) error {
	b, err := t.book(origin, now)
	if err != nil || t.limits.CheckPending(origin, len(b.Pending)+len(b.soon)) == nil {
		return err
	}
	if err := t.review(b); err != nil {
		return err
	}
	err = t.limits.CheckPending(origin, len(b.Pending)+len(b.soon))
	if err != nil && b.changed && len(b.soon) == 0 && t.keepBooks() == nil { // so that the next look is a short one
		t.sealBooks()
	}
	return err
}

// enter notes a task that waits at a place once this turn has done its work, and its creation if it is one.
func (t *turn) enter(task state.Task, place string, anew bool, now time.Time) error {
	origin := task.Origin
	if t.waiting != nil {
		*t.waiting++
	}
	if !t.counted(origin) {
		return nil
	}
	b, err := t.book(origin, now)
	if err != nil {
		return err
	}
	b.changed = true
	b.soon = append(b.soon, place)
	if anew {
		b.make(now)
	}
	return nil
}

// make notes a creation.
func (b *book) make(now time.Time) {
	b.changed = true
	b.Made = append(state.Recent(b.Made, now), state.UTC(now))
	b.Made = b.Made[max(len(b.Made)-bookMost, 0):]
}

// Charge notes a creation in the origin's book.
func (s *Store) Charge(ctx context.Context, origin string, now time.Time) error {
	t, err := s.beginLimited(ctx)
	if err != nil {
		return err
	}
	defer t.done()
	if !t.counted(origin) || t.limits.PerHour <= 0 {
		return nil
	}
	b, err := t.book(origin, now)
	if err != nil {
		return err
	}
	if err := t.limits.CheckHour(origin, b.Made, now); err != nil {
		return err
	}
	b.make(now)
	return t.keepBooks()
}

// beginLimited is begin for a turn that is held to the limits.
func (s *Store) beginLimited(ctx context.Context) (*turn, error) {
	limits, err := s.limited()
	if err != nil {
		return nil, err
	}
	t, err := s.begin(ctx)
	if err == nil {
		t.limits = limits
	}
	return t, err
}

// book is an origin's, read once a turn. One that is damaged is made again from all tasks and the ledger, which is slow and rare.
func (t *turn) book(origin string, now time.Time) (*book, error) {
	if b := t.books[origin]; b != nil {
		return b, nil
	}
	b := &book{Format: state.Format, Origin: origin}
	data, err := readFile(t.path(bookPlace(origin)), bookLimit)
	if err == nil {
		var was book
		if _, err = decode(data, &was); err == nil && was.Origin == origin {
			b.Pending, b.Made, b.before = was.Pending, was.Made, data
		} else if err == nil {
			err = errDecode
		}
	}
	switch {
	case err == nil, missing(err):
	case errors.Is(err, errDecode), errors.Is(err, errOdd):
		t.report(state.Problem{Path: t.path(bookPlace(origin)), Err: err, Hint: "it is made again from the tasks and the ledger"})
		if err := t.rebuild(b, now); err != nil {
			return nil, err
		}
	default:
		return nil, fail("reading what is known of an origin", err)
	}
	if t.books == nil {
		t.books = map[string]*book{}
	}
	t.books[origin] = b
	return b, nil
}

// rebuild makes a book from all tasks that wait, and from the ledger.
func (t *turn) rebuild(b *book, now time.Time) error {
	b.changed = true
	names, err := t.list(queueOnly, "")
	if err != nil {
		return err
	}
	for f := range names.found() {
		if task, err := t.readTask(f.place(), f.id); err == nil && task.Origin == b.Origin {
			b.Pending = append(b.Pending, f.place())
		}
	}
	return t.history("", func(e entry, _ string) bool {
		if e.Type == state.LineTask && e.Event == state.EventCreated && e.Origin == b.Origin {
			b.Made = append(b.Made, e.At)
		}
		return e.Type == lineLedger || e.At.After(now.Add(-time.Hour))
	})
}

// review leaves in a book the tasks that wait. They are looked for where they were, and those that are not there among all names. One
// that cannot be read counts: it may be of the origin.
func (t *turn) review(b *book) error {
	var kept []string
	lost, seen := map[string]bool{}, map[string]bool{} // a task that did not come to be may have left its ID and its place to another
	for _, place := range b.Pending {
		dir, file := path.Split(place)
		f, ok := parseTask(strings.TrimSuffix(dir, "/"), file)
		if !ok || f.dir != queueDir && f.dir != pausedDir || seen[f.id] {
			continue
		}
		task, err := t.readTask(place, f.id)
		switch {
		case missing(err):
			lost[f.id] = true
		case err != nil || task.Origin == b.Origin:
			seen[f.id] = true
			kept = append(kept, place)
		}
	}
	for id := range seen {
		delete(lost, id)
	}
	if len(lost) > 0 {
		names, err := t.list(queueOnly, "")
		if err != nil {
			return err
		}
		for f := range names.found() {
			if !lost[f.id] {
				continue
			}
			if task, err := t.readTask(f.place(), f.id); err != nil || task.Origin == b.Origin {
				kept = append(kept, f.place())
				delete(lost, f.id) // a second file of it is no second task
			}
		}
	}
	b.changed = b.changed || !slices.Equal(kept, b.Pending)
	b.Pending = kept
	return nil
}

// keepBooks writes the books that have changed, durably. On error those that were written are as they were, if the disk lets them be.
func (t *turn) keepBooks() error {
	for _, b := range t.books {
		if !b.changed {
			continue
		}
		all := *b
		all.Pending = slices.Concat(b.Pending, b.soon)
		all.Pending = all.Pending[max(len(all.Pending)-bookMost, 0):]
		data, err := encode(all)
		if err == nil {
			err = replace(t.disk, t.path(bookPlace(b.Origin)), data)
		}
		if err != nil {
			t.dropBooks()
			return fail("noting what came of task "+b.Origin, err)
		}
		b.written = data
	}
	return nil
}

// sealBooks says that what the books were written for has happened, when the turn goes on to something else.
func (t *turn) sealBooks() {
	for _, b := range t.books {
		if b.changed {
			b.before, b.written, b.changed = b.written, nil, false
			b.Pending, b.soon = append(b.Pending, b.soon...), nil
		}
	}
}

// dropBooks takes back what was written into books, for tasks that did not come to be. Where it does not succeed they are found not
// to wait when that matters, and their creations count.
func (t *turn) dropBooks() {
	for _, b := range t.books {
		switch {
		case !b.changed:
		case b.before != nil:
			_ = replace(t.disk, t.path(bookPlace(b.Origin)), b.before)
		default:
			_ = t.disk.remove(t.path(bookPlace(b.Origin)))
		}
	}
	t.books, t.waiting = nil, nil
}

// pruneBooks removes the books of origins of which nothing waits and that have made nothing for an hour. Those that were written in
// the last hour are left for later, unread.
func (s *Store) pruneBooks(ctx context.Context, now time.Time) error {
	files, err := readNames(s.path(originsDir))
	if err != nil || len(files) == 0 {
		return err
	}
	files = slices.DeleteFunc(files, func(file string) bool {
		info, err := os.Lstat(s.path(originsDir + "/" + file))
		return err != nil || now.Sub(info.ModTime()) < time.Hour || !state.WholeID(strings.TrimSuffix(file, suffix))
	})
	for some := range slices.Chunk(files, bookTurn) {
		if err := s.pruneSome(ctx, some, now); err != nil {
			return err
		}
	}
	return nil
}

// bookTurn is how many books are looked at in one turn.
const bookTurn = 32

func (s *Store) pruneSome(ctx context.Context, files []string, now time.Time) error {
	t, err := s.begin(ctx)
	if err != nil {
		return err
	}
	defer t.done()
	for _, file := range files {
		b, err := t.book(strings.TrimSuffix(file, suffix), now)
		if err != nil {
			return err
		}
		if err := t.review(b); err != nil {
			return err
		}
		b.Made = state.Recent(b.Made, now)
		b.changed = true // the next look is in an hour
		if len(b.Pending) > 0 || len(b.Made) > 0 {
			continue
		}
		if err := t.disk.remove(t.path(originsDir + "/" + file)); err != nil && !missing(err) {
			return fail("pruning", err)
		}
		b.changed = false
	}
	return t.keepBooks()
}
