package files

import (
	"context"

	"github.com/ouro-timer/ouro-timer/state"
)

// Trouble returns what a runner noted. A note that cannot be read counts as none.
func (s *Store) Trouble(ctx context.Context) (t state.Trouble, err error) {
	if err := ctx.Err(); err != nil {
		return t, err
	}
	t, err = loadNote[state.Trouble](s, troubleFile)
	if garbled(err) {
		err = nil
	}
	t.At = state.UTC(t.At)
	return t, fail("reading what a runner had trouble with", err)
}

// SetTrouble takes no lock. Of two concurrent notes, one stays.
func (s *Store) SetTrouble(t state.Trouble) error {
	if err := s.ready(); err != nil {
		return err
	}
	t.At = state.UTC(t.At)
	return fail("noting what a runner had trouble with", s.note(troubleFile, t))
}
