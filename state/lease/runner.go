// Package lease says who runs and who waits, by locks that the kernel gives back when their process
// ends, however it does.
package lease

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/state/lock"
)

// Runner is where the lease of a runner is: a lock, which decides, and a note beside it that says
// who has the lock. The note is only a hint.
type Runner struct {
	Lock   string // the path of the file that is locked; it is never removed
	Write  func(state.Leader) error
	Read   func() (state.Leader, error)
	Remove func() error
}

// Take makes the caller the runner. It tries for state.LeadWait, so that it is not kept out by
// somebody who only looks, and then it is state.ErrLed.
func (r Runner) Take(ctx context.Context, who state.Leader) (*Lease, error) {
	return r.take(who, func() (*lock.Held, error) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		h, err := lock.Wait(ctx, time.Now().Add(state.LeadWait), r.Lock, lock.Exclusive, nil)
		if errors.Is(err, lock.ErrHeld) {
			err = state.ErrLed
		}
		return h, err
	})
}

// Next waits until the caller is the runner, in line with others.
func (r Runner) Next(ctx context.Context, who state.Leader) (*Lease, error) {
	return r.take(who, func() (*lock.Held, error) { return lock.Queue(ctx, r.Lock) })
}

func (r Runner) take(who state.Leader, take func() (*lock.Held, error)) (*Lease, error) {
	if err := lock.Make(r.Lock); err != nil {
		return nil, err
	}
	h, err := take()
	if err != nil {
		return nil, err
	}
	if who.Since.IsZero() {
		who.Since = time.Now()
	}
	r.Remove() // the one before us; whoever looks now finds nobody instead of the wrong one
	if err := r.Write(who); err != nil {
		h.Release()
		return nil, err
	}
	return &Lease{place: r, lock: h, who: who}, nil
}

// Waiters are the processes that wait for their turn. Only Linux tells.
func (r Runner) Waiters() []int { return lock.Waiters(r.Lock) }

// noteWait is how long Who waits for a runner that has just taken the lock to say who it is, and
// noteStep how long at a time.
const noteWait, noteStep = 50 * time.Millisecond, 4 * time.Millisecond

// Who reports whether there is a runner, and returns the note: of the runner, or of the last one,
// if that has ended without giving the lock back. Without a note it is the zero value. Who tries
// for a shared lock, which any number of processes can have: with the exclusive one, two that look
// would take each other for a runner.
func (r Runner) Who() (state.Leader, bool, error) {
	switch h, err := lock.Try(r.Lock, lock.Shared); {
	case err == nil:
		h.Release()
		left, err := r.Read()
		if err != nil { // it is only a hint
			left = state.Leader{}
		}
		return left, false, nil
	case errors.Is(err, os.ErrNotExist):
		return state.Leader{}, false, nil
	case !errors.Is(err, lock.ErrHeld):
		return state.Leader{}, false, err
	}
	for waited := time.Duration(0); ; waited += noteStep {
		who, err := r.Read()
		if err == nil || waited >= noteWait {
			return who, true, nil
		}
		time.Sleep(noteStep)
	}
}

// Lease is that of a runner. It is a state.Lease.
type Lease struct {
	place Runner
	lock  *lock.Held

	mu       sync.Mutex
	who      state.Leader
	released bool
	err      error // of the release
}

// Delay writes the note anew, with the tasks whose start is put off.
func (l *Lease) Delay(list []state.Delay) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.released {
		return nil
	}
	l.who.Delays = slices.Clone(list)
	if err := l.place.Write(l.who); err != nil {
		return fmt.Errorf("%w: saying what is put off: %w", state.ErrUnusable, err)
	}
	return nil
}

// Lost reports whether the file that is locked is no longer the one at its path.
func (l *Lease) Lost() bool {
	same, err := l.lock.Is(l.place.Lock)
	return err == nil && !same || errors.Is(err, os.ErrNotExist)
}

// Release gives the lock back. A second call does nothing, and returns what the first one did.
func (l *Lease) Release() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.released {
		return l.err
	}
	l.released = true
	if !l.Lost() { // else the note is that of another runner
		l.place.Remove()
	}
	if err := l.lock.Release(); err != nil {
		l.err = fmt.Errorf("%w: giving the runner lock back: %w", state.ErrUnusable, err)
	}
	return l.err
}
