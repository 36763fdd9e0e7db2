package runner

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/state/memory"
	"github.com/ouro-timer/ouro-timer/timer/proc"
	"github.com/ouro-timer/ouro-timer/timer/rules"
)

// refuse has starts fail until the instant, counted from the beginning, and counts them. Of is why;
// of some tasks alone, if any are named.
func (w *world) refuse(of error, until time.Duration, ids ...string) *int {
	n := new(int)
	w.cmds.mu.Lock()
	defer w.cmds.mu.Unlock()
	w.cmds.refuse = func(r state.Record) error {
		if time.Since(w.cmds.epoch) >= until || len(ids) > 0 && !slices.Contains(ids, r.Task.ID) {
			return nil
		}
		*n++
		return &proc.StartError{Op: "start", Path: "/bin/true", Err: of}
	}
	return n
}

// What is short for a while ends nothing: each start is made again, and each task runs once.
func TestAStartIsPutOff(t *testing.T) {
	for _, why := range []error{syscall.EMFILE, syscall.ENFILE, syscall.ENOMEM, syscall.EAGAIN, syscall.ETXTBSY} {
		for _, mode := range []Mode{Forever, Drain, Once} {
			synctest.Test(t, func(t *testing.T) {
				if mode == Once && why == syscall.ETXTBSY {
					return // see below
				}
				w := newWorld(mode)
				for range 10 {
					w.add(t, "once", 0, "true")
				}
				n := w.refuse(why, 5*time.Second)
				ctx, stop := context.WithTimeout(t.Context(), time.Minute)
				defer stop()
				if err := Run(ctx, w.o); err != nil {
					t.Fatal(err)
				}
				if got := w.outcomes(t); len(got) != 10 || slices.ContainsFunc(got, func(o string) bool { return o != "ok" }) {
					t.Errorf("%v, mode %d: %v", why, mode, got)
				}
				if len(w.cmds.started) != 10 || *n < 10 || *n > 200 {
					t.Errorf("%v, mode %d: started %v, after %d failed starts", why, mode, w.cmds.started, *n)
				}
			})
		}
	}
}

// Under a shortage of all no more is claimed than could run, the claims are known to have started
// nothing, and everybody can see why.
func TestAShortageOfAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(Forever)
		for range 10 {
			w.add(t, "once", 0, "true")
		}
		w.refuse(syscall.EMFILE, time.Hour)
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- Run(ctx, w.o) }()
		time.Sleep(5 * time.Second)
		synctest.Wait()
		open, _, err := w.store.Open(t.Context())
		if err != nil || len(open) != w.o.MaxParallel() {
			t.Errorf("%d claims, %v", len(open), err)
		}
		for _, r := range open {
			if got := rules.TakingOver(r, w.o.Self, false); got != rules.ToRelease {
				t.Errorf("%+v: %v", r, got)
			}
		}
		leader, _, err := w.store.Led(t.Context())
		if err != nil || len(leader.Delays) != len(open) || !strings.Contains(leader.DelayOf(open[0].Task.ID), "too many open files") {
			t.Errorf("led by %+v, %v", leader, err)
		}
		stop() // what was put off stays pending
		if err := <-ended; err != nil {
			t.Fatal(err)
		}
		if got := w.outcomes(t); len(got) != 0 {
			t.Errorf("outcomes %v", got)
		}
	})
}

