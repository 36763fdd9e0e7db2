package notifier

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/timer/clock/clocktest"
)

// slowOutbox is an empty outbox that takes a second to be read.
type slowOutbox struct{ state.Mail }

func (slowOutbox) WatchMail(context.Context) (<-chan struct{}, error) { return nil, nil }

func (slowOutbox) Outbox(context.Context, time.Time, int, ...string) ([]state.Notice, time.Time, []state.Problem, error) {
	time.Sleep(time.Second)
	return nil, time.Time{}, nil, nil
}

// What an earlier pass found says nothing of what the present one will.
func TestNotSettledDuringAPass(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := clocktest.Bubble{}
		n := Start(Options{Store: slowOutbox{}, Clock: c, Awake: c, Say: t.Logf, Warn: t.Logf,
			Send: func(context.Context, state.Notice) (string, error) { return "", nil }})
		defer func() { <-n.Shut(0) }()
		settled := func(want, linger bool, when string) {
			t.Helper()
			if got := n.Settled(linger, c.Now()); got != want {
				t.Errorf("%s: settled %v with linger %v", when, got, linger)
			}
		}
		for _, linger := range []bool{true, false} {
			n.Poke()
			settled(false, linger, "before the pass")
			time.Sleep(time.Second / 2)
			settled(false, linger, "during the pass")
			time.Sleep(3 * time.Second)
			settled(true, linger, "after it")
		}
	})
}
