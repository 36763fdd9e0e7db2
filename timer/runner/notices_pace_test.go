package runner

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/timer/notifier"
)

// A failing disk: what was told and cannot be written is not told again, and nothing more is told until it is.
func TestNothingIsToldTwiceByOneCourier(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, m := posted(Drain)
		w.o.Linger = true
		full := &fullDisk{Store: w.store}
		w.o.Store = full
		full.until = time.Now().Add(time.Hour)
		m.how["down"] = func(_ context.Context, n state.Notice) error {
			if n.Attempts > 0 {
				return nil
			}
			return errors.New("it is down")
		}
		w.news(t, time.Second, "a", "down")
		w.news(t, 10*time.Second, "b")
		if err := Run(t.Context(), w.o); err != nil {
			t.Fatal(err)
		}
		same(t, "a", m.attempts("a"), "1@1s")
		if down, b := m.attempts("down"), m.attempts("b"); len(down) != 2 || len(b) != 1 || full.failed < 60 {
			t.Errorf("down %v, b %v; %d writes failed", down, b, full.failed)
		}
		if n := len(w.deliveries(t)); n != 3 {
			t.Errorf("%d were delivered", n)
		}
	})
}

// fullDisk is a store that cannot write what became of notices for a while.
type fullDisk struct {
	state.Store
	until  time.Time
	failed int
}

func (f *fullDisk) full() bool {
	if time.Now().Before(f.until) {
		f.failed++
		return true
	}
	return false
}

func (f *fullDisk) Told(ctx context.Context, n state.Notice, l state.Line) error {
	if f.full() {
		return errFull
	}
	return f.Store.Told(ctx, n, l)
}

func (f *fullDisk) Postpone(ctx context.Context, n state.Notice) error {
	if f.full() {
		return errFull
	}
	return f.Store.Postpone(ctx, n)
}

// An idle runner makes no calls of the store for its outbox, however long; what is due wakes it, and what others write.
func TestAnIdleCourierSleeps(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, m := posted(Forever)
		looks := &looks{Store: w.store}
		w.o.Store = looks
		end := w.begin(t)
		time.Sleep(24 * time.Hour)
		synctest.Wait()
		if n := looks.count(); n != 2 { // at the start, and once nothing has happened for a second
			t.Errorf("%d looks at the outbox in a day in which nothing happened", n)
		}
		m.how["down"] = func(_ context.Context, n state.Notice) error {
			if n.Attempts == 0 {
				return errors.New("it is down")
			}
			return nil
		}
		before := looks.count()
		w.news(t, time.Second, "down")
		time.Sleep(24 * time.Hour)
		synctest.Wait()
		if n := looks.count() - before; n > 8 || len(m.sent) != 2 {
			t.Errorf("%d looks for a notice that was told with the second attempt: %v", n, m.sent)
		}
		if err := end(); err != nil {
			t.Fatal(err)
		}
	})
}

type looks struct {
	state.Store
	mu sync.Mutex
	n  int
}

func (l *looks) count() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.n
}

func (l *looks) Outbox(ctx context.Context, by time.Time, limit int, except ...string) ([]state.Notice, time.Time, []state.Problem, error) {
	l.mu.Lock()
	l.n++
	l.mu.Unlock()
	return l.Store.Outbox(ctx, by, limit, except...)
}

// A notice that is due a week from now, because the clock was put back, is due.
func TestAClockThatWasPutBackSilencesNobody(t *testing.T) {
	w := newWorld(Forever)
	now := time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC)
	e := w.news(t, 0, "a")
	r, err := w.store.Claim(t.Context(), e.Task.ID, e.Due, time.Time{}, w.o.Self, now)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.store.End(t.Context(), r, state.Line{At: now.Add(7 * 24 * time.Hour), Outcome: state.OK, Tell: []string{"a"}, News: state.NewsMessage}); err != nil {
		t.Fatal(err)
	}
	p := planOf(w.o)
	if o, _, err := p.Pass(t.Context(), now, now, true); err != nil || len(o.Send) != 1 {
		t.Errorf("%+v, %v", o, err)
	}
	p = planOf(w.o)
	if o, _, err := p.Pass(t.Context(), now, now.Add(7*24*time.Hour-2*time.Hour), true); err != nil || len(o.Send) != 0 || o.Wake.IsZero() {
		t.Errorf("two hours before it is due: %+v, %v", o, err)
	}
}

