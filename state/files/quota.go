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

// quotaWidth is the length of a line, which has room for the place of any task.
const quotaWidth = 112

func (l quotaLine) text() []byte {
	made := ""
	if !l.made.IsZero() {
		made = state.UTC(l.made).Format(stamp)
	}
	return fmt.Appendf(nil, "%-*s %-*s\n", len(stamp), cmp.Or(made, "-"), quotaWidth-len(stamp)-2, cmp.Or(l.place, "-"))
}

// parse reads the file's content. It is false if not all of it is lines.
func (q *quota) parse(data []byte) bool {
	q.made, q.pending = nil, nil
	for line := range bytes.Lines(data) {
		words := strings.Fields(string(line))
		if len(line) != quotaWidth || len(words) != 2 {
			return false
		}
		if made, ok := parseStamp(words[0]); ok {
			q.made = append(q.made, made)
		} else if words[0] != "-" {
			return false
		}
		if words[1] != "-" {
			q.pending = append(q.pending, words[1])
		}
	}
	return len(data) > 0
}

// text is the content of a file that is written anew. An instant and a place in the same line need
// not be of the same task.
func (q *quota) text() (data []byte) {
	made, pending := q.made[max(len(q.made)-quotaMost, 0):], q.pending[max(len(q.pending)-quotaMost, 0):]
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
	return append(data, q.added()...)
}

// added is the text of the lines that the transaction adds.
func (q *quota) added() (data []byte) {
	for _, l := range q.soon {
		data = append(data, l.text()...)
	}
	return data
}

// waiting is an upper bound of the tasks that wait.
func (q *quota) waiting() int {
	n := q.lines
	if q.known {
		n = len(q.pending)
	}
	return n + len(q.soon)
}

// creations are the instants at which a known quota made tasks.
func (q *quota) creations() []time.Time {
	all := slices.Clone(q.made)
	for _, l := range q.soon {
		if !l.made.IsZero() {
			all = append(all, l.made)
		}
	}
	return all
}

// quotaLimit bounds what is read of such a file.
const quotaLimit = 1 << 20

// quotaMost is the most tasks and creations in such a file when it is written anew. config.toml
// accepts no higher limit.
const quotaMost = state.LineageMost

func quotaPlace(origin string) string { return originsDir + "/" + origin }

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
	q, err := c.quota(origin, c.now)
	if err == nil && c.limits.CheckPending(origin, q.waiting()) != nil {
		err = c.load(q, c.now)
	}
	if err == nil && c.limits.CheckPending(origin, q.waiting()) != nil {
		err = c.review(q)
	}
	if err != nil {
		return 0, err
	}
	return q.waiting(), nil
}

// Made returns the instants in the quota, or none if it has fewer lines than the limit.
func (c census) Made(origin string) ([]time.Time, error) {
	q, err := c.quota(origin, c.now)
	if err != nil || q.lines+len(q.soon)+len(c.limits.Planned[origin]) < c.limits.PerHour {
		return nil, err
	}
	if err := c.load(q, c.now); err != nil {
		return nil, err
	}
	return q.creations(), nil
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
	q, err := t.quota(origin, now)
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
	q.soon = append(q.soon, l)
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
	q, err := t.quota(origin, now)
	if err == nil {
		q.soon = append(q.soon, quotaLine{made: now})
	}
	return err
}

// quota returns an origin's quota. A transaction looks at its file once.
func (t *tx) quota(origin string, now time.Time) (*quota, error) {
	if q := t.quotas[origin]; q != nil {
		return q, nil
	}
	q := &quota{origin: origin}
	info, err := os.Lstat(t.path(quotaPlace(origin)))
	switch {
	case missing(err):
		q.known, err = true, nil
		// a version before 0.2 kept what is known in another form
		if _, old := os.Lstat(t.path(quotaPlace(origin) + suffix)); old == nil {
			err = t.rebuild(q, now)
		}
	case err != nil:
		err = fail("reading what is known of an origin", err)
	case !info.Mode().IsRegular() || info.Size() == 0 || info.Size()%quotaWidth != 0:
		err = t.load(q, now)
	default:
		q.lines = int(info.Size() / quotaWidth)
	}
	if err != nil {
		return nil, err
	}
	if t.quotas == nil {
		t.quotas = map[string]*quota{}
	}
	t.quotas[origin] = q
	return q, nil
}

