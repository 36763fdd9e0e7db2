package storetest

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
)

// many adds tasks of every phase, out of order, and some that are due together.
func (b *bench) many() {
	b.Helper()
	for i := range 80 {
		due := hour(100 + i*37%40)
		text := "n"
		if i%8 == 2 {
			text = "runs last"
		}
		e := b.add(daily(text), due)
		var err error
		switch i % 8 {
		case 0:
			_, err = b.a.Remove(b.ctx, e.Task.ID, hour(0))
		case 1:
			var resume time.Time
			if i < 40 {
				resume = hour(200 + i)
			}
			_, err = b.a.Pause(b.ctx, e.Task.ID, resume, hour(0))
		case 2:
			b.claim(e.Task.ID, due, time.Time{}) // its last run goes on
		case 3:
			b.claim(e.Task.ID, due, due.Add(24*time.Hour))
		case 4:
			b.end(b.claim(e.Task.ID, due, time.Time{}), state.OK)
		}
		if err != nil {
			b.Fatal(err)
		}
	}
}

// phaseSets are what lists are asked for.
var phaseSets = [][]state.Phase{
	nil, {state.Pending}, {state.Running}, {state.Paused}, {state.Ended}, {state.Removed}, {state.Pending, state.Running},
	{state.Pending, state.Running, state.Paused}, {state.Ended, state.Removed},
}

func testListing(t *testing.T, b *bench) {
	b.many()
	for _, phases := range phaseSets {
		list := b.list(phases...)
		if len(list) == 0 || !slices.IsSortedFunc(list, state.Compare) {
			t.Errorf("list %v: %d tasks, out of order: %v", phases, len(list), ids(list))
		}
		l, err := b.b.List(b.ctx, phases...)
		if err != nil || l.Len != len(list) || len(l.Problems) > 0 {
			t.Fatalf("listing of %v: %+v, %v; want %d tasks", phases, l, err, len(list))
		}
		for i, e := range list {
			wake := e.Due
			switch {
			case e.Held:
				wake = e.Resume
			case e.Phase == state.Ended || e.Phase == state.Removed || e.Phase == state.Running && e.Task.Description == "runs last":
				wake = time.Time{}
			}
			if at := l.Wake(i); !at.Equal(wake) {
				t.Errorf("listing of %v: a runner looks at %+v at %v, want %v", phases, e, at, wake)
			}
		}
		for _, n := range []int{1, 2, 5, 39, len(list), 1000} {
			var first []state.Entry
			problems, err := state.Map(b.ctx, l, func(e *state.Entry) state.Entry { return *e }, func(e state.Entry, behind int) bool {
				if first = append(first, e); behind != len(list)-len(first) {
					t.Errorf("%d are behind the %d. of %d", behind, len(first), len(list))
				}
				return len(first) < n
			})
			want := list[:min(n, len(list))]
			if err != nil || len(problems) > 0 || !slices.Equal(ids(first), ids(want)) {
				t.Errorf("first %d of %v: %v, %v, %v; want %v", n, phases, ids(first), problems, err, ids(want))
				continue
			}
			for i, e := range first {
				if w := want[i]; e.Phase != w.Phase || !e.Due.Equal(w.Due) || len(e.Open) != len(w.Open) || !reflect.DeepEqual(e.Tally, w.Tally) || e.Held != w.Held {
					t.Errorf("first %d of %v: %+v, and list says %+v", n, phases, e, w)
				}
			}
		}
	}
}

func testEach(t *testing.T, b *bench) {
	b.many()
	for _, phases := range phaseSets {
		want := ids(b.list(phases...))
		var got []string
		problems, err := state.Each(b.ctx, b.b, func(e state.Entry) bool {
			got = append(got, e.Task.ID)
			return true
		}, phases...)
		if err != nil || len(problems) > 0 || !slices.Equal(got, want) {
			t.Errorf("each of %v: %v, %v, %v; want %v", phases, got, problems, err, want)
		}
	}
	n := 0
	if _, err := state.Each(b.ctx, b.b, func(state.Entry) bool { n++; return n < 3 }); err != nil || n != 3 {
		t.Errorf("stopped at the third: %d, %v", n, err)
	}
	// Whoever gets a task may change the store there and then: nothing is held meanwhile. What
	// moves comes once.
	var moved []string
	if _, err := state.Each(b.ctx, b.b, func(e state.Entry) bool {
		moved = append(moved, e.Task.ID)
		if err := b.a.Move(b.ctx, e.Task.ID, e.Due, e.Due.Add(time.Hour), hour(0)); err != nil {
			t.Errorf("moving %s while listing: %v", e.Task.ID, err)
		}
		return true
	}, state.Pending); err != nil || len(moved) != len(b.list(state.Pending)) {
		t.Errorf("moved %d of %d, %v", len(moved), len(b.list(state.Pending)), err)
	}
	ctx, cancel := context.WithCancel(b.ctx)
	_, err := state.Each(ctx, b.b, func(state.Entry) bool { cancel(); return true })
	if !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled while listing: %v", err)
	}
}
