package lock

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
)

// Lock is a lock between processes, and between the goroutines of this one, that is held for a
// moment at a time. Its file is never removed: that would let a second holder in.
type Lock struct {
	Wait time.Duration // how long it is waited for; after it, *BusyError

	path    string
	waiting func(who *BusyError, most time.Duration) // or nil
	// gate lets one goroutine at a time try for the exclusive lock, so that they queue instead of
	// polling against each other.
	gate chan struct{}
}

// New returns a lock that is on the file at a path. waiting, unless it is nil, is told, once a
// wait, when the lock has been waited for in vain for Patience, who has it, and how long the wait
// may be.
func New(path string, wait time.Duration, waiting func(who *BusyError, most time.Duration)) *Lock {
	return &Lock{Wait: wait, path: path, waiting: waiting, gate: make(chan struct{}, 1)}
}

// Patience is how long a lock is waited for before that is said. A disk that stalls is not news,
// and who waits at a terminal hears of it in time.
const Patience = 3 * time.Second

// Exclusive takes the lock for the caller alone. If its file is missing, furnish makes the folder,
// and then Exclusive makes the file. Without furnish, the error is os.ErrNotExist.
func (l *Lock) Exclusive(ctx context.Context, furnish func() error) (release func(), err error) {
	latest := time.Now().Add(l.Wait)
	select {
	case l.gate <- struct{}{}:
	default:
		select {
		case l.gate <- struct{}{}:
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(l.Wait):
			return nil, l.busy(l.Wait)
		}
	}
	h, err := l.take(ctx, latest, Exclusive)
	if errors.Is(err, os.ErrNotExist) && furnish != nil {
		if err = furnish(); err == nil {
			err = Make(l.path)
		}
		if err == nil {
			h, err = l.take(ctx, latest, Exclusive)
		}
	}
	if err != nil {
		<-l.gate
		return nil, err
	}
	return func() {
		h.Release()
		<-l.gate
	}, nil
}

// Shared takes the lock together with others that share it. It makes nothing: os.ErrNotExist where
// its file is not there.
func (l *Lock) Shared(ctx context.Context) (release func(), err error) {
	h, err := l.take(ctx, time.Now().Add(l.Wait), Shared)
	if err != nil {
		return nil, err
	}
	return func() { h.Release() }, nil
}

// take takes the lock. It waits until latest, and calls waiting once if that takes long. It takes a
// lock that nobody has even if ctx has ended.
func (l *Lock) take(ctx context.Context, latest time.Time, mode Mode) (*Held, error) {
	begun, told := time.Now(), l.waiting == nil
	h, err := Wait(ctx, latest, l.path, mode, func() {
		if !told && time.Since(begun) >= Patience {
			told = true
			l.waiting(l.busy(Patience), l.Wait)
		}
	})
	if errors.Is(err, ErrHeld) {
		return nil, l.busy(l.Wait)
	}
	return h, err
}

// busy is the error of a lock that somebody has had for so long.
func (l *Lock) busy(since time.Duration) *BusyError {
	return &BusyError{Holder: HolderOf(l.path), Waited: since}
}

// BusyError says that another process has the lock and does not give it back. It is state.ErrBusy.
type BusyError struct {
	Holder
	Waited time.Duration
}

func (e *BusyError) Error() string {
	return fmt.Sprintf("%v: after %v, %s has its lock", state.ErrBusy, e.Waited, e.Holder)
}

func (e *BusyError) Unwrap() error { return state.ErrBusy }

// Holder is a process that has a lock. The zero value is one that is not known.
type Holder struct {
	PID     int // 0 where the system does not tell
	Command string
	// Stopped, by SIGSTOP, a terminal or a debugger: it keeps the lock until it is told to go on.
	Stopped bool
}

func (h Holder) String() string {
	switch {
	case h.PID == 0:
		return "another process"
	case h.Stopped:
		return fmt.Sprintf("process %d (%s), which is stopped,", h.PID, h.Command)
	}
	return fmt.Sprintf("process %d (%s)", h.PID, h.Command)
}
