package fleet_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/state/fleet"
	"github.com/ouro-timer/ouro-timer/state/fleet/model"
	"github.com/ouro-timer/ouro-timer/state/memory"
)

// unread is a Local whose spool cannot be read.
type unread struct {
	*memory.Store
	err error
}

func (u *unread) Spooled(ctx context.Context, read func(name, text string) error) error {
	if u.err != nil {
		return u.err
	}
	return u.Store.Spooled(ctx, read)
}

// TestLeadRefused: a runner that cannot begin, since what is kept here cannot be read, has told nobody that it lives, or that it ends: others wait as long
// as before for what its predecessor has left.
func TestLeadRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, local, kv := t.Context(), &unread{memory.New(), nil}, model.New()
		killed, other := newMachine(t, kv, "n"), newMachine(t, kv, "other")
		killed.cable.cut.Store(true)
		s := fleet.New(kv, fleet.Options{Local: local, Node: killed.Here()})
		if !other.leased(t, killed, true) {
			t.Error("it is dead at once")
		}
		lives := func(want bool) {
			t.Helper()
			time.Sleep(21 * time.Second) // after which a heartbeat is dropped
			if list, err := s.Runners(ctx); err != nil || len(list) != 1 {
				t.Errorf("%v live: %v", list, err)
			}
			if got := other.leased(t, killed, true); got != want {
				t.Errorf("its predecessor counts as alive: %v", got)
			}
		}
		lives(true)
		local.err = state.ErrUnusable
		for range 4 {
			if _, err := s.Lead(ctx, state.Leader{Ident: state.Ident{Node: "n", Boot: "n", PID: 2}}); !errors.Is(err, state.ErrUnusable) {
				t.Fatal("it begins:", err)
			}
			lives(true)
		}
		lives(false) // as if nobody had tried
		local.err = nil
		l, err := s.Lead(ctx, state.Leader{Ident: state.Ident{Node: "n", Boot: "n", PID: 2}})
		if err != nil {
			t.Fatal("without it:", err)
		}
		for _, l := range []state.Lease{l, killed.lease, other.lease} {
			if err := l.Release(); err != nil {
				t.Log(err)
			}
		}
	})
}

// TestLeadBesideGarbled: an outcome that was kept here stays while its task cannot be read, and the runner begins.
func TestLeadBesideGarbled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, kv := t.Context(), model.New()
		a := newMachine(t, kv, "a")
		ends := []state.Ending{ran(t, a, ""), ran(t, a, "")}
		a.cable.cut.Store(true)
		for _, err := range a.EndAll(ctx, ends) {
			if !errors.Is(err, state.ErrUnusable) {
				t.Error("away from the servers:", err)
			}
		}
		_ = a.lease.Release()
		key := "s." + strings.Join(strings.Split(ends[0].Record.Task.ID, ""), ".")
		whole := must(kv.Get(ctx, key)).Data
		for i, data := range []string{"[1]", string(whole)} {
			if err := kv.Commit(ctx, []fleet.Op{{Cell: fleet.Cell{Key: key, Rev: fleet.Any, Data: []byte(data)}}}); err != nil {
				t.Fatal(err)
			}
			next := fleet.New(kv, fleet.Options{Local: a.local, Node: a.Here()})
			l, err := next.Lead(ctx, state.Leader{Ident: state.Ident{Node: "a", Boot: "a", PID: i + 2}})
			if err != nil {
				t.Fatal(err)
			}
			if list := must(kept(t, a.local)); len(list) != 1-i {
				t.Errorf("kept: %v", list)
			}
			if open, _, err := next.Open(ctx); err != nil || len(open) > 0 {
				t.Errorf("open: %v, %v", open, err)
			}
			if err := l.Release(); err != nil {
				t.Error(err)
			}
		}
	})
}

// TestDamagedOutcomes: outcomes that were kept here and cannot be understood keep no runner from its work, nor the other outcomes from the servers.
func TestDamagedOutcomes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, kv := t.Context(), model.New()
		a := newMachine(t, kv, "a")
		e := ran(t, a, "tea\n")
		a.cable.cut.Store(true)
		if err := a.End(ctx, e.Record, e.Line); !errors.Is(err, state.ErrUnusable) {
			t.Fatalf("away from the servers: %v", err)
		}
		for name, text := range map[string]string{"x-1": "{", "y-1": "null", "z-1": `{"id":"` + e.Record.Task.ID + `","number":1}`} {
			if err := a.local.Spool(ctx, name, text); err != nil {
				t.Fatal(err)
			}
		}
		if err := a.lease.Release(); err != nil {
			t.Fatal(err)
		}
		next := fleet.New(kv, fleet.Options{Local: a.local, Node: a.Here()})
		l, err := next.Lead(ctx, state.Leader{Ident: state.Ident{Node: "a", Boot: "a", PID: 2}})
		if err != nil {
			t.Fatal("it does not begin:", err)
		}
		var outcomes []state.Outcome
		if _, _, err := next.Log(ctx, e.Record.Task.ID, func(l state.Line) bool { outcomes = append(outcomes, l.Outcome); return true }); err != nil {
			t.Fatal(err)
		}
		if !slices.Contains(outcomes, state.OK) {
			t.Errorf("the ledger has the outcomes %q", outcomes)
		}
		if err := l.Release(); err != nil {
			t.Error(err)
		}
	})
}
