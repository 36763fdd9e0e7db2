package schedule

import (
	"context"
	"testing"
	"time"

	"github.com/ouro-timer/ouro-timer/cmd/cli"
	"github.com/ouro-timer/ouro-timer/cmd/clitest"
	"github.com/ouro-timer/ouro-timer/cmd/handover"
	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/timer/clock/clocktest"
)

// led is a store of which only the runner lock is asked about.
type led struct {
	state.Store
	is bool
}

func (l *led) Led(context.Context) (state.Leader, bool, error) {
	return state.Leader{Ident: state.Ident{PID: 4711}}, l.is, nil
}

// TestKeeper starts one runner for many batches, waits for it to be seen, and starts another when it has gone.
func TestKeeper(t *testing.T) {
	at := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	clock := clocktest.NewManual(at)
	w, _, _ := clitest.World(t, clock)
	started := 0
	store := &led{}
	in := &stdin{Lines: Lines{Call: cli.NewCall(w)}, st: store}
	in.Cmd = &cli.Command{Name: "at"}
	k := runnerWatch{startRunner: func(context.Context) handover.RunnerState {
		if store.is {
			return handover.RunnerState{Runner: handover.RunnerAlive}
		}
		started++
		return handover.RunnerState{Runner: handover.RunnerStarted}
	}}
	k.start(in)
	defer k.stop()
	step := func(name string, after time.Duration, isLed bool, wantStarted int, wantTrusted bool) {
		t.Helper()
		clock.Step(after)
		store.is = isLed
		k.ensure(t.Context())
		if started != wantStarted || k.assumed != wantTrusted {
			t.Errorf("%s: %d started, trusted %v", name, started, k.assumed)
		}
	}
	step("the first batch starts one", 0, false, 1, false)
	step("the next finds it not ready", 10*time.Millisecond, false, 1, true)
	step("and another", 200*time.Millisecond, false, 1, true)
	step("then it is there", 10*time.Millisecond, true, 1, false)
	step("long after it has gone", time.Hour, false, 2, false)
	step("the new one is slow", 300*time.Millisecond, false, 3, false)
	step("now there is more patience", 300*time.Millisecond, false, 3, true)
	step("but not for ever", 300*time.Millisecond, false, 4, false)
	step("what is left to one that is on its way", 300*time.Millisecond, false, 4, true)
	k.recheck(t.Context(), true)
	if started != 5 || k.assumed {
		t.Errorf("at the end: %d started, trusted %v", started, k.assumed)
	}
}
