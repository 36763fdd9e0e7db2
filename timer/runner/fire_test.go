package runner

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/timer/rules"
)

// begin lets the loop of a world run until the function that is returned ends it.
func (w *world) begin(t *testing.T) (end func() error) {
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- Run(ctx, w.o) }()
	return func() error {
		cancel()
		return <-ended
	}
}

// manual are the outcomes of what was fired by hand.
func (w *world) manual(t *testing.T) (list []string) {
	if _, _, err := w.store.Log(t.Context(), "", func(l state.Line) bool {
		if l.Type == state.LineManual {
			list = append([]string{string(l.Outcome) + ":" + l.Reason}, list...)
		}
		return true
	}); err != nil {
		t.Fatal(err)
	}
	return list
}

func TestARunnerStepsDown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(Forever)
		w.cmds.takes = 10 * time.Minute
		yield := make(chan struct{})
		w.o.Yield = yield
		w.add(t, "once", time.Second, "true")
		w.add(t, "once", 2*time.Minute, "true")
		ended := make(chan error, 1)
		go func() { ended <- Run(t.Context(), w.o) }()
		time.Sleep(time.Minute)
		close(yield)
		synctest.Wait()
		lease, err := w.store.Lead(t.Context(), state.Leader{})
		if err != nil {
			t.Fatalf("the lock of a runner that has stepped down: %v", err)
		}
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		if got, want := fmt.Sprint(w.cmds.started), "[m001/1@1s]"; got != want {
			t.Errorf("started %s, want %s: it claims nothing more", got, want)
		}
		select {
		case err := <-ended:
			t.Fatalf("it ended before its command did: %v", err)
		default:
		}
		if err := <-ended; err != nil {
			t.Fatal(err)
		}
		if got, want := fmt.Sprint(w.outcomes(t)), "[ok]"; got != want {
			t.Errorf("outcomes %s, want %s", got, want)
		}
		if err := lease.Release(); err != nil {
			t.Fatal(err)
		}
	})
}

func TestAHaltReachesEveryStateOfARun(t *testing.T) {
	for _, where := range []string{"running", "resting", "waiting for room"} {
		t.Run(where, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(Forever)
				w.o.MaxParallel = AtMost(1)
				w.cmds.takes = time.Hour
				e := w.add(t, "once", time.Second, "true")
				if where != "running" {
					w.cmds.takes = 0
					e.Task.Policy = state.Policy{Retries: 3, Backoff: "10m"}
					w.cmds.fails = true
					if _, err := w.store.Update(t.Context(), e.Task, time.Time{}, time.Now(), nil); err != nil {
						t.Fatal(err)
					}
				}
				end := w.begin(t)
				time.Sleep(time.Minute)
				synctest.Wait()
				if where == "waiting for room" {
					w.cmds.takes = time.Hour
					w.add(t, "once", time.Second, "true")
					time.Sleep(20 * time.Minute) // its pause is over, and the other goes on
					synctest.Wait()
				}
				open, _, err := w.store.Open(t.Context())
				if err != nil || len(open) == 0 || open[0].Task.ID != e.Task.ID {
					t.Fatalf("open: %v, %v", open, err)
				}
				if err := w.store.Halt(t.Context(), open[0], rules.Stopped); err != nil {
					t.Fatal(err)
				}
				time.Sleep(time.Second)
				synctest.Wait()
				if got, want := fmt.Sprint(w.outcomes(t)), "[cancelled:stopped]"; got != want {
					t.Errorf("outcomes %s, want %s", got, want)
				}
				if err := end(); err != nil {
					t.Fatal(err)
				}
			})
		})
	}
}

func TestFire(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(Forever)
		e := w.add(t, "once", time.Hour, "true")
		line, err := Fire(t.Context(), w.o, e)
		if err != nil || line.Outcome != state.OK || line.Type != state.LineManual || line.Number != 1 {
			t.Fatalf("%+v, %v", line, err)
		}
		w.cmds.takes = time.Hour
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Minute, cancel)
		if line, err = Fire(ctx, w.o, e); err != nil || line.Outcome != state.Cancelled || line.Reason != rules.Stopped || line.Ended.Sub(*line.Started) != time.Minute {
			t.Errorf("cancelled: %+v, %v", line, err)
		}
		w.cmds.takes, w.cmds.fails = time.Second, true
		e.Task.Policy = state.Policy{Retries: 2, Backoff: "1s"}
		if e, err = w.store.Update(t.Context(), e.Task, time.Time{}, time.Now(), nil); err != nil {
			t.Fatal(err)
		}
		if line, err = Fire(t.Context(), w.o, e); err != nil || line.Outcome != state.Failed || line.Attempts != 3 {
			t.Errorf("retried: %+v, %v", line, err)
		}
		if got, want := fmt.Sprint(w.manual(t)), "[ok: cancelled:stopped failed:]"; got != want {
			t.Errorf("outcomes %s, want %s", got, want)
		}
		if due, pending, err := state.Next(t.Context(), w.store, time.Time{}); err != nil || !pending || !due.Equal(e.Due) {
			t.Errorf("due %v, %v, %v: an occurrence was consumed", due, pending, err)
		}
	})
}

