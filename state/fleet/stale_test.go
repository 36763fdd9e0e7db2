package fleet_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/state/fleet"
	"github.com/ouro-timer/ouro-timer/state/fleet/model"
	"github.com/ouro-timer/ouro-timer/state/memory"
)

// asked counts what is asked of servers.
type asked struct {
	fleet.KV
	mu       sync.Mutex
	requests map[string]int // by the name of the method
	cells    int            // that Prefix yields
}

func countRequests(kv fleet.KV) *asked { return &asked{KV: kv, requests: map[string]int{}} }

func (a *asked) count(what string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.requests[what]++
}

// since returns what was asked since the call before.
func (a *asked) since() (requests string, cells int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	requests, cells = fmt.Sprint(a.requests), a.cells
	a.requests, a.cells = map[string]int{}, 0
	return requests, cells
}

func (a *asked) Get(ctx context.Context, key string) (fleet.Cell, error) {
	a.count("get")
	return a.KV.Get(ctx, key)
}

func (a *asked) Peek(ctx context.Context, keys ...string) ([]fleet.Cell, error) {
	a.count("peek")
	return a.KV.Peek(ctx, keys...)
}

func (a *asked) Commit(ctx context.Context, ops []fleet.Op) error {
	a.count("commit")
	return a.KV.Commit(ctx, ops)
}

func (a *asked) Prefix(ctx context.Context, prefix string, after uint64, yield func(fleet.Cell) bool) (uint64, error) {
	a.count("prefix")
	return a.KV.Prefix(ctx, prefix, after, func(cell fleet.Cell) bool {
		a.mu.Lock()
		a.cells++
		a.mu.Unlock()
		return yield(cell)
	})
}

// hourly adds n tasks that run each hour from an instant on.
func hourly(t *testing.T, s state.Store, from time.Time, n int) (ids []string) {
	t.Helper()
	drafts := make([]state.Draft, n)
	for i := range drafts {
		drafts[i] = state.Draft{Due: from, Task: state.Task{
			Created: from,
			When:    state.Timing{Text: "every 1h", Kind: "interval", Zone: "UTC", Start: from},
			Run:     state.Job{Argv: []string{"true"}, Dir: "/", Umask: 0o22},
		}}
	}
	for _, added := range s.AddAll(t.Context(), drafts) {
		if added.Err != nil {
			t.Fatal(added.Err)
		}
		ids = append(ids, added.Entry.Task.ID)
	}
	return ids
}

// TestStaleReadRefusesNothing: what a server that is behind knows of a task is enough to change it,
// but never to refuse a change.
func TestStaleReadRefusesNothing(t *testing.T) {
	ctx, now, kv := t.Context(), time.Date(2026, 11, 26, 9, 0, 0, 0, time.UTC), model.New()
	stale := 0
	kv.Fate = func(what string) model.Fate {
		if what == "peek" {
			stale++
			return model.Stale
		}
		return model.Fine
	}
	open := func() *fleet.Store { return fleet.New(kv, fleet.Options{Local: memory.New()}) }
	a, b := open(), open()
	id := hourly(t, b, now, 1)[0]
	ours, theirs := state.Ident{PID: 1}, state.Ident{PID: 2}
	at := func(i int) time.Time { return now.Add(time.Duration(i) * time.Hour) }
	claim := func(s *fleet.Store, i int, who state.Ident) state.Record {
		t.Helper()
		r, err := s.Claim(ctx, id, at(i), at(i+1), who, at(i))
		if err != nil {
			t.Fatalf("claim of occurrence %d: %v", i, err)
		}
		return r
	}
	do := func(what string, err error) {
		t.Helper()
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
	}
	for i := range 4 {
		// there it is still claimed
		do("release", b.Release(ctx, claim(b, i, theirs)))
		r := claim(a, i, ours)
		// there it is not claimed, and then not started
		r.Starting = at(i)
		do("started", a.Started(ctx, r))
		r.Runner = theirs
		do("note", b.Note(ctx, r))
		do("end", a.End(ctx, r, state.Line{At: at(i), Outcome: state.OK}))
	}
	// there it is not paused, and then still paused
	_, err := b.Pause(ctx, id, time.Time{}, at(4))
	do("pause", err)
	_, err = a.Resume(ctx, id, at(4))
	do("resume", err)
	claim(a, 4, ours)
	if stale < 20 {
		t.Errorf("%d reads were of a server that is behind", stale)
	}
}

