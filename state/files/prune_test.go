package files

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/state/codec"
	"github.com/ouro-timer/ouro-timer/state/files/ledger"
)

// month is what the tests keep.
const month = 30 * 24 * time.Hour

func init() {
	now := day0.Add(2 * month)
	prune := func(keep state.Keep) func(*Store, state.Record) error {
		return func(s *Store, _ state.Record) error { _, err := s.Prune(ctx, keep, now); return err }
	}
	output := func(s *Store, id string, run int, size int) error {
		stdout, _ := outputPaths(s, id, run)
		err := os.Mkdir(filepath.Dir(stdout), 0o700)
		if os.IsExist(err) {
			err = nil
		}
		if err == nil {
			err = os.WriteFile(stdout, make([]byte, size), 0o600)
		}
		return err
	}
	prepare := func(t *testing.T, s *Store) state.Record {
		r := state.Record{}
		for i, k := range []string{key, ""} {
			e := must[state.Entry](t)(s.Add(ctx, keyed(once(fmt.Sprint("old ", i)), k), day0))
			r = must[state.Record](t)(s.Claim(ctx, e.Task.ID, day0, time.Time{}, state.Ident{PID: 1}, day0))
			if err := s.End(ctx, r, state.Line{At: day0, Outcome: state.OK}); err != nil {
				t.Fatal(err)
			}
			if err := output(s, e.Task.ID, 1, 10); err != nil {
				t.Fatal(err)
			}
		}
		gone := must[state.Entry](t)(s.Add(ctx, keyed(daily("removed"), "k3"), day0))
		must[state.Entry](t)(s.Remove(ctx, gone.Task.ID, day0))
		runs := must[state.Entry](t)(s.Add(ctx, daily("runs"), day0))
		must[state.Record](t)(s.Claim(ctx, runs.Task.ID, day0, day1, state.Ident{PID: 1}, day0))
		for run := range 3 {
			if err := output(s, runs.Task.ID, run+1, 10); err != nil {
				t.Fatal(err)
			}
		}
		return r
	}
	again := []error{nil}
	// Of the tasks that a turn forgets some may be gone: each in any order, as names reach the disk in any.
	var each []func(*Store, state.Record) error
	for i := range 3 {
		id := state.ID(uint64(i))
		each = append(each, func(s *Store, _ state.Record) error {
			old, err := s.formers(ctx, now.Add(-month), now)
			if err != nil {
				return err
			}
			old = slices.DeleteFunc(old, func(f former) bool { return f.id != id })
			return s.transact(ctx, func(t *tx) error { return t.prune(old, &state.Pruned{}) })
		})
	}
	var files []func(*Store, state.Record) error
	for n := range 3 {
		files = append(files, func(s *Store, _ state.Record) error { return os.Remove(s.path(runsDir + "/" + ledger.PartName(n+1))) })
	}
	scenarios = append(scenarios,
		scenario{name: "prune", prepare: prepare, op: prune(state.Keep{Ended: month}), parts: inIDOrder(each), twice: again},
		scenario{name: "prune output", prepare: prepare, op: prune(state.Keep{Runs: 1, Output: 5}), twice: again},
		scenario{name: "prune the ledger", op: prune(state.Keep{Ended: month}), parts: files, twice: again, prepare: func(t *testing.T, s *Store) state.Record {
			s.partMost = 1
			for range 4 {
				must[state.Entry](t)(s.Add(ctx, once("n"), day0))
			}
			return state.Record{}
		}},
	)
}

// inIDOrder sorts operations on the first tasks by the IDs of these.
func inIDOrder(each []func(*Store, state.Record) error) []func(*Store, state.Record) error {
	order := make([]int, len(each))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return strings.Compare(state.ID(uint64(a)), state.ID(uint64(b))) })
	var out []func(*Store, state.Record) error
	for _, i := range order {
		out = append(out, each[i])
	}
	return out
}

