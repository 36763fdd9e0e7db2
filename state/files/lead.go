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

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/state/codec"
	"github.com/ouro-timer/ouro-timer/state/lock"
)

// sayWait is how long Led waits for a runner that has just taken the lock to say who it is, and sayStep how long at a time.
const sayWait, sayStep = 50 * time.Millisecond, 4 * time.Millisecond

// lease is the runner lock.
type lease struct {
	s    *Store
	lock *lock.Held

	mu       sync.Mutex
	leader   state.Leader
	released bool
	err      error // of the release
}

// Lead tries for 250 ms, so that it is not kept out by somebody who only looks.
func (s *Store) Lead(ctx context.Context, r state.Leader) (state.Lease, error) {
	return s.lead(ctx, r, func(path string) (*lock.Held, error) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		limit, cancel := context.WithTimeout(ctx, state.LeadWait)
		defer cancel()
		h, err := lock.Wait(limit, path, lock.Exclusive)
		if err != nil && ctx.Err() == nil && errors.Is(err, limit.Err()) {
			err = state.ErrLed
		}
		return h, err
	})
}

// LeadNext waits inside the kernel, in line with others.
func (s *Store) LeadNext(ctx context.Context, r state.Leader) (state.Lease, error) {
	return s.lead(ctx, r, func(path string) (*lock.Held, error) { return lock.Queue(ctx, path) })
}

// Standby are the processes that wait for the runner lock. Only Linux tells.
func (s *Store) Standby(context.Context) []int { return lock.Waiters(s.path(leadFile)) }

// lead makes the caller the leader once take has the lock.
func (s *Store) lead(ctx context.Context, r state.Leader, take func(path string) (*lock.Held, error)) (state.Lease, error) {
	if err := s.guard(); err != nil {
		return nil, err
	}
	if err := s.furnish(); err != nil {
		return nil, err
	}
	if err := lock.Make(s.path(leadFile)); err != nil {
		return nil, fail("taking the runner lock", err)
	}
	h, err := take(s.path(leadFile))
	if err != nil {
		return nil, fail("taking the runner lock", err)
	}
	if r.Since.IsZero() {
		r.Since = time.Now()
	}
	l := &lease{s: s, lock: h, leader: r}
	s.disk.remove(s.path(leaderFile)) // the one before us; whoever looks now finds nobody instead of the wrong one
	if err := l.say(r); err != nil {
		h.Release()
		return nil, fail("taking the runner lock", err)
	}
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
	data, err := codec.Encode(r)
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
		l.err = l.lock.Release()
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
	switch h, err := lock.Try(s.path(leadFile), lock.Shared); {
	case err == nil:
		h.Release()
		return state.Leader{}, false, nil
	case missing(err):
		return state.Leader{}, false, nil
	case !errors.Is(err, lock.ErrHeld):
		return state.Leader{}, false, fail("looking for a runner", err)
	}
	for waited := time.Duration(0); ; waited += sayStep {
		r, err := s.leader()
		if err == nil || waited >= sayWait {
			return r, true, nil
		}
		time.Sleep(sayStep)
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
		err = codec.Decode(data, &r)
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
