package files

import (
	"fmt"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
)

// noteDropped counts items that were forgotten although nobody had acknowledged them. A count that cannot be read begins anew.
func (t *tx) noteDropped(items int, now time.Time) error {
	if items == 0 {
		return nil
	}
	d, err := t.Dropped()
	if err != nil || d.Items == 0 {
		d = state.Dropped{Since: now.UTC()}
	}
	d.Items, d.Last = d.Items+items, now.UTC()
	data, err := encode(d)
	if err == nil {
		old, _ := readFile(t.path(droppedFile), tallyLimit)
		t.put(droppedFile, data, old)
	}
	return err
}

// Dropped says how many items Prune has forgotten that nobody had acknowledged. The zero value: none.
func (s *Store) Dropped() (d state.Dropped, err error) {
	data, err := readFile(s.path(droppedFile), tallyLimit)
	if missing(err) {
		return d, nil
	}
	if err == nil {
		_, err = decode(data, &d)
	}
	if err != nil {
		return state.Dropped{}, fmt.Errorf("%s: %w", s.path(droppedFile), err)
	}
	d.Since, d.Last = state.UTC(d.Since), state.UTC(d.Last)
	return d, nil
}
