package fleet

import (
	"encoding/json"
	"errors"
	"slices"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
)

// lineage is what the runs of one task have scheduled.
type lineage struct {
	// waiting tasks, and perhaps some that have stopped waiting
	Pending []string    `json:"pending,omitempty"`
	Made    []time.Time `json:"made,omitempty"`
}

func (t *tx) lineage(origin string) (g lineage, err error) {
	c, err := t.read(origins + origin)
	if err == nil && len(c.Data) > 0 {
		err = decode(c.Cell, &g)
	}
	return g, err
}

// countWaiting counts a task that begins to wait, or that gets another origin.
func (t *tx) countWaiting(before *state.Doc, was, after state.Doc, now time.Time) error {
	origin := after.Task.Origin
	if t.count >= 0 && after.Waits() != was.Waits() {
		t.count += map[bool]int{true: 1, false: -1}[after.Waits()]
	}
	if !after.Waits() || was.Waits() && was.Task.Origin == origin {
		return nil
	}
	if t.limits.Tasks > 0 && t.count >= 0 {
		if _, err := t.read(waitingGuard); err != nil {
			return err
		}
		t.write(waitingGuard, []byte("{}"))
	}
	if origin == "" {
		return nil
	}
	g, err := t.lineage(origin)
	if err != nil {
		return err
	}
	if !slices.Contains(g.Pending, after.Task.ID) && len(g.Pending) < state.LineageMost {
		g.Pending = append(g.Pending, after.Task.ID)
	}
	if before == nil {
		g.Made = append(state.Recent(g.Made, now), state.UTC(now))
	}
	t.writeJSON(origins+origin, g)
	return nil
}

// Charge counts a creation by an origin.
func (t *tx) Charge(origin string, now time.Time) error {
	g, err := t.lineage(origin)
	if err != nil {
		return err
	}
	if err := t.limits.CheckHour(origin, g.Made, now); err != nil || origin == "" {
		return err
	}
	g.Made = append(state.Recent(g.Made, now), state.UTC(now))
	t.writeJSON(origins+origin, g)
	return nil
}

// Made returns when an origin made tasks.
func (t *tx) Made(origin string) ([]time.Time, error) {
	g, err := t.lineage(origin)
	return g.Made, err
}

// Pending counts the waiting tasks of an origin. No record is updated when one stops waiting, so
// all are checked when the limit would be reached.
func (t *tx) Pending(origin string) (int, error) {
	g, err := t.lineage(origin)
	if err != nil || t.limits.CheckPending(origin, len(g.Pending)) == nil {
		return len(g.Pending), err
	}
	g.Pending = slices.DeleteFunc(g.Pending, func(id string) bool {
		d, e := t.load(id)
		if garbled(e) { // perhaps it waits
			return false
		}
		if e != nil && !errors.Is(e, state.ErrNotFound) {
			err = e
		}
		return e != nil || !d.Waits() || d.Task.Origin != origin
	})
	if err == nil {
		data, _ := json.Marshal(g)
		// Later reads of this transaction see it; it is written when a task is admitted.
		t.cells[origins+origin].Data = data
	}
	return len(g.Pending), err
}

// Waiting counts all waiting tasks. A caller that adds one after this writes waitingGuard, so that
// nobody else has added one meanwhile.
func (t *tx) Waiting() (int, error) {
	if t.count >= 0 {
		return t.count, nil
	}
	if _, err := t.read(waitingGuard); err != nil {
		return 0, err
	}
	list, _, err := t.all(t.ctx, living)
	if err != nil {
		t.broken = err
		return 0, err
	}
	waits := map[string]bool{}
	for _, c := range list {
		var r record
		if decode(c, &r) == nil {
			waits[idOf(c.Key)] = r.doc("").Waits()
		}
	}
	for id, h := range t.docs { // as they are in this transaction
		waits[id] = h.doc.Waits()
	}
	t.count = 0
	for _, w := range waits {
		if w {
			t.count++
		}
	}
	return t.count, nil
}
