package files

import (
	"errors"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/state/files/ledger"
)

// noLinks is a file system on which a file has one name.
type noLinks struct{ disk }

func (noLinks) link(string, string) error { return syscall.EPERM }

// rotating is an operation that finds the ledger large.
func rotating(op func(*Store, state.Record) error) func(*Store, state.Record) error {
	return func(s *Store, r state.Record) error {
		s.partMost = 1
		return op(s, r)
	}
}

// linkless is rotating where a file has one name.
func linkless(op func(*Store, state.Record) error) func(*Store, state.Record) error {
	return func(s *Store, r state.Record) error {
		real := s.disk
		s.disk = noLinks{real}
		defer func() { s.disk = real }()
		return rotating(op)(s, r)
	}
}

func init() {
	prepare := func(t *testing.T, s *Store) state.Record {
		s.partMost = 1 // so that there are parts already
		e := must[state.Entry](t)(s.Add(ctx, keyed(daily("n"), key), day0))
		must[state.Entry](t)(s.Add(ctx, once("two"), day0))
		return must[state.Record](t)(s.Claim(ctx, e.Task.ID, day0, day1, state.Ident{PID: 1}, day0))
	}
	add := func(s *Store, _ state.Record) error { _, err := s.Add(ctx, once("new"), day1); return err }
	end := func(s *Store, r state.Record) error { return s.End(ctx, r, state.Line{At: r.Due, Outcome: state.OK}) }
	remove := func(s *Store, r state.Record) error { _, err := s.Remove(ctx, r.Task.ID, day0); return err }
	again, gone := []error{nil}, []error{state.ErrTaken, state.ErrEnded}
	scenarios = append(scenarios,
		scenario{name: "add and rotate", prepare: prepare, op: rotating(add), twice: again},
		scenario{name: "add and rotate without links", prepare: prepare, op: linkless(add), twice: again},
		scenario{name: "end and rotate", prepare: prepare, op: rotating(end), twice: gone},
		scenario{name: "end and rotate without links", prepare: prepare, op: linkless(end), twice: gone},
		scenario{name: "remove and rotate", prepare: prepare, op: rotating(remove), twice: gone},
		scenario{name: "add after the ledger was removed", twice: again, op: add, prepare: func(t *testing.T, s *Store) state.Record {
			r := prepare(t, s)
			s.partMost = partMost
			if err := os.Remove(s.path(ledgerFile)); err != nil {
				t.Fatal(err)
			}
			return r
		}},
	)
}

// small opens a store whose ledger is rotated after so many bytes.
func small(t testing.TB, dir string, most int64) *Store {
	t.Helper()
	return must[*Store](t)(Open(dir, Options{PartMost: most, disk: lazyDisk{}}))
}

// logged are the lines of the ledger, newest first, as short texts.
func logged(t testing.TB, s *Store, id string) (list []string) {
	t.Helper()
	_, problems, err := s.Log(ctx, id, func(l state.Line) bool {
		list = append(list, fmt.Sprintf("%s %s%s %d", l.TaskID, l.Event, l.Outcome, l.Number))
		return true
	})
	if err != nil || len(problems) > 0 {
		t.Fatal(problems, err)
	}
	return list
}

// TestRotation: the log is the same in one file and in many, tallies are counted anew across them, and IDs go on.
func TestRotation(t *testing.T) {
	work := func(s *Store) {
		e := must[state.Entry](t)(s.Add(ctx, daily("n"), day0))
		for i := range 40 {
			due := day0.AddDate(0, 0, i)
			r := must[state.Record](t)(s.Claim(ctx, e.Task.ID, due, due.AddDate(0, 0, 1), state.Ident{}, due))
			if err := s.End(ctx, r, state.Line{At: due, Outcome: state.OK}); err != nil {
				t.Fatal(err)
			}
			must[state.Entry](t)(s.Add(ctx, once("beside"), day0))
		}
	}
	whole, many := open(t, t.TempDir()), small(t, t.TempDir(), 2000)
	work(whole)
	work(many)
	parts := must[[]int](t)(many.ledger.Parts())
	if len(parts) < 5 {
		t.Fatalf("only %d parts", len(parts))
	}
	for _, id := range []string{"", firstID, secondID} {
		if a, b := logged(t, whole, id), logged(t, many, id); !slices.Equal(a, b) || len(a) == 0 {
			t.Errorf("in one file %d lines, in many %d", len(a), len(b))
		}
	}
	for _, p := range parts {
		if info := must[os.FileInfo](t)(os.Lstat(many.path(runsDir + "/" + ledger.PartName(p)))); info.Size() < 2000 || info.Size() > 4000 {
			t.Errorf("part %d has %d bytes", p, info.Size())
		}
	}
	tallies := func(s *Store) state.Tally { return must[[]state.Entry](t)(s.Find(ctx, firstID))[0].Tally }
	before := tallies(many)
	if err := os.WriteFile(many.path(tallyPlace(firstID)), []byte("damaged"), 0o600); err != nil {
		t.Fatal(err)
	}
	if after := tallies(many); !reflect.DeepEqual(after, before) || after.Number != 40 || after.Fired != 40 {
		t.Errorf("counted anew %+v, was %+v", after, before)
	}
	for range 3 { // with less and less to tell how many IDs were given
		last := must[[]int](t)(many.ledger.Parts())
		os.Remove(many.path(ledgerFile))
		e := must[state.Entry](t)(many.Add(ctx, once("after"), day0))
		if n, _ := state.IDNumber(e.Task.ID); n < 41 {
			t.Errorf("ID number %d was given again", n)
		}
		must[state.Entry](t)(many.Remove(ctx, e.Task.ID, day0))
		os.Remove(many.path(removedDir + "/" + name{day0.Format(stamp), e.Task.ID, day0.Format(stamp)}.file()))
		os.Remove(many.path(commitsFile))
		if now := must[[]int](t)(many.ledger.Parts()); !slices.Equal(now, last) {
			t.Errorf("parts %v, were %v", now, last)
		}
		many = small(t, many.Dir(), partMost)
	}
	if list := logged(t, many, ""); len(list) < 70 {
		t.Errorf("%d lines are left when the last file was removed", len(list))
	}
}

