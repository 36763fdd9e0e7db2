package tasks_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/state/fleet"
	"github.com/ouro-timer/ouro-timer/state/fleet/model"
	"github.com/ouro-timer/ouro-timer/state/memory"
	"github.com/ouro-timer/ouro-timer/timer/clock/clocktest"
	"github.com/ouro-timer/ouro-timer/timer/rules"
	"github.com/ouro-timer/ouro-timer/timer/tasks"
)

// TestStopElsewhere: a run on another machine of a fleet goes on until the runner there has ended it. Whoever cannot see it does not take it for dead.
func TestStopElsewhere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		kv := model.New()
		at := func(name string) *fleet.Store {
			return fleet.New(kv, fleet.Options{Local: memory.New(), Node: state.Node{Name: name}})
		}
		here, there := at("a"), at("b")
		now := time.Now()
		e, err := there.Add(t.Context(), state.Task{Created: now, Run: state.Job{Argv: []string{"true"}},
			When: state.Timing{Text: "now", Kind: "once", Zone: "UTC", Start: now}}, now)
		if err != nil {
			t.Fatal(err)
		}
		r, err := there.Claim(t.Context(), e.Task.ID, e.Due, time.Time{}, state.Ident{Node: "b", Boot: "another", PID: 1}, now)
		if err != nil {
			t.Fatal(err)
		}
		found := func() state.Entry {
			t.Helper()
			list, err := here.Find(t.Context(), e.Task.ID)
			if err != nil || len(list) != 1 {
				t.Fatal(list, err)
			}
			return list[0]
		}
		if open := found().Open; len(open) != 1 || open[0].Node != "b" {
			t.Errorf("it runs on b, and is seen as %+v", open)
		}
		if !tasks.IsRunning(found()) {
			t.Error("it is not taken for running")
		}
		limited, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		runs, failed := tasks.Stop(limited, here, clocktest.Bubble{}, []state.Entry{found()}, false)
		if len(failed) > 0 || len(runs) != 1 || runs[0].Over {
			t.Errorf("stopped %+v, failed %v", runs, failed)
		}
		if open := found().Open; len(open) != 1 || open[0].Halt != rules.Stopped {
			t.Errorf("its runner was told: %+v", open)
		}
		line := rules.Judge(r, nil, rules.Result{Started: now, Ended: time.Now(), Halted: rules.Stopped})
		if err := there.End(t.Context(), r, line); err != nil {
			t.Fatal(err)
		}
		if runs, failed = tasks.Stop(t.Context(), here, clocktest.Bubble{}, []state.Entry{found()}, false); len(runs)+len(failed) > 0 {
			t.Errorf("stopped %+v, failed %v", runs, failed)
		}
		if _, _, err := here.Log(t.Context(), e.Task.ID, func(l state.Line) bool { line = l; return false }); err != nil || line.Node != "b" || line.Outcome != state.Cancelled {
			t.Errorf("the ledger has %+v, %v", line, err)
		}
	})
}
