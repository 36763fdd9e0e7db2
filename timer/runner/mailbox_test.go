package runner

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
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
	if _, _, err := w.store.Log(t.Context(), "", func(l state.Line) bool {
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

var errFull = errors.New("the disk is full")
