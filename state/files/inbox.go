package files

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/state/codec"
)

// takeMost is the most items of one transaction that takes or acknowledges.
const takeMost = 256

// Inbox reads the names, and then the items that it returns. If a writer died after its line was in
// the ledger, the item appears after the next change.
func (s *Store) Inbox(ctx context.Context, q state.Query) (items []state.Item, more int, problems []state.Problem, err error) {
	if err := state.CheckCursor(q.Since); err != nil {
		return nil, 0, nil, err
	}
	var names []itemName
	if err := s.share(ctx, func() (err error) { names, err = s.itemNames(q); return err }); err != nil {
		return nil, 0, nil, err
	}
	for i, n := range names {
		if q.Limit > 0 && len(items) == q.Limit {
			return items, len(names) - i, problems, nil
		}
		if err := ctx.Err(); err != nil {
			return nil, 0, nil, err
		}
		item, err := s.readItem(n)
		switch {
		case missing(err): // acknowledged since; or taken, and then it has another name
			if n, found := s.itemAgain(n); found {
				if item, err = s.readItem(n); err == nil {
					items = append(items, item)
				}
			}
		case err != nil:
			problems = append(problems, s.mailProblem(n.place(), err))
		default:
			items = append(items, item)
		}
	}
	return items, 0, problems, nil
}

// itemNames returns the names of the items that the query selects, oldest first. The caller holds
// the state lock, shared or exclusive.
func (s *Store) itemNames(q state.Query) (list []itemName, err error) {
	files, err := readNames(s.path(inboxDir))
	for _, f := range files {
		if n, ok := parseItem(f); ok && q.Wants(n.item(), n.id) {
			list = append(list, n)
		}
	}
	slices.SortFunc(list, func(a, b itemName) int {
		return cmp.Or(strings.Compare(a.at, b.at), strings.Compare(a.id, b.id), a.number-b.number, strings.Compare(a.channel, b.channel))
	})
	return list, err
}

// itemAgain finds an item whose name has changed because somebody has taken it.
func (s *Store) itemAgain(n itemName) (itemName, bool) {
	list, err := s.itemNames(state.Query{Tasks: []string{n.item().ID}})
	i := slices.IndexFunc(list, func(o itemName) bool { return o.at == n.at })
	if err != nil || i < 0 {
		return n, false
	}
	return list[i], true
}

// readItem reads an item.
func (s *Store) readItem(n itemName) (i state.Item, err error) {
	data, err := readFile(s.path(n.place()), mailLimit)
	if err != nil {
		return i, err
	}
	i = n.item()
	if err := json.Unmarshal(data, &i.Line); err != nil {
		return i, fmt.Errorf("%w: %w", codec.ErrBroken, err)
	}
	if l := i.Line; !l.HasMail() || l.Inbox == "" || state.ItemID(l) != i.ID {
		return i, fmt.Errorf("%w: its name says item %s, and it is another line", codec.ErrBroken, i.ID)
	}
	return i, nil
}

// mailProblem is the problem of an item or a notice that could not be read.
func (s *Store) mailProblem(place string, err error) state.Problem {
	p := state.Problem{Path: s.path(place), Err: err, Hint: adviceOn(err, "the others are not affected")}
	if garbled(err) {
		p.Hint = "ouro-timer doctor --fix makes it anew of the ledger"
	}
	return p
}

// Take renames the files of the items, and then reads them. It also leases an item that cannot be
// read, so that it hides no other.
func (s *Store) Take(ctx context.Context, q state.Query, now, until time.Time) (items []state.Item, more int, problems []state.Problem, err error) {
	if err := cmp.Or(state.CheckCursor(q.Since), state.CheckDue(until)); err != nil {
		return nil, 0, nil, err
	}
	q.Free, q.Now = true, now
	var names []itemName
	if err := s.share(ctx, func() (err error) { names, err = s.itemNames(q); return err }); err != nil || len(names) == 0 {
		return nil, 0, nil, err // finding nothing should change nothing and delay nobody
	}
	for limit := q.Limit; ; {
		most := takeMost
		if limit > 0 {
			most = min(most, limit-len(items))
		}
		if names, more, err = s.lease(ctx, q, most, stampOf(until)); err != nil {
			return items, 0, problems, err
		}
		for _, n := range names {
			item, err := s.readItem(n)
			switch {
			case missing(err): // acknowledged since
			case err != nil:
				problems = append(problems, s.mailProblem(n.place(), err))
			default:
				items = append(items, item)
			}
		}
		if more == 0 || len(names) == 0 || limit > 0 && len(items) >= limit || !until.After(now) {
			return items, more, problems, nil
		}
	}
}

// lease is one transaction of Take. It returns the new names of the items.
func (s *Store) lease(ctx context.Context, q state.Query, most int, until string) (names []itemName, more int, err error) {
	err = s.transact(ctx, func(t *tx) error {
		all, err := t.itemNames(q)
		for _, n := range all[:min(most, len(all))] {
			to := n
			to.lease = until
			t.move(n.place(), to.place(), nil)
			names = append(names, to)
		}
		more = max(len(all)-most, 0)
		return err
	})
	return names, more, err
}

// Ack removes the files of the items.
func (s *Store) Ack(ctx context.Context, ids []string) []error {
	all := make([]error, 0, len(ids))
	for some := range slices.Chunk(ids, takeMost) {
		all = append(all, s.ackSome(ctx, some)...)
	}
	return all
}

// ackSome is one transaction of Ack.
func (s *Store) ackSome(ctx context.Context, ids []string) []error {
	answers := make([]error, len(ids))
	files, err := readNames(s.path(inboxDir))
	if err == nil && len(files) == 0 && ctx.Err() == nil { // finding nothing should make nothing
		err = cmp.Or(s.guard(), state.ErrNotFound)
	} else {
		err = s.transact(ctx, func(t *tx) error {
			names, err := t.itemNames(state.Query{Tasks: ids})
			places := map[string][]string{}
			for _, n := range names {
				id := n.item().ID
				places[id] = append(places[id], n.place())
			}
			for i, id := range ids {
				if len(places[id]) == 0 && err == nil {
					answers[i] = state.ErrNotFound
				}
				for _, place := range places[id] {
					t.drop(place)
				}
				delete(places, id)
			}
			return err
		})
	}
	for i := range answers {
		answers[i] = cmp.Or(answers[i], err)
	}
	return answers
}