// TestRotationByOthers: a handle goes on in the new file of the ledger that another one has begun.
func TestRotationByOthers(t *testing.T) {
	dir := t.TempDir()
	a, b := small(t, dir, partMost), small(t, dir, 1)
	for i := range 20 {
		at := day0.AddDate(0, 0, i)
		must[state.Entry](t)(a.Add(ctx, once("a"), at))
		must[state.Entry](t)(b.Add(ctx, once("b"), at))
	}
	must[state.Entry](t)(a.Remove(ctx, firstID, day0))
	for _, s := range []*Store{a, b} {
		if end := must[ledger.Tail](t)(s.ledger.Tail()); end.Last.Event != state.EventRemoved || end.Torn > 0 {
			t.Errorf("the end of the ledger is %+v", end)
		}
		if n := len(logged(t, s, "")); n != 41 {
			t.Errorf("%d lines", n)
		}
	}
	if parts := must[[]int](t)(a.ledger.Parts()); len(parts) < 19 {
		t.Errorf("the parts are %v", parts)
	}
}

// TestDamagedParts: a file of the ledger that is gone, damaged or a stranger harms no line of the others.
func TestDamagedParts(t *testing.T) {
	fill := func(t *testing.T) (*Store, []int) {
		s := small(t, t.TempDir(), 1500)
		for i := range 30 {
			must[state.Entry](t)(s.Add(ctx, once("n"), day0.AddDate(0, 0, i)))
		}
		return s, must[[]int](t)(s.ledger.Parts())
	}
	count := func(t *testing.T, s *Store) (n int, problems []state.Problem) {
		seen := map[string]bool{}
		_, problems, err := s.Log(ctx, "", func(l state.Line) bool {
			if seen[l.TaskID] {
				t.Errorf("%s comes twice", l.TaskID)
			}
			seen[l.TaskID] = true
			n++
			return true
		})
		if err != nil {
			t.Error(err)
		}
		return n, problems
	}
	t.Run("the oldest are pruned", func(t *testing.T) {
		s, parts := fill(t)
		os.Remove(s.path(runsDir + "/" + ledger.PartName(parts[0])))
		if n, p := count(t, s); n >= 30 || n < 20 || len(p) > 0 {
			t.Error(n, p)
		}
	})
	t.Run("a first line is damaged", func(t *testing.T) {
		for _, name := range []string{ledger.Name, ledger.PartName(3)} {
			s, _ := fill(t)
			data := must[[]byte](t)(os.ReadFile(s.path(runsDir + "/" + name)))
			copy(data, "xxxxxxxx")
			os.WriteFile(s.path(runsDir+"/"+name), data, 0o600)
			if n, p := count(t, s); n != 30 || len(p) != 1 {
				t.Error(name, n, p)
			}
		}
	})
	t.Run("a link stands for one", func(t *testing.T) {
		s, parts := fill(t)
		path := s.path(runsDir + "/" + ledger.PartName(parts[2]))
		os.Rename(path, path+".away")
		os.Symlink(path+".away", path)
		if n, p := count(t, s); n >= 30 || n < 20 || len(p) != 1 {
			t.Error(n, p)
		}
	})
	t.Run("one is a stranger", func(t *testing.T) {
		s, parts := fill(t)
		last := parts[len(parts)-1]
		data := must[[]byte](t)(os.ReadFile(s.path(runsDir + "/" + ledger.PartName(last))))
		os.WriteFile(s.path(runsDir+"/"+ledger.PartName(last+1)), data, 0o600)
		if n, p := count(t, s); n != 30 || len(p) > 0 {
			t.Error(n, p)
		}
		s.partMost = 1
		must[state.Entry](t)(s.Add(ctx, once("n"), day0))
		if n, p := count(t, s); n != 31 || len(p) > 0 {
			t.Error("after the next rotation", n, p)
		}
		if got := must[[]byte](t)(os.ReadFile(s.path(runsDir + "/" + ledger.PartName(last+1)))); string(got) != string(data) {
			t.Error("the stranger was written over")
		}
	})
	t.Run("the last line of one is torn", func(t *testing.T) {
		s, parts := fill(t)
		path := s.path(runsDir + "/" + ledger.PartName(parts[1]))
		data := must[[]byte](t)(os.ReadFile(path))
		os.WriteFile(path, data[:len(data)-5], 0o600)
		if n, p := count(t, s); n != 29 || len(p) != 1 || !strings.Contains(p[0].Error(), ledger.PartName(parts[1])) {
			t.Error(n, p)
		}
	})
}

