package files

import (
	"errors"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
)

// TestChangedByAnotherHandle changes tasks after another handle has moved, changed or removed them since they were listed.
func TestChangedByAnotherHandle(t *testing.T) {
	dir := t.TempDir()
	s, other := open(t, dir), open(t, dir)
	var ids []string
	for i := range 4 {
		ids = append(ids, must[state.Entry](t)(s.Add(ctx, once("n"), day1.Add(time.Duration(i)*time.Minute))).Task.ID)
	}
	list, _, err := state.All(ctx, s)
	if err != nil || len(list) != 4 {
		t.Fatal(list, err)
	}
	// The first is moved, the second paused, the third removed.
	if err := other.Move(ctx, ids[0], list[0].Due, day2, day0); err != nil {
		t.Fatal(err)
	}
	must[state.Entry](t)(other.Pause(ctx, ids[1], time.Time{}, day0))
	must[state.Entry](t)(other.Remove(ctx, ids[2], day0))
	// Where a task was is a hint: it is found where it is now.
	for i, id := range ids {
		hinted := s.Apply(ctx, state.Change{ID: id, Due: list[i].Due, Now: day0, Rule: func(d state.Doc) (state.Doc, []state.Line, error) { return d, nil, nil }})[0]
		want := must[[]state.Entry](t)(s.Find(ctx, id))[0]
		if got := hinted.Doc.Entry(); hinted.Err != nil || !got.Due.Equal(want.Due) || got.Phase != want.Phase || got.Held != want.Held {
			t.Errorf("with a hint %s is %+v %v, and it is %+v", id, got, hinted.Err, want)
		}
	}
	if _, err := s.Claim(ctx, ids[0], list[0].Due, time.Time{}, state.Ident{}, day0); !errors.Is(err, state.ErrTaken) {
		t.Errorf("claimed at the instant that it had: %v", err)
	}
	if e, err := s.Pause(ctx, ids[0], day1, day0); err != nil || !e.Due.Equal(day2) || !e.Held {
		t.Error(e, err)
	}
	if e, err := s.Resume(ctx, ids[1], day0); err != nil || e.Held {
		t.Error(e, err)
	}
	if _, err := s.Pause(ctx, ids[2], time.Time{}, day0); !errors.Is(err, state.ErrEnded) {
		t.Error(err)
	}
	must[state.Entry](t)(s.Pause(ctx, ids[3], time.Time{}, day0))
	must[state.Entry](t)(s.Resume(ctx, ids[3], day0))
	if e, err := s.Remove(ctx, ids[3], day0); err != nil || e.Phase != state.Removed {
		t.Error(e, err)
	}
	clean(t, s)
}

// TestChangeOfATaskWithTwoFiles has a copy of a task made by hand: the file that counts is changed, also in a transaction of many.
func TestChangeOfATaskWithTwoFiles(t *testing.T) {
	for _, many := range []bool{false, true} {
		s := open(t, t.TempDir())
		e := must[state.Entry](t)(s.Add(ctx, once("n"), day1))
		beside := must[state.Entry](t)(s.Add(ctx, once("beside"), day1))
		data := must[[]byte](t)(os.ReadFile(s.PathOf(e)))
		later := queueDir + "/" + name{due: day2.Format(stamp), id: e.Task.ID}.queue()
		if err := os.WriteFile(s.path(later), data, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, problems, err := state.All(ctx, s); err != nil || len(problems) != 1 {
			t.Error(problems, err)
		}
		ids := []string{e.Task.ID}
		if many {
			ids = []string{beside.Task.ID, e.Task.ID}
		}
		for _, c := range pauseAll(ctx, s, ids, time.Time{}, day0) {
			if c.Err != nil || c.Doc.Task.ID == e.Task.ID && !c.Doc.Due.Equal(day2) {
				t.Errorf("many %v: %v %v", many, c.Doc.Due, c.Err)
			}
		}
		if got := must[[]state.Entry](t)(s.Find(ctx, e.Task.ID))[0]; many && !got.Held && !got.Due.Equal(day2) {
			t.Errorf("then it is %+v", got)
		}
	}
}

// TestManyHandles: several handles of one folder, each of which has been used before, see at once what the others have committed, and their IDs,
// numbers and lines go on from there.
func TestManyHandles(t *testing.T) {
	dir := scratch(t)
	var all []*Store
	for range 3 {
		all = append(all, lazy(t, dir, nil))
	}
	all[2].commitsMost = 2000 // one empties the log now and then
	id := must[state.Entry](t)(all[0].Add(ctx, keyed(daily("n"), key), day0)).Task.ID
	given := map[string]bool{id: true}
	for i := range 30 {
		s, next := all[i%3], all[(i+1)%3]
		due := day0.AddDate(0, 0, i)
		r := must[state.Record](t)(s.Claim(ctx, id, due, due.AddDate(0, 0, 1), state.Ident{}, due))
		if r.Number != i+1 {
			t.Errorf("the %d. has number %d", i+1, r.Number)
		}
		e := must[state.Entry](t)(next.Add(ctx, once(fmt.Sprint(i)), due))
		if given[e.Task.ID] {
			t.Errorf("%s is given twice", e.Task.ID)
		}
		given[e.Task.ID] = true
		if err := next.End(ctx, r, state.Line{At: due, Outcome: state.OK}); err != nil {
			t.Error(err)
		}
		if kept, err := s.Add(ctx, keyed(once("other"), key), due); !errors.Is(err, state.ErrKept) || kept.Tally.Number != i+1 {
			t.Errorf("the key is %+v %v", kept, err)
		}
		if i%10 == 9 {
			if err := s.Sync(ctx); err != nil {
				t.Error(err)
			}
		}
	}
	seen := dump(t, all[0])
	for _, s := range append(all[1:], rebooted(t, dir)) {
		if got := dump(t, s); got != seen {
			t.Errorf("another sees\n%s\nthan\n%s", got, seen)
		}
	}
}

// TestFinderIsFind of every ID and beginning, also after a task has moved.
func TestFinderIsFind(t *testing.T) {
	s := open(t, t.TempDir())
	var all []state.Entry
	for i := range 5 {
		all = append(all, must[state.Entry](t)(s.Add(ctx, once("n"), day1.Add(time.Duration(i)*time.Minute))))
	}
	search, err := s.Finder(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Move(ctx, all[0].Task.ID, all[0].Due, day2, day0); err != nil {
		t.Fatal(err)
	}
	for _, e := range all {
		for _, id := range []string{e.Task.ID, e.Task.ID[:1]} {
			want := must[[]state.Entry](t)(s.Find(ctx, id))
			got, err := search(ctx, id)
			if err != nil || len(got) != len(want) || got[0].Task.ID != want[0].Task.ID || !got[0].Due.Equal(want[0].Due) {
				t.Errorf("%s: %v, %v; want %v", id, got, err, want)
			}
		}
	}
	for _, id := range []string{"", "zzzz", "?"} {
		if _, err := search(ctx, id); !errors.Is(err, state.ErrNotFound) {
			t.Errorf("%q: %v", id, err)
		}
	}
}
