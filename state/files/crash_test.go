package files

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
)

// errCrash is what a disk answers after the process has died, so to speak.
var errCrash = errors.New("the process is dead")

// faultDisk fails at one step: with an error at this step alone, or, as a crash, from there on for ever. A crash in the middle of writing
// leaves half of the data.
type faultDisk struct {
	disk
	at, n int
	crash bool
	half  bool
	err   error
	hit   bool
	kind  string // of the step that was hit
}

// step reports the error of the next step, and whether it is the one that is torn.
func (d *faultDisk) step(kind string) (err error, torn bool) {
	d.n++
	switch {
	case d.n == d.at:
		d.hit, d.kind = true, kind
		return d.err, d.half
	case d.n > d.at && d.crash:
		return d.err, false
	}
	return nil, false
}

func (d *faultDisk) mkdir(path string) error {
	if err, _ := d.step("mkdir"); err != nil {
		return err
	}
	return d.disk.mkdir(path)
}

func (d *faultDisk) create(path string, data []byte) error {
	err, torn := d.step("create")
	if torn {
		os.WriteFile(path, data[:len(data)/2], 0o600)
	}
	if err != nil {
		return err
	}
	return d.disk.create(path, data)
}

func (d *faultDisk) createAll(files []newFile) error { return oneByOne(d, files) }

// oneByOne makes files in order, so that each is a step of its own.
func oneByOne(d disk, files []newFile) error {
	for _, f := range files {
		if err := d.create(f.path, f.data); err != nil {
			return err
		}
	}
	return nil
}

func (d *faultDisk) patch(path string, data []byte) error {
	if err, _ := d.step("patch"); err != nil {
		return err
	}
	return d.disk.patch(path, data)
}

func (d *faultDisk) scribble(path string, data []byte) error {
	if err, _ := d.step("scribble"); err != nil {
		return err
	}
	return d.disk.scribble(path, data)
}

func (d *faultDisk) extend(path string, size int64, data []byte) error {
	err, torn := d.step("extend")
	if torn {
		d.disk.extend(path, size, data[:len(data)/2])
	}
	if err != nil {
		return err
	}
	return d.disk.extend(path, size, data)
}

func (d *faultDisk) cut(path string, size int64) error {
	if err, _ := d.step("cut"); err != nil {
		return err
	}
	return d.disk.cut(path, size)
}

func (d *faultDisk) rename(from, to string) error {
	if err, _ := d.step("rename"); err != nil {
		return err
	}
	return d.disk.rename(from, to)
}

func (d *faultDisk) remove(path string) error {
	if err, _ := d.step("remove"); err != nil {
		return err
	}
	return d.disk.remove(path)
}

func (d *faultDisk) syncDir(path string) error {
	if err, _ := d.step("syncDir"); err != nil {
		return err
	}
	return d.disk.syncDir(path)
}

var (
	day0 = time.Date(2026, 11, 23, 8, 0, 0, 0, time.UTC)
	day1 = day0.AddDate(0, 0, 1)
	day2 = day0.AddDate(0, 0, 2)
)

func once(text string) state.Task {
	return state.Task{Created: day0, Description: text, When: state.Timing{Text: "in 1h", Kind: "once", Zone: "UTC", Start: day0},
		Run: state.Job{Argv: []string{"true"}, Dir: "/"}}
}

func daily(text string) state.Task {
	t := once(text)
	t.When.Kind = "cron"
	return t
}

// scenario is one operation on a prepared store.
type scenario struct {
	name    string
	prepare func(t *testing.T, s *Store) state.Record
	op      func(s *Store, r state.Record) error
}

