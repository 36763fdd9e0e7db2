package lease

import (
	"context"
	"errors"
	"os"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/state/lock"
)

// Announce says that somebody waits for something, by a shared lock on the file at a path, until
// the lock is released. Unlike other lock files, this one may be removed (Sweep). Whoever looks has
// the lock for a moment. Announce waits for that no longer than wait, and then returns
// state.ErrBusy.
func Announce(ctx context.Context, path string, wait time.Duration) (*lock.Held, error) {
	for latest := time.Now().Add(wait); ; {
		if err := lock.Make(path); err != nil {
			return nil, err
		}
		h, err := lock.Wait(ctx, latest, path, lock.Shared, nil)
		switch {
		case errors.Is(err, os.ErrNotExist): // it was just removed
			continue
		case errors.Is(err, lock.ErrHeld):
			return nil, state.ErrBusy
		case err != nil:
			return nil, err
		}
		same, err := h.Is(path)
		if same {
			return h, nil // and not one that was just removed, which would say nothing
		}
		h.Release()
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return nil, err
		}
	}
}

// Awaited reports whether somebody does. Two that look at the same moment may take each other for
// one who does.
func Awaited(path string) bool {
	h, err := lock.Try(path, lock.Exclusive)
	if err == nil {
		h.Release()
	}
	return errors.Is(err, lock.ErrHeld)
}

// Sweep removes the file unless somebody waits. It has the lock meanwhile, so that nobody announces
// anything by a file that is gone. If it cannot remove the file, the file stays, and says nothing.
func Sweep(path string, remove func(path string) error) {
	if h, err := lock.Try(path, lock.Exclusive); err == nil {
		if same, _ := h.Is(path); same {
			remove(path)
		}
		h.Release()
	}
}
