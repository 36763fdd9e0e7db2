package runner

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/timer/notifier"
)

// By hand an attempt is made at what is due, and no runner stays for the rest; one that nobody ends stays.
func TestWhoStaysForTheOutbox(t *testing.T) {
	for _, mode := range []Mode{Once, Drain} {
		synctest.Test(t, func(t *testing.T) {
			w, m := posted(mode)
			m.how["down"] = fails(errors.New("it is down"))
			for range 5 {
				w.news(t, 0, "down")
			}
			w.news(t, 0, "a")
			began := time.Now()
			if err := Run(t.Context(), w.o); err != nil {
				t.Fatal(err)
			}
			if len(m.attempts("down")) != 5 || len(m.attempts("a")) != 1 || time.Since(began) > 0 {
				t.Errorf("mode %d, after %v: %v", mode, time.Since(began), m.sent)
			}
			if list := w.left(t); len(list) != 5 || list[0].Attempts != 1 || list[0].Last != "it is down" {
				t.Errorf("left: %+v", list)
			}
			// The next one makes an attempt when it is due, not before.
			if err := Run(t.Context(), w.o); err != nil {
				t.Fatal(err)
			}
			if n := len(m.attempts("down")); n != 5 {
				t.Errorf("mode %d: %d attempts", mode, n)
			}
			time.Sleep(10 * time.Second)
			if err := Run(t.Context(), w.o); err != nil {
				t.Fatal(err)
			}
			if n := len(m.attempts("down")); n != 10 {
				t.Errorf("mode %d: %d attempts", mode, n)
			}
		})
	}
}

// A channel that takes long is waited for, and what falls due meanwhile is done.
func TestADrainedRunnerWaitsForWhatIsBeingSent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, m := posted(Drain)
		m.how["slow"] = takes(20 * time.Second)
		for range 6 {
			w.news(t, time.Second, "slow")
		}
		go func() {
			time.Sleep(15 * time.Second)
			w.add(t, "once", 2*time.Second, "true")
		}()
		if err := Run(t.Context(), w.o); err != nil {
			t.Fatal(err)
		}
		if got := time.Since(m.begin); got != 61*time.Second || len(w.deliveries(t)) != 6 {
			t.Errorf("ended after %v: %v, %v", got, w.deliveries(t), m.attempts("slow"))
		}
		same(t, "started", w.cmds.started, "m007/1@17s")
	})
}

// A runner that is told to end gives what is being sent a moment. What takes longer stays due, and is sent by the next one.
func TestShutdownDuringASend(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, m := posted(Forever)
		m.how["quick"], m.how["slow"] = takes(2*time.Second), hangs
		w.news(t, time.Second, "quick", "slow")
		end := w.begin(t)
		time.Sleep(1500 * time.Millisecond)
		if err := end(); err != nil {
			t.Fatal(err)
		}
		if got := time.Since(m.begin); got < 4*time.Second || got > 5*time.Second {
			t.Errorf("ended after %v", got)
		}
		same(t, "delivered", w.deliveries(t), "1/quick x1")
		if list := w.left(t); len(list) != 1 || list[0].Channel != "slow" || list[0].Attempts != 0 || list[0].Due.After(m.begin.Add(time.Second)) {
			t.Errorf("left: %+v", list)
		}
		m.how["slow"] = nil
		w.o.Mode = Drain
		if err := Run(t.Context(), w.o); err != nil {
			t.Fatal(err)
		}
		same(t, "delivered", w.deliveries(t), "1/quick x1 1/slow x1")
	})
}

// While commands see their end after the runner was told to, the lock is another's; but not while something is being sent.
func TestTheLockIsGivenUpWhenNothingIsSentAnyMore(t *testing.T) {
	for _, yields := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			w, m := posted(Forever)
			m.how["slow"] = hangs
			w.cmds.takes = time.Hour
			yield := make(chan struct{})
			w.o.Yield = yield
			w.add(t, "once", time.Second, "true")
			w.news(t, time.Second, "slow")
			ctx, cancel := context.WithCancel(t.Context())
			first := make(chan error)
			go func() { first <- Run(ctx, w.o) }()
			time.Sleep(2 * time.Second)
			begin := time.Now()
			if yields {
				close(yield)
			} else {
				cancel()
			}
			// A second one gets the lock when nothing is sent any more, and sends it then.
			o := w.o
			o.Standby, o.Yield = true, nil
			second := make(chan error)
			later, stop := context.WithCancel(t.Context())
			go func() { second <- Run(later, o) }()
			time.Sleep(10 * time.Second)
			synctest.Wait()
			got := m.attempts("slow")
			if len(got) != 2 || m.most["slow"] != 1 {
				t.Errorf("attempts %v, %d at once", got, m.most["slow"])
			}
			m.mu.Lock()
			m.how["slow"] = nil
			m.mu.Unlock()
			_, text, _ := strings.Cut(got[len(got)-1], "@")
			free, _ := time.ParseDuration(text)
			want := begin.Sub(m.begin)
			if !yields {
				want += notifier.Grace
			}
			if free < want || free > want+300*time.Millisecond { // less than anybody waits for the lock
				t.Errorf("the lock was free at %v, not %v", free, want)
			}
			stop()
			cancel()
			if err := errors.Join(<-first, <-second); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// A runner that has stepped down tells what it has to tell when nobody else is there any more.
func TestNewsOfARunnerThatHasSteppedDown(t *testing.T) {
	for _, there := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			w, m := posted(Drain)
			w.o.Linger = true
			w.cmds.takes, w.cmds.fails = time.Hour, true
			yield := make(chan struct{})
			w.o.Yield = yield
			e := w.add(t, "once", time.Second, "true")
			e.Task.Policy.Notify = []string{"a"}
			if _, err := w.store.Update(t.Context(), e.Task, time.Time{}, time.Now(), nil); err != nil {
				t.Fatal(err)
			}
			first := make(chan error, 1)
			go func() { first <- Run(t.Context(), w.o) }()
			time.Sleep(time.Minute)
			close(yield)
			synctest.Wait()
			if there {
				o := w.o
				o.Mode, o.Yield, o.Send = Forever, nil, func(context.Context, state.Notice) (string, error) {
					return m.send(t.Context(), state.Notice{Channel: "new"})
				}
				ctx, stop := context.WithCancel(t.Context())
				second := make(chan error, 1)
				go func() { second <- Run(ctx, o) }()
				defer func() { stop(); <-second }()
			}
			if err := <-first; err != nil {
				t.Fatal(err)
			}
			if n := len(m.attempts("new")); (n == 1) != there || len(w.left(t)) != 0 {
				t.Errorf("somebody else is there: %v; sent %v, left %v", there, m.sent, w.left(t))
			}
		})
	}
}
