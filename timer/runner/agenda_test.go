package runner

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
)

var noon = time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)

func slotAt(n uint64, d time.Duration) state.Slot {
	return state.Slot{ID: state.ID(n), Due: noon.Add(d)}
}

func never(state.Slot) bool { return false }

// told has the agenda take in slots.
func told(a *agenda, slots ...state.Slot) { a.take(slices.Values(slots), false) }

// TestAgendaOrder: what is due leaves by its instant, and of one instant as it was made, each once.
func TestAgendaOrder(t *testing.T) {
	a := newAgenda(0)
	told(a, slotAt(5, time.Second), slotAt(3, 0), slotAt(9, -time.Hour), slotAt(2, 0), slotAt(7, time.Minute))
	a.takeReady(noon.Add(time.Second), never)
	var got []uint64
	for {
		list := a.pick(2)
		if len(list) == 0 {
			break
		}
		for _, s := range list {
			n, _ := state.IDNumber(s.ID)
			got = append(got, n)
		}
	}
	if want := []uint64{9, 2, 3, 5}; !slices.Equal(got, want) {
		t.Errorf("left in the order %v, want %v", got, want)
	}
	if next := a.next(); !next.Equal(noon.Add(time.Minute)) {
		t.Errorf("next at %v", next)
	}
	for _, n := range got {
		if a.items[n].stage != holding {
			t.Errorf("%d waits for %v", n, a.items[n].stage)
		}
	}
}

// TestAgendaHolds: what waits for the end of a run is in no heap, is looked at once that has ended, and when it is told of it again.
func TestAgendaHolds(t *testing.T) {
	a := newAgenda(time.Second)
	s := slotAt(1, 0)
	told(a, s)
	if next := a.next(); !next.Equal(noon.Add(-time.Second)) {
		t.Errorf("looked at %v", next)
	}
	a.hold(s.ID)
	if next := a.next(); !next.IsZero() {
		t.Errorf("held, and looked at %v", next)
	}
	a.ended(s.ID)
	a.at(s.ID, noon.Add(time.Hour)) // put off
	a.ended(s.ID)
	if next := a.next(); !next.Equal(noon.Add(time.Hour)) {
		t.Errorf("put off, and looked at %v", next)
	}
	told(a, s) // its file was written anew
	if next := a.next(); !next.Equal(noon.Add(-time.Second)) {
		t.Errorf("edited, and looked at %v", next)
	}
	a.at(s.ID, noon.Add(time.Hour))
	a.rearm()
	if next := a.next(); !next.Equal(noon.Add(-time.Second)) {
		t.Errorf("the clock was put back, and it is looked at %v", next)
	}
}

// TestAgendaCopies: of two places of one task the store says which counts, and when one is gone the other is left.
func TestAgendaCopies(t *testing.T) {
	one, two := slotAt(1, time.Minute), slotAt(1, time.Hour)
	gone := func(s state.Slot) state.Slot { s.Gone = true; return s }
	for _, c := range []struct {
		name  string
		told  []state.Slot
		hint  time.Time
		wakes time.Time
	}{
		{"one place", []state.Slot{one}, one.Due, one.Due},
		{"a copy", []state.Slot{one, two}, time.Time{}, two.Due},
		{"a move", []state.Slot{one, two, gone(one)}, two.Due, two.Due},
		{"a move, told the other way round", []state.Slot{one, gone(one), two}, two.Due, two.Due},
		{"a copy that was removed", []state.Slot{one, two, gone(two)}, one.Due, one.Due},
		{"a removal", []state.Slot{one, gone(one)}, time.Time{}, time.Time{}},
		{"a copy, and the removal of both", []state.Slot{one, two, gone(two), gone(one)}, time.Time{}, time.Time{}},
		{"moved twice", []state.Slot{one, two, gone(one), one, gone(two)}, one.Due, one.Due},
	} {
		a := newAgenda(0)
		told(a, c.told...)
		hint := time.Time{}
		if it := a.item(one.ID); it != nil {
			hint = a.hint(a.slot(it))
		}
		if !hint.Equal(c.hint) || !a.next().Equal(c.wakes) {
			t.Errorf("%s: hint %v, next %v", c.name, hint, a.next())
		}
	}
	a := newAgenda(0)
	a.take(slices.Values([]state.Slot{one, two}), true)
	if it := a.item(one.ID); !a.hint(a.slot(it)).IsZero() {
		t.Error("two places in one listing are taken for one")
	}
	a.put(gone(two)) // what the runner has claimed was in one of them
	if it := a.item(one.ID); it == nil || !a.next().Equal(one.Due) {
		t.Errorf("the other place is forgotten: %v", a.items)
	}
}

// TestAgendaIsTheQueue tells an agenda of random changes, some of them by a whole list, and of what it does itself: it always has what there
// is, where it is, once.
func TestAgendaIsTheQueue(t *testing.T) {
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 1))
		a, all := newAgenda(0), map[uint64]state.Slot{}
		var news []state.Slot
		for range 200 {
			n := r.Uint64N(12)
			was, there := all[n]
			now := slotAt(n, time.Duration(r.IntN(50))*time.Second)
			if r.IntN(4) == 0 {
				now.Resume = now.Due.Add(time.Hour)
			}
			switch r.IntN(8) {
			case 0: // removed
				delete(all, n)
			case 1:
				a.hold(state.ID(n))
				a.ended(state.ID(n))
				continue
			case 2:
				a.takeReady(noon.Add(20*time.Second), never)
				for _, s := range a.pick(3) {
					a.back(s.ID)
				}
				continue
			default:
				all[n] = now
				if r.IntN(3) == 0 { // by the runner, which knows it before it is told
					a.put(now)
				}
			}
			if there && !was.Same(all[n]) {
				was.Gone = true
				news = append(news, was)
			}
			if _, there := all[n]; there {
				news = append(news, now)
			}
			switch r.IntN(6) {
			case 0:
				told(a, news...)
				news = nil
			case 1:
				a.take(maps.Values(all), true)
				news = nil
			}
		}
		told(a, news...)
		for n, s := range all {
			it := a.items[n]
			if it == nil || !a.slot(it).Same(s) || it.stage == holding {
				t.Fatalf("seed %d: %d is at %v, and known as %+v", seed, n, s, it)
			}
		}
		if len(a.items) != len(all) || len(a.waiting.list)+len(a.due.list) != len(all) || len(a.copies) > 0 {
			t.Fatalf("seed %d: %d tasks, %d known, %d wait, %d are due, copies %v", seed, len(all), len(a.items), len(a.waiting.list), len(a.due.list), a.copies)
		}
		if got := fmt.Sprint(len(a.resumes)); got != fmt.Sprint(paused(all)) {
			t.Fatalf("seed %d: %s paused, want %d", seed, got, paused(all))
		}
	}
}

func paused(all map[uint64]state.Slot) (n int) {
	for _, s := range all {
		if !s.Resume.IsZero() {
			n++
		}
	}
	return n
}
