package files

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/state/codec"
	"github.com/ouro-timer/ouro-timer/state/files/ledger"
)

// An origin's file, its quota, says which of its tasks wait and when it made tasks in the last
// hour. So neither the queue nor the ledger has to be read for this. Each line has an instant at
// which a task was made and the place of a task's file. A line comes with its task, so the count is
// never too low. All lines have the same length, so the size of the file says how many there are.
// With fewer lines than a limit, the file is not read.
//
// The end of a task is not noted. Only if a limit would be reached, the store checks which of the
// tasks still wait: first where their files were last, then among all names.

// quota is an origin's file.
type quota struct {
	origin  string
	lines   int         // how many lines the file has
	known   bool        // the file was read, or there is no file
	pending []string    // of a known one: the places of its tasks' files, as last known
	made    []time.Time // of a known one: when it made tasks
	stale   bool        // the whole file is to be written
	old     []byte      // of a known one: the file's content; nil: there is no file

	soon []quotaLine // lines that the transaction adds
}

// quotaLine is a line of a quota. The zero instant and the empty place stand for none.
type quotaLine struct {
	made  time.Time
	place string
}

// bookWidth is the length of a line, which has room for the place of any task.
const bookWidth = 112

func (l quotaLine) text() []byte {
	made := ""
	if !l.made.IsZero() {
		made = state.UTC(l.made).Format(stamp)
	}
	return fmt.Appendf(nil, "%-*s %-*s\n", len(stamp), cmp.Or(made, "-"), bookWidth-len(stamp)-2, cmp.Or(l.place, "-"))
}

// parse reads the file's content. It is false if not all of it is lines.
func (b *quota) parse(data []byte) bool {
	b.made, b.pending = nil, nil
	for line := range bytes.Lines(data) {
		words := strings.Fields(string(line))
		if len(line) != bookWidth || len(words) != 2 {
			return false
		}
		if made, ok := parseStamp(words[0]); ok {
			b.made = append(b.made, made)
		} else if words[0] != "-" {
			return false
		}
		if words[1] != "-" {
			b.pending = append(b.pending, words[1])
		}
	}
	return len(data) > 0
}

// text is the content of a file that is written anew. An instant and a place in the same line need
// not be of the same task.
func (b *quota) text() (data []byte) {
	made, pending := b.made[max(len(b.made)-bookMost, 0):], b.pending[max(len(b.pending)-bookMost, 0):]
	for i := range max(len(made), len(pending)) {
		var l quotaLine
		if i < len(made) {
			l.made = made[i]
		}
		if i < len(pending) {
			l.place = pending[i]
		}
		data = append(data, l.text()...)
	}
	return append(data, b.added()...)
}

// added is the text of the lines that the transaction adds.
func (b *quota) added() (data []byte) {
	for _, l := range b.soon {
		data = append(data, l.text()...)
	}
	return data
}

// waiting is an upper bound of the tasks that wait.
func (b *quota) waiting() int {
	n := b.lines
	if b.known {
		n = len(b.pending)
	}
	return n + len(b.soon)
}

// creations are the instants at which a known quota made tasks.
func (b *quota) creations() []time.Time {
	all := slices.Clone(b.made)
	for _, l := range b.soon {
		if !l.made.IsZero() {
			all = append(all, l.made)
		}
	}
	return all
}

// bookLimit bounds what is read of such a file.
const bookLimit = 1 << 20

// bookMost is the most tasks and creations in such a file when it is written anew. config.toml
// accepts no higher limit.
const bookMost = state.LineageMost

func bookPlace(origin string) string { return originsDir + "/" + origin }

// limited reads the limits for this transaction. It is called before the lock is taken.
func (s *Store) limited() (state.Limits, error) {
	if s.limits == nil {
		return state.Limits{}, nil
	}
	return s.limits()
}

// census counts what limits bound, at one instant.
type census struct {
	*tx
	now time.Time
}

