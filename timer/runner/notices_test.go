package runner

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/timer/notifier"
	"github.com/ouro-timer/ouro-timer/timer/rules"
)

func TestAMessageIsToldAndStaysInTheInbox(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, m := posted(Drain)
		w.news(t, time.Second, "a", "b")
		w.news(t, 2*time.Second)
		if err := Run(t.Context(), w.o); err != nil {
			t.Fatal(err)
		}
		slices.Sort(m.sent)
		same(t, "sent", m.sent, "1/a@1s 1/b@1s")
		got := w.deliveries(t)
		slices.Sort(got)
		same(t, "delivered", got, "1/a x1 1/b x1")
		items, _, _, err := w.store.Inbox(t.Context(), state.Query{})
		if err != nil || len(items) != 2 || items[0].Line.Inbox != state.ItemMessage || items[0].Line.Text != "hello" {
			t.Errorf("inbox: %+v, %v", items, err)
		}
	})
}

func TestChannelsTakeTheirTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, m := posted(Drain)
		for _, c := range []string{"a", "b", "c", "d", "e"} {
			m.how[c] = takes(time.Minute)
		}
		for i := range 20 { // the earliest first, and four of each channel
			w.news(t, time.Second+time.Duration(i)*time.Millisecond, string(rune('a'+i/4)))
		}
		if err := Run(t.Context(), w.o); err != nil {
			t.Fatal(err)
		}
		for _, c := range []string{"a", "b", "c", "d", "e"} {
			if m.most[c] != notifier.EachChannel {
				t.Errorf("%d at once by %s", m.most[c], c)
			}
		}
		if m.most[""] != notifier.AtOnce {
			t.Errorf("%d at once", m.most[""])
		}
		same(t, "by a", m.attempts("a"), "1@1s 2@1.001s 3@1m1s 4@1m1.001s")
		same(t, "by e", m.attempts("e"), "17@2m1s 18@2m1.001s 19@3m1s 20@3m1.001s")
		if n := len(w.deliveries(t)); n != 20 {
			t.Errorf("%d were delivered", n)
		}
	})
}

func TestAChannelThatHangsDelaysNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, m := posted(Forever)
		m.how["hangs"] = hangs
		for range 100 {
			w.news(t, time.Second, "hangs")
		}
		w.news(t, 2*time.Second, "well")
		w.add(t, "every 1s", time.Second, "true")
		end := w.begin(t)
		time.Sleep(time.Hour)
		synctest.Wait()
		same(t, "well", m.attempts("well"), "101@2s")
		if n := len(w.cmds.started); n != 3600 {
			t.Errorf("%d runs in an hour of seconds", n)
		}
		if n := len(m.attempts("hangs")); n != notifier.EachChannel {
			t.Errorf("%d attempts of what hangs, in an hour", n)
		}
		if err := end(); err != nil {
			t.Fatal(err)
		}
		if n := len(w.left(t)); n != 100 {
			t.Errorf("%d notices are left", n)
		}
	})
}

// What never comes back, whatever it is told, is given up after an hour, so that it does not keep the place for ever.
func TestASendThatNeverReturnsIsGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, m := posted(Forever)
		free := make(chan struct{})
		defer close(free)
		m.how["stuck"] = func(context.Context, state.Notice) error { <-free; return nil }
		m.how["panics"] = func(context.Context, state.Notice) error { panic("oh") }
		w.news(t, time.Second, "stuck")
		w.news(t, time.Second, "panics")
		end := w.begin(t)
		time.Sleep(10 * time.Second)
		synctest.Wait()
		for _, n := range w.left(t) {
			if n.Channel == "panics" && (n.Attempts != 1 || n.Last != "it panicked: oh") {
				t.Errorf("%+v", n)
			}
		}
		time.Sleep(notifier.Longest + time.Minute)
		synctest.Wait()
		same(t, "stuck", m.attempts("stuck"), "1@1s 1@1h1m11s")
		if err := end(); err != nil {
			t.Fatal(err)
		}
	})
}

func TestAPassingFaultIsTriedForADay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, m := posted(Drain)
		w.o.Linger = true
		m.how["down"] = fails(errors.New("it is down"))
		e := w.news(t, time.Second, "down")
		if err := Run(t.Context(), w.o); err != nil {
			t.Fatal(err)
		}
		got := m.attempts("down")
		same(t, "first", got[:10], "1@1s 1@11s 1@41s 1@1m41s 1@3m41s 1@7m41s 1@15m41s 1@31m41s 1@1h3m41s 1@2h3m41s")
		if n := len(got); n != 32 || got[31] != "1@24h0m1s" {
			t.Errorf("%d attempts, the last %s", n, got[n-1])
		}
		same(t, "delivered", w.deliveries(t), "1/down x32 it is down")
		items, _, _, _ := w.store.Inbox(t.Context(), state.Query{})
		if len(items) != 2 || items[1].Line.Inbox != state.ItemUndelivered || items[1].ID != e.Task.ID+"/1/down" {
			t.Errorf("%+v", items)
		}
	})
}

