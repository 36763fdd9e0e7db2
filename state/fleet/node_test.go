package fleet_test

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/state/fleet"
	"github.com/ouro-timer/ouro-timer/state/fleet/model"
	"github.com/ouro-timer/ouro-timer/state/memory"
)

// cable is the way of one machine to the servers, which somebody may cut.
type cable struct {
	fleet.KV
	cut atomic.Bool
}

var errCut = errors.New("cut")

func (c *cable) Get(ctx context.Context, key string) (fleet.Cell, error) {
	if c.cut.Load() {
		return fleet.Cell{}, errCut
	}
	return c.KV.Get(ctx, key)
}

func (c *cable) Peek(ctx context.Context, keys ...string) ([]fleet.Cell, error) {
	if c.cut.Load() {
		return nil, errCut
	}
	return c.KV.Peek(ctx, keys...)
}

func (c *cable) Prefix(ctx context.Context, prefix string, after uint64, yield func(fleet.Cell) bool) (uint64, error) {
	if c.cut.Load() {
		return 0, errCut
	}
	return c.KV.Prefix(ctx, prefix, after, yield)
}

func (c *cable) Commit(ctx context.Context, ops []fleet.Op) error {
	if c.cut.Load() {
		return errCut
	}
	return c.KV.Commit(ctx, ops)
}

// machine is one of a fleet, with a runner.
type machine struct {
	*fleet.Store
	cable *cable
	local *memory.Store
	lease state.Lease
}

func newMachine(t *testing.T, kv fleet.KV, name string, labels ...string) *machine {
	t.Helper()
	m := &machine{cable: &cable{KV: kv}, local: memory.New()}
	m.local.Folder = t.TempDir()
	m.Store = fleet.New(m.cable, fleet.Options{Local: m.local, Node: state.Node{Name: name, Labels: labels}})
	var err error
	if m.lease, err = m.Lead(t.Context(), state.Leader{Ident: m.ident()}); err != nil {
		t.Fatal(err)
	}
	return m
}

func (m *machine) ident() state.Ident {
	return state.Ident{Node: m.Here().Name, Boot: m.Here().Name, PID: 1}
}

func (m *machine) leased(t *testing.T, of *machine, begun bool) bool {
	t.Helper()
	yes, err := m.Leased(t.Context(), of.Here().Name, begun)
	if err != nil && yes {
		return true
	}
	if err != nil {
		t.Fatal(err)
	}
	return yes
}

// TestCutOff: who is cut off knows it before the others give its claims up, and those that were begun later than the others.
func TestCutOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		kv := model.New()
		a, b := newMachine(t, kv, "a"), newMachine(t, kv, "b")
		at := func(d time.Duration, silent, unbegun, begun bool) {
			t.Helper()
			time.Sleep(d)
			if got := a.Contact().Silent > state.CutOff; got != silent {
				t.Errorf("a is cut off: %v", got)
			}
			if got := b.leased(t, a, false); got != unbegun {
				t.Errorf("what a has not begun is its: %v", got)
			}
			if got := b.leased(t, a, true); got != begun {
				t.Errorf("what a has begun is its: %v", got)
			}
		}
		at(63*time.Second, false, true, true) // between two heartbeats
		a.cable.cut.Store(true)
		at(15*time.Second, false, true, true)
		at(10*time.Second, true, true, true)
		at(10*time.Second, true, false, true)
		at(80*time.Second, true, false, true)
		at(10*time.Second, true, false, false)
		a.cable.cut.Store(false)
		at(11*time.Second, false, true, true)

		// The servers are away from all: that declares nobody dead, and counts for nothing once one is back before the other.
		a.cable.cut.Store(true)
		b.cable.cut.Store(true)
		at(4*time.Minute+3*time.Second, true, true, true) // within an hour of its timers the race detector crashes
		b.cable.cut.Store(false)
		at(11*time.Second, true, true, true)
		at(20*time.Second, true, false, true)
		a.cable.cut.Store(false)
		at(11*time.Second, false, true, true)
		if err := errors.Join(a.lease.Release(), b.lease.Release()); err != nil {
			t.Error(err)
		}
	})
}

// TestSkew: a machine knows how far its clock is off from that of the servers.
func TestSkew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		kv := model.New()
		a := newMachine(t, kv, "a")
		for _, ahead := range []time.Duration{0, 6 * time.Second, -2 * time.Second} {
			kv.SetAhead(ahead)
			time.Sleep(11 * time.Second)
			if got := a.Contact().Ahead; got != -ahead {
				t.Errorf("the servers are ahead by %v, and we by %v", ahead, got)
			}
		}
		if err := a.lease.Release(); err != nil {
			t.Error(err)
		}
	})
}

