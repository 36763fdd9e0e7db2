package runner

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
)

// atBoot adds a task of each boot that was made in one.
func (w *world) atBoot(t *testing.T, boot string) state.Entry {
	t.Helper()
	task := state.Task{Created: time.Now(), When: state.Timing{Text: "@reboot", Kind: state.KindBoot, Zone: "UTC", Start: time.Now(), Boot: boot}}
	task.Run.Argv = []string{"true"}
	e, err := w.store.Add(t.Context(), task, state.Unscheduled)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// runIn runs a runner in a boot until it has nothing to do.
func (w *world) runIn(t *testing.T, boot string) {
	t.Helper()
	w.o.Self.Boot = boot
	if err := Run(t.Context(), w.o); err != nil {
		t.Fatal(err)
	}
}

// TestBoots: a task of each boot runs once in each that has a runner, however many of those, and not in the one that it was made in. What has
// no name for its boots never begins it.
func TestBoots(t *testing.T) {
	for _, tt := range []struct{ name, boots, want string }{
		{"made in this boot", "one one", ""},
		{"two runners of the next", "two two", "m001/1"},
		{"three boots", "one two two three three four", "m001/1 m001/2 m001/3"},
		{"no name of the boot", "- - -", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, mode := range []Mode{Drain, Once} {
				synctest.Test(t, func(t *testing.T) {
					w := newWorld(mode)
					w.atBoot(t, "one")
					for boot := range strings.FieldsSeq(tt.boots) {
						w.runIn(t, strings.Trim(boot, "-"))
						time.Sleep(time.Minute)
					}
					var got []string
					for _, s := range w.cmds.started {
						id, _, _ := strings.Cut(s, "@")
						got = append(got, id)
					}
					if fmt.Sprint(got) != fmt.Sprint(strings.Fields(tt.want)) {
						t.Errorf("ran %v, want %s", got, tt.want)
					}
				})
			}
		})
	}
}

// TestBootAfterARunnerDied: a runner ends when the task was made due, and before its claim; the next one, of the same boot or of a later one, runs
// it once.
func TestBootAfterARunnerDied(t *testing.T) {
	for _, boot := range []string{"two", "three"} {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(Drain)
			e := w.atBoot(t, "one")
			if err := w.store.Move(t.Context(), e.Task.ID, state.Unscheduled, time.Now(), time.Now()); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Hour)
			w.runIn(t, boot)
			w.runIn(t, boot)
			if got := fmt.Sprint(w.cmds.started, w.outcomes(t)); got != "[m001/1@1h0m0s] [ok]" {
				t.Errorf("in boot %s: %s", boot, got)
			}
		})
	}
}

// TestBootOfAPausedTask: what is held does not begin; it does once it goes on, in that boot. One that is restored has not had it either.
func TestBootOfAPausedTask(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(Drain)
		e := w.atBoot(t, "one")
		if _, err := w.store.Pause(t.Context(), e.Task.ID, time.Time{}, time.Now()); err != nil {
			t.Fatal(err)
		}
		w.runIn(t, "two")
		if len(w.cmds.started) > 0 {
			t.Fatal(w.cmds.started)
		}
		if _, err := w.store.Resume(t.Context(), e.Task.ID, time.Now()); err != nil {
			t.Fatal(err)
		}
		w.runIn(t, "two")
		w.runIn(t, "two")
		if got := fmt.Sprint(w.cmds.started); got != "[m001/1@0s]" {
			t.Error(got)
		}
	})
}

// TestBootToldWhileItRuns: a runner that is there is told of a task that was made in another boot, as when a person puts a file back.
func TestBootToldWhileItRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(Forever)
		w.o.Self.Boot = "two"
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- Run(ctx, w.o) }()
		time.Sleep(time.Minute)
		w.atBoot(t, "two")
		w.atBoot(t, "one")
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if got := fmt.Sprint(w.cmds.started); got != "[m002/1@1m0s]" {
			t.Error(got)
		}
		cancel()
		<-ended
	})
}
