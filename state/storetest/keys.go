package storetest

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
)

// keyed is a task with a key.
func keyed(t state.Task, key string) state.Task {
	t.Key = key
	return t
}

// kept adds a task whose key is taken, and wants the answer to be the task that has it.
func (b *bench) kept(key, id string) {
	b.Helper()
	e, err := b.b.Add(b.ctx, keyed(oneShot("another"), key), hour(1))
	if !errors.Is(err, state.ErrKept) || e.Task.ID != id || e.Task.Key != key {
		b.Errorf("key %.20q: %s %q, %v; want %s kept", key, e.Task.ID, e.Task.Key, err, id)
	}
	for _, st := range []state.TaskWriter{b.b, b.b.Dry(), state.Preview(b.b)} {
		if e, err := st.Holder(b.ctx, key); err != nil || e.Task.ID != id {
			b.Errorf("key %.20q is that of %s, %v; want %s", key, e.Task.ID, err, id)
		}
	}
}

func testKeys(t *testing.T, b *bench) {
	for _, key := range []string{"", "nobody's"} {
		_, err := b.b.Holder(b.ctx, key)
		b.is("the holder of a key that no task has", err, state.ErrNotFound)
	}
	for _, key := range []string{"news", "../x", "/", ".", "a\x00b", "a\nb", "☕", " ", strings.Repeat("long", 10_000)} {
		e := b.add(keyed(daily("first"), key), hour(1))
		if e.Task.Key != key || b.find(e.Task.ID).Task.Key != key {
			t.Errorf("key %.20q became %.20q", key, e.Task.Key)
		}
		b.kept(key, e.Task.ID)
	}
	for range 2 { // the empty key is nobody's
		b.add(oneShot("n"), hour(1))
	}
	n := len(b.list())
	if lines := len(b.log("")); n != 11 || lines != n {
		t.Errorf("%d tasks, %d lines", n, lines)
	}
}

// testKeyLives: the key is taken as long as the task lives, and free from then on.
func testKeyLives(t *testing.T, b *bench) {
	first := b.add(keyed(daily("first"), "k"), hour(1)).Task.ID
	b.kept("k", first)
	r := b.claim(first, hour(1), hour(25))
	b.kept("k", first)
	e, err := b.a.Pause(b.ctx, first, time.Time{}, hour(2))
	b.is("pause", err, nil)
	b.kept("k", first)
	b.end(r, state.OK)
	b.kept("k", first)
	_, err = b.a.Resume(b.ctx, first, hour(3))
	b.is("resume", err, nil)
	_, err = b.a.Update(b.ctx, keyed(e.Task, "other"), hour(26), hour(3), nil) // the key stays
	b.is("update", err, nil)
	b.kept("k", first)
	last := b.claim(first, hour(26), time.Time{})
	b.kept("k", first)
	b.end(last, state.OK)
	second := b.add(keyed(oneShot("second"), "k"), hour(30)).Task.ID
	b.kept("k", second)

	// What has ended and is run by hand does not live; whatever happens to it, the key is the
	// other's.
	manual, err := b.a.Fire(b.ctx, first, self, hour(31))
	b.is("fire", err, nil)
	b.kept("k", second)
	if _, err := b.a.Remove(b.ctx, first, hour(31)); err == nil {
		b.kept("k", second)
		got, err := b.a.Restore(b.ctx, first, hour(50), hour(31))
		if !errors.Is(err, state.ErrKept) || got.Task.ID != second {
			t.Errorf("restore with a key that is taken: %s, %v", got.Task.ID, err)
		}
		b.kept("k", second)
	}
	b.end(manual, state.OK)
	b.kept("k", second)

	_, err = b.a.Remove(b.ctx, second, hour(32))
	b.is("remove", err, nil)
	third := b.add(keyed(oneShot("third"), "k"), hour(40)).Task.ID
	got, err := b.a.Restore(b.ctx, second, hour(41), hour(33))
	if !errors.Is(err, state.ErrKept) || got.Task.ID != third {
		t.Errorf("restore with a key that is taken: %s, %v", got.Task.ID, err)
	}
	b.phase(second, state.Removed, hour(30))
	_, err = b.a.Remove(b.ctx, third, hour(34))
	b.is("remove", err, nil)
	_, err = b.a.Restore(b.ctx, second, hour(41), hour(35))
	b.is("restore with a key that is free", err, nil)
	b.kept("k", second)
	once := b.claim(second, hour(41), time.Time{})
	b.kept("k", second)
	b.is("release", b.b.Release(b.ctx, once), nil)
	b.kept("k", second)
	b.is("move", b.b.Move(b.ctx, second, hour(41), hour(42), hour(36)), nil)
	b.kept("k", second)
	b.is("skip", b.b.Skip(b.ctx, second, hour(42), hour(43), state.Line{Outcome: state.Missed}), nil)
	b.kept("k", second)
	b.is("finish", b.b.Finish(b.ctx, second, "enough", hour(44)), nil)
	b.add(keyed(oneShot("fourth"), "k"), hour(50))
}

