package audit_test

import (
	"runtime"
	"strconv"
	"testing"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/timer/audit"
	"github.com/ouro-timer/ouro-timer/timer/clock/clocktest"
)

// long yields the lines of a ledger of so many tasks, each with the same number of occurrences.
func long(tasks, each int, timing state.Timing, yield func(state.Line)) {
	first := timing.Start.Add(time.Minute)
	for n := range tasks {
		e := state.Entry{Task: state.Task{ID: state.ID(uint64(n)), Revision: 1, When: timing}, Due: first}
		yield(state.TaskLine(e, state.EventCreated, timing.Start))
	}
	for i := range each {
		for n := range tasks {
			due, code := first.Add(time.Duration(i)*time.Minute), 0
			yield(state.Line{Type: state.LineOccurrence, At: due, TaskID: state.ID(uint64(n)), Number: i + 1, Due: &due, Count: 1, Outcome: state.OK, Started: &due,
				Ended: &due, Attempts: 1, ExitCode: &code, Revision: 1, Description: "line " + strconv.Itoa(i)})
		}
	}
}

var shapes = []struct {
	name        string
	tasks, each int
	timing      state.Timing
	most        uint64 // bytes that an audit may hold
}{
	{"one task", 1, 300_000, state.Timing{Text: "every 1m", Kind: "interval", Zone: "UTC", Start: day("09:00")}, 2 << 20},
	{"a thousand tasks", 1000, 200, state.Timing{Text: "* * * * *", Kind: "cron", Zone: "UTC", Start: day("09:00")}, 4 << 20},
	{"a hundred thousand recurring tasks", 100_000, 1, state.Timing{Text: "every 1m", Kind: "interval", Zone: "UTC", Start: day("09:00")}, 16 << 20},
	{"a hundred thousand one-shots", 100_000, 1, state.Timing{Text: "9:01", Kind: "once", Zone: "UTC"}, 8 << 20},
}

// TestMemory: what an audit holds depends on the tasks, and not on how many lines there are.
func TestMemory(t *testing.T) {
	clocktest.Alone(t)
	held := func() uint64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	for _, s := range shapes {
		before := held()
		a := audit.New(audit.Options{})
		long(s.tasks, s.each, timingAt(s.timing), a.Add)
		if now := held(); now > before+s.most {
			t.Errorf("%s: %d bytes after %d lines", s.name, now-before, s.tasks*(s.each+1))
		}
		r := a.Result()
		if r.Tasks != s.tasks || r.Instants != s.tasks*s.each || len(r.Findings) > 0 {
			t.Errorf("%s: %d tasks, %d instants, %d findings, the first %+v", s.name, r.Tasks, r.Instants, len(r.Findings), r.Findings[:min(len(r.Findings), 1)])
		}
	}
}

// timingAt is a timing that starts at nine.
func timingAt(t state.Timing) state.Timing {
	t.Start = day("09:00")
	return t
}

func BenchmarkAdd(b *testing.B) {
	for _, s := range shapes {
		b.Run(s.name, func(b *testing.B) {
			for b.Loop() {
				a := audit.New(audit.Options{})
				long(s.tasks, s.each, timingAt(s.timing), a.Add)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*s.tasks*(s.each+1)), "ns/line")
		})
	}
}
