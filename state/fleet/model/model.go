// Package model is a fleet.KV in memory, for tests. It is correct unless a test asks for faults:
// then it loses requests and answers, makes changes late or twice, and reads outdated cells.
package model

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ouro-timer/ouro-timer/state/fleet"
)

// KV stands for the servers. Several stores may share one.
type KV struct {
	// Fate, when set, returns what happens to each request. what is the name of the method.
	Fate func(what string) Fate
	// Break, when set, ends the reading that goes on after its present cell, without the rest.
	Break bool

	mu       sync.Mutex
	ahead    time.Duration // how far the clock of the servers is ahead
	rev      uint64
	log      []fleet.Cell // what is kept, oldest first
	last     map[string]fleet.Cell
	before   map[string]fleet.Cell // the cell of a key before its last change
	kept     map[string][]byte
	numbers  uint64
	late     []late // requests that are still on their way
	watchers map[*watcher]bool
}

// late is a request that is still on its way.
type late struct {
	do   func()
	keys []string // the keys that it changes
	left int      // how many requests come before it is done
}

// slowly is how many requests come before a slow one is done.
const slowly = 4

// Fate is what happens to a request.
type Fate int

// The fates.
const (
	Fine    Fate = iota
	Unasked      // it is lost on its way
	Untold       // it is done, and the answer is lost
	Late         // the answer is lost, and it is done at the next request
	Slow         // the answer is lost, and it is done some requests later
	Twice        // it is done twice, as when a message is sent again; the second answer counts
	Stale        // what is read was true before the last commit
)

// ErrNoAnswer: the request was not answered.
var ErrNoAnswer = errors.New("no answer in time")

// New returns servers without any data.
func New() *KV {
	return &KV{last: map[string]fleet.Cell{}, before: map[string]fleet.Cell{}, kept: map[string][]byte{}, watchers: map[*watcher]bool{}}
}

// watcher is a call of Watch. Its turn keeps commits in order.
type watcher struct {
	prefixes []string
	tell     func(fleet.Cell)
	turn     sync.Mutex
}

func below(key, prefix string) bool {
	return key == prefix || strings.HasSuffix(prefix, ".") && strings.HasPrefix(key, prefix)
}

// meet does the late requests that have arrived, and returns the fate of a new one.
func (k *KV) meet(ctx context.Context, what string) (Fate, error) {
	if err := ctx.Err(); err != nil {
		return Fine, err
	}
	for _, l := range k.arrived() {
		l.do()
	}
	if k.Fate == nil {
		return Fine, nil
	}
	fate := k.Fate(what)
	if fate == Unasked {
		return fate, ErrNoAnswer
	}
	return fate, nil
}

// arrived removes and returns the late requests whose time has come.
func (k *KV) arrived() (list []late) {
	k.mu.Lock()
	defer k.mu.Unlock()
	var still []late
	for _, l := range k.late {
		if l.left--; l.left > 0 {
			still = append(still, l)
		} else {
			list = append(list, l)
		}
	}
	k.late = still
	return list
}

// moving reports whether a change of one of the keys is on its way.
func (k *KV) moving(ops []fleet.Op) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return slices.ContainsFunc(ops, func(op fleet.Op) bool {
		return slices.ContainsFunc(k.late, func(l late) bool { return slices.Contains(l.keys, op.Key) })
	})
}

// SetAhead sets how far the clock of the servers is ahead of ours.
func (k *KV) SetAhead(d time.Duration) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.ahead = d
}