// testKeyRace: of those that add with one key at once, exactly one makes a task, and the others are
// told which.
func testKeyRace(t *testing.T, b *bench) {
	const adders, keys = 8, 6
	type answer struct {
		key, id string
		made    bool
	}
	var mu sync.Mutex
	var answers []answer
	b.together(adders, func(a int, s state.Store) {
		var got []state.Added
		var drafts []state.Draft
		for k := range keys {
			drafts = append(drafts, state.Draft{Task: keyed(oneShot("n"), fmt.Sprint("k", k)), Due: hour(a)})
		}
		if a%4 < 2 {
			got = s.AddAll(b.ctx, drafts)
		} else {
			for _, d := range drafts {
				e, err := s.Add(b.ctx, d.Task, d.Due)
				got = append(got, state.Added{Entry: e, Err: err})
			}
		}
		mu.Lock()
		defer mu.Unlock()
		for i, r := range got {
			if r.Err != nil && !errors.Is(r.Err, state.ErrKept) {
				t.Error(r.Err)
			}
			answers = append(answers, answer{drafts[i].Task.Key, r.Entry.Task.ID, r.Err == nil})
		}
	})
	made := map[string]string{}
	for _, a := range answers {
		if a.made && made[a.key] != "" {
			t.Errorf("key %s was given to %s and %s", a.key, made[a.key], a.id)
		}
		if a.made {
			made[a.key] = a.id
		}
	}
	for _, a := range answers {
		if a.id != made[a.key] {
			t.Errorf("key %s is %s's, and somebody was told %s", a.key, made[a.key], a.id)
		}
	}
	if n := len(b.list()); n != keys || len(made) != keys {
		t.Errorf("%d tasks for %d keys", n, keys)
	}
}

// testKeyChurn: tasks with one key come and go in many hands. By the ledger, which is in the order
// in which it happened, no two of them ever lived at once.
func testKeyChurn(t *testing.T, b *bench) {
	const hands, rounds = 6, 8
	b.together(hands, func(h int, s state.Store) {
		for i := range rounds {
			e, err := s.Add(b.ctx, keyed(daily("n"), "k"), hour(1))
			if err != nil && !errors.Is(err, state.ErrKept) {
				t.Error(err)
				return
			}
			id := e.Task.ID
			switch (h + i) % 4 {
			case 0:
				_, err = s.Pause(b.ctx, id, hour(2), hour(0))
			case 1:
				var r state.Record
				if r, err = s.Claim(b.ctx, id, hour(1), time.Time{}, self, hour(1)); err == nil {
					err = s.End(b.ctx, r, line(r, state.OK))
				}
			default:
				_, err = s.Remove(b.ctx, id, hour(0))
			}
			for _, known := range []error{state.ErrTaken, state.ErrEnded} {
				if errors.Is(err, known) { // somebody else was faster
					err = nil
				}
			}
			if err != nil {
				t.Error(err)
			}
			if (h+i)%5 == 0 {
				_, err := s.Restore(b.ctx, id, hour(1), hour(0))
				for _, known := range []error{state.ErrTaken, state.ErrEnded, state.ErrKept} {
					if errors.Is(err, known) {
						err = nil
					}
				}
				if err != nil {
					t.Error(err)
				}
			}
		}
	})
	lives := ""
	lines := b.log("")
	for _, l := range slices.Backward(lines) {
		switch {
		case l.Event == state.EventCreated || l.Event == state.EventRestored:
			if lives != "" {
				t.Errorf("%s of %s while %s has the key", l.Event, l.TaskID, lives)
			}
			lives = l.TaskID
		case l.Event == state.EventRemoved && lives != l.TaskID:
			t.Errorf("%s is removed, and %q has the key", l.TaskID, lives)
		case l.Event == state.EventRemoved, l.Type == state.LineOccurrence && lives == l.TaskID:
			// a removed one's run may end later
			lives = ""
		}
	}
	var alive []string
	for _, e := range b.list(state.Pending, state.Paused, state.Running) {
		alive = append(alive, e.Task.ID)
	}
	if len(alive) > 1 || len(alive) == 1 && alive[0] != lives || len(alive) == 0 && lives != "" {
		t.Errorf("%v live, the ledger says %q", alive, lives)
	}
}