// Waiting counts the names in the queue and among the paused.
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

// Pending counts the entries of the quota. If they would reach the limit, it looks each one up.
func (c census) Pending(origin string) (int, error) {
	b, err := c.quota(origin, c.now)
	if err == nil && c.limits.CheckPending(origin, b.waiting()) != nil {
		err = c.load(b, c.now)
	}
	if err == nil && c.limits.CheckPending(origin, b.waiting()) != nil {
		err = c.review(b)
	}
	if err != nil {
		return 0, err
	}
	return b.waiting(), nil
}

// Made returns the instants in the quota, or none if it has fewer lines than the limit.
func (c census) Made(origin string) ([]time.Time, error) {
	b, err := c.quota(origin, c.now)
	if err != nil || b.lines+len(b.soon) < c.limits.PerHour {
		return nil, err
	}
	if err := c.load(b, c.now); err != nil {
		return nil, err
	}
	return b.creations(), nil
}

// counted reports whether there is a limit for the origin.
func (t *tx) counted(origin string) bool {
	return state.WholeID(origin) && (t.limits.Pending > 0 || t.limits.PerHour > 0)
}

// enter notes that a task now waits or has another origin. If before is nil, it also notes the
// creation.
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
	b, err := t.quota(origin, now)
	if err != nil {
		return err
	}
	f, err := foundOf(after)
	if err != nil {
		return err
	}
	l := quotaLine{place: f.place()}
	if before == nil {
		l.made = now
	}
	b.soon = append(b.soon, l)
	return nil
}

// Charge notes a creation of an origin.
func (t *tx) Charge(origin string, now time.Time) error {
	if !t.counted(origin) || t.limits.PerHour <= 0 {
		return nil
	}
	made, err := census{t, now}.Made(origin)
	if err != nil {
		return err
	}
	if err := t.limits.CheckHour(origin, made, now); err != nil {
		return err
	}
	b, err := t.quota(origin, now)
	if err == nil {
		b.soon = append(b.soon, quotaLine{made: now})
	}
	return err
}

// quota returns an origin's quota. A transaction looks at its file once.
func (t *tx) quota(origin string, now time.Time) (*quota, error) {
	if b := t.quotas[origin]; b != nil {
		return b, nil
	}
	b := &quota{origin: origin}
	info, err := os.Lstat(t.path(bookPlace(origin)))
	switch {
	case missing(err):
		b.known, err = true, nil
		// a version before 0.2 kept what is known in another form
		if _, old := os.Lstat(t.path(bookPlace(origin) + suffix)); old == nil {
			err = t.rebuild(b, now)
		}
	case err != nil:
		err = fail("reading what is known of an origin", err)
	case !info.Mode().IsRegular() || info.Size() == 0 || info.Size()%bookWidth != 0:
		err = t.load(b, now)
	default:
		b.lines = int(info.Size() / bookWidth)
	}
	if err != nil {
		return nil, err
	}
	if t.quotas == nil {
		t.quotas = map[string]*quota{}
	}
	t.quotas[origin] = b
	return b, nil
}

// load reads a quota that is not known yet. A damaged one is made again from all tasks and the
// ledger, which is slow and rare.
func (t *tx) load(b *quota, now time.Time) error {
	if b.known {
		return nil
	}
	data, err := readFile(t.path(bookPlace(b.origin)), bookLimit)
	if err == nil && !b.parse(data) {
		err = codec.ErrBroken
	}
	switch {
	case err == nil:
		recent := state.Recent(b.made, now)
		b.stale, b.made = len(recent) < len(b.made), recent
	case garbled(err):
		t.report(state.Problem{Path: t.path(bookPlace(b.origin)), Err: err, Hint: "it is made again from the tasks and the ledger"})
		err = t.rebuild(b, now)
	}
	if err != nil {
		return fail("reading what is known of an origin", err)
	}
	b.known, b.old = true, append([]byte{}, data...)
	return nil
}

