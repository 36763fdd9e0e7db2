package jet_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/state/fleet"
	"github.com/ouro-timer/ouro-timer/state/fleet/jet"
	"github.com/ouro-timer/ouro-timer/state/fleet/natstest"
	"github.com/ouro-timer/ouro-timer/state/memory"
	"github.com/ouro-timer/ouro-timer/state/storetest"
)

// BenchmarkFleet is what three servers on this machine do that wait for the disk: go test -bench Fleet -run NONE -timeout 1h ./state/fleet/jet
// OURO_TEST_MANY=1000000 says of how many tasks a runner starts.
func BenchmarkFleet(b *testing.B) {
	servers := natstest.Start(b, 3)
	s := fleet.New(open(b, servers, "bench", 3), fleet.Options{Local: memory.New(), Patience: time.Minute})
	ctx := context.Background()
	due := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	task := state.Task{Created: due, Text: "tea", When: state.Timing{Text: "every 1h", Kind: "interval", Zone: "UTC", Start: due}}
	add := func(b *testing.B, n int) (ids []string) {
		drafts := make([]state.Draft, n)
		for i := range drafts {
			drafts[i] = state.Draft{Task: task, Due: due}
		}
		for _, a := range s.AddAll(ctx, drafts) {
			if a.Err != nil {
				b.Fatal(a.Err)
			}
			ids = append(ids, a.Entry.Task.ID)
		}
		return ids
	}
	b.Run("add", func(b *testing.B) {
		for b.Loop() {
			add(b, 1)
		}
	})
	b.Run("bulk of 1000", func(b *testing.B) {
		for b.Loop() {
			add(b, 1000)
		}
		b.ReportMetric(1000*float64(b.N)/b.Elapsed().Seconds(), "adds/s")
	})
	other := fleet.New(open(b, servers, "bench", 3), fleet.Options{Local: memory.New(), Patience: time.Minute})
	for _, many := range []int{1, 40, 400} {
		b.Run(fmt.Sprint("claim by two rivals, and end, of ", many), func(b *testing.B) {
			ids, at := add(b, many), due
			claims, took := 0, time.Duration(0)
			for b.Loop() {
				records := make([]state.Record, many)
				begin := time.Now()
				each(2*many, func(i int) {
					s, i := []*fleet.Store{s, other}[i%2], i/2
					switch r, err := s.Claim(ctx, ids[i], at, at.Add(time.Hour), state.Ident{PID: 1}, at); {
					case err == nil:
						records[i] = r
					case !errors.Is(err, state.ErrTaken):
						b.Error(err)
					}
				})
				took += time.Since(begin)
				claims += many
				each(many, func(i int) {
					if err := s.End(ctx, records[i], state.Line{At: due, Outcome: state.OK}); err != nil {
						b.Error(err)
					}
				})
				at = at.Add(time.Hour)
			}
			b.ReportMetric(float64(claims)/took.Seconds(), "claims/s")
			b.ReportMetric(float64(claims)/(b.Elapsed()-took).Seconds(), "ends/s")
		})
	}
	b.Run("claims and ends of 400, as two runners make them", func(b *testing.B) {
		const many = 400
		ids, at := add(b, many), due
		claims, took := 0, time.Duration(0)
		for b.Loop() {
			ends := make([][]state.Ending, 2)
			begin := time.Now()
			each(2, func(i int) { // by the rank of each, most are claimed by one alone
				var wants []storetest.Want
				for _, id := range ids[i*many/2 : (i+1)*many/2] {
					wants = append(wants, storetest.Want{ID: id, Due: at, Next: at.Add(time.Hour)})
				}
				for _, c := range storetest.ClaimAll(ctx, []*fleet.Store{s, other}[i], wants, state.Ident{PID: 1}, at) {
					if c.Err != nil {
						b.Error(c.Err)
					}
					ends[i] = append(ends[i], state.Ending{Record: c.Record, Line: state.Line{At: due, Outcome: state.OK}})
				}
			})
			took += time.Since(begin)
			claims += many
			each(2, func(i int) {
				if err := errors.Join([]*fleet.Store{s, other}[i].EndAll(ctx, ends[i])...); err != nil {
					b.Error(err)
				}
			})
			at = at.Add(time.Hour)
		}
		b.ReportMetric(float64(claims)/took.Seconds(), "claims/s")
		b.ReportMetric(float64(claims)/(b.Elapsed()-took).Seconds(), "ends/s")
	})
	b.Run("connection and one at", func(b *testing.B) {
		for b.Loop() {
			kv, err := jet.Open(ctx, jet.Options{URL: servers.URL() + "/bench"})
			if err != nil {
				b.Fatal(err)
			}
			if _, err := fleet.New(kv, fleet.Options{Local: memory.New()}).Add(ctx, task, due); err != nil {
				b.Fatal(err)
			}
			kv.Close()
		}
	})
	many, err := strconv.Atoi(cmp.Or(os.Getenv("OURO_TEST_MANY"), "100000"))
	if err != nil {
		b.Fatal(err)
	}
	b.Run(fmt.Sprintf("start of a runner, %d tasks", many), func(b *testing.B) {
		for have := 0; have < many; have += 10_000 {
			add(b, 10_000)
		}
		for b.Loop() {
			runtime.GC()
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			following, stop := context.WithCancel(ctx)
			q, err := s.Follow(following)
			if err != nil {
				b.Fatal(err)
			}
			n := 0
			if slots, _, err := q.Take(ctx); err == nil {
				for range slots {
					n++
				}
			}
			b.StopTimer()
			begin := time.Now()
			for range 10 {
				if _, _, err := s.Open(ctx); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(time.Since(begin).Seconds()*100, "ms/open-claims")
			runtime.GC()
			runtime.ReadMemStats(&after)
			b.ReportMetric((float64(after.HeapAlloc)-float64(before.HeapAlloc))/(1<<20), "MB")
			b.ReportMetric(float64(n), "tasks")
			stop()
			b.StartTimer()
		}
	})
}

func each(n int, do func(i int)) {
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() { do(i) })
	}
	wg.Wait()
}
