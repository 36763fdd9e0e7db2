package runner

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/state/memory"
	"github.com/ouro-timer/ouro-timer/timer/clock/clocktest"
	"github.com/ouro-timer/ouro-timer/timer/proc"
)

// pretend starts commands that take a while and end as they are told.
type pretend struct {
	mu      sync.Mutex
	started []string // how many-th task added, occurrence and second of the start: m001/1@2s
	epoch   time.Time
	takes   time.Duration
	fails   bool // they end with 1
	err     error
	refuse  func(r state.Record) error // why a start fails, if it does
}

// starts is what was started so far.
func (p *pretend) starts() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.started)
}

type pretended struct {
	done  chan struct{}
	stop  chan struct{}
	begin time.Time
	code  int
	mu    sync.Mutex
	sig   string
}

func (p *pretend) Start(_ context.Context, r state.Record, _ []string, _, _ state.Stream, begin func() error) (Command, error) {
	if err := begin(); err != nil {
		return nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.err != nil {
		return nil, p.err
	}
	if p.refuse != nil {
		if err := p.refuse(r); err != nil {
			return nil, err
		}
	}
	n, _ := state.IDNumber(r.Task.ID)
	p.started = append(p.started, fmt.Sprintf("m%03d/%d@%v", n+1, r.Number, time.Since(p.epoch)))
	c := &pretended{done: make(chan struct{}), stop: make(chan struct{}, 1), begin: time.Now()}
	if p.fails || len(r.Task.Run.Argv) > 0 && r.Task.Run.Argv[0] == "false" {
		c.code = 1
	}
	takes := p.takes
	go func() {
		defer close(c.done)
		select {
		case <-time.After(takes):
		case <-c.stop:
			c.mu.Lock()
			c.sig = "SIGTERM"
			c.mu.Unlock()
		}
	}()
	return c, nil
}

func (c *pretended) Identity() proc.Identity { return proc.Identity{PID: 1 << 30} }
func (c *pretended) Stop(time.Duration)      { c.stop <- struct{}{} }
func (c *pretended) Done() <-chan struct{}   { return c.done }
func (c *pretended) Wait() proc.Result {
	<-c.done
	c.mu.Lock()
	defer c.mu.Unlock()
	code := c.code
	if c.sig != "" {
		code = -1
	}
	return proc.Result{ExitCode: code, Signal: c.sig, Started: c.begin, Ended: time.Now()}
}

// world is a loop with a memory store and pretended commands.
type world struct {
	store *memory.Store
	cmds  pretend
	told  []string
	o     Options
}

func newWorld(mode Mode) *world {
	w := &world{store: memory.New()}
	w.cmds.epoch = time.Now()
	w.o = Options{Store: w.store, Clock: clocktest.Bubble{}, Commands: &w.cmds, Mode: mode, MaxParallel: AtMost(4),
		Self: state.Ident{PID: 1 << 30, Boot: "test"},
		Say:  func(string, ...any) {}, Ended: func(state.Record, state.Line) {},
		Deliver: func(r state.Record) error {
			w.cmds.mu.Lock()
			defer w.cmds.mu.Unlock()
			w.told = append(w.told, r.Task.Text)
			return nil
		}}
	return w
}

func (w *world) add(t *testing.T, text string, after time.Duration, job ...string) state.Entry {
	t.Helper()
	task := state.Task{Created: time.Now(), When: state.Timing{Text: text, Kind: "once", Zone: "UTC", Start: time.Now()}, Text: "hello"}
	if text != "once" {
		task.When.Kind = "interval"
	}
	task.Run.Argv = job
	e, err := w.store.Add(t.Context(), task, time.Now().Add(after))
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// outcomes are the outcomes in the ledger, oldest first.
func (w *world) outcomes(t *testing.T) []string {
	var list []string
	if _, _, err := w.store.Log(t.Context(), "", func(l state.Line) bool {
		if l.Type == state.LineOccurrence {
			text := string(l.Outcome)
			if l.Reason != "" {
				text += ":" + l.Reason
			}
			list = append(list, text)
		}
		return true
	}); err != nil {
		t.Fatal(err)
	}
	slices.Reverse(list)
	return list
}

func TestOneShotsRunOnTimeAndTheRunnerEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(Drain)
		w.add(t, "once", 2*time.Second, "true")
		w.add(t, "once", time.Hour, "true")
		w.add(t, "once", time.Minute)
		if err := Run(t.Context(), w.o); err != nil {
			t.Fatal(err)
		}
		if got, want := fmt.Sprint(w.cmds.started), "[m001/1@2s m002/1@1h0m0s]"; got != want {
			t.Errorf("started %s, want %s", got, want)
		}
		if got, want := fmt.Sprint(w.told), "[hello]"; got != want {
			t.Errorf("told %s, want %s", got, want)
		}
		if got, want := fmt.Sprint(w.outcomes(t)), "[ok ok ok]"; got != want {
			t.Errorf("outcomes %s, want %s", got, want)
		}
	})
}