// TestManyAreFewRequests: a change of many tasks is one commit, and they and their texts are two
// readings from any server. So are the texts of a list.
func TestManyAreFewRequests(t *testing.T) {
	const n = 100
	ctx, now, shared := t.Context(), time.Date(2026, 11, 26, 9, 0, 0, 0, time.UTC), model.New()
	ids := hourly(t, fleet.New(shared, fleet.Options{Local: memory.New()}), now, n)
	kv := countRequests(shared)
	s := fleet.New(kv, fleet.Options{Local: memory.New()})
	is := func(what, want string) {
		t.Helper()
		if got, _ := kv.since(); got != want {
			t.Errorf("%s asks %s, not %s", what, got, want)
		}
	}
	var claims []state.Change
	for _, id := range ids {
		rule := state.Claim(now, now.Add(time.Hour), state.Ident{PID: 1}, now)
		claims = append(claims, state.Change{ID: id, Due: now, Now: now, Rule: rule})
	}
	var ends []state.Ending
	for _, c := range s.Apply(ctx, claims...) {
		if c.Err != nil || len(c.Doc.Open) != 1 || c.Doc.Task.Run.Argv[0] != "true" {
			t.Fatalf("%+v, %v", c.Doc, c.Err)
		}
		r := c.Doc.Open[0]
		ends = append(ends, state.Ending{Record: r, Line: state.Line{At: now, Outcome: state.OK}})
	}
	is("a claim of 100", "map[commit:1 peek:2]")
	for _, err := range s.EndAll(ctx, ends) {
		if err != nil {
			t.Fatal(err)
		}
	}
	is("the end of 100", "map[commit:1 peek:1]")

	s = fleet.New(kv, fleet.Options{Local: memory.New()})
	listed := 0
	_, err := state.Each(ctx, s, func(e state.Entry) bool {
		listed++
		return e.Task.Run.Argv[0] == "true"
	}, state.Pending)
	if err != nil || listed != n {
		t.Fatalf("%d are listed, %v", listed, err)
	}
	is("a list of 100", "map[peek:1 prefix:1]")
}

// TestMovesWhileItIsRead: a task that comes back and is removed anew while it is looked for is there all the time.
func TestMovesWhileItIsRead(t *testing.T) {
	ctx, now, kv := t.Context(), time.Date(2026, 11, 26, 9, 0, 0, 0, time.UTC), model.New()
	a, b := fleet.New(kv, fleet.Options{Local: memory.New()}), fleet.New(kv, fleet.Options{Local: memory.New()})
	e, err := a.Add(ctx, state.Task{Created: now, When: state.Timing{Text: "in 1h", Kind: "once", Zone: "UTC", Start: now}, Run: state.Job{Argv: []string{"true"}, Dir: "/"}}, now.Add(time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	id := e.Task.ID
	if _, err := b.Remove(ctx, id, now); err != nil {
		t.Fatal(err)
	}
	gets, busy := 0, false
	kv.Fate = func(what string) model.Fate {
		if what != "get" || busy {
			return model.Fine
		}
		gets++
		busy = true
		defer func() { busy = false }()
		var err error
		switch gets { // of the living, of what has ended, of the living again
		case 2:
			_, err = b.Restore(ctx, id, now.Add(time.Hour), now)
		case 3:
			_, err = b.Remove(ctx, id, now)
		}
		if err != nil {
			t.Error(err)
		}
		return model.Fine
	}
	if l, err := a.Find(ctx, id); err != nil || len(l) != 1 {
		t.Errorf("after %d reads: %v, %v", gets, l, err)
	}
	kv.Fate = nil
	if _, err := a.Find(ctx, "zzzzzzzz"); !errors.Is(err, state.ErrNotFound) {
		t.Errorf("one that never was: %v", err)
	}
}
