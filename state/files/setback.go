package files

import (
	"context"
	"errors"

	"github.com/ouro-timer/ouro-timer/state"
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
		_, err = decode(data, &b)
	}
	if errors.Is(err, errDecode) || errors.Is(err, errOdd) {
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
	if b.IsZero() {
		return fail("forgetting that the clock was back", t.unlink(setbackFile))
	}
	data, err := encode(b)
	if err != nil {
		return err
	}
	return fail("noting that the clock is back", replace(t.disk, t.path(setbackFile), data))
}
