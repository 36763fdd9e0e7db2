// Package lock takes locks that processes have on files, exclusive or shared, and tells what the
// system knows of who has one. The kernel gives a lock back when its process ends, however that
// goes.
//
// It is the only package that imports gofrs/flock, and adds what that does not promise: waits have
// an end, and pauses of random length, so that two processes do not try at the same moments again
// and again; no link is followed; and the garbage collector gives no lock back.
package lock

import (
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"sync"
	"time"

	"github.com/gofrs/flock"

	"github.com/ouro-timer/ouro-timer/state/plainfile"
)

// Mode says who else may have a lock at the same time.
type Mode int

// The modes: nobody, or others that have it Shared.
const (
	Exclusive Mode = iota
	Shared
)

// ErrHeld is a lock that somebody else has.
var ErrHeld = errors.New("somebody else has the lock")

// Held is a lock that this process has until it is released. Descriptors are closed on exec, so
// that no child keeps it.
type Held struct{ file *flock.Flock }

// all keeps every lock that was not released out of the garbage collector's reach: it would close
// the file, and with it give up the lock.
var all sync.Map

// Release gives the lock back.
func (h *Held) Release() error {
	all.Delete(h)
	return h.file.Unlock()
}

// Is reports whether the file that is locked is the one at the path. os.ErrNotExist when there is
// none.
func (h *Held) Is(path string) (bool, error) {
	there, err := os.Stat(path)
	if err != nil {
		return false, err
	}
	mine, err := h.file.Stat()
	return err == nil && os.SameFile(mine, there), nil
}

// Make makes a lock file that is not there, which its owner can use whatever the umask.
func Make(path string) error {
	if _, err := os.Lstat(path); err == nil {
		return nil
	}
	f, err := plainfile.OpenFile(path, os.O_RDONLY|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	return f.Close()
}

// Try takes the lock of the file at a path unless somebody has it: ErrHeld. The file must be there.
func Try(path string, mode Mode) (*Held, error) {
	file := open(path)
	take := file.TryLock
	if mode == Shared {
		take = file.TryRLock
	}
	ok, err := take()
	if err == nil && !ok {
		err = ErrHeld
	}
	return hold(file, err)
}

// open is the file for one use: two goroutines that share one do not exclude each other, and one
// that holds a shared lock and asks for the exclusive one loses both.
func open(path string) *flock.Flock {
	return flock.New(path, flock.SetFlag(os.O_RDONLY|noFollow), flock.SetPermissions(0o600))
}

func hold(file *flock.Flock, err error) (*Held, error) {
	if err != nil {
		return nil, err
	}
	h := &Held{file}
	all.Store(h, nil)
	return h, nil
}

// lockStep is the longest pause of a process that tries for a lock. The first pauses are shorter:
// most turns take a millisecond or two, and who came late should not find the next turn taken, too.
const (
	lockStep  = 4 * time.Millisecond
	firstStep = 250 * time.Microsecond
)

// Wait tries for the lock until it has it, ctx ends, or an instant has passed: ErrHeld. It tries
// once at least, for on a busy machine the instant has passed before anything was tried, and a lock
// that nobody has must not be said to be held. The pauses are not all alike, so that two processes
// do not keep meeting. It calls vain, unless that is nil, after each try that was in vain.
func Wait(ctx context.Context, latest time.Time, path string, mode Mode, vain func()) (*Held, error) {
	for pause := firstStep; ; pause = min(2*pause, lockStep) {
		h, err := Try(path, mode)
		left := time.Until(latest)
		if !errors.Is(err, ErrHeld) || left <= 0 {
			return h, err
		}
		if vain != nil {
			vain()
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(min(left, pause/2+rand.N(pause)/2)):
		}
	}
}

// Queue waits for the exclusive lock inside the kernel, on a thread of its own. When ctx ends first
// that thread goes on waiting, and gives the lock back at once should it still get it: a process
// that ends takes it along.
func Queue(ctx context.Context, path string) (*Held, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	file := open(path)
	had := make(chan error)
	go func() {
		err := file.Lock()
		select {
		case had <- err:
		case <-ctx.Done():
			file.Unlock()
		}
	}()
	select {
	case err := <-had:
		return hold(file, err)
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}