// A start that a task's own surroundings put off takes nobody's place, and the task can be removed,
// paused and edited meanwhile. A runner that only does what is due leaves it to the next.
func TestATaskThatIsPutOffIsPending(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(Forever)
		w.o.MaxParallel = AtMost(1)
		var busy []string
		for range 3 {
			busy = append(busy, w.add(t, "once", 0, "true").Task.ID)
		}
		w.add(t, "once", 0, "true")
		windowed := state.Task{Created: time.Now(), When: state.Timing{Text: "once", Kind: "once", Zone: "UTC", Start: time.Now()}}
		windowed.Run.Argv, windowed.Policy.Window = []string{"true"}, "10m"
		e, err := w.store.Add(t.Context(), windowed, time.Now())
		if err != nil {
			t.Fatal(err)
		}
		w.refuse(syscall.ETXTBSY, time.Hour, append(busy, e.Task.ID)...)
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- Run(ctx, w.o) }()
		time.Sleep(5 * time.Second)
		synctest.Wait()
		if got := fmt.Sprint(w.outcomes(t)); got != "[ok]" {
			t.Errorf("outcomes %s", got)
		}
		for _, id := range busy {
			found, err := w.store.Find(t.Context(), id)
			if err != nil || found[0].Phase != state.Pending || len(found[0].Open) > 0 {
				t.Errorf("%s: %+v, %v", id, found, err)
			}
		}
		if _, err := w.store.Remove(t.Context(), busy[0], time.Now()); err != nil {
			t.Error(err)
		}
		if _, err := w.store.Pause(t.Context(), busy[1], time.Time{}, time.Now()); err != nil {
			t.Error(err)
		}
		time.Sleep(2 * time.Hour)
		synctest.Wait()
		if got := fmt.Sprint(w.outcomes(t)); got != "[ok missed:window ok]" || len(w.cmds.started) != 2 {
			t.Errorf("outcomes %s, started %v", got, w.cmds.started)
		}
		if leader, _, _ := w.store.Led(t.Context()); len(leader.Delays) > 0 {
			t.Errorf("put off for ever: %+v", leader.Delays)
		}
		stop()
		<-ended
	})
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(Once)
		w.add(t, "once", 0, "true")
		w.refuse(syscall.ETXTBSY, time.Hour)
		if err := Run(t.Context(), w.o); err != nil {
			t.Fatal(err)
		}
		if _, pending, _ := state.Next(t.Context(), w.store, time.Time{}); !pending || len(w.outcomes(t)) > 0 {
			t.Errorf("pending %v, outcomes %v", pending, w.outcomes(t))
		}
	})
}

// A further attempt that is put off is not an attempt, and is told to the next runner as one that is to
// come.
func TestAFurtherAttemptIsPutOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(Forever)
		task := state.Task{Created: time.Now(), When: state.Timing{Text: "once", Kind: "once", Zone: "UTC", Start: time.Now()}}
		task.Run.Argv, task.Policy.Retries, task.Policy.Backoff = []string{"false"}, 1, "1s"
		if _, err := w.store.Add(t.Context(), task, time.Now()); err != nil {
			t.Fatal(err)
		}
		w.cmds.fails = true
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- Run(ctx, w.o) }()
		time.Sleep(time.Second / 2)
		w.refuse(syscall.ETXTBSY, time.Minute)
		time.Sleep(10 * time.Second)
		synctest.Wait()
		open, _, _ := w.store.Open(t.Context())
		if len(open) != 1 || open[0].Attempt != 1 || rules.TakingOver(open[0], w.o.Self, false) != rules.ToRest {
			t.Errorf("open %+v", open)
		}
		time.Sleep(3 * time.Minute)
		synctest.Wait()
		if got := fmt.Sprint(w.outcomes(t)); got != "[failed]" || len(w.cmds.started) != 2 {
			t.Errorf("outcomes %s, started %v", got, w.cmds.started)
		}
		stop()
		<-ended
	})
}

// What was asked to end, and what was changed while it kept its claim, is not started.
func TestWhatIsPutOffCanBeEnded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(Forever)
		stopped, removed, ran := w.add(t, "once", 0, "true"), w.add(t, "once", 0, "true"), w.add(t, "once", 0, "true")
		w.refuse(syscall.EMFILE, time.Minute)
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- Run(ctx, w.o) }()
		time.Sleep(5 * time.Second)
		found, err := w.store.Find(t.Context(), stopped.Task.ID)
		if err != nil || len(found[0].Open) != 1 {
			t.Fatal(found, err)
		}
		if err := w.store.Halt(t.Context(), found[0].Open[0], rules.Stopped); err != nil {
			t.Error(err)
		}
		if _, err := w.store.Remove(t.Context(), removed.Task.ID, time.Now()); err != nil {
			t.Error(err)
		}
		time.Sleep(time.Hour)
		synctest.Wait()
		if got := fmt.Sprint(w.outcomes(t)); got != "[cancelled:stopped cancelled:put_off ok]" && got != "[cancelled:stopped ok cancelled:put_off]" {
			t.Errorf("outcomes %s", got)
		}
		if n, _ := state.IDNumber(ran.Task.ID); len(w.cmds.started) != 1 || !strings.HasPrefix(w.cmds.started[0], fmt.Sprintf("m%03d/", n+1)) {
			t.Errorf("started %v", w.cmds.started)
		}
		stop()
		<-ended
	})
}

