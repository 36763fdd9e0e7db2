package daemon

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
)

// TestTurns: a loop that answers turns, one that does not within the time does not.
func TestTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := &liveness{probe: make(chan func())}
		turns := func() bool {
			ctx, stop := context.WithTimeout(t.Context(), answerMost)
			defer stop()
			return v.responds(ctx)
		}
		if turns() {
			t.Error("nobody has answered")
		}
		go func() { time.Sleep(time.Second); (<-v.probe)() }()
		if !turns() {
			t.Error("it has answered")
		}
	})
}