// What cannot be written at all is sent once, and stands in nobody's way.
func TestWhatCanNeverBeWrittenIsSentOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, m := posted(Forever)
		w.o.Store = refusing{w.store}
		m.how["garbled"] = fails(errors.New("\xff" + strings.Repeat("é", 5000)))
		for range 20 {
			w.news(t, time.Second, "odd")
		}
		w.news(t, 2*time.Second, "a", "garbled")
		end := w.begin(t)
		time.Sleep(time.Hour)
		synctest.Wait()
		if n := len(m.attempts("odd")); n != 20 {
			t.Errorf("sent %d times", n)
		}
		same(t, "a", m.attempts("a"), "21@2s")
		for _, n := range w.left(t) {
			if n.Channel == "garbled" && !strings.HasPrefix(n.Last, "\uFFFDéé") || len(n.Last) > 2500 {
				t.Errorf("%d bytes: %.20q", len(n.Last), n.Last)
			}
		}
		if err := end(); err != nil {
			t.Fatal(err)
		}
	})
}

// planOf is what a notifier would do.
func planOf(o Options) *notifier.Plan {
	return notifier.NewPlan(notifier.Options{Store: o.Store, Say: o.Say, Warn: o.Say})
}

// refusing is a store that cannot keep what is said of one channel.
type refusing struct{ state.Store }

func (r refusing) Told(ctx context.Context, n state.Notice, l state.Line) error {
	if n.Channel == "odd" {
		return state.ErrInvalid
	}
	return r.Store.Told(ctx, n, l)
}

// A storm costs few looks at the outbox, each of which lists all of it.
func TestAStormCostsFewLooks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, m := posted(Drain)
		looks := &looks{Store: w.store}
		w.o.Store = looks
		w.o.Linger, w.o.MaxParallel = true, AtMost(1000)
		m.how["slow"] = takes(time.Second)
		for range 640 {
			w.news(t, time.Second, "slow")
		}
		if err := Run(t.Context(), w.o); err != nil {
			t.Fatal(err)
		}
		if n := looks.count(); n > 200 || len(w.deliveries(t)) != 640 {
			t.Errorf("%d looks for %d deliveries", n, len(w.deliveries(t)))
		}
	})
}

// What was not read because its channel was busy is read as soon as that has room, be it that two attempts ended at once.
func TestNoPlaceStaysEmpty(t *testing.T) {
	w := newWorld(Forever)
	now := time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC)
	post := func(n int) {
		for range n {
			e := w.news(t, 0, "a")
			r, err := w.store.Claim(t.Context(), e.Task.ID, e.Due, time.Time{}, w.o.Self, now)
			if err == nil {
				err = w.store.End(t.Context(), r, state.Line{At: now, Outcome: state.OK, Tell: []string{"a"}, News: state.NewsMessage})
			}
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	p := planOf(w.o)
	post(3)
	first, _, err := p.Pass(t.Context(), now, now, true)
	if err != nil || len(first.Send) != 2 {
		t.Fatalf("%+v, %v", first, err)
	}
	post(1)
	if o, _, err := p.Pass(t.Context(), now, now, true); err != nil || len(o.Send) != 0 {
		t.Fatalf("%+v, %v", o, err)
	}
	for _, n := range first.Send {
		p.Sent(n, "", nil, now)
	}
	if o, _, err := p.Pass(t.Context(), now, now, false); err != nil || len(o.Send) != 2 || o.Idle {
		t.Errorf("%+v, %v", o, err)
	}
}