// rebuild makes a quota from all tasks that wait, and from the ledger.
func (t *tx) rebuild(b *quota, now time.Time) error {
	b.stale, b.pending, b.made = true, nil, nil
	names, err := t.list(queueOnly, "")
	if err != nil {
		return err
	}
	for f := range names.found() {
		if task, err := t.readTask(f.place(), f.id); err == nil && task.Origin == b.origin {
			b.pending = append(b.pending, f.place())
		}
	}
	return t.history("", func(e ledger.Entry) bool {
		if e.Type == state.LineTask && e.Event == state.EventCreated && e.Origin == b.origin {
			b.made = append(b.made, e.At)
		}
		return e.Type == ledger.Head || e.At.After(now.Add(-time.Hour))
	})
}

// review keeps only the tasks that wait. It looks for them where they were, and then among all
// names. A task that cannot be read counts, because it may have this origin.
func (t *tx) review(b *quota) error {
	var kept []string
	// a task that was not added may have left its ID and place to another
	lost, seen := map[string]bool{}, map[string]bool{}
	for _, place := range b.pending {
		f, ok := placed(place)
		if !ok || f.dir != queueDir && f.dir != pausedDir || seen[f.id] {
			continue
		}
		task, err := t.readTask(place, f.id)
		switch {
		case missing(err):
			lost[f.id] = true
		case err != nil || task.Origin == b.origin:
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
			if task, err := t.readTask(f.place(), f.id); err != nil || task.Origin == b.origin {
				kept = append(kept, f.place())
				delete(lost, f.id) // a second file of a task is not a second task
			}
		}
	}
	b.stale = b.stale || !slices.Equal(kept, b.pending)
	b.pending = kept
	return nil
}

// collectQuotas collects the changes of quotas.
func (t *tx) collectQuotas() {
	for _, origin := range slices.Sorted(maps.Keys(t.quotas)) {
		b, place := t.quotas[origin], bookPlace(origin)
		switch data := b.added(); {
		case b.stale && b.old == nil:
			t.make(place, b.text())
			t.drop(place + suffix)
		case b.stale:
			t.put(place, b.text(), b.old)
		case len(data) == 0:
		case b.lines == 0:
			t.make(place, data)
		default:
			t.ops = append(t.ops, op{kind: opAppend, place: place, at: int64(b.lines) * bookWidth, data: data})
		}
	}
}

// pruneQuotas removes the quotas of origins without a waiting task and without a creation in the
// last hour. It does not read those that were written in the last hour.
func (s *Store) pruneQuotas(ctx context.Context, now time.Time) error {
	files, err := readNames(s.path(originsDir))
	if err != nil || len(files) == 0 {
		return err
	}
	files = slices.DeleteFunc(files, func(file string) bool {
		info, err := os.Lstat(s.path(originsDir + "/" + file))
		return err != nil || now.Sub(info.ModTime()) < time.Hour || !state.WholeID(strings.TrimSuffix(file, suffix))
	})
	for some := range slices.Chunk(files, quotaBatch) {
		if err := s.transact(ctx, func(t *tx) error {
			for _, file := range some {
				if err := t.pruneQuota(strings.TrimSuffix(file, suffix), now); err != nil {
					return err
				}
			}
			return t.collect()
		}); err != nil {
			return err
		}
	}
	return nil
}

// quotaBatch is how many quotas one transaction looks at.
const quotaBatch = 32

func (t *tx) pruneQuota(origin string, now time.Time) error {
	b, err := t.quota(origin, now)
	if err == nil {
		err = t.load(b, now)
	}
	if err == nil {
		err = t.review(b)
	}
	if err != nil {
		return err
	}
	b.made = state.Recent(b.made, now)
	// it is written anew: the next look is in an hour
	b.stale = len(b.pending) > 0 || len(b.made) > 0
	if !b.stale {
		t.drop(bookPlace(origin))
		t.drop(bookPlace(origin) + suffix)
	}
	return nil
}
