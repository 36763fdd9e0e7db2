package files

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/gofrs/flock"
	"github.com/ouro-timer/ouro-timer/state"
)

// sayWait is how long Led waits for a runner that has just taken the lock to say who it is.
const sayWait = 50 * time.Millisecond

// held keeps every lease that was not released out of the garbage collector's reach: it would close the file, and with it
// give up the lock.
var held sync.Map

// lease is the runner lock.
type lease struct {
	s    *Store
	lock *flock.Flock

	mu       sync.Mutex
	leader   state.Leader
	released bool
	err      error // of the release
}

// Lead tries for 250 ms, so that it is not kept out by somebody who only looks.
func (s *Store) Lead(ctx context.Context, r state.Leader) (state.Lease, error) {
	return s.lead(ctx, r, func(lock *flock.Flock) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		limit, cancel := context.WithTimeout(ctx, state.LeadWait)
		defer cancel()
		ok, err := try(limit, lock.TryLock)
		switch {
		case ok:
			return nil
		case ctx.Err() != nil:
			return ctx.Err()
		case errors.Is(err, limit.Err()):
			return state.ErrLed
		}
		return err
	})
}

// LeadNext waits inside the kernel, on a thread of its own. When ctx ends first that thread goes on waiting, and gives the lock back
// at once should it still get it: a process that ends takes it along.
func (s *Store) LeadNext(ctx context.Context, r state.Leader) (state.Lease, error) {
	return s.lead(ctx, r, func(lock *flock.Flock) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		had := make(chan error)
		go func() {
			err := lock.Lock()
			select {
			case had <- err:
			case <-ctx.Done():
				lock.Unlock()
			}
		}()
		select {
		case err := <-had:
			return err
		case <-ctx.Done():
			return ctx.Err()
		}
	})
}

// lead makes the caller the leader once take has the lock.
func (s *Store) lead(ctx context.Context, r state.Leader, take func(*flock.Flock) error) (state.Lease, error) {
	if err := s.guard(); err != nil {
		return nil, err
	}
	if err := s.furnish(); err != nil {
		return nil, err
	}
	lock := newLock(s.path(leadFile), os.O_CREATE)
	if err := take(lock); err != nil {
		return nil, fail("taking the runner lock", err)
	}
	if r.Since.IsZero() {
		r.Since = time.Now()
	}
	l := &lease{s: s, lock: lock, leader: r}
	s.disk.remove(s.path(leaderFile)) // the one before us; whoever looks now finds nobody instead of the wrong one
	if err := l.say(r); err != nil {
		lock.Unlock()
		return nil, fail("taking the runner lock", err)
	}
	held.Store(l, nil)
	if err := s.sweep(ctx); err != nil {
		l.Release()
		return nil, err
	}
	return l, nil
}

// say writes who the leader is. It is a hint for people, not awaited by the disk; the lock is what counts.
func (l *lease) say(r state.Leader) error {
	path := l.s.path(leaderFile)
	r.Since = r.Since.UTC()
	for i := range r.Delays {
		r.Delays[i].Since = r.Delays[i].Since.UTC()
	}
	data, err := encode(r)
	if err != nil {
		return err
	}
	temp := fresh(l.s.path(runsDir))
	if err := l.s.disk.create(temp, data); err != nil {
		return err
	}
	return l.s.disk.rename(temp, path)
}

// Delay says anew who the leader is, and what is put off.
func (l *lease) Delay(list []state.Delay) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.released {
		return nil
	}
	l.leader.Delays = slices.Clone(list)
	return fail("saying what is put off", l.say(l.leader))
}

// Release gives the lock back. A second call does nothing.
func (l *lease) Release() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.released {
		l.released = true
		l.s.disk.remove(l.s.path(leaderFile))
		l.err = l.lock.Unlock()
		held.Delete(l)
	}
	return fail("giving the runner lock back", l.err)
}

// Led looks with a shared lock, which any number of processes can have: looking with the exclusive one, two that look
// would take each other for a runner. Lead waits long enough not to be kept out by it.
func (s *Store) Led(ctx context.Context) (state.Leader, bool, error) {
	if err := ctx.Err(); err != nil {
		return state.Leader{}, false, err
	}
	if err := s.lately(&s.written, s.guardWriter); err != nil {
		return state.Leader{}, false, err
	}
	lock := newLock(s.path(leadFile), 0)
	ok, err := lock.TryRLock()
	if ok {
		lock.Unlock()
		return state.Leader{}, false, nil
	}
	if missing(err) {
		return state.Leader{}, false, nil
	}
	if err != nil {
		return state.Leader{}, false, fail("looking for a runner", err)
	}
	for waited := time.Duration(0); ; waited += lockStep {
		r, err := s.leader()
		if err == nil || waited >= sayWait {
			return r, true, nil
		}
		time.Sleep(lockStep)
	}
}

// Leased reports whether the runner is one on that node: here there is one runner, on whichever node it is.
func (s *Store) Leased(ctx context.Context, node string) (bool, error) {
	leader, led, err := s.Led(ctx)
	return led && leader.Ident.Node == node, err
}

// leader reads who the runner is. The zero value is one that has not said so.
func (s *Store) leader() (r state.Leader, err error) {
	data, err := readFile(s.path(leaderFile), tallyLimit)
	if err == nil {
		_, err = decode(data, &r)
	}
	if err != nil {
		return state.Leader{}, err
	}
	r.Since = state.UTC(r.Since)
	for i := range r.Delays {
		r.Delays[i].Since = state.UTC(r.Delays[i].Since)
	}
	return r, nil
}

// sweep removes the temporary files and notes that dead writers left.
func (s *Store) sweep(ctx context.Context) error {
	t, err := s.begin(ctx)
	if err != nil {
		return err
	}
	defer t.done()
	for _, dir := range []string{queueDir, pausedDir, keysDir, originsDir, runsDir, openDir, tallyDir, inboxDir, outboxDir} {
		files, err := readNames(s.path(dir))
		if err != nil {
			return err
		}
		for _, f := range files {
			if strings.HasPrefix(f, tempPrefix) {
				t.disk.remove(s.path(dir + "/" + f))
			}
		}
	}
	files, err := readNames(s.path(openDir))
	if err != nil {
		return err
	}
	for _, f := range files {
		record, ok := strings.CutSuffix(f, ".halt")
		if !ok {
			continue
		}
		if _, err := os.Lstat(s.path(openDir + "/" + record + suffix)); missing(err) {
			t.disk.remove(s.path(openDir + "/" + f))
		}
	}
	return t.sweepWaits()
}

// tempPrefix begins the names of files that are still being written.
const tempPrefix = ".new-"

func randomName() string { return fmt.Sprintf("%016x", randomBits()) }