// TestTornAndRotated: a torn last line is cut off and reported before the ledger goes on in a new file.
func TestTornAndRotated(t *testing.T) {
	dir := t.TempDir()
	must[state.Entry](t)(small(t, dir, partMost).Add(ctx, once("n"), day0))
	f := must[*os.File](t)(os.OpenFile(dir+"/"+ledgerFile, os.O_WRONLY|os.O_APPEND, 0))
	f.WriteString(`{"type":"task","at":"2026`)
	f.Close()
	var told []state.Problem
	s := must[*Store](t)(Open(dir, Options{PartMost: 1, disk: lazyDisk{}, Report: func(p state.Problem) { told = append(told, p) }}))
	must[state.Entry](t)(s.Add(ctx, once("n"), day0))
	if len(told) != 1 || !strings.Contains(told[0].Error(), "cut short") {
		t.Errorf("told %v", told)
	}
	if list := logged(t, s, ""); len(list) != 2 {
		t.Errorf("lines %v", list)
	}
}

// TestRotationRefused: a change is made also when the ledger cannot be rotated, nothing is left of the attempt, and it is not
// tried again at every change.
func TestRotationRefused(t *testing.T) {
	for _, links := range []bool{true, false} {
		dir := t.TempDir()
		settle(t, lazy(t, dir, nil)) // there is a log of commits
		full := &fullDisk{disk: lazyDisk{}}
		var d disk = full
		if !links {
			d = noLinks{full}
		}
		s := must[*Store](t)(Open(dir, Options{PartMost: 1000, disk: d}))
		for range 20 {
			must[state.Entry](t)(s.Add(ctx, once("n"), day0))
		}
		if parts := must[[]int](t)(s.ledger.Parts()); len(parts) != 0 {
			t.Errorf("links %v: parts %v", links, parts)
		}
		if full.refused < 3 || full.refused > 60 {
			t.Errorf("links %v: %d attempts", links, full.refused)
		}
		full.has = true
		must[state.Entry](t)(s.Add(ctx, once("n"), day0))
		must[state.Entry](t)(s.Add(ctx, once("n"), day0))
		if parts := must[[]int](t)(s.ledger.Parts()); len(parts) != 1 {
			t.Errorf("links %v: parts %v when there is room", links, parts)
		}
		clean(t, s)
		if list := logged(t, s, ""); len(list) != 22 {
			t.Errorf("links %v: %d lines", links, len(list))
		}
	}
}

// fullDisk has no room for a new file of the ledger.
type fullDisk struct {
	disk
	has     bool
	refused int
}

func (d *fullDisk) create(path string, data []byte) error {
	if !d.has && strings.Contains(path, "/"+runsDir+"/"+tempPrefix) {
		d.refused++
		return syscall.ENOSPC
	}
	return d.disk.create(path, data)
}

// TestAfter: whoever follows the ledger gets each line once and in order, however it is rotated meanwhile.
func TestAfter(t *testing.T) {
	for _, most := range []int64{partMost, 2000, 1} {
		for _, every := range []int{1, 3, 17} {
			s := small(t, t.TempDir(), most)
			var at state.Place
			var got, want []string
			for i := range 60 {
				want = append(want, must[state.Entry](t)(s.Add(ctx, once("n"), day0)).Task.ID)
				if i%every > 0 && i < 59 {
					continue
				}
				next, problems, err := s.After(ctx, "", at, func(l state.Line) bool {
					got = append(got, l.TaskID)
					return true
				})
				if err != nil || len(problems) > 0 {
					t.Fatal(problems, err)
				}
				again, _, err := s.After(ctx, "", next, func(l state.Line) bool { t.Error("again:", l.TaskID); return true })
				if err != nil || again != next && again.Offset == 0 {
					t.Fatal(again, next, err)
				}
				at = must[state.Place](t)(state.ParsePlace(next.String()))
			}
			if !slices.Equal(got, want) {
				t.Errorf("rotated after %d, read every %d: %d lines of %d", most, every, len(got), len(want))
			}
			end, _, err := s.Log(ctx, "", func(state.Line) bool { return false })
			if err != nil || end != at {
				t.Errorf("the end is %v, and followed to %v: %v", end, at, err)
			}
		}
	}
}

