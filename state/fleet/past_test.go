package fleet_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/state/fleet"
	"github.com/ouro-timer/ouro-timer/state/fleet/model"
	"github.com/ouro-timer/ouro-timer/state/memory"
)

// TestPastBoot: what runs on this machine is over once it has booted again and the heartbeat of the runner before that has gone.
func TestPastBoot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, now, kv := t.Context(), time.Now(), model.New()
		local := memory.New()
		in := func(node, boot string) *fleet.Store {
			return fleet.New(kv, fleet.Options{Local: local, Node: state.Node{Name: node}, Boot: boot})
		}
		first := state.Ident{Node: "a", Boot: "1", PID: 7}
		s := in("a", "1")
		lease, err := s.Lead(ctx, state.Leader{Ident: first})
		if err != nil {
			t.Fatal(err)
		}
		e, err := s.Add(ctx, state.Task{Created: now, When: state.Timing{Text: "every 1h", Kind: "interval", Zone: "UTC", Start: now},
			Run: state.Job{Argv: []string{"true"}, Dir: "/"}}, now)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.Claim(ctx, e.Task.ID, e.Due, e.Due.Add(time.Hour), first, now); err != nil {
			t.Fatal(err)
		}
		past := func(s *fleet.Store, want bool) {
			t.Helper()
			found, err := s.Find(ctx, e.Task.ID)
			if err != nil || len(found) != 1 || len(found[0].Open) != 1 || found[0].Open[0].Past != want {
				t.Errorf("the task: %+v, %v", found, err)
			}
			open, _, err := s.Open(ctx)
			if err != nil || len(open) != 1 || open[0].Past != want {
				t.Errorf("its claim: %+v, %v", open, err)
			}
		}
		past(s, false)
		past(in("a", "2"), false) // another machine by this name may have it
		past(in("b", "2"), false)
		if err := lease.Release(); err != nil {
			t.Fatal(err)
		}
		past(s, false)
		past(in("a", "2"), true)
		past(in("a", ""), false)
		past(in("b", "2"), false)
	})
}
