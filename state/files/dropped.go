package files

import (
	"context"
	"fmt"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/state/codec"
)

// noteDropped counts items that were forgotten although nobody had acknowledged them. A count that cannot be read begins anew.
func (t *tx) noteDropped(items int, now time.Time) error {
	if items == 0 {
		return nil
	}
	d, err := t.dropped()
	if err != nil {
		d = state.Dropped{}
	}
	d.Count(items, now)
	data, err := codec.Encode(d)
	if err == nil {
		old, _ := readFile(t.path(droppedFile), tallyLimit)
		t.put(droppedFile, data, old)
	}
	return err
}

// Dropped says how many items were forgotten.
func (s *Store) Dropped(ctx context.Context) (state.Dropped, error) {
	if err := ctx.Err(); err != nil {
		return state.Dropped{}, err
	}
	return s.dropped()
}

func (s *Store) dropped() (d state.Dropped, err error) {
	data, err := readFile(s.path(droppedFile), tallyLimit)
	if missing(err) {
		return d, nil
	}
	if err == nil {
		err = codec.Decode(data, &d)
	}
	if err != nil {
		return state.Dropped{}, fmt.Errorf("%s: %w", s.path(droppedFile), err)
	}
	d.Since, d.Last = state.UTC(d.Since), state.UTC(d.Last)
	return d, nil
}