// TestAfterOneByOne: it can be stopped after any line, and goes on after it.
func TestAfterOneByOne(t *testing.T) {
	s := small(t, t.TempDir(), 1500)
	for range 20 {
		must[state.Entry](t)(s.Add(ctx, once("n"), day0))
	}
	want := logged(t, s, "")
	slices.Reverse(want)
	var got []string
	for at, before := (state.Place{}), -1; before < len(got); {
		before = len(got)
		next, problems, err := s.After(ctx, "", at, func(l state.Line) bool {
			got = append(got, fmt.Sprintf("%s %s%s %d", l.TaskID, l.Event, l.Outcome, l.Number))
			return false
		})
		if err != nil || len(problems) > 0 {
			t.Fatal(problems, err)
		}
		at = next
	}
	if !slices.Equal(got, want) {
		t.Errorf("%d lines of %d", len(got), len(want))
	}
}

// TestAfterALoss: places that the ledger does not have are told, and following goes on.
func TestAfterALoss(t *testing.T) {
	s := small(t, t.TempDir(), 1500)
	for range 20 {
		must[state.Entry](t)(s.Add(ctx, once("n"), day0))
	}
	os.Remove(s.path(runsDir + "/" + ledger.PartName(1)))
	n := 0
	at, problems, err := s.After(ctx, "", state.Place{Part: 1, Offset: 10}, func(state.Line) bool { n++; return true })
	if err != nil || len(problems) != 1 || !errors.Is(problems[0].Err, ledger.ErrGap) || n < 10 || n == 20 {
		t.Errorf("a part that was pruned: %d lines, %v, %v", n, problems, err)
	}
	for _, beyond := range []state.Place{{Part: at.Part, Offset: at.Offset + 1000}, {Part: at.Part + 5}} {
		back, problems, err := s.After(ctx, "", beyond, func(state.Line) bool { t.Error("a line beyond the end"); return true })
		if err != nil || len(problems) > 0 || back != at {
			t.Errorf("%v: %v %v %v, the end is %v", beyond, back, problems, err, at)
		}
	}
	f := must[*os.File](t)(os.OpenFile(s.path(ledgerFile), os.O_WRONLY|os.O_APPEND, 0))
	f.WriteString(`{"type":"task`)
	f.Close()
	if again, _, err := s.After(ctx, "", at, func(state.Line) bool { t.Error("half a line"); return true }); again != at || err != nil {
		t.Error(again, err)
	}
	if end, problems, err := s.Log(ctx, "", func(state.Line) bool { return false }); end != at || len(problems) != 1 || err != nil {
		t.Error(end, problems, err)
	}
	settle(t, s)
	id := must[state.Entry](t)(s.Add(ctx, once("n"), day0)).Task.ID
	if _, _, err := s.After(ctx, "", at, func(l state.Line) bool { return l.TaskID == id || t.Failed() }); err != nil {
		t.Error(err)
	}
}

// TestFollowAmongWriters: while several write and rotate, who follows gets what the log has in the end, in order and once.
func TestFollowAmongWriters(t *testing.T) {
	dir := t.TempDir()
	var wg sync.WaitGroup
	for range 4 {
		s := small(t, dir, 2500)
		wg.Go(func() {
			for range 60 {
				if _, err := s.Add(ctx, once("n"), day0); err != nil {
					t.Error(err)
				}
			}
		})
	}
	done := make(chan struct{})
	go func() { wg.Wait(); close(done) }()
	s := small(t, dir, partMost)
	c := must[<-chan struct{}](t)(s.WatchLog(t.Context(), ""))
	var got []string
	look := func(at state.Place) state.Place {
		next, problems, err := s.After(ctx, "", at, func(l state.Line) bool {
			got = append(got, fmt.Sprintf("%s %s%s %d", l.TaskID, l.Event, l.Outcome, l.Number))
			return true
		})
		if err != nil || len(problems) > 0 {
			t.Error(problems, err)
		}
		return next
	}
	at, over := state.Place{}, false
	for !over {
		select {
		case <-done:
			over = true
		case <-c:
		}
		at = look(at)
	}
	want := logged(t, s, "")
	slices.Reverse(want)
	if !slices.Equal(got, want) || len(got) != 240 {
		t.Errorf("%d lines of %d", len(got), len(want))
	}
}
