package jet_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/state/fleet"
	"github.com/ouro-timer/ouro-timer/state/fleet/jet"
	"github.com/ouro-timer/ouro-timer/state/fleet/natstest"
	"github.com/ouro-timer/ouro-timer/state/memory"
)

// longer is how long a storm lasts, by OURO_TEST_FLEET.
func longer(t *testing.T, least time.Duration) time.Duration {
	if text := os.Getenv("OURO_TEST_FLEET"); text != "" {
		d, err := time.ParseDuration(text)
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	return least
}

// TestStorm: the weather of package natstest goes over three servers, and the wires of claimers are cut and lose what they carry, while they take occurrences of some tasks,
// begin and end them. By the ledger each instant has one outcome, none is left out, and what was begun was begun once. OURO_TEST_SEED repeats the order of the faults.
func TestStorm(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes its time")
	}
	const tasks, claimers = 8, 4
	seed := uint64(time.Now().UnixNano())
	if n, err := strconv.ParseUint(os.Getenv("OURO_TEST_SEED"), 10, 64); err == nil {
		seed = n
	}
	servers := natstest.StartLinked(t, 3)
	first := fleet.New(open(t, servers, "storm", 3), fleet.Options{Local: memory.New(), Patience: time.Minute})
	ctx, stop := context.WithTimeout(t.Context(), longer(t, 30*time.Second))
	defer stop()
	base := time.Date(2026, 11, 23, 9, 0, 0, 0, time.UTC)
	var ids []string
	for range tasks {
		task := state.Task{Created: base, When: state.Timing{Text: "every 1s", Kind: "interval", Zone: "UTC", Start: base}, Run: state.Job{Argv: []string{"true"}, Dir: "/"}}
		e, err := first.Add(ctx, task, base)
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, e.Task.ID)
	}
	var mu sync.Mutex
	begun := map[string]int{}
	count, cuts := 0, 0
	var wg sync.WaitGroup
	for n := range claimers {
		url, wires, err := servers.Wired()
		if err != nil {
			t.Fatal(err)
		}
		kv, err := jet.Open(ctx, jet.Options{URL: url + "/storm"})
		if err != nil {
			t.Fatal(err)
		}
		defer kv.Close()
		s := fleet.New(kv, fleet.Options{Local: memory.New()})
		self := state.Ident{Node: fmt.Sprint("n", n), Boot: fmt.Sprint("b", n), PID: n + 1}
		wg.Go(func() {
			luck := rand.New(rand.NewPCG(seed, uint64(n)))
			for ctx.Err() == nil {
				claimOne(ctx, s, ids[luck.IntN(len(ids))], self, func(r state.Record) {
					mu.Lock()
					defer mu.Unlock()
					begun[state.OccurrenceID(r.Task.ID, r.Number)]++
					count++
				})
			}
		})
		wg.Go(func() {
			luck := rand.New(rand.NewPCG(seed, uint64(100+n)))
			for nap(ctx, luck, 10*time.Second); ctx.Err() == nil; nap(ctx, luck, 10*time.Second) {
				deaf := luck.IntN(2) == 0
				for _, k := range wires {
					if deaf {
						k.Deafen()
					} else {
						k.Cut()
					}
				}
				nap(ctx, luck, 3*time.Second)
				for _, k := range wires {
					k.Mend()
				}
				mu.Lock()
				cuts++
				mu.Unlock()
			}
			for _, k := range wires {
				k.Close()
			}
		})
	}
	faults, err := servers.Weather(ctx, rand.New(rand.NewPCG(seed, 1000)))
	if err = errors.Join(err, servers.Calm()); err != nil {
		t.Fatal(err)
	}
	wg.Wait()
	// What was left open by answers that never came is ended, as a runner does that takes over.
	last, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	open, _, err := first.Open(last)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range open {
		if err := first.End(last, r, state.Line{At: r.Due, Outcome: state.Interrupted}); err != nil {
			t.Error(err)
		}
	}
	lost, twice := 0, 0
	for _, id := range ids {
		found, err := first.Find(last, id)
		if err != nil {
			t.Fatal(err)
		}
		seen := map[time.Time]int{}
		if _, _, err := first.Log(last, id, func(l state.Line) bool {
			if l.Type == state.LineOccurrence {
				seen[l.Due.UTC()]++
			}
			return true
		}); err != nil {
			t.Fatal(err)
		}
		for at := base; at.Before(found[0].Due); at = at.Add(time.Second) {
			switch n := seen[at]; {
			case n == 0:
				lost++
				t.Errorf("%s: the instant %s has no outcome; open when all was calm: %v, now: %v", id, at, has(open, id, at), has(found[0].Open, id, at))
			case n > 1:
				twice++
			}
		}
	}
	for name, n := range begun {
		if n > 1 {
			t.Errorf("%s was begun %d times", name, n)
		}
	}
	t.Logf("OURO_TEST_SEED=%d: %d occurrences, faults of servers: %v, of wires: %d, %d were left open: %d lost, %d twice", seed, count, faults, cuts, len(open), lost, twice)
	if lost+twice > 0 || count < 10 {
		t.Error("see there")
	}
}

func has(open []state.Record, id string, due time.Time) bool {
	return slices.ContainsFunc(open, func(r state.Record) bool { return r.Task.ID == id && r.Due.Equal(due) })
}

// nap waits for some time.
func nap(ctx context.Context, luck *rand.Rand, most time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(time.Duration(luck.Int64N(int64(most)))):
	}
}

// claimOne takes the next occurrence of a task, begins it and ends it, as far as the servers let it.
func claimOne(ctx context.Context, s *fleet.Store, id string, self state.Ident, begun func(state.Record)) {
	found, err := s.Find(ctx, id)
	if err != nil {
		return
	}
	due := found[0].Due
	r, err := s.Claim(ctx, id, due, due.Add(time.Second), self, due)
	if err != nil {
		return
	}
	r.Starting = due
	if s.Started(ctx, r) != nil {
		return
	}
	begun(r)
	for ctx.Err() == nil {
		code := 0
		err := s.End(ctx, r, state.Line{At: due, Outcome: state.OK, Started: &due, Ended: &due, ExitCode: &code})
		if err == nil || errors.Is(err, state.ErrEnded) {
			return
		}
	}
}
