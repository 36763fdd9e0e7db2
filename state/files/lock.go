package files

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"time"

	"github.com/gofrs/flock"
	"github.com/ouro-timer/ouro-timer/state"
)

// lockStep is the longest pause of a process that tries for a lock. The first pauses are shorter: most turns take a
// millisecond or two, and who came late should not find the next turn taken, too.
const (
	lockStep  = 4 * time.Millisecond
	firstStep = 250 * time.Microsecond
)

// try calls take, which does not wait, until it has the lock, fails, or limit ends: once at least, for on a busy machine that has
// passed before anything was tried, and a lock that nobody has must not be said to be held. The pauses are not all alike, so that two
// processes do not keep meeting.
func try(limit context.Context, take func() (bool, error)) (bool, error) {
	for pause := firstStep; ; pause = min(2*pause, lockStep) {
		if ok, err := take(); ok || err != nil {
			return ok, err
		}
		select {
		case <-limit.Done():
			return false, limit.Err()
		case <-time.After(pause/2 + rand.N(pause)/2):
		}
	}
}

// patience is how long a lock is waited for before that is said.
const patience = time.Second

// telling is take, and says once, when it has been tried in vain for a while, who has the lock.
func (s *Store) telling(take func() (bool, error)) func() (bool, error) {
	var since time.Time
	told := s.waiting == nil
	return func() (bool, error) {
		ok, err := take()
		switch {
		case ok || err != nil || told:
		case since.IsZero():
			since = time.Now()
		case time.Since(since) >= patience:
			told = true
			s.waiting(s.busy(patience), s.wait)
		}
		return ok, err
	}
}

// newLock is a lock value for one use: two goroutines that share one do not exclude each other, and one that holds a
// shared lock and asks for the exclusive one loses both. Lock files are never removed: that would let a second holder in.
// Descriptors are closed on exec, so that no child keeps a lock.
func newLock(path string, create int) *flock.Flock {
	if create != 0 {
		makeLock(path) // else the lock says why
	}
	return flock.New(path, flock.SetFlag(os.O_RDONLY|create|noFollow), flock.SetPermissions(0o600))
}

// makeLock makes a lock file that is not there, which its owner can use whatever the umask.
func makeLock(path string) error {
	if _, err := os.Lstat(path); !missing(err) {
		return err
	}
	f, err := openFile(path, os.O_RDONLY|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	return f.Close()
}

// exclusive takes the state lock for a writer, and makes the folders when there are none yet.
func (s *Store) exclusive(ctx context.Context) (unlock func(), err error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if s.inspect {
		return nil, fmt.Errorf("%w: it was opened for a look", state.ErrUnusable)
	}
	if err := s.lately(&s.written, s.guardWriter); err != nil {
		return nil, err
	}
	limit, cancel := context.WithTimeout(ctx, s.wait)
	defer cancel()
	select {
	case s.gate <- struct{}{}:
	default:
		select {
		case s.gate <- struct{}{}:
		case <-limit.Done():
			return nil, s.notHad(ctx)
		}
	}
	lock, ok, err := s.lockForWriting(limit)
	if err != nil || !ok {
		<-s.gate
		if errors.Is(err, limit.Err()) {
			return nil, s.notHad(ctx)
		}
		return nil, fail("taking the state lock", err)
	}
	return func() {
		lock.Close()
		<-s.gate
	}, nil
}

// lockForWriting takes the lock. Where there is no lock file there may be no folders either.
func (s *Store) lockForWriting(ctx context.Context) (lock *flock.Flock, ok bool, err error) {
	for made := false; ; made = true {
		lock = newLock(s.path(lockFile), 0)
		ok, err = try(ctx, s.telling(lock.TryLock))
		if !missing(err) || made {
			return lock, ok, err
		}
		if err := s.furnish(); err != nil {
			return nil, false, err
		}
		if err := makeLock(s.path(lockFile)); err != nil {
			return nil, false, err
		}
	}
}

// look is share for those who need the queue: one that has vanished is refused, and not taken for an empty one.
func (s *Store) look(ctx context.Context, f func() error) error {
	return s.share(ctx, func() error {
		if err := s.vanished(); err != nil {
			return err
		}
		return f()
	})
}

// share calls f, which lists names, while no writer changes them: a listing that races with renames can lack names or
// have them twice. It makes nothing. Where there is no lock file yet, or none can be opened in a read-only folder, f is
// called without the lock; f is called again when the first writer ever came in between.
func (s *Store) share(ctx context.Context, f func() error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := s.lately(&s.sound, s.guard); err != nil {
		return err
	}
	limit, cancel := context.WithTimeout(ctx, s.wait)
	defer cancel()
	looked := false
	for {
		lock := newLock(s.path(lockFile), 0)
		ok, err := try(limit, s.telling(lock.TryRLock))
		switch {
		case ok && !s.inspect && !looked && s.pending():
			lock.Unlock()
			looked = true
			if err := s.catchUp(ctx); err != nil && !errors.Is(err, os.ErrPermission) && !readOnly(err) {
				return err
			}
		case ok:
			err = f()
			lock.Unlock()
			return err
		case s.inspect && ctx.Err() == nil && !missing(err):
			s.wait = time.Millisecond // whoever has it is not going to let go
			return f()
		case errors.Is(err, limit.Err()):
			return s.notHad(ctx)
		case missing(err) && !s.inspect && !looked && s.pending(): // the power took the lock file
			looked = true
			if err := s.catchUp(ctx); err != nil && !errors.Is(err, os.ErrPermission) && !readOnly(err) {
				return err
			}
		case missing(err):
			if err := f(); err != nil {
				return err
			}
			if _, err := os.Lstat(s.path(lockFile)); missing(err) {
				return nil
			}
		case errors.Is(err, os.ErrPermission) || readOnly(err):
			return f()
		default:
			return fail("taking the state lock", err)
		}
	}
}

// catchUp applies what a writer that died has committed, so that who reads sees it.
func (s *Store) catchUp(ctx context.Context) error {
	t, err := s.begin(ctx)
	if err != nil {
		return err
	}
	t.done()
	return nil
}

// notHad is the error of a lock that was waited for in vain.
func (s *Store) notHad(ctx context.Context) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return s.busy(s.wait)
}

// busy is the error of a lock that somebody has had for so long.
func (s *Store) busy(since time.Duration) *BusyError {
	h := lockHolder(s.path(lockFile))
	return &BusyError{PID: h.pid, Command: h.command, Stopped: h.stopped, Waited: since}
}

// BusyError is a state lock that another process has and does not give back. It is state.ErrBusy.
type BusyError struct {
	PID     int // 0 where the system does not tell
	Command string
	Stopped bool // by SIGSTOP, a terminal or a debugger: it does not give the lock back until it is told to go on
	Waited  time.Duration
}

func (e *BusyError) Error() string {
	return fmt.Sprintf("%v: %s has held its lock for %v", state.ErrBusy, holder{e.PID, e.Command, e.Stopped}, e.Waited)
}

func (e *BusyError) Unwrap() error { return state.ErrBusy }

// holder is a process that has a lock. The zero value is one that is not known.
type holder struct {
	pid     int
	command string
	stopped bool
}

func (h holder) String() string {
	switch {
	case h.pid == 0:
		return "another process"
	case h.stopped:
		return fmt.Sprintf("process %d (%s), which is stopped,", h.pid, h.command)
	}
	return fmt.Sprintf("process %d (%s)", h.pid, h.command)
}
