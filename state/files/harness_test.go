package files

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/state/plainfile"
)

var ctx = context.Background()

func must[T any](t testing.TB) func(v T, err error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// lazyDisk is the real one without waiting: a test that plays out what a crash leaves needs no syncs.
type lazyDisk struct{ osDisk }

func (lazyDisk) log(f *plainfile.Handle, at int64, data []byte) error {
	_, err := f.WriteAt(data, at)
	return err
}

func (lazyDisk) sync([]string) error               { return nil }
func (lazyDisk) cut(path string, size int64) error { return os.Truncate(path, size) }
func (lazyDisk) syncDir(string) error              { return nil }

// lazy opens a store on a lazy disk, or on another.
func lazy(t testing.TB, dir string, d disk) *Store {
	t.Helper()
	if d == nil {
		d = lazyDisk{}
	}
	return must[*Store](t)(Open(dir, Options{disk: d, Limits: few}))
}

// rebooted is lazy after the machine was started anew.
func rebooted(t testing.TB, dir string) *Store {
	t.Helper()
	return must[*Store](t)(Open(dir, Options{disk: lazyDisk{}, Limits: few, boot: func() string { return "another" }}))
}

// few are limits that count what has an origin, and refuse none of it.
func few() (state.Limits, error) { return state.Limits{Pending: 50, PerHour: 60}, nil }

// scratch is a folder in memory where the system has one: whoever lays out thousands of folders need not wait for a disk.
func scratch(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("/dev/shm", "ouro-timer-test-")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// thorough says that every folder is looked at that a crash can leave. Without it the tests of crashes look at a part of those of each
// operation, for they are to take seconds on a quiet machine, and less than the ten minutes of go test on one that is ten times slower.
var thorough = os.Getenv("OURO_TEST_ALL") != ""

// glance is one in how many folders is looked at otherwise.
const glance = 4

// spared reports whether a folder is passed over: always the same ones, as what is in it says.
func spared(left string) bool { return !thorough && hashOf(left)%glance != 0 }

func hashOf(text string) uint32 {
	sum := fnv.New32a()
	io.WriteString(sum, text)
	return sum.Sum32()
}

// folder is a state folder that can be laid out again and again.
type folder struct {
	dirs  []string // parents first
	files map[string][]byte
}

func pack(t testing.TB, dir string) (f folder) {
	t.Helper()
	f.files = map[string][]byte{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel := strings.TrimPrefix(path, dir)
		if d.IsDir() {
			f.dirs = append(f.dirs, rel)
			return nil
		}
		f.files[rel], err = os.ReadFile(path)
		return err
	})
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	return f
}

// unpack lays the folder out, in the place of what is there.
func (f folder) unpack(t testing.TB, dir string) {
	t.Helper()
	err := os.RemoveAll(dir)
	for _, d := range f.dirs {
		err = errors.Join(err, os.Mkdir(dir+d, 0o700))
	}
	for name, data := range f.files {
		err = errors.Join(err, os.WriteFile(dir+name, data, 0o600))
	}
	if err != nil {
		t.Fatal(err)
	}
}

// view is everything a user can see of a store, but for the order of IDs and when a line was written.
type view struct {
	text string
	lost int // creations that are told to be lost, and are left out of the text
}

// look makes a view. Of what could not be read, only what a crash may leave is let pass.
func look(t *testing.T, s *Store) view {
	t.Helper()
	var b strings.Builder
	list, problems, err := state.All(ctx, s)
	for _, p := range problems {
		if !errors.Is(p.Err, state.ErrCopy) { // of an edit that was not finished; the newer counts
			t.Errorf("list: %v", p)
		}
	}
	if err != nil {
		t.Errorf("list: %v", err)
	}
	seen := map[string]bool{}
	var tasks []string
	for _, e := range list {
		if seen[e.Task.ID] {
			t.Errorf("%s is listed twice", e.Task.ID)
		}
		seen[e.Task.ID] = true
		tasks = append(tasks, fmt.Sprintf("%s %d %q %s %s held %v %s %+v open %d\n", e.Task.Description, e.Task.Revision, e.Task.Key, e.Phase, e.Due.Format(stamp),
			e.Held, e.Resume.Format(stamp), e.Tally, len(e.Open)))
	}
	slices.Sort(tasks)
	b.WriteString(strings.Join(tasks, ""))
	open, problems, err := s.Open(ctx)
	if err != nil || len(problems) > 0 {
		t.Errorf("open: %v %v", problems, err)
	}
	for _, r := range open {
		fmt.Fprintf(&b, "open %s %d %s manual %v, %d %s\n", r.Task.Description, r.Number, r.Due.Format(stamp), r.Manual, r.Attempt, r.Retry.Format(stamp))
	}
	items, more, problems, err := s.Inbox(ctx, state.Query{})
	if err != nil || len(problems) > 0 || more > 0 {
		t.Errorf("inbox: %v %v", problems, err)
	}
	for i, item := range items {
		if i > 0 && item.Cursor <= items[i-1].Cursor {
			t.Errorf("%s comes after %s and has no greater cursor", item.ID, items[i-1].ID)
		}
		fmt.Fprintf(&b, "item %s %s %s %s %q %q\n", item.ID, item.Line.Inbox, item.Line.Outcome, item.Leased.Format(stamp), item.Line.Description, item.Line.Text)
	}
	notices, _, problems, err := s.Outbox(ctx, day0.AddDate(1000, 0, 0), 0)
	if err != nil || len(problems) > 0 {
		t.Errorf("outbox: %v %v", problems, err)
	}
	for _, n := range notices {
		fmt.Fprintf(&b, "notice %s %s %s %d %q %q %q\n", n.ID(), n.Channel, n.Due.Format(stamp), n.Attempts, n.Last, n.Line.Description, n.Line.Text)
	}
	lost := map[string]bool{}
	var lines []state.Line
	_, problems, err = s.Log(ctx, "", func(l state.Line) bool { lines = append(lines, l); return true })
	if err == nil {
		err = s.Spell(ctx, lines)
	}
	for _, l := range lines {
		if l.Reason == "lost" {
			lost[l.TaskID] = true
			if seen[l.TaskID] {
				t.Errorf("%s is there and told to be lost", l.TaskID)
			}
		}
		if !lost[l.TaskID] {
			fmt.Fprintf(&b, "%s %s %d %s %q %q %d %v %v %v %s %s %v\n", l.Type, l.Event, l.Number, l.Outcome, l.Description, l.Text, l.Revision, l.Due, l.DueLast, l.Resume,
				l.Reason, l.Channel, l.Delivered)
		}
	}
	if err != nil {
		t.Errorf("log: %v", err)
	}
	for _, p := range problems {
		if !strings.Contains(p.Error(), "cut short") {
			t.Errorf("log: %v", p)
		}
	}
	if back, err := s.ClockShift(ctx); err != nil || !back.IsZero() {
		fmt.Fprintf(&b, "the clock is back: %+v %v\n", back, err)
	}
	return view{b.String(), len(lost)}
}

// dump is what can be seen, as text.
func dump(t *testing.T, s *Store) string {
	t.Helper()
	return look(t, s).text
}

// settle is a writer that does nothing but apply what others left.
func settle(t *testing.T, s *Store) {
	t.Helper()
	tx, err := s.begin(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer tx.done()
}

// dueBy is state.DueBy, at most so many of them; 0: all.
func dueBy(s *Store, t time.Time, most int) (list []state.Entry, problems []state.Problem, err error) {
	problems, err = state.DueBy(ctx, s, t, func(e state.Entry) bool {
		list = append(list, e)
		return len(list) != most
	})
	return list, problems, err
}

// first are the first of a list, and how many are behind them.
func first(s *Store, n int, phases ...state.Phase) (list []state.Entry, behind int, problems []state.Problem, err error) {
	l, err := s.List(ctx, phases...)
	if err != nil {
		return nil, 0, nil, err
	}
	problems, err = state.Map(ctx, l, func(e *state.Entry) state.Entry { return *e }, func(e state.Entry, more int) bool {
		list, behind = append(list, e), more
		return len(list) < n
	})
	return list, behind, problems, err
}

// clean checks that a starting runner leaves no temporary file about.
func clean(t *testing.T, s *Store) {
	t.Helper()
	l, err := s.Lead(ctx, state.Leader{})
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Release(); err != nil {
		t.Error(err)
	}
	for _, dir := range append([]string{"."}, folders...) {
		names, _ := readNames(s.path(dir))
		for _, n := range names {
			if strings.HasPrefix(n, tempPrefix) {
				t.Errorf("%s/%s was left", dir, n)
			}
		}
	}
}

// keysHold checks create-or-keep: of each key, whoever adds a task with it is given the one that lives, or makes the only one.
func keysHold(t *testing.T, s *Store) {
	t.Helper()
	living := func() map[string][]string {
		t.Helper()
		list, _, err := state.All(ctx, s, state.Pending, state.Paused, state.Running)
		if err != nil {
			t.Fatal(err)
		}
		alive := map[string][]string{}
		for _, e := range list {
			if !byHand(e) {
				alive[e.Task.Key] = append(alive[e.Task.Key], e.Task.ID)
			}
		}
		return alive
	}
	keys := []string{key, "k2", "k3"}
	before, given, failed := living(), map[string]string{}, map[string]error{}
	for _, k := range keys {
		e, err := s.Add(ctx, keyed(once("probe"), k), day2)
		if err != nil && !errors.Is(err, state.ErrKept) {
			t.Fatal(err)
		}
		given[k], failed[k] = e.Task.ID, err
	}
	after := living()
	for _, k := range keys {
		if (failed[k] == nil) != (len(before[k]) == 0) || len(after[k]) != 1 || after[k][0] != given[k] {
			t.Errorf("key %s: %v lived, added %s %v, then %v live", k, before[k], given[k], failed[k], after[k])
		}
	}
}

// limitsHold checks that of each origin no fewer tasks are counted than wait, and that a task that does not wait takes no room for good.
func limitsHold(t *testing.T, s *Store) {
	t.Helper()
	waits := map[string]int{}
	list, _, err := state.All(ctx, s, state.Pending, state.Paused, state.Running)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range list {
		if e.Held || e.Due.After(e.Tally.Floor()) && len(e.Open) == 0 || e.Task.Recurring() {
			waits[e.Task.Origin]++
		}
	}
	for _, origin := range []string{from1, from2} {
		n := waits[origin]
		s.limits = func() (state.Limits, error) { return state.Limits{Pending: max(n, 1)}, nil }
		if _, err := s.Add(ctx, from(origin, once("probe")), day2); n > 0 && !errors.Is(err, state.ErrLimit) || n == 0 && err != nil {
			t.Errorf("of %s %d wait, and one more is added: %v", origin, n, err)
		}
		s.limits = func() (state.Limits, error) { return state.Limits{Pending: max(n, 1) + 1}, nil }
		if _, err := s.Add(ctx, from(origin, once("probe")), day2); err != nil {
			t.Errorf("of %s %d wait, and one more is refused: %v", origin, n, err)
		}
	}
	s.limits = few
}

// byHand reports whether a task has ended and shows as running because somebody runs it by hand.
func byHand(e state.Entry) bool {
	if e.Phase != state.Running || e.Held {
		return false
	}
	for _, r := range e.Open {
		if !r.Manual {
			return false
		}
	}
	return !e.Due.After(e.Tally.LastDue)
}

// world is a prepared store, and what can be seen before and after the operation, and between its parts.
type world struct {
	scenario
	folder
	record  state.Record
	before  string
	after   string
	prefix  map[string]bool // what may be seen when the process dies
	subsets map[string]bool // and when the power goes
	at      string          // where copies are laid out
	copies  int
}

func (c scenario) world(t *testing.T) *world {
	t.Helper()
	base := scratch(t)
	w := &world{scenario: c, at: filepath.Join(base, "copy"), prefix: map[string]bool{}, subsets: map[string]bool{}}
	dir := filepath.Join(base, "state")
	s := lazy(t, dir, nil)
	w.record = c.prepare(t, s)
	w.before = dump(t, s)
	w.folder = pack(t, dir)
	all := c.parts
	if all == nil {
		all = []func(*Store, state.Record) error{c.op}
	}
	for choice := range 1 << len(all) {
		s := w.copy(t, nil)
		for i, part := range all {
			if choice>>i&1 == 1 {
				if err := part(s, w.record); err != nil {
					t.Fatal(err)
				}
			}
		}
		seen := dump(t, s)
		w.subsets[seen] = true
		if choice&(choice+1) == 0 {
			w.prefix[seen] = true
		}
	}
	s = w.copy(t, nil)
	if err := c.op(s, w.record); err != nil {
		t.Fatal(err)
	}
	w.after = dump(t, s)
	if !w.prefix[w.after] {
		t.Fatalf("done at once\n%s\nis not its parts one after the other\n%v", w.after, w.prefix)
	}
	return w
}

// copy lays the world out anew.
func (w *world) copy(t *testing.T, d disk) *Store {
	t.Helper()
	w.copies++
	w.unpack(t, w.at)
	return lazy(t, w.at, d)
}

// goesOn checks that a store in which the operation has happened, or not, is as good as any: it can be done again, what was
// finished is not done once more, and its keys hold.
func (w *world) goesOn(t *testing.T, s *Store, got view, where string) {
	t.Helper()
	switch {
	case got.text == w.before && got.text != w.after:
		if err := w.op(s, w.record); err != nil || dump(t, s) != w.after {
			t.Errorf("%s: done again: %v\n%s\nwant\n%s", where, err, dump(t, s), w.after)
		}
	case got.text == w.after && w.before != w.after:
		err := w.op(s, w.record)
		ok := false
		for _, known := range w.twice {
			ok = ok || errors.Is(err, known)
		}
		if !ok {
			t.Errorf("%s: done twice: %v", where, err)
		}
	}
	// Under another boot all commits are applied again.
	seen := dump(t, s)
	s = rebooted(t, s.Dir())
	settle(t, s)
	if again := dump(t, s); again != seen {
		t.Errorf("%s: finished once more\n%s\nbefore\n%s", where, again, seen)
	}
	keysHold(t, s)
	if w.origins {
		limitsHold(t, s)
	}
	clean(t, s)
}

// outputPaths are the files that a run's output is kept in.
func outputPaths(s *Store, taskID string, number int) (stdout, stderr string) {
	out, errs := s.Output(taskID, number)
	return out.Where(), errs.Where()
}