// TestTheSettingsSayWhenToGiveUp, and they are asked anew: what they said when the runner began does not count.
func TestTheSettingsSayWhenToGiveUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, m := posted(Drain)
		w.o.Linger = true
		began := time.Now()
		w.o.GiveUp = func() time.Duration {
			if time.Since(began) < 30*time.Minute {
				return 0 // nothing is said
			}
			return time.Hour
		}
		m.how["down"] = fails(errors.New("it is down"))
		w.news(t, time.Second, "down")
		if err := Run(t.Context(), w.o); err != nil {
			t.Fatal(err)
		}
		got := m.attempts("down")
		same(t, "last", got[7:], "1@31m41s 1@1h0m1s")
		same(t, "delivered", w.deliveries(t), "1/down x9 it is down")
	})
}

// TestAnHourLosesNothing: what is queued while a web hook is down for an hour is told once it is up.
func TestAnHourLosesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, m := posted(Drain)
		w.o.Linger = true
		began := time.Now()
		m.how["hook"] = func(context.Context, state.Notice) error {
			if time.Since(began) < time.Hour {
				return errors.New("connection refused")
			}
			return nil
		}
		for i := range 5 {
			w.news(t, time.Duration(i)*10*time.Minute, "hook")
		}
		if err := Run(t.Context(), w.o); err != nil {
			t.Fatal(err)
		}
		list := w.deliveries(t)
		for _, line := range list {
			if strings.Contains(line, "refused") {
				t.Errorf("lost: %s", line)
			}
		}
		if len(list) != 5 {
			t.Errorf("%d are told: %q", len(list), list)
		}
	})
}

func TestAPermanentFaultIsNotTriedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, m := posted(Drain)
		w.o.Linger = true
		m.how["gone"] = fails(fmt.Errorf("by gone: %w", &notifier.SendError{Err: errors.New("no such channel"), Permanent: true}))
		m.how["busy"] = fails(&notifier.SendError{Err: errors.New("too many"), RetryAfter: 30 * time.Hour})
		w.news(t, time.Second, "gone")
		w.news(t, time.Second, "busy")
		if err := Run(t.Context(), w.o); err != nil {
			t.Fatal(err)
		}
		got := w.deliveries(t)
		slices.Sort(got)
		same(t, "delivered", got, "1/gone x1 by gone: no such channel 2/busy x1 too many")
	})
}

func TestTheOtherSideSaysWhen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, m := posted(Drain)
		w.o.Linger = true
		m.how["a"] = func(_ context.Context, n state.Notice) error {
			if n.Attempts > 1 {
				return nil
			}
			return &notifier.SendError{Err: errors.New("too many"), RetryAfter: 5 * time.Minute}
		}
		w.news(t, time.Second, "a")
		if err := Run(t.Context(), w.o); err != nil {
			t.Fatal(err)
		}
		same(t, "a", m.attempts("a"), "1@1s 1@5m1s 1@10m1s")
		same(t, "delivered", w.deliveries(t), "1/a x3")
	})
}

// Two failures of a task that runs beside itself, written together: one alert.
func TestARowOfFailuresIsToldOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, m := posted(Forever)
		w.o.Standing = func() rules.TellDefaults { return rules.TellDefaults{Channels: []string{"a"}} }
		w.cmds.fails, w.cmds.takes = true, 90*time.Second
		e := w.add(t, "every 1m", time.Minute, "true")
		e.Task.Policy.Overlap = state.OverlapAllow
		if _, err := w.store.Update(t.Context(), e.Task, time.Time{}, time.Now(), nil); err != nil {
			t.Fatal(err)
		}
		end := w.begin(t)
		time.Sleep(10*time.Minute + time.Second)
		w.cmds.mu.Lock()
		w.cmds.fails = false
		w.cmds.mu.Unlock()
		time.Sleep(10 * time.Minute)
		synctest.Wait()
		if err := end(); err != nil {
			t.Fatal(err)
		}
		same(t, "told", m.attempts("a"), "1@2m30s 1@12m30s")
		var news []string
		_, _, _ = w.store.Log(t.Context(), "", func(l state.Line) bool {
			if l.Type == state.LineDelivery {
				news = append(news, l.News)
			}
			return true
		})
		same(t, "news", news, "recovery failure")
	})
}

// TestWhatIsMoot: what is not to be told any more ends without a try more and without an item.
func TestWhatIsMoot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, m := posted(Drain)
		w.o.Linger = true
		m.how["hook"] = fails(&notifier.SendError{Err: errors.New("a later one says more"), Permanent: true, Moot: true})
		w.news(t, time.Second, "hook")
		if err := Run(t.Context(), w.o); err != nil {
			t.Fatal(err)
		}
		same(t, "ended", w.deliveries(t), "1/hook x1 a later one says more")
		items, _, _, _ := w.store.Inbox(t.Context(), state.Query{})
		if len(items) != 1 || items[0].Line.Inbox == state.ItemUndelivered {
			t.Errorf("%+v", items)
		}
	})
}
