package files

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
)

// exclusive takes the state lock for a writer, and makes the folders if there are none yet.
func (s *Store) exclusive(ctx context.Context) (unlock func(), err error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if s.inspect {
		return nil, fmt.Errorf("%w: it was opened for a look", state.ErrUnusable)
	}
	if err := s.guardWriter(); err != nil {
		return nil, err
	}
	if err := s.stillLed(); err != nil {
		return nil, err
	}
	unlock, err = s.lock.Exclusive(ctx, s.furnish)
	return unlock, fail("taking the state lock", err)
}

// look is share for callers that need the queue. It refuses a queue that has vanished instead of
// taking it for an empty one.
func (s *Store) look(ctx context.Context, f func() error) error {
	return s.share(ctx, func() error {
		if err := s.vanished(); err != nil {
			return err
		}
		return f()
	})
}

// share calls f, which lists names, while no writer changes them. A listing that races with renames
// can miss names or have them twice. share creates nothing. If there is no lock file yet, or if it
// cannot be opened in a read-only folder, it calls f without the lock. If the very first writer
// came during that, it calls f again.
func (s *Store) share(ctx context.Context, f func() error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if lately, _ := s.lately(); !lately {
		if err := s.guard(); err != nil {
			return err
		}
	}
	looked := false
	for {
		unlock, err := s.lock.Shared(ctx)
		switch {
		case (err == nil || missing(err)) && !s.inspect && !looked && s.pending():
			// a loss of power may have removed the lock file
			if err == nil {
				unlock()
			}
			looked = true
			// begin applies what a dead writer has committed, so that readers see it
			if err := s.transact(ctx, func(*tx) error { return nil }); err != nil && !unwritable(err) {
				return err
			}
		case err == nil:
			err = f()
			unlock()
			return err
		case missing(err):
			if err := f(); err != nil {
				return err
			}
			if _, err := os.Lstat(s.path(lockFile)); missing(err) {
				return nil
			}
		case s.inspect && ctx.Err() == nil:
			s.lock.Wait = time.Millisecond // its holder will not release it
			return f()
		case unwritable(err):
			return f()
		default:
			return fail("taking the state lock", err)
		}
	}
}

// unwritable reports whether an error says that nothing can be written where the file is.
func unwritable(err error) bool { return errors.Is(err, os.ErrPermission) || readOnly(err) }
