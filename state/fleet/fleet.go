// Package fleet is a state.Store that runners on several machines share. It applies the rules of
// package state to a small interface, KV, which package jet implements with NATS JetStream. What
// belongs to one machine (the runner lock, processes, the output of runs) stays there, in a Local.
//
// Each change is a transaction. It reads what it needs with its revisions, the rules decide, and
// one commit writes the result, unless a revision has changed. Then it reads and decides again.
// Nobody waits for a lock, and nobody who dies delays others.
package fleet

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
)

// Local is what stays on this machine.
type Local interface {
	state.Outputs
	state.Presence
	state.Leases
	ClockShift(ctx context.Context) (state.ClockShift, error)
	SetClockShift(ctx context.Context, b state.ClockShift) error
	Prune(ctx context.Context, keep state.Keep, now time.Time) (state.Pruned, error)
	// Spool keeps a text under a name, durably. An empty text drops it. Spooled gives each that is
	// kept to a reader. One that cannot be read, or that the reader refuses, is set aside and
	// reported, and is no error.
	Spool(ctx context.Context, name, text string) error
	Spooled(ctx context.Context, read func(name, text string) error) error
}

// Options are the settings of a Store.
type Options struct {
	Local Local
	Node  state.Node
	// Limits, if set, is called before changes.
	Limits func() (state.Limits, error)
	// Rules, if set, returns the version of the zone rules that this program uses. Versions are
	// compared as texts.
	Rules func() string
	// Gone, if set, reports whether a process is known to have ended: one that would be seen here
	// if it lived.
	Gone func(state.Ident) bool
	// Boot is the system's name of this boot of the machine; empty if it has none.
	Boot string
	// Patience is how long a call tries when the servers do not answer; 0 for 5 s.
	Patience time.Duration
}

// Store is a state.Store for a fleet. It may be used from any goroutine.
type Store struct {
	state.NoFiles
	state.Verbs
	Local

	kv KV
	o  Options

	// drained is whether this node may start nothing, according to the last follower.
	drained  atomic.Bool
	followed atomic.Pointer[follower] // the last follower
	opened   openClaims

	idsMu sync.Mutex // it is held while the servers are asked for more
	ids   []uint64   // numbers for future tasks

	mu          sync.Mutex
	tasks       map[string]state.Task // the texts of tasks, by key; a text never changes
	peers       map[string]peer       // by the keys of their heartbeats
	peersRead   time.Time             // when the peers were last read
	heartbeatAt time.Time             // when the last answered heartbeat of this node was sent
	ahead       time.Duration         // how far the clock of this machine is ahead, according to it
	twin        bool                  // the last heartbeat was refused: another runner has our name
	spool       map[string]bool       // the outcomes that this process has in the spool
}

var _ state.Store = (*Store)(nil)

// New returns a store over servers.
func New(kv KV, o Options) *Store {
	if o.Limits == nil {
		o.Limits = func() (state.Limits, error) { return state.Limits{}, nil }
	}
	if o.Rules == nil {
		o.Rules = func() string { return "" }
	}
	if o.Patience <= 0 {
		o.Patience = 5 * time.Second
	}
	s := &Store{Local: o.Local, kv: kv, o: o, tasks: map[string]state.Task{}, peers: map[string]peer{}, spool: map[string]bool{}}
	s.Verbs = state.Verbs{Changer: s}
	return s
}

// requestError returns the error of a request as callers of the store know it. Any error that has
// no name of its own becomes ErrAway.
func requestError(ctx context.Context, err error) error {
	switch {
	case err == nil, errors.Is(err, ErrMoved), errors.Is(err, state.ErrInvalid), errors.Is(err, state.ErrUnusable), errors.Is(err, state.ErrNewer):
		return err
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, ErrTooLarge):
		return fmt.Errorf("%w: %w", state.ErrInvalid, err)
	}
	return fmt.Errorf("%w: %w", ErrAway, err)
}

// patiently repeats a request that changes nothing until it is answered, or until the patience
// ends.
func (s *Store) patiently(ctx context.Context, ask func(context.Context) error) error {
	return s.receive(ctx, func(ctx context.Context, _ func(Cell) bool) error { return ask(ctx) }, nil)
}

// receive is patiently for a request whose answer is cells in the order of their revisions, from
// either end. It calls use for each once, also when the request is repeated. Very many may take
// longer than the patience, and so may use: the patience begins anew after each. Those that come
// again count as well, if the attempt before had brought new ones.
func (s *Store) receive(ctx context.Context, ask func(ctx context.Context, yield func(Cell) bool) error, use func(Cell) bool) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	limited, cancel := context.WithCancel(ctx)
	defer cancel()
	over := time.AfterFunc(s.o.Patience, cancel)
	defer over.Stop()
	lowest, highest := ^uint64(0), uint64(0) // of the cells that came
	for more := true; ; pause(limited, again) {
		counts := more
		more = false
		err := ask(limited, func(c Cell) bool {
			came := lowest <= c.Rev && c.Rev <= highest // in an earlier attempt
			if came && !counts {
				return true
			}
			over.Stop()
			defer over.Reset(s.o.Patience)
			if came {
				return true
			}
			more, lowest, highest = true, min(lowest, c.Rev), max(highest, c.Rev)
			return use(c)
		})
		if err == nil || limited.Err() != nil || errors.Is(err, state.ErrUnusable) {
			if errors.Is(err, context.Canceled) && ctx.Err() == nil {
				err = context.DeadlineExceeded
			}
			return requestError(ctx, err)
		}
	}
}