// shortOf is a store that cannot be read, or changed, for a while.
type shortOf struct {
	*memory.Store
	until time.Time
	tried int
}

func (s *shortOf) short() error {
	if time.Now().Before(s.until) {
		s.tried++
		return fmt.Errorf("%w: reading a folder: %w", state.ErrUnusable, syscall.EMFILE)
	}
	return nil
}

func (s *shortOf) Find(ctx context.Context, id string) ([]state.Entry, error) {
	if err := s.short(); err != nil {
		return nil, err
	}
	return s.Store.Find(ctx, id)
}

func (s *shortOf) Release(ctx context.Context, r state.Record) error {
	if err := s.short(); err != nil {
		return err
	}
	return s.Store.Release(ctx, r)
}

// While nobody can say whether the task of a start that was put off is as it was, nothing ends.
func TestWhetherItIsWantedIsShort(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(Drain)
		s := &shortOf{Store: w.store, until: time.Now().Add(10 * time.Second)}
		w.o.Store = s
		for range 3 {
			w.add(t, "once", 0, "true")
		}
		w.refuse(syscall.EMFILE, time.Second)
		ctx, stop := context.WithTimeout(t.Context(), time.Minute)
		defer stop()
		if err := Run(ctx, w.o); err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprint(w.outcomes(t)); got != "[ok ok ok]" || len(w.cmds.started) != 3 || s.tried == 0 {
			t.Errorf("outcomes %s, started %v, %d times without an answer", got, w.cmds.started, s.tried)
		}
	})
}

// What a runner before us has claimed and not begun is taken over once the store answers.
func TestTakingOverIsShort(t *testing.T) {
	for _, mode := range []Mode{Forever, Drain} {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(mode)
			e := w.add(t, "once", time.Second, "true")
			time.Sleep(time.Second)
			gone := state.Ident{PID: 4711, Start: 1, Boot: w.o.Self.Boot, NS: w.o.Self.NS}
			if _, err := w.store.Claim(t.Context(), e.Task.ID, e.Due, time.Time{}, gone, time.Now()); err != nil {
				t.Fatal(err)
			}
			s := &shortOf{Store: w.store, until: time.Now().Add(10 * time.Second)}
			w.o.Store = s
			ctx, stop := context.WithTimeout(t.Context(), time.Minute)
			defer stop()
			if err := Run(ctx, w.o); err != nil {
				t.Fatal(err)
			}
			if got := fmt.Sprint(w.outcomes(t)); got != "[ok]" || s.tried == 0 || s.tried > 20 {
				t.Errorf("outcomes %s, started %v, %d times without an answer", got, w.cmds.started, s.tried)
			}
		})
	}
}

// newer is a store with a task that a newer version has written.
type newer struct {
	*memory.Store
	id    string
	tried int
}

func (s *newer) Apply(ctx context.Context, changes ...state.Change) []state.Applied {
	all := make([]state.Applied, len(changes))
	for i, c := range changes {
		if c.ID == s.id {
			s.tried++
			all[i].Err = fmt.Errorf("its file: %w", state.ErrNewer)
		} else {
			all[i] = s.Store.Apply(ctx, c)[0]
		}
	}
	return all
}

// A task that cannot be read keeps no other one waiting, and is tried ever less often.
func TestATaskThatCannotBeRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(Forever)
		w.o.MaxParallel = AtMost(1)
		s := &newer{Store: w.store, id: w.add(t, "once", time.Minute, "true").Task.ID}
		w.o.Store = s
		w.add(t, "once", 2*time.Minute, "true")
		ctx, stop := context.WithTimeout(t.Context(), 61*time.Minute)
		defer stop()
		if err := Run(ctx, w.o); err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprint(w.outcomes(t)); got != "[ok]" || s.tried < 30 || s.tried > 70 {
			t.Errorf("outcomes %s, tried %d times in an hour", got, s.tried)
		}
	})
}