func testAddAll(t *testing.T, b *bench) {
	if got := b.a.AddAll(b.ctx, nil); len(got) != 0 {
		t.Errorf("nothing added became %v", got)
	}
	there := b.add(keyed(oneShot("there"), "there"), hour(1)).Task.ID
	bad := oneShot("bad")
	bad.Text = "caf\xe9"
	huge := oneShot("huge")
	huge.Text = strings.Repeat("x", state.TaskLimit)
	drafts := []state.Draft{
		{Task: oneShot("one"), Due: hour(1)},
		{Task: bad, Due: hour(1)},
		{Task: keyed(oneShot("two"), "k"), Due: hour(2)},
		{Task: keyed(oneShot("again"), "k"), Due: hour(3)},
		{Task: keyed(oneShot("taken"), "there"), Due: hour(3)},
		{Task: oneShot("far"), Due: time.Date(12000, 1, 1, 0, 0, 0, 0, time.UTC)},
		{Task: huge, Due: hour(1)},
		{Task: daily("three"), Due: hour(3)},
		{Task: state.Task{}, Due: hour(3)},
	}
	got := b.a.AddAll(b.ctx, drafts)
	want := []error{nil, state.ErrInvalid, nil, state.ErrKept, state.ErrKept, state.ErrInvalid, state.ErrInvalid, nil, state.ErrInvalid}
	if len(got) != len(want) {
		t.Fatalf("%d answers", len(got))
	}
	for i, w := range want {
		b.is(drafts[i].Task.Description, got[i].Err, w)
		switch {
		case w == nil:
			e := got[i].Entry
			f := b.find(e.Task.ID)
			if e.Task.Description != drafts[i].Task.Description || !e.Due.Equal(drafts[i].Due) || e.Phase != state.Pending ||
				f.Task.Description != e.Task.Description || !f.Due.Equal(e.Due) || f.Task.Revision != 1 {
				t.Errorf("draft %d: answer %+v, kept %+v", i, e, f)
			}
			if l := b.log(e.Task.ID); len(l) != 1 || l[0].Event != state.EventCreated {
				t.Errorf("draft %d: lines %+v", i, l)
			}
		case errors.Is(w, state.ErrInvalid) && got[i].Entry.Task.ID != "":
			t.Errorf("draft %d was refused and is %+v", i, got[i].Entry)
		}
	}
	if got[3].Entry.Task.ID != got[2].Entry.Task.ID || got[4].Entry.Task.ID != there {
		t.Errorf("kept %s and %s, want %s and %s", got[3].Entry.Task.ID, got[4].Entry.Task.ID, got[2].Entry.Task.ID, there)
	}
	if n := len(b.list()); n != 4 {
		t.Errorf("%d tasks, want 4", n)
	}
	if n := len(b.log("")); n != 4 {
		t.Errorf("%d lines, want 4", n)
	}
	b.kept("k", got[2].Entry.Task.ID)
	b.end(b.claim(got[0].Entry.Task.ID, hour(1), time.Time{}), state.OK)
}

// testAddMany: batches of any size, from many hands at once; every task has an ID of its own, and a
// line.
func testAddMany(t *testing.T, b *bench) {
	var mu sync.Mutex
	seen := map[string]bool{}
	sizes := []int{1, 2, 255, 256, 257, 600}
	b.together(len(sizes), func(h int, s state.Store) {
		drafts := make([]state.Draft, sizes[h])
		for i := range drafts {
			drafts[i] = state.Draft{Task: oneShot(fmt.Sprint(i)), Due: hour(i)}
		}
		got := s.AddAll(b.ctx, drafts)
		mu.Lock()
		defer mu.Unlock()
		for i, r := range got {
			if r.Err != nil || r.Entry.Task.Description != fmt.Sprint(i) || seen[r.Entry.Task.ID] {
				t.Errorf("draft %d: %+v %v, again %v", i, r.Entry.Task, r.Err, seen[r.Entry.Task.ID])
				return
			}
			seen[r.Entry.Task.ID] = true
		}
	})
	lines := map[string]int{}
	for _, l := range b.log("") {
		lines[l.TaskID]++
	}
	list := b.list()
	for _, e := range list {
		if !seen[e.Task.ID] || lines[e.Task.ID] != 1 {
			t.Errorf("%s: added %v, %d lines", e.Task.ID, seen[e.Task.ID], lines[e.Task.ID])
		}
	}
	if len(list) != len(seen) || len(seen) != 1371 || len(lines) != len(seen) {
		t.Errorf("%d tasks, %d added, %d with lines", len(list), len(seen), len(lines))
	}
}
