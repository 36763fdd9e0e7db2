package files

import (
	"context"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
)

// noteDropped counts items that were dropped before anybody acknowledged them.
func (t *tx) noteDropped(items int, now time.Time) error {
	if items == 0 {
		return nil
	}
	d, _ := t.dropped() // a count that cannot be read begins at 0 again
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

func (s *Store) dropped() (state.Dropped, error) {
	d, err := loadNote[state.Dropped](s, droppedFile)
	d.Since, d.Last = state.UTC(d.Since), state.UTC(d.Last)
	return d, err
}