// Get implements fleet.KV.
func (k *KV) Get(ctx context.Context, key string) (fleet.Cell, error) {
	fate, err := k.meet(ctx, "get")
	if err != nil || fate == Untold || fate == Late || fate == Slow {
		return fleet.Cell{}, noAnswer(err)
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.last[key], nil
}

// Peek implements fleet.KV. A server that is behind has each key as it was before its last change.
func (k *KV) Peek(ctx context.Context, keys ...string) (list []fleet.Cell, err error) {
	fate, err := k.meet(ctx, "peek")
	if err != nil || fate == Untold || fate == Late || fate == Slow {
		return nil, noAnswer(err)
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	from := k.last
	if fate == Stale {
		from = k.before
	}
	for _, key := range keys {
		if c, ok := from[key]; ok {
			list = append(list, c)
		}
	}
	return list, nil
}

// noAnswer returns err, or ErrNoAnswer when there is none.
func noAnswer(err error) error {
	if err == nil {
		return ErrNoAnswer
	}
	return err
}

// Prefix implements fleet.KV.
func (k *KV) Prefix(ctx context.Context, prefix string, after uint64, yield func(fleet.Cell) bool) (last uint64, err error) {
	fate, err := k.meet(ctx, "prefix")
	if err != nil || fate == Untold || fate == Late || fate == Slow {
		return 0, noAnswer(err)
	}
	list := k.below(prefix)
	for _, c := range list {
		last = c.Rev
	}
	for _, c := range list {
		if c.Rev > after && !yield(c) {
			break
		}
		if k.Break {
			k.Break = false
			return last, ErrNoAnswer
		}
		if err := ctx.Err(); err != nil { // the rest would not come
			return 0, err
		}
	}
	return last, nil
}

func (k *KV) below(prefix string) (list []fleet.Cell) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, c := range k.log {
		if below(c.Key, prefix) {
			list = append(list, c)
		}
	}
	return list
}

// Backward implements fleet.KV.
func (k *KV) Backward(ctx context.Context, prefix, within string, yield func(fleet.Cell) bool) (last uint64, err error) {
	fate, err := k.meet(ctx, "backward")
	if err != nil || fate == Untold || fate == Late || fate == Slow {
		return 0, noAnswer(err)
	}
	for _, c := range k.below(within) {
		last = c.Rev
	}
	for _, c := range slices.Backward(k.below(prefix)) {
		if c.Rev <= last && !yield(c) {
			break
		}
		if k.Break {
			k.Break = false
			return last, ErrNoAnswer
		}
		if err := ctx.Err(); err != nil { // the rest would not come
			return 0, err
		}
	}
	return last, nil
}

// Commit implements fleet.KV.
func (k *KV) Commit(ctx context.Context, ops []fleet.Op) error {
	fate, err := k.meet(ctx, "commit")
	if err != nil {
		return err
	}
	if k.moving(ops) {
		return fleet.ErrMoving
	}
	ops = slices.Clone(ops)
	if fate == Late || fate == Slow {
		l := late{do: func() { _ = k.commit(ops) }, left: 1}
		if fate == Slow {
			l.left = slowly
			for _, op := range ops {
				l.keys = append(l.keys, op.Key)
			}
		}
		k.mu.Lock()
		k.late = append(k.late, l)
		k.mu.Unlock()
		return ErrNoAnswer
	}
	err = k.commit(ops)
	switch fate {
	case Twice:
		err = k.commit(ops)
	case Untold:
		err = ErrNoAnswer
	}
	return err
}

func (k *KV) commit(ops []fleet.Op) error {
	k.mu.Lock()
	for _, op := range ops {
		if len(op.Data) > 1<<20 {
			k.mu.Unlock()
			return fleet.ErrTooLarge
		}
		if op.Cell.Rev != fleet.Any && k.last[op.Key].Rev != op.Cell.Rev {
			k.mu.Unlock()
			return fleet.ErrMoved
		}
	}
	var told []fleet.Cell
	for _, op := range ops {
		c := op.Cell
		k.rev++
		c.Rev, c.Data, c.At = k.rev, slices.Clone(c.Data), time.Now().Add(k.ahead)
		if was, ok := k.last[c.Key]; ok {
			k.before[c.Key] = was
		}
		if !op.Append {
			k.forget(func(o fleet.Cell) bool { return o.Key == c.Key })
		}
		k.log, k.last[c.Key] = append(k.log, c), c
		if op.TTL > 0 {
			time.AfterFunc(op.TTL, func() {
				k.mu.Lock()
				defer k.mu.Unlock()
				k.forget(func(o fleet.Cell) bool { return o.Rev == c.Rev })
			})
		}
		told = append(told, c)
	}
	var all []*watcher
	for w := range k.watchers {
		w.turn.Lock() // so that no later commit is told before this one
		all = append(all, w)
	}
	k.mu.Unlock()
	for _, w := range all {
		for _, c := range told {
			if slices.ContainsFunc(w.prefixes, func(p string) bool { return below(c.Key, p) }) {
				w.tell(c)
			}
		}
		w.turn.Unlock()
	}
	return nil
}

func (k *KV) forget(gone func(fleet.Cell) bool) {
	k.log = slices.DeleteFunc(k.log, func(c fleet.Cell) bool {
		if !gone(c) {
			return false
		}
		if k.last[c.Key].Rev == c.Rev {
			delete(k.last, c.Key)
		}
		return true
	})
}

// Watch implements fleet.KV.
func (k *KV) Watch(ctx context.Context, after uint64, tell func(fleet.Cell), prefixes ...string) error {
	if _, err := k.meet(ctx, "watch"); err != nil {
		return err
	}
	w := &watcher{prefixes: prefixes, tell: tell}
	k.mu.Lock()
	w.turn.Lock()
	k.watchers[w] = true
	log := slices.Clone(k.log)
	k.mu.Unlock()
	context.AfterFunc(ctx, func() {
		k.mu.Lock()
		defer k.mu.Unlock()
		delete(k.watchers, w)
	})
	for _, c := range log {
		if after != fleet.Now && c.Rev > after && slices.ContainsFunc(prefixes, func(p string) bool { return below(c.Key, p) }) {
			tell(c)
		}
	}
	w.turn.Unlock()
	return nil
}

// Purge implements fleet.KV.
func (k *KV) Purge(ctx context.Context, prefix string, to uint64) error {
	fate, err := k.meet(ctx, "purge")
	if err != nil {
		return err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	forget := func() {
		k.forget(func(c fleet.Cell) bool { return below(c.Key, prefix) && (to == 0 || c.Rev <= to) })
	}
	switch fate {
	case Late, Slow:
		k.late = append(k.late, late{left: 1, do: func() {
			k.mu.Lock()
			defer k.mu.Unlock()
			forget()
		}})
		return ErrNoAnswer
	case Untold:
		forget()
		return ErrNoAnswer
	}
	forget()
	return nil
}

// Keep implements fleet.KV.
func (k *KV) Keep(ctx context.Context, key string, text []byte) error {
	if _, err := k.meet(ctx, "keep"); err != nil {
		return err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.kept[key] = slices.Clone(text)
	return nil
}

// Kept implements fleet.KV.
func (k *KV) Kept(ctx context.Context, key string) ([]byte, error) {
	if _, err := k.meet(ctx, "kept"); err != nil {
		return nil, err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	return slices.Clone(k.kept[key]), nil
}

// Number implements fleet.KV.
func (k *KV) Number(ctx context.Context, n int) (uint64, error) {
	fate, err := k.meet(ctx, "number")
	if err != nil {
		return 0, err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.numbers += uint64(n)
	if fate == Untold || fate == Late || fate == Slow {
		return 0, ErrNoAnswer
	}
	return k.numbers - uint64(n), nil
}
