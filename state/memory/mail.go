package memory

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
)

// post makes the item and the notices of a line.
func (s *Store) post(l state.Line) {
	if !l.HasMail() {
		return
	}
	if l.Inbox != "" {
		at := l.At
		if !at.After(s.newest) {
			at = s.newest.Add(1)
		}
		s.newest = at
		s.inbox = append(s.inbox, state.Item{ID: state.ItemID(l), Cursor: at.UTC().Format(state.CursorForm), Line: l.Clone()})
	}
	for _, c := range l.Channels() {
		s.posted++
		s.outbox = append(s.outbox, &notice{state.Notice{Line: l.Clone(), Channel: c, Due: state.UTC(l.At)}, s.posted})
	}
	s.tellMail()
}

// notice is a notice with a number, which it has since it was last written.
type notice struct {
	state.Notice
	version int
}

// tellMail puts a signal into the channel of everyone who watches the inbox and the outbox.
func (s *Store) tellMail() { signal(s.mailWatchers) }

// Inbox returns the items asked for.
func (s *Store) Inbox(ctx context.Context, q state.Query) ([]state.Item, int, []state.Problem, error) {
	return s.items(ctx, q, func(*state.Item) {})
}

// Take leases items.
func (s *Store) Take(ctx context.Context, q state.Query, now, until time.Time) ([]state.Item, int, []state.Problem, error) {
	if err := state.CheckDue(until); err != nil {
		return nil, 0, nil, err
	}
	q.Free, q.Now = true, now
	return s.items(ctx, q, func(i *state.Item) { i.Leased = state.UTC(until) })
}

// items returns the items asked for, after each was handed to do.
func (s *Store) items(ctx context.Context, q state.Query, do func(*state.Item)) (list []state.Item, more int, problems []state.Problem, err error) {
	if err := state.CheckCursor(q.Since); err != nil {
		return nil, 0, nil, err
	}
	unlock, err := s.lock(ctx)
	if err != nil {
		return nil, 0, nil, err
	}
	defer unlock()
	for k := range s.inbox {
		i := &s.inbox[k]
		if !q.Wants(*i, i.Line.TaskID) {
			continue
		}
		if q.Limit > 0 && len(list) == q.Limit {
			more++
			continue
		}
		was := i.Leased
		do(i)
		if !i.Leased.Equal(was) {
			s.tellMail()
		}
		item := *i
		item.Line = i.Line.Clone()
		list = append(list, item)
	}
	return list, more, nil, nil
}

// Ack ends items.
func (s *Store) Ack(ctx context.Context, ids []string) []error {
	all := make([]error, len(ids))
	unlock, err := s.lock(ctx)
	if err != nil {
		for i := range all {
			all[i] = err
		}
		return all
	}
	defer unlock()
	for i, id := range ids {
		n := len(s.inbox)
		if s.inbox = slices.DeleteFunc(s.inbox, func(i state.Item) bool { return i.ID == id }); len(s.inbox) == n {
			all[i] = state.ErrNotFound
		}
	}
	return all
}

// Dropped says how many items were forgotten.
func (s *Store) Dropped(ctx context.Context) (state.Dropped, error) {
	unlock, err := s.lock(ctx)
	if err != nil {
		return state.Dropped{}, err
	}
	defer unlock()
	return s.dropped, nil
}

// Outbox returns the notices that are due.
func (s *Store) Outbox(ctx context.Context, by time.Time, limit int, except ...string) (due []state.Notice, next time.Time, problems []state.Problem, err error) {
	unlock, err := s.lock(ctx)
	if err != nil {
		return nil, time.Time{}, nil, err
	}
	defer unlock()
	slices.SortFunc(s.outbox, func(a, b *notice) int {
		return cmp.Or(a.Due.Compare(b.Due), strings.Compare(a.Line.TaskID, b.Line.TaskID), a.Line.Number-b.Line.Number, strings.Compare(a.Channel, b.Channel))
	})
	for _, n := range s.outbox {
		if slices.Contains(except, n.Channel) {
			continue
		}
		if n.Due.After(by) || limit > 0 && len(due) == limit {
			return due, n.Due, nil, nil
		}
		v := n.Notice
		v.Line, v.Place = n.Line.Clone(), placeOf(n.version)
		due = append(due, v)
	}
	return due, time.Time{}, nil, nil
}

// placeOf names a notice as it was last written.
func placeOf(version int) string { return strconv.Itoa(version) }

// noticeAt is where the notice is that Outbox returned; -1 when it is no longer there.
func (s *Store) noticeAt(n state.Notice) int {
	return slices.IndexFunc(s.outbox, func(o *notice) bool { return placeOf(o.version) == n.Place })
}

// Postpone keeps a notice for later.
func (s *Store) Postpone(ctx context.Context, n state.Notice) error {
	if err := state.CheckDue(n.Due); err != nil {
		return err
	}
	unlock, err := s.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	i := s.noticeAt(n)
	if i < 0 {
		return state.ErrNotFound
	}
	s.posted++
	o := s.outbox[i]
	o.Due, o.Attempts, o.Last, o.version = state.UTC(n.Due), n.Attempts, n.Last, s.posted
	s.tellMail()
	return nil
}

// Told ends a notice with a line.
func (s *Store) Told(ctx context.Context, n state.Notice, line state.Line) error {
	unlock, err := s.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	i := s.noticeAt(n)
	if i < 0 {
		return state.ErrNotFound
	}
	line = s.outbox[i].Of(line)
	if line.At.IsZero() {
		line.At = time.Now()
	}
	s.outbox = slices.Delete(s.outbox, i, i+1)
	s.write(line)
	return nil
}

// WatchMail tells of the inbox and the outbox.
func (s *Store) WatchMail(ctx context.Context) (<-chan struct{}, error) {
	return s.watch(ctx, &s.mailWatchers)
}

// pruneInbox forgets items beyond the newest, and those that came before the instant of tasks that are no more; the zero instant
// is before all.
func (s *Store) pruneInbox(keep state.Keep, before time.Time) (dropped int) {
	of := map[string]int{}
	for _, i := range s.inbox {
		of[i.Line.TaskID]++
	}
	left := len(s.inbox)
	s.inbox = slices.DeleteFunc(s.inbox, func(i state.Item) bool {
		id := i.Line.TaskID
		_, there := s.tasks[id]
		drop := keep.Items > 0 && of[id] > keep.Items || keep.Inbox > 0 && left > keep.Inbox || !there && i.Cursor < before.UTC().Format(state.CursorForm)
		if drop {
			of[id]--
			left--
			dropped++
		}
		return drop
	})
	return dropped
}
