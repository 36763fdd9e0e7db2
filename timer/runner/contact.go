package runner

import (
	"context"
	"slices"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/timer/rules"
)

// A runner that shares its tasks with other machines is cut off after none of its heartbeats has
// come back for a while. After a longer while the others count it as dead. Between the two it ends
// what they could then start again.

const (
	// endsAfter is how long a runner is cut off before it ends what others could start again. It
	// leaves its commands their grace.
	endsAfter = state.LostAfter - 2*stopGrace
	// contactStep is the time between two looks.
	contactStep = time.Second
)

// mayClaim reports whether this runner may claim and start anything, and warns when that changes.
func (g *engine) mayClaim(c state.Contact) bool {
	off, stands := c.Ahead.Abs(), ""
	switch {
	case c.Twin:
		stands = "the runner of another machine has the name of this one, and nothing is started while it has; give one of them another name below [node] in config.toml"
	case c.Silent > state.CutOff:
		stands = "no heartbeat has come back for " + state.CutOff.String() + "; nothing is started until one does"
	case off > state.ClockWrong:
		stands = "this machine's clock is more than " + state.ClockWrong.String() + " off from that of the servers; nothing is claimed until a time server has set it"
	case off > state.ClockOdd:
		stands = "this machine's clock is more than " + state.ClockOdd.String() + " off from that of the servers; let a time server set it"
	}
	if stands != g.stands {
		if g.stands = stands; stands != "" {
			g.warn("%s", stands)
		} else {
			g.Say("in contact with the servers, and by their clock")
		}
	}
	return !c.Twin && c.Silent <= state.CutOff && off <= state.ClockWrong
}

// repeatable reports whether a runner of another machine may start a task again after this machine
// is lost.
func repeatable(t state.Task, here state.Node) bool { return !slices.Equal(t.On, []string{here.Name}) }

// endWhenCutOff ends the run in time if this runner is cut off for so long that another may start
// it again. It returns at once; ctx ends the watch.
func (s *supervisor) endWhenCutOff(ctx context.Context) {
	if shared, ok := state.SharedBy(s.Store); !ok || !repeatable(s.r.Task, shared.Here()) {
		return
	}
	go func() {
		for s.Awake.For(ctx, contactStep) == nil {
			if s.Store.Contact().Silent > endsAfter {
				s.end(rules.ReasonCutOff)
				return
			}
		}
	}()
}
