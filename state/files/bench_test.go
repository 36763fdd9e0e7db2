package files

import (
	"errors"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/state/codec"
	"github.com/ouro-timer/ouro-timer/state/storetest"
)

// stock makes a store with n tasks, without the syncs: only their files count.
func stock(b testing.TB, n int) *Store {
	b.Helper()
	s, err := Open(b.TempDir(), Options{})
	if err != nil {
		b.Fatal(err)
	}
	if err := s.furnish(); err != nil {
		b.Fatal(err)
	}
	for i := range n {
		task := once(fmt.Sprintf("task %d", i))
		task.ID, task.Format, task.Revision = state.ID(uint64(i)), state.Format, 1
		task.Run.Env = map[string]string{"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": "/home/me", "LANG": "C.UTF-8", "USER": "me"}
		data, _, err := codec.EncodeTask(task, nil)
		if err != nil {
			b.Fatal(err)
		}
		place := queueDir + "/" + name{due: day0.Add(time.Duration(i) * time.Second).Format(stamp), id: task.ID}.queue()
		if err := os.WriteFile(s.path(place), data, 0o600); err != nil {
			b.Fatal(err)
		}
	}
	if _, err := s.Add(ctx, once("the last"), day1.AddDate(1, 0, 0)); err != nil { // finds out the count of IDs, once
		b.Fatal(err)
	}
	return s
}

// each runs the benchmark beside 10 to 100,000 tasks.
func each(b *testing.B, run func(b *testing.B, s *Store, n int)) {
	for _, n := range []int{10, 1000, 10_000, 100_000} {
		if n > 10_000 && testing.Short() {
			continue
		}
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			s := stock(b, n)
			b.ResetTimer()
			run(b, s, n)
		})
	}
}

