package sim_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/timer/rules"
	"github.com/ouro-timer/ouro-timer/timer/runner/sim"
)

// year lets a hundred daily tasks, each at its minute, live for a year.
func year(tb testing.TB) int {
	begin := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	w := sim.New(begin)
	w.Fate = func(state.Record) sim.Fate { return sim.Fate{Takes: time.Second} }
	runs := 0
	w.Told = func(h sim.Happening) {
		if h.What == sim.Outcome {
			runs++
		}
	}
	for i := range 100 {
		t := state.Task{When: state.Timing{Text: fmt.Sprintf("%d %d * * *", i%60, i%24), Kind: "cron", Zone: "Europe/Warsaw", Start: begin},
			Run: state.Job{Argv: []string{"true"}}, Created: begin}
		sched, err := rules.Schedule(t)
		if err != nil {
			tb.Fatal(err)
		}
		due, _ := sched.Next(begin)
		if _, err := w.Store.Add(context.Background(), t, due); err != nil {
			tb.Fatal(err)
		}
	}
	w.Up()
	w.RunTo(begin.AddDate(1, 0, 0))
	return runs
}

func TestYear(t *testing.T) {
	if runs := year(t); runs != 36500 {
		t.Errorf("%d runs", runs)
	}
}

func BenchmarkYear(b *testing.B) {
	for b.Loop() {
		year(b)
	}
}
