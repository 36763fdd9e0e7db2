package runner

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
)

// A file of days that tasks leave out is read again before anything begins of a task, and when the runner is told to. One that cannot
// be read changes nothing.
func TestFilesOfDaysAreReadAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(Forever) // the bubble begins on Saturday 1 January 2000, 00:00 UTC
		var mu sync.Mutex      // the runner reads and writes what this test does
		var lines []string
		w.o.Say = func(format string, a ...any) {
			mu.Lock()
			defer mu.Unlock()
			lines = append(lines, fmt.Sprintf(format, a...))
		}
		said := func() string {
			mu.Lock()
			defer mu.Unlock()
			return strings.Join(lines, "\n")
		}
		days, failed := "2000-01-03", error(nil)
		file := func(text string, err error) {
			mu.Lock()
			defer mu.Unlock()
			days, failed = text, err
		}
		w.o.DayFile = func(_ context.Context, path string) (string, error) {
			if path != "/holidays" {
				t.Errorf("%s is read", path)
			}
			mu.Lock()
			defer mu.Unlock()
			return days, failed
		}
		again := make(chan struct{})
		w.o.Again = again
		add := func(kind, text string, end time.Time, due time.Duration) state.Entry {
			task := state.Task{Created: time.Now(), When: state.Timing{Text: text, Kind: kind, Zone: "UTC", Start: time.Now(), End: end,
				Except: []string{"file:/holidays"}, ExceptDays: []string{"2000-01-03"}}}
			task.Run.Argv = []string{"true"}
			e, err := w.store.Add(t.Context(), task, time.Now().Add(due))
			if err != nil {
				t.Fatal(err)
			}
			return e
		}
		const day = 24 * time.Hour
		add("cron", "0 12 * * *", time.Time{}, day/2)
		last := add("cron", "0 18 * * *", time.Now().Add(7*day), 3*day/4)
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- Run(ctx, w.o) }()
		started := func(want string) {
			t.Helper()
			synctest.Wait()
			w.cmds.mu.Lock()
			got := fmt.Sprint(w.cmds.started)
			w.cmds.started = nil
			w.cmds.mu.Unlock()
			if got != want {
				t.Errorf("started %s, want %s; %q", got, want, said())
			}
		}
		time.Sleep(day)
		started("[m001/1@12h0m0s m002/1@18h0m0s]")
		now := func() state.Entry {
			t.Helper()
			list, err := w.store.Find(t.Context(), last.Task.ID)
			if err != nil || len(list) != 1 {
				t.Fatal(list, err)
			}
			return list[0]
		}
		file("2000-01-02", nil) // the second is a holiday instead
		time.Sleep(2 * day)
		started("[m001/2@60h0m0s m002/2@66h0m0s]")
		file("", errors.New("no such file or directory")) // the days that were read last count
		time.Sleep(day)
		started("[m001/3@84h0m0s m002/3@90h0m0s]")
		if n := strings.Count(said(), "the days that were read before are left out"); n != 2 {
			t.Errorf("said %d times that it cannot be read: %q", n, said())
		}
		file("2000-01-05 to 2000-01-06", nil)
		again <- struct{}{}
		synctest.Wait()
		time.Sleep(time.Second)
		if e := now(); !strings.Contains(said(), "due Fri 7 Jan 2000 18:00:00") || e.Due.Day() != 7 {
			t.Errorf("due %s; %q", e.Due, said())
		}
		file("2000-01-01 to 2000-01-31", nil) // nothing is left of the second task
		again <- struct{}{}
		time.Sleep(4 * day)
		started("[]")
		if e := now(); e.Phase != state.Ended {
			t.Errorf("the task is %s, due %s", e.Phase, e.Due)
		}
		if got := w.outcomes(t); slices.ContainsFunc(got, func(o string) bool { return o != "ok" }) {
			t.Errorf("outcomes %v", got)
		}
		cancel()
		if err := <-ended; err != nil {
			t.Fatal(err)
		}
	})
}