// BenchmarkAdd is a durable addition by a process that has just opened the store.
func BenchmarkAdd(b *testing.B) {
	each(b, func(b *testing.B, s *Store, _ int) {
		task := once("new")
		for b.Loop() {
			fresh, err := Open(s.Dir(), Options{})
			if err != nil {
				b.Fatal(err)
			}
			if _, err := fresh.Add(ctx, task, day2); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkList(b *testing.B) {
	each(b, func(b *testing.B, s *Store, n int) {
		for b.Loop() {
			if l, p, err := state.All(ctx, s, state.Pending, state.Running); err != nil || len(p) > 0 || len(l) < n {
				b.Fatal(len(l), p, err)
			}
		}
	})
}

func BenchmarkFind(b *testing.B) {
	each(b, func(b *testing.B, s *Store, n int) {
		id := state.ID(uint64(n / 2))
		for b.Loop() {
			if l, err := s.Find(ctx, id); err != nil || len(l) != 1 {
				b.Fatal(l, err)
			}
		}
	})
}

func BenchmarkDueBy(b *testing.B) {
	each(b, func(b *testing.B, s *Store, n int) {
		for b.Loop() {
			if l, _, err := dueBy(s, day2, 8); err != nil || len(l) != 8 {
				b.Fatal(l, err)
			}
		}
	})
}

func BenchmarkNext(b *testing.B) {
	each(b, func(b *testing.B, s *Store, n int) {
		for b.Loop() {
			if _, ok, err := state.Next(ctx, s, day0); err != nil || !ok {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkFirst is what a terminal shows.
func BenchmarkFirst(b *testing.B) {
	each(b, func(b *testing.B, s *Store, n int) {
		for b.Loop() {
			if l, behind, p, err := first(s, 40, state.Pending, state.Running, state.Paused); err != nil || len(p) > 0 || len(l) != min(40, n+1) || len(l)+behind <= n {
				b.Fatal(len(l), behind, p, err)
			}
		}
	})
}

// BenchmarkEach is what a runner reads when it starts.
func BenchmarkEach(b *testing.B) {
	each(b, func(b *testing.B, s *Store, n int) {
		for b.Loop() {
			got := 0
			if p, err := state.Each(ctx, s, func(state.Entry) bool { got++; return true }, state.Pending, state.Running); err != nil || len(p) > 0 || got < n {
				b.Fatal(got, p, err)
			}
		}
	})
}

// BenchmarkWake is what a runner asks of a handle that watches whenever it wakes, and another process has added a task.
func BenchmarkWake(b *testing.B) {
	each(b, func(b *testing.B, s *Store, n int) {
		if _, err := s.Follow(b.Context()); err != nil {
			b.Fatal(err)
		}
		other, err := Open(s.Dir(), Options{})
		if err != nil {
			b.Fatal(err)
		}
		for b.Loop() {
			b.StopTimer()
			if _, err := other.Add(ctx, once("n"), day2); err != nil {
				b.Fatal(err)
			}
			b.StartTimer()
			if _, _, err := dueBy(s, day0.Add(-time.Hour), 8); err != nil {
				b.Fatal(err)
			}
			if _, ok, err := state.Next(ctx, s, day0.Add(-time.Hour)); err != nil || !ok {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkClaimEnd is one occurrence from its claim to its line in the ledger.
func BenchmarkClaimEnd(b *testing.B) {
	each(b, func(b *testing.B, s *Store, n int) {
		e, err := s.Add(ctx, daily("n"), day0)
		if err != nil {
			b.Fatal(err)
		}
		due := day0
		for b.Loop() {
			next := due.Add(time.Hour)
			r, err := s.Claim(ctx, e.Task.ID, due, next, state.Ident{}, due)
			if err != nil {
				b.Fatal(err)
			}
			if err := s.End(ctx, r, state.Line{At: due, Outcome: state.OK}); err != nil {
				b.Fatal(err)
			}
			due = next
		}
	})
}

// BenchmarkEndAll is how long 64 runs that end at once take, without mail and with it.
func BenchmarkEndAll(b *testing.B) {
	for _, with := range []string{"nothing", "items", "items and notices"} {
		b.Run(with, func(b *testing.B) {
			s := stock(b, 100)
			var wants []storetest.Want
			for i := range batchMost {
				wants = append(wants, storetest.Want{ID: must[state.Entry](b)(s.Add(ctx, daily(fmt.Sprint(i)), day0)).Task.ID})
			}
			due := day0
			for b.Loop() {
				b.StopTimer()
				next := due.Add(time.Minute)
				for i := range wants {
					wants[i].Due, wants[i].Next = due, next
				}
				l := state.Line{At: due, Outcome: state.Failed}
				if with != "nothing" {
					l.Inbox = state.ItemFailure
				}
				if with == "items and notices" {
					l.Tell = []string{"desktop"}
				}
				var ends []state.Ending
				for _, g := range storetest.ClaimAll(ctx, s, wants, state.Ident{}, due) {
					if g.Err != nil {
						b.Fatal(g.Err)
					}
					ends = append(ends, state.Ending{Record: g.Record, Line: l})
				}
				due = next
				b.StartTimer()
				if err := errors.Join(s.EndAll(ctx, ends)...); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkInbox is a look at the first 20 items of as many as are kept, and BenchmarkTake taking one of them and acknowledging it.
func BenchmarkInbox(b *testing.B) {
	s := crowded(b)
	for b.Loop() {
		if items, _, p, err := s.Inbox(ctx, state.Query{Limit: 20}); err != nil || len(p) > 0 || len(items) != 20 {
			b.Fatal(len(items), p, err)
		}
	}
}

func BenchmarkTake(b *testing.B) {
	s := crowded(b)
	for b.Loop() {
		items, _, p, err := s.Take(ctx, state.Query{Limit: 1}, day1, day2)
		if err != nil || len(p) > 0 || len(items) != 1 {
			b.Fatal(len(items), p, err)
		}
		if err := s.Ack(ctx, []string{items[0].ID})[0]; err != nil {
			b.Fatal(err)
		}
	}
}

// crowded is a store with 10,000 items.
func crowded(b *testing.B) *Store {
	b.Helper()
	s := stock(b, 1)
	for i := range 10_000 {
		l := state.Line{Type: state.LineOccurrence, At: day0, TaskID: state.ID(uint64(i % 500)), Number: i + 1, Outcome: state.Failed, Inbox: state.ItemFailure}
		at := day0.Add(time.Duration(i) * time.Second).Format(stamp)
		files, err := mailOf(l, at)
		if err == nil {
			err = os.WriteFile(s.path(files[0].place), files[0].data, 0o600)
		}
		if err != nil {
			b.Fatal(err)
		}
	}
	return s
}

// BenchmarkLog reads the last 50 lines of 100,000, in parts as rotation leaves them: of all tasks, of one of two dozen, and
// the one line of a task that ran once, long ago.
func BenchmarkLog(b *testing.B) {
	s := stock(b, 1)
	rare := state.ID(777)
	for i := range 100_000 {
		id := state.ID(uint64(100 + i%24))
		if i == 5 {
			id = rare
		}
		if i%16_000 == 0 { // about 8 MiB
			s.partMost = 1
			settleBench(b, s)
			s.partMost = partMost
		}
		f, err := os.OpenFile(s.path(ledgerFile), os.O_WRONLY|os.O_APPEND, 0)
		if err != nil {
			b.Fatal(err)
		}
		fmt.Fprintf(f, `{"type":"occurrence","at":"2026-11-23T08:00:00.123456789Z","task_id":%q,"number":%d,"due":"2026-11-23T08:00:00+01:00","count":1,"outcome":"ok","started":"2026-11-23T08:00:00.000412941Z","ended":"2026-11-23T08:00:00.012412941Z","late_seconds":0.000413,"attempts":1,"exit_code":0,"stdout":{"bytes":0},"stderr":{"bytes":0},"user_seconds":0.001,"system_seconds":0.002,"max_rss_bytes":3481600,"description":"fetch the news of the day","store":{"ids":124,"from":"runs/open/%s.20261123T080000.000000000Z.toml"}}`+"\n", id, i, id)
		f.Close()
	}
	for _, c := range []struct {
		name, id string
		lines    int
	}{{"all", "", 50}, {"often", state.ID(105), 50}, {"rare", rare, 1}} {
		b.Run(c.name, func(b *testing.B) {
			for b.Loop() {
				n := 0
				if _, _, err := s.Log(ctx, c.id, func(state.Line) bool { n++; return n < 50 }); err != nil || n != c.lines {
					b.Fatal(n, err)
				}
			}
		})
	}
}

// settleBench is a turn that does nothing but what every turn begins with.
func settleBench(b *testing.B, s *Store) {
	b.Helper()
	t, err := s.begin(ctx)
	if err != nil {
		b.Fatal(err)
	}
	t.done()
}
