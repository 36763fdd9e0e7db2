package files

import (
	"context"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/state/codec"
)

// Setback is what was noted of a clock that is back. One that is damaged is none: what it counted
// begins anew.
func (s *Store) Setback(ctx context.Context) (b state.Setback, err error) {
	if err := ctx.Err(); err != nil {
		return b, err
	}
	data, err := readFile(s.path(setbackFile), tallyLimit)
	if missing(err) {
		return b, nil
	}
	if err == nil {
		err = codec.Decode(data, &b)
	}
	if garbled(err) {
		return state.Setback{}, nil
	}
	b.Peak = state.UTC(b.Peak)
	return b, fail("reading what is known of the clock", err)
}

// NoteSetback replaces the note.
func (s *Store) NoteSetback(ctx context.Context, b state.Setback) error {
	t, err := s.begin(ctx)
	if err != nil {
		return err
	}
	defer t.done()
	old, err := readFile(t.path(setbackFile), tallyLimit)
	if err != nil && !missing(err) && !garbled(err) {
		return fail("reading what is known of the clock", err)
	}
	switch {
	case b.IsZero() && missing(err):
		return nil
	case b.IsZero():
		t.remove(setbackFile, old)
		return t.commit()
	}
	data, err := codec.Encode(b)
	if err != nil {
		return err
	}
	t.put(setbackFile, data, old)
	return t.commit()
}