// lived is a task that has ended, with a run of so many bytes.
func lived(t testing.TB, s *Store, task state.Task, due, end time.Time) string {
	t.Helper()
	e := must[state.Entry](t)(s.Add(ctx, task, due))
	r := must[state.Record](t)(s.Claim(ctx, e.Task.ID, due, time.Time{}, state.Ident{PID: 1}, due))
	wrote(t, s, e.Task.ID, 1, "ran", end)
	if err := s.End(ctx, r, state.Line{At: end, Ended: &end, Started: &due, Outcome: state.OK}); err != nil {
		t.Fatal(err)
	}
	return e.Task.ID
}

// wrote makes the output of a run.
func wrote(t testing.TB, s *Store, id string, run int, text string, at time.Time) {
	t.Helper()
	stdout, stderr := outputPaths(s, id, run)
	if err := os.MkdirAll(filepath.Dir(stdout), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, p := range []string{stdout, stderr} {
		if err := os.WriteFile(p, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(p, at, at); err != nil {
			t.Fatal(err)
		}
	}
}

// remains are the files of a task, and of its runs.
func remains(t testing.TB, s *Store, id string) (list []string) {
	t.Helper()
	err := filepath.WalkDir(s.Dir(), func(path string, d os.DirEntry, err error) error {
		if rel := strings.TrimPrefix(path, s.Dir()+"/"); err == nil && strings.Contains(rel, id) {
			list = append(list, rel)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func pruned(t testing.TB, s *Store, keep state.Keep, now time.Time) state.Pruned {
	t.Helper()
	return must[state.Pruned](t)(s.Prune(ctx, keep, now))
}

// TestPruneLeavesNothing: all files of a task go, and only its own.
func TestPruneLeavesNothing(t *testing.T) {
	s := small(t, t.TempDir(), partMost)
	id := lived(t, s, keyed(once("n"), "k"), day0, day0)
	other := lived(t, s, once("kept"), day0, day0.Add(month))
	os.WriteFile(s.path(outputDir+"/"+id+"/1.out.trim"), []byte("half"), 0o600)
	p := pruned(t, s, state.Keep{Ended: month}, day0.Add(month+1))
	if p != (state.Pruned{Tasks: 1, Runs: 1, Bytes: 10}) {
		t.Errorf("%+v", p)
	}
	if left := remains(t, s, id); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
	if keys := must[[]string](t)(readNames(s.path(keysDir))); len(keys) > 0 {
		t.Errorf("keys: %v", keys)
	}
	if left := remains(t, s, other); len(left) != 5 {
		t.Errorf("of the other task %v", left)
	}
}

// TestPruneAge: what counts as the end of a task.
func TestPruneAge(t *testing.T) {
	now := day0.Add(2 * month)
	old, young := now.Add(-month-time.Hour), now.Add(-month+time.Hour)
	for _, c := range []struct {
		name  string
		make  func(t *testing.T, s *Store) string
		stays bool
	}{
		{"due long ago, ended lately", func(t *testing.T, s *Store) string { return lived(t, s, once("n"), old, young) }, true},
		{"ended long ago", func(t *testing.T, s *Store) string { return lived(t, s, once("n"), old, old) }, false},
		{"finished before it is due, ran long ago", func(t *testing.T, s *Store) string { return finished(t, s, old, now.Add(time.Hour)) }, false},
		{"finished before it is due, ran lately", func(t *testing.T, s *Store) string { return finished(t, s, young, now.Add(time.Hour)) }, true},
		{"removed long ago, due in the future", func(t *testing.T, s *Store) string { return removedAt(t, s, now.Add(month), old) }, false},
		{"removed lately, due long ago", func(t *testing.T, s *Store) string { return removedAt(t, s, old, young) }, true},
		{"removed by an older version, written and due long ago", func(t *testing.T, s *Store) string { return unnoted(t, s, old, old) }, false},
		{"removed by an older version, written lately", func(t *testing.T, s *Store) string { return unnoted(t, s, old, young) }, true},
		{"removed by an older version, due lately", func(t *testing.T, s *Store) string { return unnoted(t, s, young, old) }, true},
		{"it has a file in the queue, too", func(t *testing.T, s *Store) string {
			id := lived(t, s, once("n"), old, old)
			data := must[[]byte](t)(os.ReadFile(s.path(endedDir + "/" + name{due: old.Format(stamp), id: id}.queue())))
			os.WriteFile(s.path(queueDir+"/"+name{due: now.Format(stamp), id: id}.queue()), data, 0o600)
			return id
		}, true},
		{"of a newer version", func(t *testing.T, s *Store) string {
			id := lived(t, s, once("n"), old, old)
			path := s.path(endedDir + "/" + name{due: old.Format(stamp), id: id}.queue())
			data := must[[]byte](t)(os.ReadFile(path))
			os.WriteFile(path, []byte(strings.Replace(string(data), "format = 1", "format = 9", 1)), 0o600)
			return id
		}, true},
		{"an old tally without a task", func(t *testing.T, s *Store) string {
			id := lived(t, s, once("n"), old, old)
			os.Remove(s.path(endedDir + "/" + name{due: old.Format(stamp), id: id}.queue()))
			return id
		}, false},
		{"a young tally without a task", func(t *testing.T, s *Store) string {
			id := lived(t, s, once("n"), old, young)
			os.Remove(s.path(endedDir + "/" + name{due: old.Format(stamp), id: id}.queue()))
			return id
		}, true},
		{"an old tally of a task that was set aside", func(t *testing.T, s *Store) string {
			id := lived(t, s, once("n"), old, old)
			file := name{due: old.Format(stamp), id: id}.queue()
			os.Rename(s.path(endedDir+"/"+file), s.path(corruptDir+"/"+file+".2"))
			return id
		}, true},
		{"old output without a task and a tally", func(t *testing.T, s *Store) string {
			id := lived(t, s, once("n"), old, old)
			os.Remove(s.path(endedDir + "/" + name{due: old.Format(stamp), id: id}.queue()))
			os.Remove(s.path(tallyPlace(id)))
			return id
		}, true}, // the folder was made a moment ago
	} {
		t.Run(c.name, func(t *testing.T) {
			s := small(t, t.TempDir(), partMost)
			id := c.make(t, s)
			before := remains(t, s, id)
			clock := now
			if c.name == "old output without a task and a tally" {
				clock = time.Now().Add(month - time.Hour)
				if p := pruned(t, s, state.Keep{Ended: month}, time.Now().Add(month+time.Hour)); p.Runs != 1 || len(remains(t, s, id)) > 0 {
					t.Errorf("old output: %+v, left %v", p, remains(t, s, id))
				}
				before = remains(t, s, id)
			}
			pruned(t, s, state.Keep{Ended: month}, clock)
			left := remains(t, s, id)
			if c.stays && !slices.Equal(left, before) || !c.stays && len(left) > 0 {
				t.Errorf("before %v, after %v", before, left)
			}
		})
	}
}

// finished is a recurring task that ran once and was ended by a stop condition before it was due again.
func finished(t *testing.T, s *Store, ran, due time.Time) string {
	e := must[state.Entry](t)(s.Add(ctx, daily("n"), ran))
	r := must[state.Record](t)(s.Claim(ctx, e.Task.ID, ran, due, state.Ident{}, ran))
	if err := s.End(ctx, r, state.Line{At: ran, Outcome: state.OK}); err != nil {
		t.Fatal(err)
	}
	if err := s.Finish(ctx, e.Task.ID, "enough", ran); err != nil {
		t.Fatal(err)
	}
	return e.Task.ID
}

func removedAt(t *testing.T, s *Store, due, at time.Time) string {
	e := must[state.Entry](t)(s.Add(ctx, once("n"), due))
	must[state.Entry](t)(s.Remove(ctx, e.Task.ID, at))
	return e.Task.ID
}

// unnoted is a task that was removed by a version that did not note when.
func unnoted(t *testing.T, s *Store, due, written time.Time) string {
	e := must[state.Entry](t)(s.Add(ctx, once("n"), due))
	n := name{due: due.Format(stamp), id: e.Task.ID}
	to := s.path(removedDir + "/" + n.queue())
	if err := os.Rename(s.path(queueDir+"/"+n.queue()), to); err != nil {
		t.Fatal(err)
	}
	os.Chtimes(to, written, written)
	return e.Task.ID
}

// TestPruneKeyOfAnother: a key that another task has by now stays that one's.
func TestPruneKeyOfAnother(t *testing.T) {
	s := small(t, t.TempDir(), partMost)
	lived(t, s, keyed(once("old"), "k"), day0, day0)
	other := must[state.Entry](t)(s.Add(ctx, keyed(once("new"), "k"), day0.Add(3*month)))
	if p := pruned(t, s, state.Keep{Ended: month}, day0.Add(2*month)); p.Tasks != 1 {
		t.Errorf("%+v", p)
	}
	if e, err := s.Add(ctx, keyed(once("third"), "k"), day0); err == nil || e.Task.ID != other.Task.ID {
		t.Errorf("the key was given to %s, %v", e.Task.ID, err)
	}
}

// TestPruneOutput: the newest runs of each task stay, then the newest of all within the budget, and always what an open run
// writes.
func TestPruneOutput(t *testing.T) {
	left := func(s *Store, id string) (runs []int) {
		for _, r := range must[[]kept](t)(s.outputs(id)) {
			runs = append(runs, r.number)
		}
		return runs
	}
	fill := func(t *testing.T) (s *Store, a, b string) {
		s = small(t, t.TempDir(), partMost)
		a, b = must[state.Entry](t)(s.Add(ctx, daily("a"), day0)).Task.ID, must[state.Entry](t)(s.Add(ctx, daily("b"), day0)).Task.ID
		for i := range 11 { // a in the mornings, b in the evenings
			wrote(t, s, a, i+1, "0123456789", day0.AddDate(0, 0, i))
			wrote(t, s, b, i+1, "0123456789", day0.AddDate(0, 0, i).Add(12*time.Hour))
		}
		wrote(t, s, a, 12, "", day0.AddDate(0, 0, 12))
		os.WriteFile(s.path(outputDir+"/"+a+"/notes.txt"), []byte("mine"), 0o600)
		os.WriteFile(s.path(outputDir+"/"+a+"/1.out.trim"), []byte("half"), 0o600)
		return s, a, b
	}
	t.Run("runs", func(t *testing.T) {
		s, a, b := fill(t)
		if p := pruned(t, s, state.Keep{Runs: 3}, day0); p != (state.Pruned{Runs: 9 + 8, Bytes: 17*20 + 4}) {
			t.Errorf("%+v", p)
		}
		if x, y := left(s, a), left(s, b); !slices.Equal(x, []int{10, 11, 12}) || !slices.Equal(y, []int{9, 10, 11}) {
			t.Error(x, y)
		}
		if _, err := os.Stat(s.path(outputDir + "/" + a + "/notes.txt")); err != nil {
			t.Error(err)
		}
	})
	t.Run("budget", func(t *testing.T) {
		s, a, b := fill(t)
		if p := pruned(t, s, state.Keep{Output: 100}, day0); p.Runs != 17 {
			t.Errorf("%+v", p)
		}
		if x, y := left(s, a), left(s, b); !slices.Equal(x, []int{10, 11, 12}) || !slices.Equal(y, []int{9, 10, 11}) {
			t.Error(x, y)
		}
	})
	t.Run("both", func(t *testing.T) {
		s, a, b := fill(t)
		pruned(t, s, state.Keep{Runs: 3, Output: 60}, day0)
		if x, y := left(s, a), left(s, b); !slices.Equal(x, []int{11, 12}) || !slices.Equal(y, []int{10, 11}) {
			t.Error(x, y)
		}
		if p := pruned(t, s, state.Keep{Runs: 3, Output: 60}, day0); p != (state.Pruned{}) {
			t.Errorf("again: %+v", p)
		}
	})
	t.Run("open", func(t *testing.T) {
		s, a, b := fill(t)
		open := must[state.Record](t)(s.Claim(ctx, b, day0, day1, state.Ident{}, day0))
		wrote(t, s, b, open.Number, "x", day0.AddDate(0, 0, -1)) // the oldest
		pruned(t, s, state.Keep{Runs: 1, Output: 1}, day0)
		if x, y := left(s, a), left(s, b); !slices.Equal(x, []int{12}) || !slices.Equal(y, []int{open.Number}) {
			t.Error(x, y)
		}
	})
	t.Run("open, and its record is damaged", func(t *testing.T) {
		s, _, b := fill(t)
		must[state.Record](t)(s.Claim(ctx, b, day0, day1, state.Ident{}, day0))
		path := s.path(openDir + "/" + name{due: day0.Format(stamp), id: b}.record())
		os.WriteFile(path, []byte("damaged"), 0o600)
		if pruned(t, s, state.Keep{Runs: 1, Output: 1}, day0); len(left(s, b)) != 11 {
			t.Error(left(s, b))
		}
	})
	t.Run("of many tasks, in more than one turn", func(t *testing.T) {
		s := small(t, t.TempDir(), partMost)
		for i := range 5 {
			for run := range 100 {
				wrote(t, s, state.ID(uint64(i)), run+1, "x", day0)
			}
		}
		if p := pruned(t, s, state.Keep{Runs: 2}, day0); p.Runs != 490 {
			t.Errorf("%+v", p)
		}
	})
}

// TestPruneLedger: parts go with their newest line, the oldest first; the rest can be read.
func TestPruneLedger(t *testing.T) {
	s := small(t, t.TempDir(), 1)
	for i := range 6 {
		e := daily("n")
		e.Created = day0.AddDate(0, 0, i)
		must[state.Entry](t)(s.Add(ctx, e, day0.Add(3*month)))
	}
	if parts := must[[]int](t)(s.ledger.Parts()); len(parts) != 5 {
		t.Fatal(parts)
	}
	s.partMost = partMost
	if p := pruned(t, s, state.Keep{Ended: month}, day0.Add(month).AddDate(0, 0, 2)); p != (state.Pruned{Ledger: 2, Lines: 2}) {
		t.Errorf("%+v", p)
	}
	if list := logged(t, s, ""); len(list) != 4 {
		t.Error(list)
	}
	// A process died between giving the ledger its second name and putting a new one in its place.
	if err := os.Link(s.path(ledgerFile), s.path(runsDir+"/"+ledger.PartName(6))); err != nil {
		t.Fatal(err)
	}
	if p := pruned(t, s, state.Keep{Ended: month}, day0.Add(3*month)); p != (state.Pruned{Ledger: 3, Lines: 3}) {
		t.Errorf("%+v", p)
	}
	if list := logged(t, s, ""); len(list) != 1 {
		t.Error(list)
	}
	if e := must[state.Entry](t)(s.Add(ctx, once("n"), day0)); e.Task.ID != state.ID(6) {
		t.Errorf("%s is not the seventh", e.Task.ID)
	}
	if list := logged(t, s, ""); len(list) != 2 {
		t.Error(list)
	}
	os.Remove(s.path(tallyPlace(firstID))) // of lines that were pruned nothing is left; of its output there is
	wrote(t, s, firstID, 7, "x", day0)
	r := must[state.Record](t)(s.Claim(ctx, firstID, day0.Add(3*month), time.Time{}, state.Ident{}, day0))
	if r.Number != 8 {
		t.Errorf("number %d was given again", r.Number)
	}
}

// TestPruneMany: other writers get their turns while very many tasks are forgotten.
func TestPruneMany(t *testing.T) {
	const n = 2000
	s := graveyard(t, n)
	stop, done := make(chan struct{}), make(chan time.Duration)
	go func() {
		other := small(t, s.Dir(), partMost)
		var most time.Duration
		for {
			select {
			case <-stop:
				done <- most
				return
			default:
			}
			begin := time.Now()
			if _, err := other.Add(ctx, once("n"), day0.Add(3*month)); err != nil {
				t.Error(err)
			}
			most = max(most, time.Since(begin))
		}
	}()
	begin := time.Now()
	p := pruned(t, s, state.Keep{Ended: month}, day0.Add(2*month))
	took := time.Since(begin)
	close(stop)
	most := <-done
	t.Logf("%d tasks in %v; nobody waited longer than %v", p.Tasks, took, most)
	if p.Tasks != n { // who waits for too long is told so
		t.Errorf("%+v", p)
	}
}

// graveyard is a store with n tasks that ended long ago, each with a tally and the output of a run.
func graveyard(t testing.TB, n int) *Store {
	t.Helper()
	s := small(t, t.TempDir(), partMost)
	if err := s.furnish(); err != nil {
		t.Fatal(err)
	}
	count := must[[]byte](t)(codec.Encode(state.Tally{Number: 1, Fired: 1, Last: "ok", LastDue: day0, LastEnd: day0}))
	for i := range n {
		task := once(fmt.Sprintf("task %d", i))
		task.ID, task.Format, task.Revision = state.ID(uint64(i)), state.Format, 1
		data := encoded(t, task, nil)
		err := os.WriteFile(s.path(endedDir+"/"+name{due: day0.Format(stamp), id: task.ID}.queue()), data, 0o600)
		if err == nil {
			err = os.WriteFile(s.path(tallyPlace(task.ID)), count, 0o600)
		}
		if err == nil {
			err = os.Mkdir(s.path(outputDir+"/"+task.ID), 0o700)
		}
		for _, f := range []string{"1.out", "1.err"} {
			if err == nil {
				err = os.WriteFile(s.path(outputDir+"/"+task.ID+"/"+f), []byte("x"), 0o600)
			}
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// BenchmarkPrune forgets 10,000 tasks that ended long ago.
func BenchmarkPrune(b *testing.B) {
	for b.Loop() {
		b.StopTimer()
		s := graveyard(b, 10_000)
		b.StartTimer()
		if p := pruned(b, s, state.Keep{Ended: month}, day0.Add(2*month)); p.Tasks != 10_000 {
			b.Fatal(p)
		}
	}
}

// BenchmarkPruneNothing looks at tasks that all stay: what a runner pays now and then.
func BenchmarkPruneNothing(b *testing.B) {
	for _, n := range []int{1000, 10_000, 100_000} {
		if n > 10_000 && testing.Short() {
			continue
		}
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			s := graveyard(b, n)
			for b.Loop() {
				if p := pruned(b, s, state.Keep{Ended: month, Runs: 20, Output: 1 << 30}, day0.Add(month)); p != (state.Pruned{}) {
					b.Fatal(p)
				}
			}
		})
	}
}

// TestPruneLooksAgain: a task that moved while names were read, and looked like one that is gone, keeps all it has.
func TestPruneLooksAgain(t *testing.T) {
	s := small(t, t.TempDir(), partMost)
	ended := lived(t, s, once("n"), day0, day0)
	e := must[state.Entry](t)(s.Add(ctx, daily("n"), day0))
	wrote(t, s, e.Task.ID, 1, "x", day0)
	aside := lived(t, s, once("n"), day1, day1)
	file := name{due: day1.Format(stamp), id: aside}.queue()
	if err := os.Rename(s.path(endedDir+"/"+file), s.path(corruptDir+"/"+file)); err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{ended, e.Task.ID, aside} {
		before := remains(t, s, id)
		var p state.Pruned
		if err := s.transact(ctx, func(t *tx) error { return t.prune([]former{{id: id, files: []string{"1.out", "1.err"}}}, &p) }); err != nil || p != (state.Pruned{}) {
			t.Errorf("%+v %v", p, err)
		}
		if left := remains(t, s, id); !slices.Equal(left, before) {
			t.Errorf("left %v of %v", left, before)
		}
	}
}