// TestSteward is the first of those with the newest rules of zones, of those that live.
func TestSteward(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		kv := model.New()
		var all []*fleet.Store
		var leases []state.Lease
		for _, n := range []struct{ name, rules string }{{"a", "2025b"}, {"b", "2026a"}, {"c", "2026a"}, {"d", ""}} {
			s := fleet.New(kv, fleet.Options{Local: memory.New(), Node: state.Node{Name: n.name}, Rules: func() string { return n.rules }})
			l, err := s.Lead(t.Context(), state.Leader{Ident: state.Ident{Node: n.name, PID: 1}})
			if err != nil {
				t.Fatal(err)
			}
			all, leases = append(all, s), append(leases, l)
		}
		for _, want := range []int{1, 2, 0, 3} {
			for i, s := range all {
				if got, err := s.Steward(t.Context()); err != nil || got != (i == want) {
					t.Errorf("%s is the steward: %v, %v", s.Here().Name, got, err)
				}
			}
			if err := leases[want].Release(); err != nil {
				t.Error(err)
			}
		}
	})
}

// TestRank: machines agree on the order in which they try for an occurrence, and those that cannot begin it have no part in it.
func TestRank(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		kv := model.New()
		all := []*machine{newMachine(t, kv, "a", "gpu"), newMachine(t, kv, "b", "gpu"), newMachine(t, kv, "c")}
		due := time.Now().Add(time.Hour)
		add := func(on ...string) string {
			t.Helper()
			e, err := all[0].Add(t.Context(), state.Task{Created: time.Now(), Text: "tea", On: on, When: state.Timing{Text: "1h", Kind: "once", Zone: "UTC", Start: due}}, due)
			if err != nil {
				t.Fatal(err)
			}
			return e.Task.ID
		}
		everywhere, labelled, alone := add(state.AnyNode), add("gpu"), add("a")
		for _, m := range all {
			if m.Rank(everywhere, due) != 0 {
				t.Error("a machine that does not follow has a rank")
			}
			if _, err := m.Follow(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		is := func(what, id string, of []*machine) {
			t.Helper()
			synctest.Wait()
			first := map[string]int{}
			for i := range 300 {
				at, seen := due.Add(time.Duration(i)*time.Second), map[int]bool{}
				for _, m := range of {
					r := m.Rank(id, at)
					if seen[r] = true; r == 0 {
						first[m.Here().Name]++
					}
				}
				for r := range of {
					if !seen[r] {
						t.Fatalf("%s: nobody has the rank %d: %v", what, r, seen)
					}
				}
			}
			for _, m := range of {
				if n := first[m.Here().Name]; n < 200/len(of) {
					t.Errorf("%s: %s is the first of %d of 300", what, m.Here().Name, n)
				}
			}
		}
		a, b, c := all[0], all[1], all[2]
		is("all", everywhere, all)
		is("labelled", labelled, all[:2])
		is("one machine's", alone, all[:1])
		b.lease.(interface{ Free(int) }).Free(0)
		is("before it is said", everywhere, all)
		time.Sleep(6 * time.Second)
		is("one is full", everywhere, []*machine{a, c})
		is("labelled, one is full", labelled, all[:1])
		b.lease.(interface{ Free(int) }).Free(3)
		time.Sleep(6 * time.Second)
		is("it has places again", everywhere, all)
		if err := a.Drain(t.Context(), "c", true); err != nil {
			t.Fatal(err)
		}
		is("one is drained", everywhere, all[:2])
		if err := a.Drain(t.Context(), "c", false); err != nil {
			t.Fatal(err)
		}
		c.cable.cut.Store(true)
		time.Sleep(21 * time.Second)
		is("one is not heard of", everywhere, all[:2])
		c.cable.cut.Store(false)
		time.Sleep(6 * time.Second)
		is("it is heard of again", everywhere, all)
		if err := b.lease.Release(); err != nil {
			t.Fatal(err)
		}
		is("one has ended", everywhere, []*machine{a, c})
		for _, m := range []*machine{a, c} {
			if err := m.lease.Release(); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// slow is servers that send a hundred messages a second, and perhaps break off after some.
type slow struct {
	fleet.KV
	breaks int // 0: never
}

func (s *slow) Prefix(ctx context.Context, prefix string, after uint64, yield func(fleet.Cell) bool) (uint64, error) {
	n, broken := 0, false
	last, err := s.KV.Prefix(ctx, prefix, after, func(c fleet.Cell) bool {
		select {
		case <-ctx.Done():
			return false
		case <-time.After(10 * time.Millisecond):
		}
		n++
		broken = n == s.breaks
		return !broken && yield(c)
	})
	switch {
	case ctx.Err() != nil:
		return 0, ctx.Err()
	case broken:
		return 0, errCut
	}
	return last, err
}

// TestManyTakeLonger: what takes longer than the patience to read is read, and what never comes is not waited for.
func TestManyTakeLonger(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		kv := &slow{KV: model.New()}
		s := fleet.New(kv, fleet.Options{Local: memory.New()})
		due := time.Now()
		drafts := make([]state.Draft, 1500)
		for i := range drafts {
			drafts[i] = state.Draft{Due: due, Task: state.Task{Created: due, Text: "tea", When: state.Timing{Text: "1h", Kind: "once", Zone: "UTC", Start: due}}}
		}
		for _, a := range s.AddAll(t.Context(), drafts) {
			if a.Err != nil {
				t.Fatal(a.Err)
			}
		}
		begun := time.Now()
		if l, err := s.List(t.Context(), state.Pending); err != nil || l.Len != len(drafts) || time.Since(begun) < 15*time.Second {
			t.Errorf("%d tasks after %v: %v", l.Len, time.Since(begun), err)
		}
		kv.breaks, begun = 700, time.Now()
		if _, err := s.List(t.Context(), state.Pending); !errors.Is(err, fleet.ErrAway) || time.Since(begun) > 30*time.Second {
			t.Errorf("after %v: %v", time.Since(begun), err)
		}
		ended, stop := context.WithTimeout(t.Context(), time.Second)
		defer stop()
		if _, err := s.List(ended, state.Pending); !errors.Is(err, context.DeadlineExceeded) || errors.Is(err, fleet.ErrAway) {
			t.Errorf("the caller has ended: %v", err)
		}
	})
}

// TestOpenReadsWhatIsNew: open claims are known without reading all tasks again, those of others
// included, and what has ended long ago is not taken for open.
func TestOpenReadsWhatIsNew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		shared := model.New()
		kv := countRequests(shared)
		s, other := fleet.New(kv, fleet.Options{Local: memory.New()}), fleet.New(shared, fleet.Options{Local: memory.New()})
		due := time.Now()
		drafts := make([]state.Draft, 500)
		for i := range drafts {
			drafts[i] = state.Draft{Due: due, Task: state.Task{Created: due, Text: "tea", When: state.Timing{Text: "1h", Kind: "once", Zone: "UTC", Start: due}}}
		}
		var ids []string
		for _, added := range s.AddAll(t.Context(), drafts) {
			if added.Err != nil {
				t.Fatal(added.Err)
			}
			ids = append(ids, added.Entry.Task.ID)
		}
		claim := func(id string) state.Record {
			t.Helper()
			changed := other.Apply(t.Context(), state.Change{ID: id, Now: due, Rule: state.Claim(due, time.Time{}, state.Ident{PID: 7, Start: 1}, due)})
			if changed[0].Err != nil {
				t.Fatal(changed[0].Err)
			}
			return changed[0].Doc.Open[0]
		}
		open := func(most int, want ...string) {
			t.Helper()
			kv.since()
			list, _, err := s.Open(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, r := range list {
				got = append(got, r.Task.ID)
			}
			slices.Sort(got)
			slices.Sort(want)
			if _, read := kv.since(); !slices.Equal(got, want) || read > most {
				t.Errorf("open are %v, not %v; %d cells were read, at most %d are new", got, want, read, most)
			}
		}
		open(500)
		first := claim(ids[3])
		open(4, ids[3])
		open(0, ids[3])
		claim(ids[4])
		open(4, ids[3], ids[4])
		line := state.Line{Type: state.LineOccurrence, TaskID: ids[3], Due: &due, Number: first.Number, Outcome: state.OK, At: due}
		if err := other.End(t.Context(), first, line); err != nil {
			t.Fatal(err)
		}
		open(4, ids[4])
		time.Sleep(30 * time.Hour) // nobody is told any more of what has ended
		open(600, ids[4])
	})
}
