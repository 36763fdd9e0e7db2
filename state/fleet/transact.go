package fleet

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
)

// transact calls do for each of n changes, and commits many of them at once. do keeps its result;
// transact calls fail for a change that has none. ids, if it is not nil, names the task of a
// change. Such a task may be read from a server that is behind: a change of an outdated task fails
// at the commit. A refusal needs the present state, so transact then reads everything again from
// the deciding server. When the servers refuse a commit, its changes are tried one by one.
func (s *Store) transact(ctx context.Context, n int, ids func(i int) string, do doChange, fail func(i int, err error)) {
	peekIDs := ids
	var seen Cell
	tried := map[string][]state.Record{}
	for begin, most := 0, changesMost; begin < n; {
		t := s.newTx(ctx)
		t.tried = tried
		if seen.Key != "" {
			t.cells[seen.Key] = &cell{Cell: seen}
		}
		end, err := t.try(begin, min(n, begin+most), peekIDs, do, fail)
		moved := errors.Is(err, ErrMoved)
		if errors.Is(err, errUnsure) {
			for id, claims := range t.changed {
				tried[id] = append(tried[id], claims...)
			}
		}
		switch {
		case len(t.peeked) > 0 && (moved || t.refused):
			peekIDs, seen = nil, t.seen
			continue
		case moved || errors.Is(err, state.ErrInvalid) && end-begin > 1:
			if most == 1 {
				pause(ctx, turn())
			}
			most, seen = 1, Cell{}
			continue
		case err != nil:
			end = max(end, begin+1)
			for i := begin; i < end; i++ {
				fail(i, err)
			}
		}
		begin, most, peekIDs, seen = end, changesMost, ids, Cell{}
	}
}

// hasGranted reports whether an earlier attempt has opened a claim of a task, and returns the state
// of that task.
func (t *tx) hasGranted(id string) (state.Doc, bool) {
	if len(t.tried[id]) == 0 {
		return state.Doc{}, false
	}
	d, err := t.load(id)
	return d, err == nil && slices.ContainsFunc(d.Open, func(has state.Record) bool {
		return slices.ContainsFunc(t.tried[id], func(r state.Record) bool { return r.Grant == has.Grant })
	})
}

// doChange makes one of several changes in a transaction.
type doChange func(t *tx, i int) error

// try makes the changes from begin to end in one commit, or fewer when that becomes large, and
// returns where it has stopped. With an error nothing was written. The tasks that peekIDs names may
// be read from a server that is behind.
func (t *tx) try(begin, end int, peekIDs func(i int) string, do doChange, fail func(i int, err error)) (int, error) {
	var err error
	if t.limits, err = t.o.Limits(); err != nil {
		return begin, err
	}
	if peekIDs != nil {
		t.peek(begin, end, peekIDs)
	}
	t.want = end - begin
	at := begin
	for size := 0; at < end && size < bytesMost; at++ {
		if err := t.ctx.Err(); err != nil {
			return at, err
		}
		before := len(t.after)
		refused := do(t, at)
		if t.broken != nil {
			return at + 1, t.broken
		}
		if refused != nil {
			fail(at, refused)
			t.refused = true
		}
		for _, op := range t.after[before:] {
			size += len(op.Data)
		}
	}
	if len(t.peeked) > 0 && t.refused {
		return at, nil
	}
	t.seen, err = t.commitAll(t.ctx, t)
	return at, err
}

// peek reads the tasks of changes from any server, even one that is behind. What it does not get is
// read later.
func (t *tx) peek(begin, end int, ids func(i int) string) {
	var keys []string
	for i := begin; i < end; i++ {
		if id := ids(i); state.WholeID(id) {
			keys = append(keys, living+idKey(id))
		}
	}
	limited, cancel := context.WithTimeout(t.ctx, peekLimit)
	defer cancel()
	list, err := t.kv.Peek(limited, keys...)
	if err != nil {
		return
	}
	t.peeked = make(map[string]peeked, len(list))
	var docs []state.Doc
	for _, c := range list {
		var r record
		if len(c.Data) == 0 || decode(c, &r) != nil {
			continue
		}
		d := r.doc(idOf(c.Key))
		t.peeked[d.Task.ID] = peeked{c, d}
		docs = append(docs, d)
	}
	t.fetchTexts(t.ctx, docs)
}

// peekLimit is how long a server that may be behind is asked. After that, the deciding one is.
const peekLimit = time.Second / 2

// turn returns a moment of random length, so that callers that change the same key take turns.
func turn() time.Duration { return rand.N(2 * time.Millisecond) }

// commitAll commits a transaction. Operations that expect a revision come first, as commit
// requires.
func (s *Store) commitAll(ctx context.Context, t *tx) (seen Cell, err error) {
	var ops, others []Op
	for _, key := range t.order {
		if op := (Op{Cell: t.cells[key].Cell}); op.Rev == Any {
			others = append(others, op)
		} else {
			ops = append(ops, op)
		}
	}
	if ops = slices.Concat(ops, others, t.after); len(ops) == 0 {
		return Cell{}, nil
	}
	return s.commit(ctx, ops)
}

// AddAll adds many tasks.
func (s *Store) AddAll(ctx context.Context, drafts []state.Draft) []state.Added {
	answers := make([]state.Added, len(drafts))
	s.transact(ctx, len(drafts), nil, func(t *tx, i int) (err error) {
		answers[i] = state.Added{}
		draft := drafts[i]
		// without a node it runs where it was scheduled
		if len(draft.Task.On) == 0 && s.o.Node.Name != "" {
			draft.Task.On = []string{s.o.Node.Name}
		}
		answers[i].Entry, err = state.AddIn(t, draft)
		return err
	}, func(i int, err error) { answers[i].Err = err })
	return answers
}

// Apply applies rules to tasks.
func (s *Store) Apply(ctx context.Context, changes ...state.Change) []state.Applied {
	answers := make([]state.Applied, len(changes))
	ids := func(i int) string { return changes[i].ID }
	s.transact(ctx, len(changes), ids, func(t *tx, i int) (err error) {
		answers[i] = state.Applied{}
		c := changes[i]
		for _, r := range []*state.Record{c.Claim, c.Undone} {
			if r != nil {
				c.Rule = ifHeld(*r, c.Rule)
			}
		}
		if d, is := t.hasGranted(c.ID); is {
			answers[i].Doc = d
			return nil
		}
		answers[i].Doc, err = state.ApplyIn(t, c)
		if _, was := t.tried[c.ID]; was && c.Undone != nil && errors.Is(err, state.ErrEnded) {
			err = nil // an earlier attempt gave the claim back
		}
		return err
	}, func(i int, err error) { answers[i].Err = err })
	return answers
}

// Holder returns the live task that has a key.
func (s *Store) Holder(ctx context.Context, key string) (state.Entry, error) {
	return state.HolderIn(s.newTx(ctx), key)
}

// Charge counts a creation by an origin.
func (s *Store) Charge(ctx context.Context, origin string, now time.Time) (err error) {
	s.transact(ctx, 1, nil, func(t *tx, _ int) error { return t.Charge(origin, now) }, func(_ int, e error) { err = e })
	return err
}

// Dry returns a handle whose changes are not committed.
func (s *Store) Dry() state.TaskWriter {
	return state.Dry(func(ctx context.Context, planned state.Planned, f func(state.Transaction) error) error {
		t := s.newTx(ctx)
		t.isDry = true
		var err error
		if t.limits, err = s.o.Limits(); err != nil {
			return err
		}
		t.limits.Planned = planned
		if err = f(t); err == nil {
			err = t.broken
		}
		return err
	})
}