func must[T any](t testing.TB) func(v T, err error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

var ctx = context.Background()

// scenarios are all operations that change the state. The ID of the task they are about is in the record.
var scenarios = func() []scenario {
	added := func(task state.Task) func(*testing.T, *Store) state.Record {
		return func(t *testing.T, s *Store) state.Record {
			e := must[state.Entry](t)(s.Add(ctx, task, day0))
			return state.Record{Task: e.Task, Due: day0}
		}
	}
	claimed := func(task state.Task, next time.Time) func(*testing.T, *Store) state.Record {
		return func(t *testing.T, s *Store) state.Record {
			r := added(task)(t, s)
			return must[state.Record](t)(s.Claim(ctx, r.Task.ID, day0, next, state.Ident{PID: 1}, day0))
		}
	}
	claim := func(next time.Time) func(s *Store, r state.Record) error {
		return func(s *Store, r state.Record) error {
			_, err := s.Claim(ctx, r.Task.ID, day0, next, state.Ident{PID: 2}, day0)
			return err
		}
	}
	missed := state.Line{At: day0, Outcome: state.Missed}
	return []scenario{
		{"add", added(once("before")), func(s *Store, _ state.Record) error {
			_, err := s.Add(ctx, once("new"), day1)
			return err
		}},
		{"claim once", added(once("n")), claim(time.Time{})},
		{"claim daily", added(daily("n")), claim(day1)},
		{"claim a message", added(state.Task{Text: "m", Created: day0, When: once("").When}), claim(time.Time{})},
		{"skip", added(daily("n")), func(s *Store, r state.Record) error { return s.Skip(ctx, r.Task.ID, day0, day1, missed) }},
		{"skip the last", added(daily("n")), func(s *Store, r state.Record) error { return s.Skip(ctx, r.Task.ID, day0, time.Time{}, missed) }},
		{"end once", claimed(once("n"), time.Time{}), func(s *Store, r state.Record) error {
			return s.End(ctx, r, state.Line{At: day0, Outcome: state.OK})
		}},
		{"end the second", func(t *testing.T, s *Store) state.Record {
			r := claimed(daily("n"), day1)(t, s)
			if err := s.End(ctx, r, state.Line{At: day0, Outcome: state.OK}); err != nil {
				t.Fatal(err)
			}
			return must[state.Record](t)(s.Claim(ctx, r.Task.ID, day1, day2, state.Ident{PID: 1}, day1))
		}, func(s *Store, r state.Record) error {
			return s.End(ctx, r, state.Line{At: day1, Outcome: state.Failed})
		}},
		{"remove", added(daily("n")), func(s *Store, r state.Record) error {
			_, err := s.Remove(ctx, r.Task.ID, day0)
			return err
		}},
		{"remove what runs", claimed(once("n"), time.Time{}), func(s *Store, r state.Record) error {
			_, err := s.Remove(ctx, r.Task.ID, day0)
			return err
		}},
		{"move", added(daily("n")), func(s *Store, r state.Record) error { return s.Move(ctx, r.Task.ID, day0, day1, day0) }},
		{"move back", added(daily("n")), func(s *Store, r state.Record) error {
			return s.Move(ctx, r.Task.ID, day0, day0.Add(-time.Hour), day0)
		}},
		{"restore", func(t *testing.T, s *Store) state.Record {
			r := added(daily("n"))(t, s)
			must[state.Entry](t)(s.Remove(ctx, r.Task.ID, day0))
			return r
		}, func(s *Store, r state.Record) error {
			_, err := s.Restore(ctx, r.Task.ID, day1, day0)
			return err
		}},
	}
}()

// dump is everything a user can see, but for the order of IDs and when a line was written.
func dump(t *testing.T, s *Store) string {
	t.Helper()
	var b strings.Builder
	list, problems, err := s.List(ctx)
	if err != nil || len(problems) > 0 {
		t.Errorf("list: %v %v", problems, err)
	}
	for _, e := range list {
		fmt.Fprintf(&b, "%s %s %s %+v open %d\n", e.Task.Description, e.Phase, e.Due.Format(stamp), e.Tally, len(e.Open))
	}
	open, problems, err := s.Open(ctx)
	if err != nil || len(problems) > 0 {
		t.Errorf("open: %v %v", problems, err)
	}
	for _, r := range open {
		fmt.Fprintf(&b, "open %s %d %s\n", r.Task.Description, r.Number, r.Due.Format(stamp))
	}
	problems, err = s.Log(ctx, "", func(l state.Line) bool {
		fmt.Fprintf(&b, "%s %s %d %s %s %v\n", l.Type, l.Event, l.Number, l.Outcome, l.Description, l.Due)
		return true
	})
	if err != nil {
		t.Errorf("log: %v", err)
	}
	for _, p := range problems {
		if !strings.Contains(p.Error(), "cut short") {
			t.Errorf("log: %v", p)
		}
	}
	return b.String()
}

// settle is a writer that does nothing but finish what others left.
func settle(t *testing.T, s *Store) {
	t.Helper()
	turn, err := s.begin(ctx)
	if err != nil {
		t.Fatal(err)
	}
	turn.done()
}

func copyTree(t *testing.T, from string) string {
	t.Helper()
	to := filepath.Join(t.TempDir(), "state")
	if err := os.CopyFS(to, os.DirFS(from)); err != nil {
		t.Fatal(err)
	}
	err := filepath.WalkDir(to, func(path string, d os.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			err = os.Chmod(path, 0o700)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return to
}

// world is a prepared store, and what can be seen before and after the operation.
func (c scenario) world(t *testing.T) (dir string, r state.Record, before, after string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "state")
	s := open(t, dir)
	r = c.prepare(t, s)
	before = dump(t, s)
	done := open(t, copyTree(t, dir))
	if err := c.op(done, r); err != nil {
		t.Fatal(err)
	}
	return dir, r, before, dump(t, done)
}

// TestCrashAtEachStep lets the process die at every step of every operation, also in the middle of a write: the
// operation has happened whole or not at all, nothing stays half done for the next, and it can be done again.
func TestCrashAtEachStep(t *testing.T) {
	steps := 0
	for _, c := range scenarios {
		t.Run(c.name, func(t *testing.T) {
			dir, r, before, after := c.world(t)
			for at, half := 1, false; ; half = !half {
				d := &faultDisk{disk: osDisk{}, at: at, crash: true, half: half, err: errCrash}
				broken := copyTree(t, dir)
				dying, err := Open(broken, Options{disk: d})
				if err != nil {
					t.Fatal(err)
				}
				err = c.op(dying, r)
				if !d.hit {
					break
				}
				steps++
				s := open(t, broken)
				seen := dump(t, s) // a reader that comes before any writer is not harmed
				settle(t, s)
				got := dump(t, s)
				where := fmt.Sprintf("step %d, half %v, error %v", at, half, err)
				if got != before && got != after {
					t.Fatalf("%s\nseen at once\n%s\nthen\n%s\nbefore\n%s\nafter\n%s", where, seen, got, before, after)
				}
				if err == nil && got != after {
					t.Errorf("%s: acknowledged and not done\n%s", where, got)
				}
				err = c.op(s, r)
				if got == before {
					if again := dump(t, s); err != nil || again != after {
						t.Errorf("%s: done again: %v\n%s\nwant\n%s", where, err, again, after)
					}
				} else if c.name != "add" && !errors.Is(err, state.ErrTaken) && !errors.Is(err, state.ErrEnded) {
					t.Errorf("%s: done twice: %v", where, err)
				}
				clean(t, s)
				if half {
					at++
				}
			}
		})
	}
	t.Logf("%d crashes in %d operations", steps, len(scenarios))
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
	for _, dir := range []string{queueDir, endedDir, removedDir, pausedDir, keysDir, runsDir, openDir, tallyDir} {
		names, _ := readNames(s.path(dir))
		for _, n := range names {
			if strings.HasPrefix(n, tempPrefix) {
				t.Errorf("%s/%s was left", dir, n)
			}
		}
	}
}

// TestFailAtEachStep lets the disk refuse every step of every operation once: with an error nothing has happened,
// unless only the last sync failed; and the same process can go on.
func TestFailAtEachStep(t *testing.T) {
	for _, refusal := range []error{syscall.ENOSPC, fmt.Errorf("%w: %w", errSync, syscall.EIO)} {
		for _, c := range scenarios {
			t.Run(c.name+" "+refusal.Error(), func(t *testing.T) {
				dir, r, before, after := c.world(t)
				for at := 1; ; at++ {
					d := &faultDisk{disk: osDisk{}, at: at, err: refusal}
					broken := copyTree(t, dir)
					s, err := Open(broken, Options{disk: d})
					if err != nil {
						t.Fatal(err)
					}
					err = c.op(s, r)
					if !d.hit {
						break
					}
					got := dump(t, s)
					switch {
					case err == nil && got != after:
						t.Errorf("step %d: acknowledged and not done\n%s\nwant\n%s", at, got, after)
					case err != nil && !errors.Is(err, state.ErrUnusable):
						t.Errorf("step %d: %v", at, err)
					case err != nil && got != before && got != after:
						t.Errorf("step %d: %v, and half done\n%s\nbefore\n%s\nafter\n%s", at, err, got, before, after)
					case err != nil && got == after && d.kind != "syncDir":
						t.Errorf("step %d: %v, and done all the same", at, err)
					}
					if got == before {
						if err := c.op(s, r); err != nil || dump(t, s) != after {
							t.Errorf("step %d: done again: %v\n%s\nwant\n%s", at, err, dump(t, s), after)
						}
					}
				}
			})
		}
	}
}

// TestIDsAfterCrashes adds among crashes at every step: no ID comes twice.
func TestIDsAfterCrashes(t *testing.T) {
	dir := t.TempDir()
	var given []string
	add := func(s *Store) {
		if e, err := s.Add(ctx, once("n"), day0); err == nil {
			given = append(given, e.Task.ID)
			if _, err := s.Remove(ctx, e.Task.ID, day0); err == nil {
				os.Remove(s.path(removedDir + "/" + name{day0.Format(stamp), e.Task.ID, day0.Format(stamp)}.file())) // pruned
			}
		}
	}
	for at := 1; at < 20; at++ {
		dying, err := Open(dir, Options{disk: &faultDisk{disk: osDisk{}, at: at, crash: true, half: true, err: errCrash}})
		if err != nil {
			t.Fatal(err)
		}
		add(dying)
		switch at % 3 { // either source of the count may be lost
		case 0:
			os.Remove(filepath.Join(dir, counterFile))
		case 1:
			os.WriteFile(filepath.Join(dir, counterFile), []byte("\x00\x00"), 0o600)
		}
		add(open(t, dir))
	}
	if len(given) < 19 {
		t.Fatalf("only %d IDs were given", len(given))
	}
	last := given[len(given)-1]
	os.Remove(filepath.Join(dir, counterFile))
	os.Remove(filepath.Join(dir, ledgerFile))
	os.MkdirAll(filepath.Join(dir, outputDir, last), 0o700) // all that is left of it
	add(open(t, dir))
	slices.Sort(given)
	if all := len(given); len(slices.Compact(given)) != all {
		t.Errorf("an ID was given twice: %v", given)
	}
}
