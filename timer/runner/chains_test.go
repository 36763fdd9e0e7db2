package runner

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/state/memory"
	"github.com/ouro-timer/ouro-timer/timer/clock/clocktest"
)

// follow adds a task that runs a program after the runs of others have ended, as by --after; the words are ID:on.
func (w *world) follow(t *testing.T, program string, after ...string) state.Entry {
	t.Helper()
	ends := map[string]string{}
	for _, a := range after {
		id, on, _ := strings.Cut(a, ":")
		ends[id] = on
	}
	task := state.Task{Created: time.Now(), When: state.Timing{Text: "after others", Kind: "once", Zone: "UTC", Start: time.Now(), After: ends}}
	task.Run.Argv = []string{program}
	e, err := w.store.Add(t.Context(), task, state.Unscheduled)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// TestChains is a table of what becomes of tasks that wait for others. m001 is due after a second and takes one; the others are given as
// "program after ID:on", and what is run and how all end is compared.
func TestChains(t *testing.T) {
	for _, tt := range []struct {
		name    string
		first   string
		others  []string
		started string
		ends    string
	}{
		{"one after the other", "true", []string{"true 1:ok", "true 2:ok"}, "m001/1@1s m002/1@2s m003/1@3s", "ok ok ok"},
		{"the failed branch", "false", []string{"true 1:ok", "true 1:failed"}, "m001/1@1s m003/1@2s", "failed skipped:after_ended ok"},
		{"the well-ended branch", "true", []string{"true 1:ok", "true 1:failed"}, "m001/1@1s m002/1@2s", "ok skipped:after_ended ok"},
		{"whatever its end", "false", []string{"true 1:any"}, "m001/1@1s m002/1@2s", "failed ok"},
		{"what does not come takes its followers with it", "false", []string{"true 1:ok", "true 2:ok", "true 2:failed"}, "m001/1@1s", "failed skipped:after_ended skipped:after_ended skipped:after_ended"},
		{"but for those that take any end", "false", []string{"true 1:ok", "true 2:any"}, "m001/1@1s m003/1@2s", "failed skipped:after_ended ok"},
		{"two at once", "true", []string{"true 1:ok", "true 1:ok", "true 2:ok,3:ok"}, "m001/1@1s m002/1@2s m003/1@2s m004/1@3s", "ok ok ok ok"},
		{"one of two does not come", "true", []string{"false 1:ok", "true 1:ok,2:ok"}, "m001/1@1s m002/1@2s", "ok failed skipped:after_ended"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(Drain)
				w.cmds.takes = time.Second
				ids := []string{w.add(t, "once", time.Second, tt.first).Task.ID}
				for _, other := range tt.others {
					program, after, _ := strings.Cut(other, " ")
					var list []string
					for a := range strings.SplitSeq(after, ",") {
						var n int
						var on string
						fmt.Sscanf(a, "%d:%s", &n, &on)
						list = append(list, ids[n-1]+":"+on)
					}
					ids = append(ids, w.follow(t, program, list...).Task.ID)
				}
				if err := Run(t.Context(), w.o); err != nil {
					t.Fatal(err)
				}
				slices.Sort(w.cmds.started)
				if got := strings.Join(w.cmds.started, " "); got != tt.started {
					t.Errorf("started %s, want %s", got, tt.started)
				}
				if got := strings.Join(w.outcomes(t), " "); got != tt.ends {
					t.Errorf("ended %s, want %s", got, tt.ends)
				}
			})
		})
	}
}

// TestChainAfterARunnerDied has a run end, and the runner with it, before what waits for that end was made due: the next runner finds it out.
func TestChainAfterARunnerDied(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(Drain)
		first := w.add(t, "once", time.Second, "true")
		r, err := w.store.Claim(t.Context(), first.Task.ID, first.Due, time.Time{}, w.o.Self, time.Now())
		if err != nil {
			t.Fatal(err)
		}
		w.follow(t, "true", first.Task.ID+":ok")
		w.follow(t, "true", first.Task.ID+":failed")
		if err := w.store.End(t.Context(), r, state.Line{Outcome: state.OK, At: time.Now()}); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if err := Run(t.Context(), w.o); err != nil {
				t.Fatal(err)
			}
		}
		if got := fmt.Sprint(w.cmds.started, w.outcomes(t)); got != "[m002/1@0s] [ok skipped:after_ended ok]" {
			t.Errorf("%s", got)
		}
	})
}

// addsLate is a store in which something is added when the runner is about to give up its lock.
type addsLate struct {
	*memory.Store
	add func()
}

type lateLease struct {
	state.Lease
	add func()
}

func (s addsLate) Lead(ctx context.Context, l state.Leader) (state.Lease, error) {
	lease, err := s.Store.Lead(ctx, l)
	return lateLease{lease, s.add}, err
}

