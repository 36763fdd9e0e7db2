package runner

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
)

// TestChangeBetweenAttempts: what is edited is for later occurrences, so that further attempts are
// made. Where none is made any more, the last attempt decides the outcome, with its exit code.
func TestChangeBetweenAttempts(t *testing.T) {
	for what, c := range map[string]struct {
		change   func(ctx context.Context, s state.Store, e state.Entry) error
		outcomes string
		attempts int
	}{
		"nothing":       {func(context.Context, state.Store, state.Entry) error { return nil }, "[failed]", 3},
		"a description": {edited(func(t *state.Task) { t.Description = "new" }), "[failed]", 3},
		"its policy":    {edited(func(t *state.Task) { t.Policy.Retries = 9 }), "[failed]", 3},
		"its command":   {edited(func(t *state.Task) { t.Run.Argv = []string{"other"} }), "[failed:changed]", 1},
		"its schedule":  {edited(func(t *state.Task) { t.When.Text = "every 48h" }), "[failed:changed]", 1},
		"a pause": {func(ctx context.Context, s state.Store, e state.Entry) error {
			_, err := s.Pause(ctx, e.Task.ID, time.Time{}, time.Now())
			return err
		}, "[failed:changed]", 1},
		"its removal": {func(ctx context.Context, s state.Store, e state.Entry) error {
			_, err := s.Remove(ctx, e.Task.ID, time.Now())
			return err
		}, "[failed:changed]", 1},
	} {
		t.Run(what, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(Forever)
				task := state.Task{Created: time.Now(), When: state.Timing{Text: "every 24h", Kind: "interval", Zone: "UTC", Start: time.Now()}}
				task.Run.Argv, task.Policy.Retries, task.Policy.Backoff, task.Policy.Factor = []string{"false"}, 2, "10s", 1
				e, err := w.store.Add(t.Context(), task, time.Now())
				if err != nil {
					t.Fatal(err)
				}
				w.cmds.fails = true
				ctx, stop := context.WithCancel(t.Context())
				ended := make(chan error)
				go func() { ended <- Run(ctx, w.o) }()
				time.Sleep(5 * time.Second)
				if err := c.change(t.Context(), w.store, e); err != nil {
					t.Error(err)
				}
				time.Sleep(time.Minute)
				synctest.Wait()
				_, _, err = w.store.Log(t.Context(), e.Task.ID, func(l state.Line) bool {
					if l.Type == state.LineOccurrence && (l.Attempts != c.attempts || l.ExitCode == nil || *l.ExitCode != 1 || l.Inbox == "") {
						t.Errorf("it ended as %+v", l)
					}
					return true
				})
				if err != nil {
					t.Fatal(err)
				}
				if got := fmt.Sprint(w.outcomes(t)); got != c.outcomes || len(w.cmds.started) != c.attempts {
					t.Errorf("outcomes %s, started %v", got, w.cmds.started)
				}
				stop()
				<-ended
			})
		})
	}
}

// edited returns a change of a task.
func edited(change func(*state.Task)) func(context.Context, state.Store, state.Entry) error {
	return func(ctx context.Context, s state.Store, e state.Entry) error {
		found, err := s.Find(ctx, e.Task.ID)
		if err != nil {
			return err
		}
		task := found[0].Task
		change(&task)
		_, err = s.Update(ctx, task, found[0].Due, time.Now(), nil)
		return err
	}
}

// countsEnds is a store on which no outcome can be written, and nothing claimed. Each try is a
// change that the runner is told of.
type countsEnds struct {
	state.Store
	full    atomic.Bool
	tries   atomic.Int32
	changed chan struct{}
}

func (s *countsEnds) EndAll(ctx context.Context, ends []state.Ending) []error {
	if !s.full.Load() {
		return s.Store.EndAll(ctx, ends)
	}
	s.tries.Add(1)
	select {
	case s.changed <- struct{}{}:
	default:
	}
	errs := make([]error, len(ends))
	for i := range errs {
		errs[i] = state.ErrUnusable
	}
	return errs
}

func (s *countsEnds) Follow(ctx context.Context) (state.Queue, error) {
	q, err := s.Store.Follow(ctx)
	return &tellsMore{Queue: q, changed: s.changed}, err
}

type tellsMore struct {
	state.Queue
	changed chan struct{}
}

func (q *tellsMore) Changed() <-chan struct{} { return q.changed }

// TestFullDiskIsLeftInPeace: a try to write an outcome may leave traces that the runner sees as
// changes. It tries again after its pause, and not at once.
func TestFullDiskIsLeftInPeace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(Forever)
		full := &countsEnds{Store: w.o.Store, changed: make(chan struct{}, 1)}
		full.full.Store(true)
		w.o.Store = full
		w.add(t, "once", 0, "true")
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- Run(ctx, w.o) }()
		time.Sleep(10 * time.Minute)
		synctest.Wait()
		if n := full.tries.Load(); n > 25 {
			t.Errorf("%d tries in 10 minutes", n)
		}
		full.full.Store(false)
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		if got := fmt.Sprint(w.outcomes(t)); got != "[ok]" {
			t.Errorf("outcomes %s", got)
		}
		stop()
		<-ended
	})
}