// again is the time between two attempts of a request.
const again = 20 * time.Millisecond

func pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// get is KV.Get, repeated patiently.
func (s *Store) get(ctx context.Context, key string) (c Cell, err error) {
	err = s.patiently(ctx, func(ctx context.Context) error { c, err = s.kv.Get(ctx, key); return err })
	c.Key = key
	return c, err
}

// scan is KV.Prefix, repeated patiently.
func (s *Store) scan(ctx context.Context, prefix string, after uint64, use func(Cell)) (last uint64, err error) {
	err = s.receive(ctx, func(ctx context.Context, yield func(Cell) bool) (err error) {
		last, err = s.kv.Prefix(ctx, prefix, after, yield)
		return err
	}, func(c Cell) bool { use(c); return true })
	return last, err
}

// all is scan from the beginning. It returns the last cell of each key that has data, oldest
// first.
func (s *Store) all(ctx context.Context, prefix string) (list []Cell, last uint64, err error) {
	newest := map[string]uint64{}
	last, err = s.scan(ctx, prefix, 0, func(c Cell) {
		if c.Rev > newest[c.Key] {
			newest[c.Key] = c.Rev
			list = append(list, c)
		}
	})
	if err != nil {
		return nil, 0, err
	}
	kept := list[:0]
	for _, c := range list {
		if len(c.Data) > 0 && newest[c.Key] == c.Rev {
			kept = append(kept, c)
		}
	}
	return kept, last, nil
}

// noncesMost is how many commits a key remembers. When more have written it between a commit whose
// answer is lost and the check of that commit, the ledger shows whether the commit was among them.
const noncesMost = 8

// tombstone is how long a dropped key stays visible to followers.
const tombstone = 24 * time.Hour

// commit does operations, the first of which expects a revision. When the answer is lost, the key
// of the first shows what has happened: it has the nonce of this commit, or its revision has
// changed without it. If neither is so, the same commit is tried again. With ErrMoved, commit
// returns what that key has now.
func (s *Store) commit(ctx context.Context, ops []Op) (Cell, error) {
	if err := ctx.Err(); err != nil {
		return Cell{}, err
	}
	nonce := rand.Text()[:16]
	for i := range ops {
		nonces := append([]string{nonce}, strings.Fields(ops[i].Nonces)...)
		ops[i].Nonces = strings.Join(nonces[:min(len(nonces), noncesMost)], " ")
		if len(ops[i].Data) == 0 {
			ops[i].TTL = tombstone
		}
	}
	// what was sent is completed
	limited, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.o.Patience)
	defer cancel()
	for first := true; ; first = false {
		err := s.kv.Commit(limited, ops)
		if err == nil || errors.Is(err, ErrTooLarge) || errors.Is(err, ErrDenied) {
			return Cell{}, requestError(ctx, err)
		}
		// on a further try, the change that is on its way may be this one
		refused := errors.Is(err, ErrMoved) || first && errors.Is(err, ErrMoving)
		for looked := false; !looked; {
			c, e := s.kv.Get(limited, ops[0].Key)
			switch {
			case e == nil && strings.Contains(c.Nonces, nonce):
				return Cell{}, nil
			// A lower revision comes from a server that is behind.
			case e == nil && (refused || c.Rev > ops[0].Rev):
				if c.Rev <= ops[0].Rev { // the change that is in the way may not be made yet
					pause(limited, turn())
				}
				if len(strings.Fields(c.Nonces)) < noncesMost {
					return c, ErrMoved
				}
				return c, requestError(ctx, s.appended(limited, ops, nonce))
			case limited.Err() != nil:
				return Cell{}, requestError(ctx, err)
			}
			if looked = e == nil; !looked {
				pause(limited, again)
			}
		}
		pause(limited, again)
	}
}

// appended returns nil when the ledger has what a commit appends, and ErrMoved when it does not.
// For a commit that appends nothing, it returns errUnsure.
func (s *Store) appended(ctx context.Context, ops []Op, nonce string) error {
	i := slices.IndexFunc(ops, func(op Op) bool { return op.Append })
	if i < 0 {
		return errUnsure
	}
	found := false
	err := s.patiently(ctx, func(ctx context.Context) error {
		_, err := s.kv.Backward(ctx, ops[i].Key, ops[i].Key, func(c Cell) bool {
			found = strings.Contains(c.Nonces, nonce)
			return !found && c.Rev > ops[0].Rev
		})
		return err
	})
	if err == nil && !found {
		return ErrMoved
	}
	return err
}

// signal returns a channel that holds one signal, and a function that sends one.
func signal() (<-chan struct{}, func()) {
	c := make(chan struct{}, 1)
	return c, func() {
		select {
		case c <- struct{}{}:
		default:
		}
	}
}

// watch signals what is written below prefixes from now on, and regularly unless tick is 0.
func (s *Store) watch(ctx context.Context, tick time.Duration, prefixes ...string) (<-chan struct{}, error) {
	changed, tell := signal()
	err := s.patiently(ctx, func(context.Context) error {
		return s.kv.Watch(ctx, Now, func(Cell) { tell() }, prefixes...)
	})
	if err == nil && tick > 0 {
		go regularly(ctx, tick, tell)
	}
	return changed, err
}

// regularly calls f after each period until ctx ends.
func regularly(ctx context.Context, period time.Duration, f func()) {
	ticks := time.NewTicker(period)
	defer ticks.Stop()
	for {
		select {
		case <-ticks.C:
			f()
		case <-ctx.Done():
			return
		}
	}
}
