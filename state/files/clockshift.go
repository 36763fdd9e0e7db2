package files

import (
	"context"

	"github.com/ouro-timer/ouro-timer/state"
)

// ClockShift returns what was stored about a clock that is back. A damaged note counts as none, and
// the counting begins again.
func (s *Store) ClockShift(ctx context.Context) (b state.ClockShift, err error) {
	if err := ctx.Err(); err != nil {
		return b, err
	}
	b, err = loadNote[state.ClockShift](s, clockShiftFile)
	if garbled(err) {
		err = nil
	}
	b.Peak = state.UTC(b.Peak)
	return b, fail("reading what is known of the clock", err)
}

// SetClockShift replaces the note.
func (s *Store) SetClockShift(ctx context.Context, b state.ClockShift) error {
	return s.transact(ctx, func(t *tx) error { return t.putNote(clockShiftFile, b, !b.IsZero()) })
}
