package runner

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
)

// mailbox is what pretends to send: it notes each attempt, and does as the channel's function says; without one it succeeds.
type mailbox struct {
	mu    sync.Mutex
	begin time.Time
	sent  []string // occurrence by channel @ when: 1/a@0s
	going map[string]int
	most  map[string]int // at once, of a channel; of all under ""
	how   map[string]func(ctx context.Context, n state.Notice) error
}

func newMailbox() *mailbox {
	return &mailbox{begin: time.Now(), going: map[string]int{}, most: map[string]int{}, how: map[string]func(context.Context, state.Notice) error{}}
}

func (m *mailbox) send(ctx context.Context, n state.Notice) (string, error) {
	count := func(by int) {
		for _, c := range []string{"", n.Channel} {
			m.going[c] += by
			m.most[c] = max(m.most[c], m.going[c])
		}
	}
	m.mu.Lock()
	number, _ := state.IDNumber(n.Line.TaskID)
	m.sent = append(m.sent, fmt.Sprintf("%d/%s@%v", number+1, n.Channel, time.Since(m.begin)))
	count(1)
	how := m.how[n.Channel]
	m.mu.Unlock()
	defer func() {
		m.mu.Lock()
		count(-1)
		m.mu.Unlock()
	}()
	if how == nil {
		return "sent", nil
	}
	return "sent", how(ctx, n)
}

// attempts are the attempts by a channel, in order.
func (m *mailbox) attempts(channel string) (list []string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, s := range m.sent {
		if name, at, _ := strings.Cut(s[strings.Index(s, "/")+1:], "@"); name == channel {
			list = append(list, s[:strings.Index(s, "/")]+"@"+at)
		}
	}
	return list
}

// takes is a channel that takes so long, whatever it is told.
func takes(d time.Duration) func(context.Context, state.Notice) error {
	return func(context.Context, state.Notice) error { time.Sleep(d); return nil }
}

// fails is a channel that fails with err.
func fails(err error) func(context.Context, state.Notice) error {
	return func(context.Context, state.Notice) error { return err }
}

// hangs is a channel that answers when it is cut.
func hangs(ctx context.Context, _ state.Notice) error { <-ctx.Done(); return ctx.Err() }