func (l lateLease) Release() error {
	l.add()
	return l.Lease.Release()
}

// TestChainBesideARunnerThatEnds adds a task after a run that has ended, when the runner is about to end: who added it saw a runner alive,
// so that one takes its lock back. It does not for tasks that it has looked at.
func TestChainBesideARunnerThatEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(Drain)
		first := w.add(t, "once", time.Second, "true")
		boot := state.Task{Created: time.Now(), When: state.Timing{Text: "at boot", Kind: state.KindBoot, Zone: "UTC", Start: time.Now()}, Text: "booted"}
		if _, err := w.store.Add(t.Context(), boot, state.Unscheduled); err != nil {
			t.Fatal(err)
		}
		w.o.Self.Boot = ""
		times := 0
		w.o.Store = addsLate{w.store, func() {
			if times++; times == 1 {
				w.follow(t, "true", first.Task.ID+":ok")
			}
		}}
		if err := Run(t.Context(), w.o); err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprint(w.outcomes(t), times); got != "[ok ok] 2" {
			t.Errorf("%s", got)
		}
	})
}

// TestChainOfARecurrence waits for the first run that ends after the task was made, and not for one before or for what was skipped.
func TestChainOfARecurrence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(Forever)
		w.cmds.takes = 90 * time.Second // every second instant is skipped
		every := w.add(t, "every 1m", time.Minute, "true")
		end := w.begin(t)
		time.Sleep(2*time.Minute + 40*time.Second) // its first run is over, and the instant within it was skipped
		w.follow(t, "echo", every.Task.ID+":ok")
		time.Sleep(30 * time.Second)
		w.cmds.mu.Lock()
		started := slices.Clone(w.cmds.started)
		w.cmds.mu.Unlock()
		if slices.ContainsFunc(started, func(s string) bool { return strings.HasPrefix(s, "m002") }) {
			t.Errorf("it did not wait: %v", started)
		}
		time.Sleep(2 * time.Minute)
		if err := end(); err != nil {
			t.Fatal(err)
		}
		if !slices.Contains(w.cmds.started, "m002/1@4m30s") {
			t.Errorf("started %v", w.cmds.started)
		}
	})
}

// TestChainOfWhatIsRemoved ends what waits for a task that is removed; a paused one waits on, and takes no part until it is resumed.
func TestChainOfWhatIsRemoved(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(Forever)
		first := w.add(t, "once", time.Hour, "true")
		w.follow(t, "true", first.Task.ID+":ok")
		held := w.follow(t, "true", first.Task.ID+":any")
		ctx := context.WithoutCancel(t.Context())
		if _, err := w.store.Pause(ctx, held.Task.ID, time.Time{}, time.Now()); err != nil {
			t.Fatal(err)
		}
		end := w.begin(t)
		time.Sleep(time.Minute)
		if _, err := w.store.Remove(ctx, first.Task.ID, time.Now()); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		if got := fmt.Sprint(w.outcomes(t)); got != "[skipped:after_removed]" {
			t.Errorf("%s", got)
		}
		if _, err := w.store.Resume(ctx, held.Task.ID, time.Now()); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		if err := end(); err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprint(w.outcomes(t)); got != "[skipped:after_removed skipped:after_removed]" {
			t.Errorf("%s", got)
		}
	})
}

// TestScheduleOfAnEditedFile: what somebody writes into a file by hand counts, although the revision stays.
func TestScheduleOfAnEditedFile(t *testing.T) {
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	g := newEngine(Options{Store: memory.New()}, nil)
	task := state.Task{ID: "m001", Revision: 1, When: state.Timing{Text: "every 1h", Kind: "interval", Zone: "UTC", Start: now}}
	for _, end := range []time.Time{{}, now.Add(90 * time.Minute)} {
		task.When.End = end
		sched, err := g.schedule(task)
		if err != nil {
			t.Fatal(err)
		}
		if _, more := sched.Next(now.Add(2 * time.Hour)); more != end.IsZero() {
			t.Errorf("with the end %v it goes on: %v", end, more)
		}
	}
}

// TestManyChains: what becomes of one of very many tasks that wait does not take a look at all of them, which took minutes.
func TestManyChains(t *testing.T) {
	clocktest.Alone(t)
	c := newChains()
	id := func(i int) string { return fmt.Sprintf("k%d", i) }
	for i := range 50_000 {
		c.forget(id(i))
		c.wait(id(i), id(i+1))
		c.wait(id(i), "all")
	}
	c.changed("all")
	if len(c.look) != 50_000 {
		t.Errorf("%d are looked at", len(c.look))
	}
	for i := range 50_000 {
		c.forget(id(i))
	}
	if len(c.waiting)+len(c.awaited) > 0 {
		t.Errorf("%d are waited for, and %d wait", len(c.waiting), len(c.awaited))
	}
}
