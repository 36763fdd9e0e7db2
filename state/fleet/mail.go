package fleet

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/state/codec"
)

// itemKey returns the key of the item with an ID of the user, or "" when the ID is not valid.
func itemKey(id string) string {
	task, rest, _ := strings.Cut(id, "/")
	if !state.WholeID(task) || rest == "" || strings.ContainsAny(rest, ".*> \t\r\n") {
		return ""
	}
	return items + task + "." + strings.ReplaceAll(rest, "/", ".")
}

// inboxItems returns the items of the inbox, oldest first, and their leases by their keys.
func (s *Store) inboxItems(ctx context.Context) (list []state.Item, taken map[string]Cell, problems []state.Problem, err error) {
	taken = map[string]Cell{}
	held, _, err := s.all(ctx, leases)
	if err != nil {
		return nil, nil, nil, err
	}
	for _, c := range held {
		taken[c.Key] = c
	}
	cells, _, err := s.all(ctx, items)
	for _, c := range cells {
		i := state.Item{Cursor: state.NumberCursor(c.Rev)}
		err := decode(c, &i.Line)
		i.ID = state.ItemID(i.Line)
		if err == nil && itemKey(i.ID) != c.Key {
			err = fmt.Errorf("%w: %s %w: it is of item %q", state.ErrUnusable, c.Key, codec.ErrBroken, i.ID)
		}
		if err != nil {
			problems = append(problems, problem(c.Key, err))
			continue
		}
		if lease, ok := taken[leaseKey(c.Key)]; ok && decode(lease, &i.Leased) != nil {
			i.Leased = time.Time{} // a lease that cannot be read holds nobody up
		}
		list = append(list, i)
	}
	return list, taken, problems, err
}

// leaseKey returns the key of the lease of an item.
func leaseKey(item string) string { return leases + strings.TrimPrefix(item, items) }

// Inbox returns the items that match the query.
func (s *Store) Inbox(ctx context.Context, q state.Query) (list []state.Item, more int, problems []state.Problem, err error) {
	if err := state.CheckCursor(q.Since); err != nil {
		return nil, 0, nil, err
	}
	all, _, problems, err := s.inboxItems(ctx)
	picked, more := q.Pick(all)
	for _, i := range picked {
		list = append(list, all[i])
	}
	return list, more, problems, err
}

// Take leases items, many in one commit.
func (s *Store) Take(ctx context.Context, q state.Query, now, until time.Time) (list []state.Item, more int, problems []state.Problem, err error) {
	if err := errors.Join(state.CheckDue(until), state.CheckCursor(q.Since)); err != nil {
		return nil, 0, nil, err
	}
	q.Free, q.Now = true, now
	for limit := q.Limit; ; {
		if q.Limit = commitMost; limit > 0 {
			q.Limit = min(commitMost, limit-len(list))
		}
		var some []state.Item
		some, more, problems, err = s.lease(ctx, q, until)
		list = append(list, some...)
		if err != nil || more == 0 || len(list) == limit || !until.After(now) {
			return list, more, problems, err
		}
	}
}

// lease is one commit of Take. When two callers take the same items at once, only one commits, and
// the other looks again.
func (s *Store) lease(ctx context.Context, q state.Query, until time.Time) (list []state.Item, more int, problems []state.Problem, err error) {
	for {
		all, taken, problems, err := s.inboxItems(ctx)
		if err != nil {
			return nil, 0, nil, err
		}
		var ops []Op
		list = nil
		picked, more := q.Pick(all)
		for _, i := range picked {
			item := all[i]
			item.Leased = state.UTC(until)
			data, _ := json.Marshal(item.Leased)
			key := leaseKey(itemKey(item.ID))
			lease := taken[key]
			lease.Key = key
			ops = append(ops, lease.with(data))
			list = append(list, item)
		}
		if len(ops) == 0 {
			return nil, more, problems, nil
		}
		switch _, err := s.commit(ctx, ops); {
		case err == nil:
			return list, more, problems, nil
		case !errors.Is(err, ErrMoved):
			return nil, 0, nil, err
		}
		pause(ctx, turn())
	}
}

// commitMost is how many operations our commits have at most; servers take 1000.
const commitMost = 400

