package runner_test

import (
	"context"
	"slices"
	"testing"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/timer/audit"
	"github.com/ouro-timer/ouro-timer/timer/clock/clocktest"
)

// TestAuditFindsEachLine takes single lines out of ledgers that balance, and puts them in twice.
func TestAuditFindsEachLine(t *testing.T) {
	clocktest.Alone(t)
	tried := 0
	for seed := uint64(1); seed < 60; seed++ {
		s := write(seed)
		if !s.calm {
			continue
		}
		p := perform(s, hooks{})
		entries, _, err := state.All(context.Background(), p.w.Store)
		if err != nil {
			t.Fatal(err)
		}
		whole := p.lines
		if found := p.audit(entries); len(found) > 0 {
			t.Fatalf("seed %d: %+v in books that balance", seed, found)
		}
		for i := 0; i < len(whole); i += 1 + len(whole)/20 {
			l := whole[i]
			if l.Type != state.LineOccurrence {
				continue
			}
			tried++
			p.lines = slices.Delete(slices.Clone(whole), i, i+1)
			if found := p.audit(entries); len(found) != 1 || found[0].Kind != audit.None || !found[0].First.Equal(*l.Due) || found[0].Count != l.Count {
				t.Errorf("seed %d: without number %d of %s (%d): %+v", seed, l.Number, l.TaskID, l.Count, found)
			}
			p.lines = slices.Insert(slices.Clone(whole), len(whole), l)
			if found := p.audit(entries); len(found) != 1 || found[0].Kind != audit.Twice || found[0].Number != l.Number {
				t.Errorf("seed %d: with number %d of %s twice: %+v", seed, l.Number, l.TaskID, found)
			}
		}
	}
	if tried < 200 {
		t.Errorf("%d lines were tried", tried)
	}
}

// TestAuditOfARest: what is left of a ledger that balanced when its beginning was dropped, wherever, balances.
func TestAuditOfARest(t *testing.T) {
	clocktest.Alone(t)
	tried := 0
	for seed := uint64(1); seed < 80; seed++ {
		p := perform(write(seed), hooks{})
		entries, _, err := state.All(context.Background(), p.w.Store)
		if err != nil {
			t.Fatal(err)
		}
		for k := 1; k <= len(p.lines); k += 1 + len(p.lines)/25 {
			tried++
			o := audit.Options{Dropped: true}
			for _, l := range p.lines[:k] {
				if l.At.After(o.Until) {
					o.Until = l.At
				}
			}
			a := audit.New(o)
			for _, e := range entries {
				a.Expect(e)
			}
			for _, l := range p.lines[k:] {
				a.Add(l)
			}
			for _, e := range entries {
				a.Stand(e)
			}
			for _, f := range a.Result().Findings {
				if f.Kind == audit.Twice && p.rewound(f.TaskID) {
					continue
				}
				t.Errorf("seed %d without its first %d lines of %d: %+v\n%s", seed, k, len(p.lines), f, p.timeline(f.TaskID))
				break
			}
		}
		if t.Failed() {
			break
		}
	}
	if tried < 1000 {
		t.Errorf("%d rests were tried", tried)
	}
}