// news adds a message that is told by the channels after a while.
func (w *world) news(t *testing.T, after time.Duration, channels ...string) state.Entry {
	t.Helper()
	task := state.Task{Created: time.Now(), When: state.Timing{Text: "once", Kind: "once", Zone: "UTC", Start: time.Now()}, Text: "hello"}
	task.Policy.Notify = channels
	e, err := w.store.Add(t.Context(), task, time.Now().Add(after))
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// posted is a world whose runner sends by a mailbox.
func posted(mode Mode) (*world, *mailbox) {
	w, m := newWorld(mode), newMailbox()
	w.o.Send = m.send
	return w, m
}

// deliveries are the lines of deliveries, oldest first: the task's number, channel, attempts and how it ended.
func (w *world) deliveries(t *testing.T) (list []string) {
	t.Helper()
	if _, err := w.store.Log(t.Context(), "", func(l state.Line) bool {
		if l.Type == state.LineDelivery {
			number, _ := state.IDNumber(l.TaskID)
			text := fmt.Sprintf("%d/%s x%d", number+1, l.Channel, l.Attempts)
			if !l.Delivered {
				text += " " + l.Reason
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

// left are the notices in the outbox.
func (w *world) left(t *testing.T) (list []state.Notice) {
	t.Helper()
	list, _, _, err := w.store.Outbox(t.Context(), time.Now().Add(1000*time.Hour), 0)
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func same(t *testing.T, what string, got []string, want string) {
	t.Helper()
	if text := strings.Join(got, " "); text != want {
		t.Errorf("%s: %s\nnot %s", what, text, want)
	}
}

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
			if m.most[c] != sendsEach {
				t.Errorf("%d at once by %s", m.most[c], c)
			}
		}
		if m.most[""] != sendsMost {
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
		if n := len(m.attempts("hangs")); n != sendsEach {
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
		time.Sleep(sendMost + time.Minute)
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

func TestAPermanentFaultIsNotTriedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, m := posted(Drain)
		w.o.Linger = true
		m.how["gone"] = fails(fmt.Errorf("by gone: %w", &SendError{Err: errors.New("no such channel"), Permanent: true}))
		m.how["busy"] = fails(&SendError{Err: errors.New("too many"), RetryAfter: 30 * time.Hour})
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
			return &SendError{Err: errors.New("too many"), RetryAfter: 5 * time.Minute}
		}
		w.news(t, time.Second, "a")
		if err := Run(t.Context(), w.o); err != nil {
			t.Fatal(err)
		}
		same(t, "a", m.attempts("a"), "1@1s 1@5m1s 1@10m1s")
		same(t, "delivered", w.deliveries(t), "1/a x3")
	})
}

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
				want += sendGrace
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
			if _, err := w.store.Update(t.Context(), e.Task, time.Time{}, time.Now()); err != nil {
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

// A failing disk: what was told and cannot be written is not told again, and nothing more is told until it is.
func TestNothingIsToldTwiceByOneCourier(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, m := posted(Drain)
		w.o.Linger = true
		full := &fullDisk{Store: &w.store}
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

var errFull = errors.New("the disk is full")

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
		looks := &looks{Store: &w.store}
		w.o.Store = looks
		end := w.begin(t)
		time.Sleep(24 * time.Hour)
		synctest.Wait()
		if n := looks.count(); n != 1 {
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

// Two failures of a task that runs beside itself, written together: one alert.
func TestARowOfFailuresIsToldOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, m := posted(Forever)
		w.o.Standing = func() Standing { return Standing{Channels: []string{"a"}} }
		w.cmds.fails, w.cmds.takes = true, 90*time.Second
		e := w.add(t, "every 1m", time.Minute, "true")
		e.Task.Policy.Overlap = state.OverlapAllow
		if _, err := w.store.Update(t.Context(), e.Task, time.Time{}, time.Now()); err != nil {
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
		_, _ = w.store.Log(t.Context(), "", func(l state.Line) bool {
			if l.Type == state.LineDelivery {
				news = append(news, l.News)
			}
			return true
		})
		same(t, "news", news, "recovery failure")
	})
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
	p := newPost(w.o)
	if o, _, err := p.pass(t.Context(), now, now, true); err != nil || len(o.start) != 1 {
		t.Errorf("%+v, %v", o, err)
	}
	p = newPost(w.o)
	if o, _, err := p.pass(t.Context(), now, now.Add(7*24*time.Hour-2*time.Hour), true); err != nil || len(o.start) != 0 || o.wake.IsZero() {
		t.Errorf("two hours before it is due: %+v, %v", o, err)
	}
}

// What cannot be written at all is sent once, and stands in nobody's way.
func TestWhatCanNeverBeWrittenIsSentOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, m := posted(Forever)
		w.o.Store = refusing{&w.store}
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
		looks := &looks{Store: &w.store}
		w.o.Store = looks
		w.o.Linger, w.o.MaxParallel = true, 1000
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
	p := newPost(w.o)
	post(3)
	first, _, err := p.pass(t.Context(), now, now, true)
	if err != nil || len(first.start) != 2 {
		t.Fatalf("%+v, %v", first, err)
	}
	post(1)
	if o, _, err := p.pass(t.Context(), now, now, true); err != nil || len(o.start) != 0 {
		t.Fatalf("%+v, %v", o, err)
	}
	for _, n := range first.start {
		p.sent(n, "", nil, now)
	}
	if o, _, err := p.pass(t.Context(), now, now, false); err != nil || len(o.start) != 2 || o.idle {
		t.Errorf("%+v, %v", o, err)
	}
}
