package files

import (
	"context"
	"maps"
	"os"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/state/codec"
	"github.com/ouro-timer/ouro-timer/state/files/ledger"
)

// An origin's file, its book, says which tasks of it wait and when it made tasks in the last hour, so that neither the queue nor the
// ledger has to be read to know. An entry comes with its task, so that no fewer are counted than there are. Nobody notes the end of a task:
// only when a limit would be reached is looked which of those in the book still wait, where their files were last, and then among all names.

// book is an origin's file.
type book struct {
	Format  int         `toml:"format"`
	Origin  string      `toml:"origin"`
	Pending []string    `toml:"pending"` // the places of its tasks' files, as they were last known
	Made    []time.Time `toml:"made"`

	soon    []string // places of tasks that wait once the transaction is committed
	old     []byte   // what the file has; nil: it is not there
	changed bool
}

func (b *book) count() int { return len(b.Pending) + len(b.soon) }

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

// census counts what limits bound, at an instant.
type census struct {
	*tx
	now time.Time
}

// Waiting counts names: those in the queue and of the paused.
func (c census) Waiting() (int, error) {
	if c.waiting == nil {
		names, err := c.list(queueOnly, "")
		if err != nil {
			return 0, err
		}
		c.waiting = new(len(names.tasks))
	}
	return *c.waiting, nil
}

// Pending counts what the book has. When there would be enough of them each is looked up.
func (c census) Pending(origin string) (int, error) {
	b, err := c.book(origin, c.now)
	if err == nil && c.limits.CheckPending(origin, b.count()) != nil {
		err = c.review(b)
	}
	if err != nil {
		return 0, err
	}
	return b.count(), nil
}

// Made is what the book has.
func (c census) Made(origin string) ([]time.Time, error) {
	b, err := c.book(origin, c.now)
	if err != nil {
		return nil, err
	}
	return b.Made, nil
}

// counted reports whether there is a limit for the origin.
func (t *tx) counted(origin string) bool {
	return state.WholeID(origin) && (t.limits.Pending > 0 || t.limits.PerHour > 0)
}

// enter notes that a task waits from now on, or has another origin, and its creation if before is nil.
func (t *tx) enter(before *state.Doc, after state.Doc, now time.Time) error {
	if !after.Waits() || before != nil && before.Waits() && before.Task.Origin == after.Task.Origin {
		return nil
	}
	if t.waiting != nil && (before == nil || !before.Waits()) {
		*t.waiting++
	}
	origin := after.Task.Origin
	if !t.counted(origin) {
		return nil
	}
	b, err := t.book(origin, now)
	if err != nil {
		return err
	}
	f, err := foundOf(after)
	if err != nil {
		return err
	}
	b.changed = true
	b.soon = append(b.soon, f.place())
	if before == nil {
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
	if err := t.Charge(origin, now); err != nil {
		return err
	}
	return t.finish()
}

// Charge notes a creation in the book.
func (t *tx) Charge(origin string, now time.Time) error {
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
	return nil
}

// book is an origin's, read once a transaction. One that is damaged is made again from all tasks and the ledger, which is slow and rare.
func (t *tx) book(origin string, now time.Time) (*book, error) {
	if b := t.books[origin]; b != nil {
		return b, nil
	}
	b := &book{Format: state.Format, Origin: origin}
	data, err := readFile(t.path(bookPlace(origin)), bookLimit)
	if b.old = data; err == nil {
		var was book
		if err = codec.Decode(data, &was); err == nil && was.Origin == origin {
			b.Pending, b.Made = was.Pending, was.Made
		} else if err == nil {
			err = codec.ErrBroken
		}
	}
	switch {
	case err == nil, missing(err):
	case garbled(err):
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
func (t *tx) rebuild(b *book, now time.Time) error {
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
	return t.history("", func(e ledger.Entry) bool {
		if e.Type == state.LineTask && e.Event == state.EventCreated && e.Origin == b.Origin {
			b.Made = append(b.Made, e.At)
		}
		return e.Type == ledger.Head || e.At.After(now.Add(-time.Hour))
	})
}

// review leaves in a book the tasks that wait. They are looked for where they were, and those that are not there among all names. One
// that cannot be read counts: it may be of the origin.
func (t *tx) review(b *book) error {
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

// collectBooks collects the books that have changed.
func (t *tx) collectBooks() error {
	for _, origin := range slices.Sorted(maps.Keys(t.books)) {
		b := t.books[origin]
		if !b.changed {
			continue
		}
		all := *b
		all.Pending = slices.Concat(b.Pending, b.soon)
		all.Pending = all.Pending[max(len(all.Pending)-bookMost, 0):]
		data, err := codec.Encode(all)
		if err != nil {
			return err
		}
		t.put(bookPlace(origin), data, b.old)
	}
	return nil
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
		t.remove(bookPlace(b.Origin), b.old)
		b.changed = false
	}
	return t.finish()
}
