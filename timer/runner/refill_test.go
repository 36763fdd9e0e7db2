package runner

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
)

// witness is a store that notes in which order claims and outcomes are asked for.
type witness struct {
	state.Store
	seen []string
	full error // of outcomes
}

func (w *witness) Apply(ctx context.Context, changes ...state.Change) []state.Applied {
	for _, c := range changes {
		what := "claim " + number(c.ID)
		if n := len(w.seen); n == 0 || w.seen[n-1] != what { // the second time that its due instant is in the ledger is known
			w.seen = append(w.seen, what)
		}
	}
	return w.Store.Apply(ctx, changes...)
}

func (w *witness) EndAll(ctx context.Context, ends []state.Ending) []error {
	for _, e := range ends {
		w.seen = append(w.seen, "end "+number(e.Record.Task.ID))
	}
	if w.full != nil {
		return slices.Repeat([]error{w.full}, len(ends))
	}
	return w.Store.EndAll(ctx, ends)
}

func number(id string) string {
	n, _ := state.IDNumber(id)
	return fmt.Sprint(n + 1)
}

// TestRoomGoesToTheNextBeforeTheOutcomeIsWritten has four one-shots wait for one place: each is claimed before the outcome of the one before
// it is written, and only one runs at a time.
func TestRoomGoesToTheNextBeforeTheOutcomeIsWritten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(Drain)
		seen := &witness{Store: w.o.Store}
		w.o.Store, w.o.MaxParallel, w.cmds.takes = seen, AtMost(1), time.Second
		for i := range 4 {
			w.add(t, "once", time.Minute+time.Duration(i), "true")
		}
		if err := Run(t.Context(), w.o); err != nil {
			t.Fatal(err)
		}
		order := []string{"claim 1", "claim 2", "end 1", "claim 3", "end 2", "claim 4", "end 3", "end 4"}
		if !slices.Equal(seen.seen, order) {
			t.Errorf("in this order: %s\nwant %s", strings.Join(seen.seen, ", "), strings.Join(order, ", "))
		}
		want := []string{"m001/1@1m0s", "m002/1@1m1s", "m003/1@1m2s", "m004/1@1m3s"}
		if !slices.Equal(w.cmds.started, want) {
			t.Errorf("started %v, want %v", w.cmds.started, want)
		}
		if got := w.outcomes(t); !slices.Equal(got, []string{"ok", "ok", "ok", "ok"}) {
			t.Errorf("outcomes %v", got)
		}
	})
}

// TestNoRoomWhileOutcomesCannotBeWritten claims nothing more once an outcome could not be written: what has run and is not in the books must not
// become more and more.
func TestNoRoomWhileOutcomesCannotBeWritten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(Drain)
		seen := &witness{Store: w.o.Store, full: state.ErrUnusable}
		w.o.Store, w.o.MaxParallel, w.cmds.takes = seen, AtMost(1), time.Second
		for range 5 {
			w.add(t, "once", time.Minute, "true")
		}
		ctx, stop := context.WithTimeout(t.Context(), time.Hour)
		defer stop()
		if err := Run(ctx, w.o); err != nil && ctx.Err() == nil {
			t.Fatal(err)
		}
		if n := len(w.cmds.started); n != 2 { // the second was claimed before the first outcome was tried
			t.Errorf("%d were started: %v", n, w.cmds.started)
		}
	})
}
