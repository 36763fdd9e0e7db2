package runner

import (
	"context"
	"testing"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
)

// onNode is a store of a fleet, as a machine of a name sees it.
type onNode struct {
	*faulty
	name string
}

func (f onNode) Here() state.Node                                         { return state.Node{Name: f.name} }
func (f onNode) Living(context.Context) ([]state.Node, error)             { return []state.Node{f.Here()}, nil }
func (f onNode) Steward(context.Context) (bool, error)                    { return true, nil }
func (f onNode) Rank(string, time.Time) int                               { return 0 }
func (f onNode) Leaders(context.Context) (map[string]state.Leader, error) { return nil, nil }
func (f onNode) MayLead(context.Context) (bool, error)                    { return true, nil }
func (f onNode) Twin(context.Context) (state.Leader, bool, error)         { return state.Leader{}, false, nil }
func (f onNode) Homeless(context.Context) ([]string, error)               { return nil, nil }

// TestOnlyWhoMayRunItGoesOn: what a dead runner of this machine has left is gone on with by a runner
// on which the task may run, and by no other.
func TestOnlyWhoMayRunItGoesOn(t *testing.T) {
	for _, c := range []struct {
		here string
		runs bool
	}{{"build-1", true}, {"db-1", false}} {
		left := func(begun bool) (*engine, state.Record) {
			g, s, n, now := claimed(t)
			g.Store, g.shared = onNode{s, c.here}, true
			delete(g.runs, claimOf(n.r))
			r := n.r
			r.Task.On = []string{"build-1"}
			if begun {
				r.Task.Policy.Rerun = true
				r.Attempt, r.Starting, r.Started = 1, now, now
			}
			if err := g.takeOverClaim(t.Context(), r, now); err != nil {
				t.Fatal(err)
			}
			return g, r
		}
		g, r := left(false)
		if waits := g.agenda.item(r.Task.ID) != nil; waits != c.runs {
			t.Errorf("on %s, a claim that nothing was begun of waits there: %v", c.here, waits)
		}
		if list := open(t, g.Store); len(list) != 0 {
			t.Errorf("on %s, it is not given back: %+v", c.here, list)
		}
		g, _ = left(true)
		if again := len(g.ready) > 0; again != c.runs || len(g.ends) > 0 {
			t.Errorf("on %s, what was interrupted runs again: %v, and ends as %+v", c.here, again, g.ends)
		}
	}
}
