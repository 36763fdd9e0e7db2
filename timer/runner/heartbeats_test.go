package runner

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/timer/rules"
)

// TestHeartbeatsOverAnHour: of each run of two hours the start is told once, before the end, and the end is told in spite of a server that is down
// for the first hour; runs that overlap are told apart; further attempts are no further starts.
func TestHeartbeatsOverAnHour(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, m := posted(Forever)
		w.cmds.takes = 15 * time.Minute // longer than the interval, so that runs overlap
		w.o.Standing = func() rules.TellDefaults { return rules.TellDefaults{Beats: []string{"hc"}} }
		var mu sync.Mutex
		begun, ended := map[string]int{}, map[string]int{}
		w.o.Begun = func(r state.Record) {
			mu.Lock()
			defer mu.Unlock()
			begun[state.OccurrenceID(r.Task.ID, r.Number)]++
		}
		down := true
		m.how["hc"] = func(_ context.Context, n state.Notice) error {
			mu.Lock()
			defer mu.Unlock()
			if begun[n.ID()] != 1 {
				t.Errorf("%s has ended and was begun %d times", n.ID(), begun[n.ID()])
			}
			if down {
				return errors.New("connection refused")
			}
			ended[n.ID()]++
			return nil
		}
		for _, argv := range []string{"true", "false"} {
			task := state.Task{Created: time.Now(), When: state.Timing{Text: "every 10m", Kind: "interval", Zone: "UTC", Start: time.Now(), Count: 6}, Run: state.Job{Argv: []string{argv}},
				Policy: state.Policy{Notify: []string{"hc"}, NotifyOn: state.NotifyNever, Overlap: state.OverlapAllow}}
			if argv == "false" {
				task.Policy.Retries, task.Policy.Backoff = 1, "10s"
			}
			if _, err := w.store.Add(t.Context(), task, time.Now().Add(10*time.Minute)); err != nil {
				t.Fatal(err)
			}
		}
		ctx, stop := context.WithCancel(t.Context())
		over := make(chan error, 1)
		w.o.MaxParallel = AtMost(20)
		go func() { over <- Run(ctx, w.o) }()
		time.Sleep(time.Hour)
		mu.Lock()
		down = false
		mu.Unlock()
		time.Sleep(3 * time.Hour)
		stop()
		if err := <-over; err != nil {
			t.Error(err)
		}
		if len(begun) < 10 || fmt.Sprint(begun) != fmt.Sprint(ended) {
			t.Errorf("begun %v\nended %v", begun, ended)
		}
	})
}
