package files

import (
	"context"
	"fmt"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
)

// noteDropped counts items that were dropped before anybody acknowledged them. A count that cannot
// be read begins at 0 again.
func (t *tx) noteDropped(items int, now time.Time) error {
	if items == 0 {
		return nil
	}
	d, err := t.dropped()
	if err != nil {
		d = state.Dropped{}
	}
	d.Count(items, now)
	return t.putNote(droppedFile, d, true)
}

// Dropped says how many items were dropped.
func (s *Store) Dropped(ctx context.Context) (state.Dropped, error) {
	if err := ctx.Err(); err != nil {
		return state.Dropped{}, err
	}
	return s.dropped()
}

func (s *Store) dropped() (d state.Dropped, err error) {
	err = s.load(droppedFile, &d)
	if missing(err) {
		return d, nil
	}
	if err != nil {
		return state.Dropped{}, fmt.Errorf("%s: %w", s.path(droppedFile), err)
	}
	d.Since, d.Last = state.UTC(d.Since), state.UTC(d.Last)
	return d, nil
}
