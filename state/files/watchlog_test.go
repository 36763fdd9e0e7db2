package files

import (
	"os"
	"testing"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/state/guard"
)

// signalled waits for a signal; how long decides nothing.
func signalled(t *testing.T, c <-chan struct{}, what string) {
	t.Helper()
	select {
	case <-c:
	case <-time.After(5 * time.Minute):
		t.Errorf("nobody told of %s", what)
	}
}

// quiet takes the signals of what was before, until there are none for a while.
func quiet(c <-chan struct{}) {
	for {
		select {
		case <-c:
		case <-time.After(50 * time.Millisecond):
			return
		}
	}
}

// TestWatchLog: lines, claims of the task and what its runs write are told of, also after the ledger was rotated, and
// when there was nothing to watch at first.
func TestWatchLog(t *testing.T) {
	s := open(t, t.TempDir())
	e := must[state.Entry](t)(s.Add(ctx, daily("n"), day0))
	other := must[state.Entry](t)(s.Add(ctx, daily("other"), day0))
	all, one := must[<-chan struct{}](t)(s.WatchLog(t.Context(), "")), must[<-chan struct{}](t)(s.WatchLog(t.Context(), e.Task.ID))
	both := func(what string) {
		t.Helper()
		signalled(t, all, what)
		signalled(t, one, what)
		quiet(all)
		quiet(one)
	}
	r := must[state.Record](t)(s.Claim(ctx, e.Task.ID, day0, day1, state.Ident{}, day0))
	signalled(t, one, "a claim")
	quiet(one)
	stdout, _ := outputPaths(s, e.Task.ID, 1)
	f := must[*os.File](t)(os.Create(stdout))
	signalled(t, one, "a file of output")
	for range 3 {
		quiet(one)
		f.WriteString("x")
		signalled(t, one, "output")
	}
	f.Close()
	if err := s.End(ctx, r, state.Line{At: day0, Outcome: state.OK}); err != nil {
		t.Fatal(err)
	}
	both("an end")
	s.partMost = 1
	for range 3 {
		must[state.Entry](t)(s.Add(ctx, once("n"), day0))
		both("a line in a new file")
	}
	s.partMost = partMost
	quiet(all)
	must[state.Record](t)(s.Claim(ctx, other.Task.ID, day0, day1, state.Ident{}, day0))
	select {
	case <-all:
		t.Error("a claim has no line, and was told of")
	case <-one:
		t.Error("a claim of another task was told of")
	case <-time.After(100 * time.Millisecond):
	}
}

// TestWatchLogOfNothing: where nothing is there, nothing is made, and what comes is told of.
func TestWatchLogOfNothing(t *testing.T) {
	dir := t.TempDir() + "/none"
	s := open(t, dir)
	c := must[<-chan struct{}](t)(s.WatchLog(t.Context(), ""))
	if _, err := os.Stat(dir); err == nil {
		t.Error("the folder was made")
	}
	must[state.Entry](t)(s.Add(ctx, once("n"), day0))
	signalled(t, c, "the first line ever")
}

// TestWatchOfTheNetwork: what other machines do is not reported, so every watch ticks, and again.
func TestWatchOfTheNetwork(t *testing.T) {
	t.Parallel()
	s := must[*Store](t)(Open(t.TempDir(), Options{volume: func(string) (guard.Volume, error) { return guard.Volume{Network: true}, nil }}))
	ticks := map[string]<-chan struct{}{
		"tasks":  must[state.Queue](t)(s.Follow(t.Context())).Changed(),
		"mail":   must[<-chan struct{}](t)(s.WatchMail(t.Context())),
		"ledger": must[<-chan struct{}](t)(s.WatchLog(t.Context(), "")),
	}
	for range 2 {
		for what, c := range ticks {
			signalled(t, c, "the "+what+" of another machine")
		}
	}
}
