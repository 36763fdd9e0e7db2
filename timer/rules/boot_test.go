package rules

import (
	"testing"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
)

// TestDecideBoots is about a task of each boot: what it does once it was made due, and that it waits for the next boot then.
func TestDecideBoots(t *testing.T) {
	boot := func(due, now string, set ...func(*state.Entry)) (state.Entry, time.Time) {
		e := entry(t, state.KindBoot, "@reboot", "2026-11-21 09:00", due)
		for _, s := range set {
			s(&e)
		}
		return e, at(t, now)
	}
	held := func(e *state.Entry) { e.Held, e.Resume = true, at(t, "2026-11-21 10:30") }
	for _, row := range []struct {
		name, due, now string
		set            []func(*state.Entry)
		want           []StepKind
		held           bool
	}{
		{"waiting", "9999-12-30T00:00:00Z", "2026-11-21 10:00", nil, nil, false},
		{"due", "2026-11-21 10:00", "2026-11-21 10:00", nil, []StepKind{StepRun}, false},
		{"due since a boot before this one", "2026-11-14 10:00", "2026-11-21 10:00", nil, []StepKind{StepRun}, false},
		{"too late for its window", "2026-11-21 10:00", "2026-11-21 10:06", []func(*state.Entry){func(e *state.Entry) { e.Task.Policy.Window = "5m" }}, []StepKind{StepSkip}, false},
		{"fired by hand at the time", "2026-11-21 10:00", "2026-11-21 10:00", []func(*state.Entry){func(e *state.Entry) { e.Open = []state.Record{{Manual: true}} }}, nil, true},
		{"its stop condition was met", "2026-11-21 10:00", "2026-11-21 10:00", []func(*state.Entry){func(e *state.Entry) { e.Tally.Stop = "until_ok" }}, []StepKind{StepFinish}, false},
		{"paused while it was due", "2026-11-21 10:00", "2026-11-21 10:30", []func(*state.Entry){held}, []StepKind{StepSkip, StepResume}, false},
		{"paused while it waited", "9999-12-30T00:00:00Z", "2026-11-21 10:30", []func(*state.Entry){held}, []StepKind{StepResume}, false},
	} {
		e, now := boot(row.due, row.now, row.set...)
		sched, err := Schedule(e.Task)
		if err != nil || sched != nil {
			t.Fatalf("its schedule: %v, %v", sched, err)
		}
		p := Decide(e, sched, now)
		ok := len(p.Steps) == len(row.want) && p.Waits == row.held
		for i, s := range p.Steps {
			ok = ok && s.Kind == row.want[i] && (s.Kind != StepRun && s.Kind != StepSkip || state.IsUnscheduled(s.Next))
		}
		if !ok {
			t.Errorf("%s: %+v", row.name, p)
		}
	}
	e, now := boot("2026-11-21 10:00", "2026-11-21 09:59:59")
	if s, ok := Ahead(e, nil, now); !ok || !state.IsUnscheduled(s.Next) {
		t.Errorf("claimed ahead: %+v, %v", s, ok)
	}
	if _, moved := DueNow(e); moved {
		t.Error("zone rules move it")
	}
	if _, _, moved := GoesOn(e, now.Add(-24*time.Hour), now.Add(-24*time.Hour)); moved {
		t.Error("a clock that was put back moves it")
	}
}