// load reads a quota that is not known yet. A damaged one is made again from all tasks and the
// ledger, which is slow and rare.
func (t *tx) load(q *quota, now time.Time) error {
	if q.known {
		return nil
	}
	data, err := readFile(t.path(quotaPlace(q.origin)), quotaLimit)
	if err == nil && !q.parse(data) {
		err = codec.ErrBroken
	}
	switch {
	case err == nil:
		recent := state.Recent(q.made, now)
		q.stale, q.made = len(recent) < len(q.made), recent
	case garbled(err):
		t.report(state.Problem{Path: t.path(quotaPlace(q.origin)), Err: err, Hint: "it is made again from the tasks and the ledger"})
		err = t.rebuild(q, now)
	}
	if err != nil {
		return fail("reading what is known of an origin", err)
	}
	q.known, q.old = true, append([]byte{}, data...)
	return nil
}

// rebuild makes a quota from all tasks that wait, and from the ledger.
func (t *tx) rebuild(q *quota, now time.Time) error {
	q.stale, q.pending, q.made = true, nil, nil
	names, err := t.list(queueOnly, "")
	if err != nil {
		return err
	}
	for f := range names.found() {
		if task, err := t.readTask(f.place(), f.id); err == nil && task.Origin == q.origin {
			q.pending = append(q.pending, f.place())
		}
	}
	return t.history("", func(e ledger.Entry) bool {
		if e.Type == state.LineTask && e.Event == state.EventCreated && e.Origin == q.origin {
			q.made = append(q.made, e.At)
		}
		return e.Type == ledger.Head || e.At.After(now.Add(-time.Hour))
	})
}

// review keeps only the tasks that wait. It looks for them where they were, and then among all
// names. A task that cannot be read counts, because it may have this origin.
func (t *tx) review(q *quota) error {
	var kept []string
	// a task that was not added may have left its ID and place to another
	lost, seen := map[string]bool{}, map[string]bool{}
	for _, place := range q.pending {
		f, ok := placed(place)
		if !ok || f.dir != queueDir && f.dir != pausedDir || seen[f.id] {
			continue
		}
		task, err := t.readTask(place, f.id)
		switch {
		case missing(err):
			lost[f.id] = true
		case err != nil || task.Origin == q.origin:
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
			if task, err := t.readTask(f.place(), f.id); err != nil || task.Origin == q.origin {
				kept = append(kept, f.place())
				delete(lost, f.id) // a second file of a task is not a second task
			}
		}
	}
	q.stale = q.stale || !slices.Equal(kept, q.pending)
	q.pending = kept
	return nil
}

// collectQuotas collects the changes of quotas.
func (t *tx) collectQuotas() {
	for _, origin := range slices.Sorted(maps.Keys(t.quotas)) {
		q, place := t.quotas[origin], quotaPlace(origin)
		switch data := q.added(); {
		case q.stale && q.old == nil:
			t.make(place, q.text())
			t.drop(place + suffix)
		case q.stale:
			t.put(place, q.text(), q.old)
		case len(data) == 0:
		case q.lines == 0:
			t.make(place, data)
		default:
			t.ops = append(t.ops, op{kind: opAppend, place: place, at: int64(q.lines) * quotaWidth, data: data})
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
	q, err := t.quota(origin, now)
	if err == nil {
		err = t.load(q, now)
	}
	if err == nil {
		err = t.review(q)
	}
	if err != nil {
		return err
	}
	q.made = state.Recent(q.made, now)
	// it is written anew: the next look is in an hour
	q.stale = len(q.pending) > 0 || len(q.made) > 0
	if !q.stale {
		t.drop(quotaPlace(origin))
		t.drop(quotaPlace(origin) + suffix)
	}
	return nil
}
