package runner

import (
	"context"
	"errors"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/timer/when"
)

// rewound is how far the clock must have gone back for that to be a correction and not a step.
const rewound = 3 * time.Hour

// rewind lets recurring tasks go on from now after the clock was put back by hours: they would be silent until it shows the
// time again that it once showed. Those of which something runs do so once that has ended. With only, it is about those.
func (g *engine) rewind(ctx context.Context, now time.Time, only map[string]bool) {
	entries, _, err := g.Store.List(ctx, state.Pending, state.Running)
	if err != nil {
		g.Say("the queue could not be read: %v", err)
		return
	}
	for _, e := range entries {
		id := e.Task.ID
		if only != nil && !only[id] {
			continue
		}
		delete(g.behind, id)
		sched, err := g.schedule(e.Task)
		if err != nil || sched == nil || e.Held {
			continue
		}
		to, ok := sched.Next(now)
		if !ok || !to.Before(e.Due) {
			continue
		}
		switch err := g.Store.Rewind(ctx, id, e.Due, to, now); {
		case errors.Is(err, state.ErrTaken):
			g.behind[id] = len(e.Open) > 0
		case err != nil:
			g.Say("task %s keeps its due instant %s: %v", id, when.Stamp(e.Due), err)
		}
	}
}

// recall finds out what the clock showed when the ledger was last written.
func (g *engine) recall(ctx context.Context) error {
	_, err := g.Store.Log(ctx, "", func(l state.Line) bool {
		g.latest = l.At
		return false
	})
	return err
}