// Ack ends items.
func (s *Store) Ack(ctx context.Context, ids []string) []error {
	answers := make([]error, len(ids))
	for i, id := range ids {
		answers[i] = s.drop(ctx, itemKey(id))
	}
	return answers
}

// drop ends an item and its lease.
func (s *Store) drop(ctx context.Context, key string) error {
	for key != "" {
		c, err := s.get(ctx, key)
		if err != nil {
			return err
		}
		if len(c.Data) == 0 {
			break
		}
		lease := Op{Cell: Cell{Key: leaseKey(key), Rev: Any}}
		if _, err := s.commit(ctx, []Op{c.with(nil), lease}); !errors.Is(err, ErrMoved) {
			return err
		}
	}
	return state.ErrNotFound
}

// notice is a notice as it is kept. The runner of the node delivers it.
type notice struct {
	Line     state.Line `json:"line"`
	Channel  string     `json:"channel"`
	Due      time.Time  `json:"due"`
	Attempts int        `json:"attempts,omitempty"`
	Last     string     `json:"last,omitempty"`
	Node     string     `json:"node,omitempty"`
}

// Outbox returns the notices that are due and that the runner of this node delivers.
func (s *Store) Outbox(ctx context.Context, by time.Time, limit int, except ...string) (due []state.Notice, next time.Time, problems []state.Problem, err error) {
	if err := ctx.Err(); err != nil {
		return nil, next, nil, err
	}
	cells, _, err := s.all(ctx, notices)
	if err != nil || len(cells) == 0 {
		return nil, next, nil, err
	}
	mine, err := s.delivers(ctx)
	if err != nil {
		return nil, next, nil, err
	}
	var all []state.Notice
	for _, c := range cells {
		var n notice
		if err := decode(c, &n); err != nil {
			problems = append(problems, problem(c.Key, err))
			continue
		}
		if !slices.Contains(except, n.Channel) && mine(n.Node) {
			all = append(all, state.Notice{Line: n.Line, Channel: n.Channel, Attempts: n.Attempts, Due: n.Due, Last: n.Last, Place: c.Key + " " + strconv.FormatUint(c.Rev, 10)})
		}
	}
	slices.SortFunc(all, state.CompareNotices)
	for _, n := range all {
		if n.Due.After(by) || limit > 0 && len(due) == limit {
			return due, n.Due, problems, nil
		}
		due = append(due, n)
	}
	return due, next, problems, nil
}

// notice replaces a notice, as Outbox returned it, together with further changes.
func (s *Store) notice(ctx context.Context, n state.Notice, write func(t *tx, key string, kept notice)) error {
	key, at, _ := strings.Cut(n.Place, " ")
	rev, _ := strconv.ParseUint(at, 10, 64)
	t := s.newTx(ctx)
	c, err := t.read(key)
	if err != nil {
		return err
	}
	var kept notice
	if c.Rev != rev || len(c.Data) == 0 {
		return state.ErrNotFound
	}
	if err := decode(c.Cell, &kept); err != nil {
		return err
	}
	write(t, key, kept)
	if err = t.broken; err == nil {
		_, err = s.commitAll(ctx, t)
	}
	if errors.Is(err, ErrMoved) {
		err = state.ErrNotFound
	}
	return err
}

// Postpone keeps a notice for later.
func (s *Store) Postpone(ctx context.Context, n state.Notice) error {
	if err := state.CheckDue(n.Due); err != nil {
		return err
	}
	return s.notice(ctx, n, func(t *tx, key string, kept notice) {
		kept.Due, kept.Attempts, kept.Last = state.UTC(n.Due), n.Attempts, n.Last
		t.writeJSON(key, kept)
	})
}

// Told ends a notice with a line.
func (s *Store) Told(ctx context.Context, n state.Notice, line state.Line) error {
	return s.notice(ctx, n, func(t *tx, key string, kept notice) {
		t.write(key, nil)
		t.line(state.Notice{Line: kept.Line, Channel: kept.Channel}.Of(line))
	})
}

// WatchMail signals changes of the inbox and the outbox.
func (s *Store) WatchMail(ctx context.Context) (<-chan struct{}, error) {
	return s.watch(ctx, 0, items, notices, leases)
}
