package fleet_test

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/state/fleet"
	"github.com/ouro-timer/ouro-timer/state/fleet/model"
	"github.com/ouro-timer/ouro-timer/state/memory"
)

// TestTwin: of two machines with one name, one has a runner. The other gets its place when that one is gone, and the name is not given back to it.
func TestTwin(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		kv := model.New()
		a := newMachine(t, kv, "a")
		lead := func(boot string) (s *fleet.Store, l state.Lease, took time.Duration, err error) {
			s = fleet.New(kv, fleet.Options{Local: memory.New(), Node: state.Node{Name: "a"}})
			begun := time.Now()
			l, err = s.Lead(t.Context(), state.Leader{Ident: state.Ident{Node: "a", Boot: boot, PID: 7}})
			return s, l, time.Since(begun), err
		}
		twin := func(s *fleet.Store, want bool) {
			t.Helper()
			if l, yes, err := s.Twin(t.Context()); err != nil || yes != want || yes && l.Ident != a.ident() {
				t.Errorf("a twin: %v %+v, %v", yes, l, err)
			}
		}
		s, _, took, err := lead("z")
		if !errors.Is(err, fleet.ErrTwin) || took > 6*time.Second {
			t.Fatalf("beside the one that lives, after %v: %v", took, err)
		}
		twin(s, true)
		twin(a.Store, false)
		if _, led, err := s.Led(t.Context()); led || err != nil {
			t.Errorf("it keeps the lock of its machine: %v", err)
		}
		if c := a.Contact(); c.Twin || c.Silent > state.CutOff {
			t.Errorf("the one that lives is in contact: %+v", c)
		}

		// it is cut off, and another one takes its place
		a.cable.cut.Store(true)
		time.Sleep(3 * time.Second)
		s, l, took, err := lead("z")
		if err != nil || took < 10*time.Second || took > 26*time.Second {
			t.Fatalf("after its last heartbeat, after %v: %v", took, err)
		}
		a.cable.cut.Store(false)
		time.Sleep(11 * time.Second)
		if !a.Contact().Twin || s.Contact().Twin {
			t.Errorf("the first has lost its name: %+v, and the second has it: %+v", a.Contact(), s.Contact())
		}
		if err := a.lease.Release(); err != nil {
			t.Fatal(err)
		}
		if list, err := s.Runners(t.Context()); err != nil || len(list) != 1 || list[0].Leader.Ident.Boot != "z" {
			t.Errorf("whoever has lost its name takes it along: %+v, %v", list, err)
		}

		// one that was killed is followed at once on its own machine
		b := newMachine(t, kv, "b")
		b.cable.cut.Store(true)
		if err := b.lease.Release(); err != nil {
			t.Fatal(err)
		}
		next := fleet.New(kv, fleet.Options{Local: b.local, Node: b.Here()})
		begun := time.Now()
		follow, err := next.Lead(t.Context(), state.Leader{Ident: state.Ident{Node: "b", Boot: "b", PID: 2}})
		if err != nil || time.Since(begun) > 0 {
			t.Fatalf("after %v: %v", time.Since(begun), err)
		}
		if err := errors.Join(l.Release(), follow.Release()); err != nil {
			t.Error(err)
		}
	})
}
