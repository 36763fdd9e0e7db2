package runner

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/state/memory"
	"github.com/ouro-timer/ouro-timer/timer/clock/clocktest"
	"github.com/ouro-timer/ouro-timer/timer/rules"
)

// takesNoEnds is a store that takes no outcomes while it is full.
type takesNoEnds struct {
	state.Store
	full bool
}

func (s *takesNoEnds) EndAll(ctx context.Context, ends []state.Ending) []error {
	if s.full {
		return slices.Repeat([]error{state.ErrUnusable}, len(ends))
	}
	return s.Store.EndAll(ctx, ends)
}

// TestEndsOfOneTaskAreToldInTheirOrder: of two runs of a task at once, the one that ends last says whether it fails, also when the outcomes of both
// had to wait for the disk.
func TestEndsOfOneTaskAreToldInTheirOrder(t *testing.T) {
	now := at(t, "2026-11-21 09:00")
	s := &takesNoEnds{Store: memory.New(), full: true}
	self := state.Ident{PID: 1, Boot: "b"}
	g := newEngine(Options{Store: s, Self: self, Clock: clocktest.Bubble{}, MaxParallel: AtMost(4), Say: t.Logf, Ended: func(state.Record, state.Line) {},
		Standing: func() rules.TellDefaults { return rules.TellDefaults{Channels: []string{"a"}} }}, &restHost{})
	claimed := func(text string, dues ...time.Time) (list []*run) {
		e, err := s.Add(t.Context(), state.Task{Created: now, When: state.Timing{Text: "every 5m", Kind: "interval", Zone: "UTC", Start: now}, Text: text,
			Run: state.Job{Argv: []string{"true"}}, Policy: state.Policy{Overlap: state.OverlapAllow}}, dues[0])
		if err != nil {
			t.Fatal(err)
		}
		for _, due := range dues {
			r, err := s.Claim(t.Context(), e.Task.ID, due, due.Add(5*time.Minute), self, due)
			if err != nil {
				t.Fatal(err)
			}
			n := &run{r: r}
			g.runs[claimOf(r)] = n
			list = append(list, n)
		}
		return list
	}
	both, other := claimed("both", now, now.Add(5*time.Minute)), claimed("other", now.Add(time.Minute))
	for i, end := range []struct {
		run  *run
		code int
	}{{both[1], 1}, {other[0], 0}, {both[0], 0}} {
		ended := now.Add(time.Duration(6+i) * time.Minute)
		g.handle(t.Context(), Event{Record: end.run.r, Result: rules.Result{Started: end.run.r.Due, Ended: ended, ExitCode: end.code}}, ended)
		g.flush(t.Context(), ended)
	}
	s.full = false
	g.flush(t.Context(), now.Add(time.Hour))
	var got []string
	if _, _, err := s.Log(t.Context(), both[0].r.Task.ID, func(l state.Line) bool {
		if l.Type == state.LineOccurrence {
			got = append([]string{fmt.Sprintf("#%d %s: %s", l.Number, l.Outcome, l.News)}, got...)
		}
		return true
	}); err != nil {
		t.Fatal(err)
	}
	if want := []string{"#2 failed: failure", "#1 ok: recovery"}; !slices.Equal(got, want) {
		t.Errorf("told %q, not %q", got, want)
	}
	e, err := s.Find(t.Context(), both[0].r.Task.ID)
	if err != nil {
		t.Fatal(err)
	}
	if e[0].Tally.Failing {
		t.Error("its last run was ok, and it counts as failing")
	}
}
