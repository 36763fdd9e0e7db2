package runner

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/timer/rules"
)

// addWait adds a wait for tea.
func (w *world) addWait(t *testing.T, after time.Duration) state.Entry {
	t.Helper()
	e, err := w.store.Add(t.Context(), state.Task{Created: time.Now(), Text: "tea", Wait: state.Wait{Text: "1h", Kind: "once"},
		When: state.Timing{Text: "1h", Kind: "once", Zone: "UTC", Start: time.Now()}}, time.Now().Add(after))
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// runs starts the loop beside the test, and returns what ends it.
func (w *world) runs(t *testing.T) (end func()) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	over := make(chan error, 1)
	go func() { over <- Run(ctx, w.o) }()
	return func() {
		stop()
		if err := <-over; err != nil {
			t.Error(err)
		}
	}
}

// inbox are the items in the inbox: their IDs and types.
func (w *world) inbox(t *testing.T) (list []string) {
	t.Helper()
	items, _, _, err := w.store.Inbox(t.Context(), state.Query{})
	if err != nil {
		t.Fatal(err)
	}
	for _, i := range items {
		list = append(list, i.ID+" "+i.Line.Inbox+" "+i.Line.Text)
	}
	return list
}

func TestWaitThatNobodyAttends(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(Forever)
		e := w.addWait(t, time.Hour)
		end := w.runs(t)
		time.Sleep(time.Hour - 1)
		synctest.Wait()
		if open, _, _ := w.store.Open(t.Context()); len(open) > 0 {
			t.Error("claimed before its instant")
		}
		time.Sleep(time.Nanosecond)
		synctest.Wait()
		if got, want := w.inbox(t), e.Task.ID+"/1 wait tea"; len(got) != 1 || got[0] != want {
			t.Errorf("in the inbox: %q, want %q", got, want)
		}
		end()
		if got := w.outcomes(t); len(got) != 1 || got[0] != "ok" {
			t.Errorf("outcomes: %q", got)
		}
	})
}

// TestWaitThatIsAttended is left alone for as long as somebody attends to it, however late it is; then it is told.
func TestWaitThatIsAttended(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(Drain)
		e := w.addWait(t, time.Hour)
		_, leave, err := w.store.Announce(t.Context(), e.Task.ID, e.Due)
		if err != nil {
			t.Fatal(err)
		}
		defer w.runs(t)()
		time.Sleep(2 * time.Hour)
		synctest.Wait()
		if got := w.inbox(t); len(got) > 0 {
			t.Errorf("told although somebody attends to it: %q", got)
		}
		leave() // as of a waiter that was killed: nobody tells the runner
		time.Sleep(awaitedMost)
		synctest.Wait()
		if got := w.inbox(t); len(got) != 1 {
			t.Errorf("in the inbox: %q", got)
		}
	})
}

// unseen keeps what a test does as the process of the runner from the runner, which would take a claim of its own that it does not know for one that was left.
type unseen struct {
	state.Store
	mu sync.Mutex
}

func (u *unseen) Open(ctx context.Context) ([]state.Record, []state.Problem, error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.Store.Open(ctx)
}

// TestWaitToldByItsWaiter is ended by it, and is not mail.
func TestWaitToldByItsWaiter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(Drain)
		u := &unseen{Store: w.store}
		w.o.Store = u
		e := w.addWait(t, time.Hour)
		_, leave, err := w.store.Announce(t.Context(), e.Task.ID, e.Due)
		if err != nil {
			t.Fatal(err)
		}
		end := w.runs(t)
		time.Sleep(time.Hour + time.Millisecond)
		told := time.Now()
		u.mu.Lock()
		r, err := w.store.Claim(t.Context(), e.Task.ID, e.Due, time.Time{}, w.o.Self, told)
		if err != nil {
			t.Fatal(err)
		}
		line := rules.WaitedLine(r, told, told)
		line.At = told
		if err := w.store.End(t.Context(), r, line); err != nil {
			t.Fatal(err)
		}
		u.mu.Unlock()
		leave()
		synctest.Wait()
		end()
		if got := w.inbox(t); len(got) > 0 {
			t.Errorf("in the inbox: %q", got)
		}
		if got := w.outcomes(t); len(got) != 1 || got[0] != "ok" || line.Late != 0.001 || line.Text != "tea" {
			t.Errorf("outcomes: %q, %+v", got, line)
		}
	})
}
