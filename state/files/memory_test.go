package files

import (
	"context"
	"errors"
	"os"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/timer/clock/clocktest"
)

// heap is how much memory is in use.
func heap() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// TestMemoryOfAQueueThatIsWatched looks how much a handle that watches keeps of very many tasks, and how much more it takes to read them all
// beside that, as a runner does when it starts.
func TestMemoryOfAQueueThatIsWatched(t *testing.T) {
	n := 20_000
	if clocktest.Raced {
		n = 4_000
	}
	s := open(t, stock(t, n).Dir())
	before := heap()
	if _, err := s.Follow(t.Context()); err != nil {
		t.Fatal(err)
	}
	look := func(what string, perTask, more int) {
		t.Helper()
		if took := heap() - before; took > int64(n*perTask+more) {
			t.Errorf("%s: %d bytes are in use for %d tasks, want %d for each at the most, and %d", what, took, n, perTask, more)
		}
	}
	for range 2 {
		if list, _, err := dueBy(s, day2.AddDate(9, 0, 0), 8); err != nil || len(list) != 8 {
			t.Fatal(len(list), err)
		}
		if _, ok, err := state.Next(ctx, s, day0); err != nil || !ok {
			t.Fatal(err)
		}
	}
	look("kept", 100, 512<<10)
	read := 0
	if problems, err := state.Each(ctx, s, func(e state.Entry) bool {
		if read++; read%(n/5) == 0 {
			look("while all are read", 125, 2<<20) // what is read at a time is more where more read
		}
		return true
	}, state.Pending, state.Running); err != nil || len(problems) > 0 || read < n {
		t.Fatalf("%d of %d tasks, %v, %v", read, n, problems, err)
	}
	look("after all were read", 100, 512<<10)
	runtime.KeepAlive(s)
}

// TestDueByIsWhatIsDue holds DueBy to the list of all where tasks are paused, run, have a second file, or cannot be read.
func TestDueByIsWhatIsDue(t *testing.T) {
	s := open(t, t.TempDir())
	var ids []string
	for i := range 60 {
		e, err := s.Add(ctx, daily("n"), day0.Add(time.Duration(i)*time.Hour))
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, e.Task.ID)
	}
	for i, id := range ids {
		switch i % 5 {
		case 1:
			s.Pause(ctx, id, day0.Add(time.Duration(i)*time.Hour), day0)
		case 2:
			s.Pause(ctx, id, time.Time{}, day0)
		case 3:
			s.Claim(ctx, id, day0.Add(time.Duration(i)*time.Hour), day2, state.Ident{}, day0)
		}
	}
	file := func(i int, due time.Time) string {
		return s.path(queueDir + "/" + name{due: due.Format(stamp), id: ids[i]}.queue())
	}
	data := must[[]byte](t)(os.ReadFile(file(0, day0)))
	if err := errors.Join(os.WriteFile(file(0, day0.Add(10*time.Hour)), data, 0o600), os.WriteFile(file(4, day0.Add(4*time.Hour)), []byte("what?"), 0o600)); err != nil {
		t.Fatal(err)
	}
	all, allProblems, err := state.All(ctx, s, state.Pending, state.Running, state.Paused)
	if err != nil || len(all) != 59 || len(allProblems) != 2 {
		t.Fatal(len(all), allProblems, err)
	}
	for _, c := range []struct {
		until    time.Time
		problems int // the second file is always told of, and what cannot be read when it is due
	}{{day0.Add(-1), 1}, {day0.Add(20 * time.Hour), 2}, {day2.AddDate(1, 0, 0), 2}} {
		want := slices.DeleteFunc(slices.Clone(all), func(e state.Entry) bool { return e.Held && e.Resume.IsZero() || wake(e).After(c.until) })
		slices.SortStableFunc(want, func(a, b state.Entry) int { return wake(a).Compare(wake(b)) })
		got, problems, err := dueBy(s, c.until, 0)
		same := slices.EqualFunc(got, want, func(a, b state.Entry) bool {
			return a.Task.ID == b.Task.ID && a.Due.Equal(b.Due) && a.Phase == b.Phase && len(a.Open) == len(b.Open)
		})
		if err != nil || !same || len(problems) != c.problems {
			t.Errorf("until %v: %d tasks, %v, %v; want %d and %d problems", c.until, len(got), problems, err, len(want), c.problems)
		}
	}
	over, stop := context.WithCancel(ctx)
	stop()
	if _, err := state.DueBy(over, s, day2, func(state.Entry) bool { return true }); err == nil {
		t.Error("it goes on when it was told to end")
	}
}

// wake is when a runner has to look at a task.
func wake(e state.Entry) time.Time {
	if e.Held {
		return e.Resume
	}
	return e.Due
}
