package fleet_test

import (
	"math/rand/v2"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/state/fleet"
	"github.com/ouro-timer/ouro-timer/state/fleet/model"
	"github.com/ouro-timer/ouro-timer/state/memory"
	"github.com/ouro-timer/ouro-timer/state/storetest"
)

// conform holds stores over the same servers to the suite, as two processes of one machine have them.
func conform(t *testing.T, servers func(t *testing.T) *model.KV) {
	type there struct {
		kv    *model.KV
		local *memory.Store
	}
	all := map[*testing.T]there{}
	storetest.Run(t, func(t *testing.T, limits func() (state.Limits, error)) state.Store {
		if _, ok := all[t]; !ok {
			all[t] = there{servers(t), memory.New()}
			all[t].local.Folder = t.TempDir()
		}
		return fleet.New(all[t].kv, fleet.Options{Local: all[t].local, Limits: limits, Patience: time.Minute})
	}, storetest.Presence)
}

func TestStoreKeepsItsPromises(t *testing.T) {
	conform(t, func(*testing.T) *model.KV { return model.New() })
}

// TestStoreKeepsItsPromisesOverBadServers: the same, when requests and answers are lost, late and doubled, a tenth of them.
func TestStoreKeepsItsPromisesOverBadServers(t *testing.T) {
	conform(t, func(t *testing.T) *model.KV {
		kv := model.New()
		var mu sync.Mutex
		luck := rand.New(rand.NewPCG(1, uint64(len(t.Name()))))
		kv.Fate = func(string) model.Fate {
			mu.Lock()
			defer mu.Unlock()
			return model.Fate(max(luck.IntN(50)-44, 0))
		}
		return kv
	})
}

// TestAnswerLostAmongManyCommits: the answer to a commit is lost, and others write the same task more often than it remembers before anybody looks.
func TestAnswerLostAmongManyCommits(t *testing.T) {
	const others = 30
	ctx, now, kv := t.Context(), time.Date(2026, 11, 26, 9, 0, 0, 0, time.UTC), model.New()
	open := func() *fleet.Store { return fleet.New(kv, fleet.Options{Local: memory.New()}) }
	a, b := open(), open()
	e, err := a.Add(ctx, state.Task{
		Description: "0",
		Created:     now,
		When:        state.Timing{Text: "in 1h", Kind: "once", Zone: "UTC", Start: now},
		Run:         state.Job{Argv: []string{"true"}, Dir: "/", Umask: 0o22},
	}, now.Add(time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	id := e.Task.ID
	count := func(s state.Store) {
		t.Helper()
		l, err := s.Find(ctx, id)
		if err != nil {
			t.Fatal(err)
		}
		task := l[0].Task
		n, _ := strconv.Atoi(task.Description)
		task.Description = strconv.Itoa(n + 1)
		if _, err := s.Update(ctx, task, time.Time{}, now); err != nil {
			t.Errorf("update %d: %v", n+1, err)
		}
	}
	lost := false
	kv.Fate = func(what string) model.Fate {
		if what == "commit" && !lost {
			lost = true
			return model.Untold
		}
		if lost && what == "get" {
			kv.Fate = nil
			for range others {
				count(b)
			}
		}
		return model.Fine
	}
	count(a)
	l, err := b.Find(ctx, id)
	if err != nil || l[0].Task.Description != strconv.Itoa(others+1) || l[0].Task.Revision != others+2 {
		t.Errorf("%d changes made it %+v, %v", others+1, l, err)
	}
}

// TestFence: each runner that has a claim has a larger number than those before.
func TestFence(t *testing.T) {
	ctx, now := t.Context(), time.Date(2026, 11, 26, 9, 0, 0, 0, time.UTC)
	s := fleet.New(model.New(), fleet.Options{Local: memory.New()})
	e, err := s.Add(ctx, state.Task{Created: now, When: state.Timing{Text: "every 1h", Kind: "interval", Zone: "UTC", Start: now}, Run: state.Job{Argv: []string{"true"}, Dir: "/"}}, now)
	if err != nil {
		t.Fatal(err)
	}
	last := uint64(0)
	larger := func(r state.Record, err error) {
		t.Helper()
		found, e := s.Find(ctx, r.Task.ID)
		if err != nil || e != nil || len(found[0].Open) != 1 || found[0].Open[0].Fence <= last {
			t.Fatalf("after %d: %+v, %v, %v", last, found, err, e)
		}
		last = found[0].Open[0].Fence
	}
	for i := range 3 {
		at := now.Add(time.Duration(i) * time.Hour)
		r, err := s.Claim(ctx, e.Task.ID, at, at.Add(time.Hour), state.Ident{PID: 1}, at)
		if r.Fence == 0 {
			t.Errorf("who claims it has no fence: %+v", r)
		}
		larger(r, err)
		r.Starting = at
		if err := s.Started(ctx, r); err != nil {
			t.Fatal(err)
		}
		if found, err := s.Find(ctx, e.Task.ID); err != nil || found[0].Open[0].Fence != last {
			t.Errorf("a note of who has it gives it another: %+v, %v", found, err)
		}
		r.Runner = state.Ident{PID: 2}
		larger(r, s.Note(ctx, r))
		if err := s.End(ctx, r, state.Line{At: at, Outcome: state.OK}); err != nil {
			t.Fatal(err)
		}
	}
}
