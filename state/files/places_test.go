package files

import (
	"errors"
	"os"
	"testing"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
)

// TestNotedPlaceIsAHint changes tasks after another handle has moved, changed or removed them since they were listed.
func TestNotedPlaceIsAHint(t *testing.T) {
	dir := t.TempDir()
	s, other := open(t, dir), open(t, dir)
	var ids []string
	for i := range 4 {
		ids = append(ids, must[state.Entry](t)(s.Add(ctx, once("n"), day1.Add(time.Duration(i)*time.Minute))).Task.ID)
	}
	list, _, err := s.List(ctx)
	if err != nil || len(list) != 4 || len(s.places) != 4 {
		t.Fatal(list, err, s.places)
	}
	// The first is moved, the second paused, the third removed.
	if err := other.Move(ctx, ids[0], list[0].Due, day2, day0); err != nil {
		t.Fatal(err)
	}
	must[state.Entry](t)(other.Pause(ctx, ids[1], time.Time{}, day0))
	must[state.Entry](t)(other.Remove(ctx, ids[2], day0))
	if e, err := s.Pause(ctx, ids[0], day1, day0); err != nil || !e.Due.Equal(day2) || !e.Held {
		t.Error(e, err)
	}
	if e, err := s.Resume(ctx, ids[1], day0); err != nil || e.Held {
		t.Error(e, err)
	}
	if _, err := s.Pause(ctx, ids[2], time.Time{}, day0); !errors.Is(err, state.ErrEnded) {
		t.Error(err)
	}
	// The last is where it was, and again after it has been paused by this handle.
	must[state.Entry](t)(s.Pause(ctx, ids[3], time.Time{}, day0))
	if f, ok := s.places[ids[3]]; !ok || f.dir != pausedDir {
		t.Error("where it went is not known", f)
	}
	must[state.Entry](t)(s.Resume(ctx, ids[3], day0))
	if e, err := s.Remove(ctx, ids[3], day0); err != nil || e.Phase != state.Removed {
		t.Error(e, err)
	}
	clean(t, s)
}

// TestNotedPlaceOfATaskWithTwoFiles has a copy of a task made by hand: nothing is noted, and the file that counts is changed.
func TestNotedPlaceOfATaskWithTwoFiles(t *testing.T) {
	s := open(t, t.TempDir())
	e := must[state.Entry](t)(s.Add(ctx, once("n"), day1))
	from := queueDir + "/" + name{due: e.Due.Format(stamp), id: e.Task.ID}.queue()
	data, err := os.ReadFile(s.path(from))
	if err != nil {
		t.Fatal(err)
	}
	later := queueDir + "/" + name{due: day2.Format(stamp), id: e.Task.ID}.queue()
	if err := os.WriteFile(s.path(later), data, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, problems, err := s.List(ctx); err != nil || len(problems) != 1 || len(s.places) != 0 {
		t.Error(problems, err, s.places)
	}
	must[[]state.Entry](t)(s.Find(ctx, e.Task.ID))
	if len(s.places) != 0 {
		t.Error(s.places)
	}
	if e, err := s.Pause(ctx, e.Task.ID, time.Time{}, day0); err != nil || !e.Due.Equal(day2) {
		t.Error(e.Due, err)
	}
}

// TestNotedPlacesAreForgotten by a handle that finishes what another writer was cut off in.
func TestNotedPlacesAreForgotten(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	e := must[state.Entry](t)(s.Add(ctx, once("n"), day1))
	if _, _, err := s.List(ctx); err != nil || len(s.places) != 1 {
		t.Fatal(err, s.places)
	}
	other := open(t, dir)
	if err := other.Move(ctx, e.Task.ID, e.Due, day2, day0); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(s.path(counterFile)); err != nil { // nobody knows any more that this was finished
		t.Fatal(err)
	}
	turn, err := s.begin(ctx)
	if err != nil {
		t.Fatal(err)
	}
	turn.done()
	if len(s.places) != 0 {
		t.Error(s.places)
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
