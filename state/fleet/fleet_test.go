package fleet_test

import (
	"errors"
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

// TestStoreKeepsItsPromisesOverBadServers: the same, when requests and answers are lost, late and doubled, an eighth of them.
func TestStoreKeepsItsPromisesOverBadServers(t *testing.T) {
	conform(t, func(t *testing.T) *model.KV {
		kv := model.New()
		var mu sync.Mutex
		luck := rand.New(rand.NewPCG(1, uint64(len(t.Name()))))
		kv.Fate = func(string) model.Fate {
			mu.Lock()
			defer mu.Unlock()
			return model.Fate(max(luck.IntN(50)-43, 0))
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
		if _, err := s.Update(ctx, task, time.Time{}, now, nil); err != nil {
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

// TestLostAmongManyCommits: the same, with commits of which the ledger shows nothing. A claim that
// is not open any more was given back, and one that only this commit can have opened is granted.
func TestLostAmongManyCommits(t *testing.T) {
	ctx, now, kv := t.Context(), time.Date(2026, 11, 26, 9, 0, 0, 0, time.UTC), model.New()
	open := func() *fleet.Store { return fleet.New(kv, fleet.Options{Local: memory.New()}) }
	a, b := open(), open()
	id := hourly(t, a, now, 1)[0]
	// meanwhile lets the next commit lose its answer, and others change the task before anybody looks
	meanwhile := func(change func() error) {
		lost := false
		t.Cleanup(func() {
			if !lost {
				t.Error("no answer was lost")
			}
		})
		kv.Fate = func(what string) model.Fate {
			switch {
			case what == "commit" && !lost:
				lost = true
				return model.Untold
			case what == "get" && lost:
				kv.Fate = nil
				for range 30 {
					if err := change(); err != nil {
						t.Error(err)
					}
				}
			}
			return model.Fine
		}
	}
	edit := func() error {
		l, err := b.Find(ctx, id)
		if err == nil {
			_, err = b.Update(ctx, l[0].Task, time.Time{}, now, nil)
		}
		return err
	}
	ours, due := state.Ident{PID: 1}, now
	// run claims what is due next, and ends it
	run := func() error {
		due = due.Add(time.Hour)
		r, err := b.Claim(ctx, id, due, due.Add(time.Hour), state.Ident{PID: 2}, due)
		if err == nil {
			err = b.End(ctx, r, state.Line{At: due, Outcome: state.OK})
		}
		return err
	}
	meanwhile(run)
	r, err := a.Claim(ctx, id, now, now.Add(time.Hour), ours, now)
	if err != nil || !r.Due.Equal(now) || r.Runner != ours {
		t.Fatalf("the claim is %+v, %v", r, err)
	}
	if err := a.End(ctx, r, state.Line{At: now, Outcome: state.OK}); err != nil {
		t.Fatal(err)
	}
	// fire runs it by hand for somebody else, who gives back what they had
	var theirs state.Record
	fire := func() (err error) {
		if theirs.Manual {
			err = b.Release(ctx, theirs)
		}
		if err == nil {
			theirs, err = b.Fire(ctx, id, state.Ident{PID: 2}, now)
		}
		return err
	}
	meanwhile(fire)
	if r, err = a.Fire(ctx, id, ours, now); err != nil || !r.Manual || r.Runner != ours {
		t.Fatalf("the run by hand is %+v, %v", r, err)
	}
	if err := b.Release(ctx, theirs); err != nil {
		t.Fatal(err)
	}
	meanwhile(edit)
	if err := a.Release(ctx, r); err != nil {
		t.Errorf("release: %v", err)
	}
	if err := a.Release(ctx, r); !errors.Is(err, state.ErrEnded) {
		t.Errorf("a second release: %v", err)
	}
	if l, err := b.Find(ctx, id); err != nil || len(l[0].Open) != 0 {
		t.Errorf("%+v, %v", l, err)
	}
}

// TestManyClaimsLost: the same with several claims in one commit, where no server but the deciding
// one answers, so that they are tried again one by one.
func TestManyClaimsLost(t *testing.T) {
	ctx, now, kv := t.Context(), time.Date(2026, 11, 26, 9, 0, 0, 0, time.UTC), model.New()
	open := func() *fleet.Store { return fleet.New(kv, fleet.Options{Local: memory.New()}) }
	a, b := open(), open()
	ids := hourly(t, a, now, 3)
	lost, busy := false, false
	kv.Fate = func(what string) model.Fate {
		switch {
		case busy:
		case what == "peek":
			return model.Unasked
		case what == "commit" && !lost:
			lost = true
			return model.Untold
		case what == "get" && lost:
			busy = true
			for range 30 {
				l, err := b.Find(ctx, ids[0])
				if err == nil {
					_, err = b.Update(ctx, l[0].Task, time.Time{}, now, nil)
				}
				if err != nil {
					t.Error(err)
				}
			}
			kv.Fate = func(what string) model.Fate {
				if what == "peek" {
					return model.Unasked
				}
				return model.Fine
			}
		}
		return model.Fine
	}
	var wants []storetest.Want
	for _, id := range ids {
		wants = append(wants, storetest.Want{ID: id, Due: now, Next: now.Add(time.Hour)})
	}
	for i, granted := range storetest.ClaimAll(ctx, a, wants, state.Ident{PID: 1}, now) {
		if granted.Err != nil || granted.Record.Task.ID != ids[i] {
			t.Errorf("claim %d is %+v, %v", i, granted.Record, granted.Err)
		}
	}
	if !lost || !busy {
		t.Errorf("an answer was lost: %v, and others were busy: %v", lost, busy)
	}
}