func TestADayOfAnInterval(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(Forever)
		w.add(t, "every 1h", time.Hour, "true")
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- Run(ctx, w.o) }()
		time.Sleep(24 * time.Hour)
		synctest.Wait()
		if n := len(w.cmds.started); n != 24 {
			t.Errorf("a day of an hourly task ran %d times: %v", n, w.cmds.started)
		}
		cancel()
		if err := <-ended; err != nil {
			t.Fatal(err)
		}
	})
}

func TestATaskAddedLaterWakesTheLoop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(Forever)
		w.add(t, "once", time.Hour, "true")
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- Run(ctx, w.o) }()
		time.Sleep(time.Minute)
		w.add(t, "once", time.Second, "true")
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if got, want := fmt.Sprint(w.cmds.started), "[m002/1@1m1s]"; got != want {
			t.Errorf("started %s, want %s", got, want)
		}
		cancel()
		<-ended
	})
}

func TestOverlapIsSkippedAndCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(Forever)
		w.cmds.takes = 150 * time.Second
		w.add(t, "every 1m", time.Minute, "true")
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- Run(ctx, w.o) }()
		time.Sleep(7*time.Minute + time.Second)
		synctest.Wait()
		if got, want := fmt.Sprint(w.cmds.started), "[m001/1@1m0s m001/4@4m0s m001/7@7m0s]"; got != want {
			t.Errorf("started %s, want %s", got, want)
		}
		if got, want := fmt.Sprint(w.outcomes(t)), "[ok skipped:overlap ok skipped:overlap]"; got != want {
			t.Errorf("outcomes %s, want %s", got, want)
		}
		cancel()
		if err := <-ended; err != nil {
			t.Fatal(err)
		}
		if got := w.outcomes(t); got[len(got)-1] != "ok" {
			t.Errorf("the run that was going when the runner was told to end must end by itself, not as %s", got[len(got)-1])
		}
	})
}

func TestTheSecondSignalEndsWhatRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(Forever)
		w.cmds.takes = time.Hour
		kill := make(chan struct{})
		w.o.Kill = kill
		w.add(t, "once", time.Second, "true")
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- Run(ctx, w.o) }()
		time.Sleep(time.Minute)
		cancel()
		synctest.Wait()
		select {
		case <-ended:
			t.Fatal("the runner ended before its command")
		default:
		}
		close(kill)
		if err := <-ended; err != nil {
			t.Fatal(err)
		}
		if got, want := fmt.Sprint(w.outcomes(t)), "[cancelled:runner_ends]"; got != want {
			t.Errorf("outcomes %s, want %s", got, want)
		}
	})
}

func TestNoMoreRunAtOnceThanThereIsRoomFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(Drain)
		w.o.MaxParallel = AtMost(2)
		w.cmds.takes = 10 * time.Second
		for i := range 5 {
			w.add(t, "once", time.Second+time.Duration(i)*time.Millisecond, "true")
		}
		if err := Run(t.Context(), w.o); err != nil {
			t.Fatal(err)
		}
		slices.Sort(w.cmds.started)
		if got, want := fmt.Sprint(w.cmds.started), "[m001/1@1s m002/1@1.001s m003/1@11s m004/1@11.001s m005/1@21s]"; got != want {
			t.Errorf("started %s, want %s", got, want)
		}
	})
}

func TestOnceDoesWhatIsDueAndEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(Once)
		w.cmds.takes = time.Minute
		w.add(t, "once", 0, "true")
		w.add(t, "every 1s", time.Second, "true")
		w.add(t, "once", 30*time.Second, "true")
		time.Sleep(1500 * time.Millisecond)
		if err := Run(t.Context(), w.o); err != nil {
			t.Fatal(err)
		}
		slices.Sort(w.cmds.started) // they start side by side
		if got, want := fmt.Sprint(w.cmds.started), "[m001/1@1.5s m002/1@1.5s]"; got != want {
			t.Errorf("started %s, want %s: what falls due while --once waits is not its own", got, want)
		}
	})
}

func TestWhatARunnerLeftOpenIsAccountedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(Drain)
		gone := state.Ident{PID: 1<<30 - 1, Boot: "before"}
		command, message := w.add(t, "once", 0, "true"), w.add(t, "once", 0)
		for _, e := range []state.Entry{command, message} {
			if _, err := w.store.Claim(t.Context(), e.Task.ID, e.Due, time.Time{}, gone, time.Now()); err != nil {
				t.Fatal(err)
			}
		}
		if err := Run(t.Context(), w.o); err != nil {
			t.Fatal(err)
		}
		if len(w.cmds.started) > 0 {
			t.Errorf("an interrupted command was started again: %v", w.cmds.started)
		}
		if got, want := fmt.Sprint(w.told), "[hello]"; got != want {
			t.Errorf("a message is told at least once: told %s, want %s", got, want)
		}
		got := w.outcomes(t)
		slices.Sort(got)
		if want := "[interrupted:runner_died ok]"; fmt.Sprint(got) != want {
			t.Errorf("outcomes %s, want %s", got, want)
		}
	})
}

func TestAProgramThatCannotStartHasFailed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(Drain)
		w.cmds.err = &proc.StartError{Op: "find", Path: "nope", Err: errors.New("no such program")}
		w.add(t, "once", time.Second, "nope")
		if err := Run(t.Context(), w.o); err != nil {
			t.Fatal(err)
		}
		if got, want := fmt.Sprint(w.outcomes(t)), "[failed:not_started]"; got != want {
			t.Errorf("outcomes %s, want %s", got, want)
		}
	})
}

func TestTwoRunnersTakeTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(Drain)
		w.add(t, "once", time.Second, "true")
		first := make(chan error)
		go func() { first <- Run(t.Context(), w.o) }()
		synctest.Wait()
		if err := Run(t.Context(), w.o); !errors.Is(err, state.ErrLed) {
			t.Errorf("a second runner: %v, want ErrLed", err)
		}
		if err := <-first; err != nil {
			t.Fatal(err)
		}
		if err := Run(t.Context(), w.o); err != nil {
			t.Errorf("after the first has ended: %v", err)
		}
	})
}

// What a claim of its own changes in the folder must not make a runner stay that has nothing left to do.
func TestADrainedRunnerEndsAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(Drain)
		begin := time.Now()
		for range 10 {
			w.add(t, "once", time.Second, "true")
		}
		if err := Run(t.Context(), w.o); err != nil {
			t.Fatal(err)
		}
		if got := time.Since(begin); got != time.Second {
			t.Errorf("ended after %v, and the last command after 1s", got)
		}
	})
}

func TestARunnerDozesWhileNothingHappens(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(Forever)
		var dozed, woken atomic.Int32
		w.o.Idle = func() func() { dozed.Add(1); return func() { woken.Add(1) } }
		w.add(t, "once", time.Hour, "true")
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- Run(ctx, w.o) }()
		for _, c := range []struct {
			after        time.Duration
			dozed, woken int32
		}{
			{50 * time.Second, 0, 0},
			{time.Minute, 1, 0},
			{58*time.Minute + 30*time.Second, 1, 1}, // it has run the task
			{2 * time.Minute, 2, 1},                 // nothing is left, and it dozes again
		} {
			time.Sleep(c.after)
			synctest.Wait()
			if dozed.Load() != c.dozed || woken.Load() != c.woken {
				t.Errorf("%v later it had dozed %d times and woken %d times, want %d and %d", c.after, dozed.Load(), woken.Load(), c.dozed, c.woken)
			}
		}
		cancel()
		if err := <-ended; err != nil || woken.Load() != 2 {
			t.Errorf("at its end: %v, woken %d times", err, woken.Load())
		}
	})
}

// TestADueOneShotDoesNotHideBehindWhatIsHeld has thirty tasks go on when they are due again, and a one-shot that is due at the same instant and
// stands last: there is room, so it runs at once.
func TestADueOneShotDoesNotHideBehindWhatIsHeld(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const n = 30
		last, of := 0, "" // which of the IDs that are given out stands last
		for i := range n + 1 {
			if id := state.ID(uint64(i)); id > of {
				last, of = i, id
			}
		}
		w := newWorld(Forever)
		w.o.MaxParallel, w.cmds.takes = AtMost(n+2), 90*time.Second
		for i := range n + 1 {
			if i == last {
				w.add(t, "once", 40*time.Second, "true")
				continue
			}
			w.add(t, "every 20s", 20*time.Second, "true")
		}
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- Run(ctx, w.o) }()
		time.Sleep(45 * time.Second)
		synctest.Wait()
		if want := fmt.Sprintf("m%03d/1@40s", last+1); !slices.Contains(w.cmds.started, want) {
			t.Errorf("started %v, and not %s", w.cmds.started, want)
		}
		stop()
		if err := <-ended; err != nil {
			t.Fatal(err)
		}
	})
}