func TestFireOverlaps(t *testing.T) {
	for overlap, want := range map[string]string{
		state.OverlapSkip:    "[ok]",
		state.OverlapQueue:   "[ok ok]",
		state.OverlapReplace: "[cancelled:replaced ok]",
		state.OverlapAllow:   "[ok ok]",
	} {
		t.Run(overlap, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(Forever)
				w.o.Self, _ = Self() // others have to see that it lives
				w.cmds.takes = 10 * time.Minute
				e := w.add(t, "every 1h", time.Second, "true")
				e.Task.Policy.Overlap = overlap
				e, err := w.store.Update(t.Context(), e.Task, time.Time{}, time.Now(), nil)
				if err != nil {
					t.Fatal(err)
				}
				end := w.begin(t)
				time.Sleep(time.Minute)
				synctest.Wait()
				line, err := Fire(t.Context(), w.o, e)
				if overlap == state.OverlapSkip != errors.Is(err, ErrGoing) || overlap != state.OverlapSkip && (err != nil || line.Outcome != state.OK) {
					t.Errorf("%+v, %v", line, err)
				}
				if err := end(); err != nil {
					t.Fatal(err)
				}
				if got := fmt.Sprint(trimmed(append(w.outcomes(t), w.manual(t)...))); got != want {
					t.Errorf("outcomes %s, want %s", got, want)
				}
			})
		})
	}
}

// trimmed are outcomes without the colon of those that have no reason.
func trimmed(list []string) (short []string) {
	for _, o := range list {
		if o[len(o)-1] == ':' {
			o = o[:len(o)-1]
		}
		short = append(short, o)
	}
	return short
}

// TestAClaimOfADeadProcessIsTakenOver while the runner lives: somebody who fired by hand was killed.
func TestAClaimOfADeadProcessIsTakenOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(Forever)
		e := w.add(t, "once", time.Hour, "true")
		end := w.begin(t)
		time.Sleep(time.Minute)
		if _, err := w.store.Fire(t.Context(), e.Task.ID, state.Ident{PID: 1<<30 - 1, Boot: "test"}, time.Now()); err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if got, want := fmt.Sprint(w.manual(t)), "[interrupted:runner_died]"; got != want {
			t.Errorf("outcomes %s, want %s", got, want)
		}
		if err := end(); err != nil {
			t.Fatal(err)
		}
	})
}

// stubborn is a store that does not take what is noted of attempts until an instant, and does not say whose end was asked for until another.
type stubborn struct {
	state.Store
	notes, halts time.Time
}

func (s stubborn) Note(ctx context.Context, r state.Record) error {
	if time.Now().Before(s.notes) {
		return state.ErrUnusable
	}
	return s.Store.Note(ctx, r)
}

func (s stubborn) Halted(ctx context.Context) ([]state.Record, error) {
	if time.Now().Before(s.halts) {
		return nil, state.ErrUnusable
	}
	return s.Store.Halted(ctx)
}

// TestFireTriesTheStoreAgain: what the store refuses for a while is tried again, although nothing happens meanwhile.
func TestFireTriesTheStoreAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(Forever)
		e := w.add(t, "once", 24*time.Hour, "false")
		e.Task.Policy = state.Policy{Retries: 1, Backoff: "1s"}
		e, err := w.store.Update(t.Context(), e.Task, time.Time{}, time.Now(), nil)
		if err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		w.o.Store = stubborn{Store: w.store, notes: began.Add(5 * time.Second)}
		line, err := Fire(t.Context(), w.o, e)
		if err != nil || line.Outcome != state.Failed || line.Attempts != 2 || time.Since(began) > 10*time.Second {
			t.Errorf("after %v: %+v, %v", time.Since(began), line, err)
		}
		began = time.Now()
		w.cmds.takes = time.Hour
		w.o.Store = stubborn{Store: w.store, halts: began.Add(15 * time.Second)}
		go func() {
			time.Sleep(10 * time.Second)
			open, _, err := w.store.Open(t.Context())
			if err != nil || len(open) != 1 {
				t.Errorf("%v, %v", open, err)
				return
			}
			if err := w.store.Halt(t.Context(), open[0], rules.Stopped); err != nil {
				t.Error(err)
			}
		}()
		line, err = Fire(t.Context(), w.o, e)
		if err != nil || line.Outcome != state.Cancelled || time.Since(began) > 20*time.Second {
			t.Errorf("after %v: %+v, %v", time.Since(began), line, err)
		}
	})
}
