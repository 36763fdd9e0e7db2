package memory

import (
	"context"
	"slices"
	"strconv"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
)

// post puts a line into the inbox and the outbox, as the line says.
func (s *Store) post(l state.Line) {
	if !l.HasMail() {
		return
	}
	if l.Inbox != "" {
		s.newest = state.NextCursor(s.newest, l.At)
		s.inbox = append(s.inbox, state.Item{ID: state.ItemID(l), Cursor: s.newest, Line: l.Clone()})
	}
	for _, c := range l.Channels() {
		s.outbox = append(s.outbox, state.Notice{Line: l.Clone(), Channel: c, Due: state.UTC(l.At), Place: s.place()})
	}
	s.mailWatchers.send()
}

// place returns a new name for a version of a notice.
func (s *Store) place() string {
	s.posted++
	return strconv.Itoa(s.posted)
}

// Inbox returns the items that q selects.
func (s *Store) Inbox(ctx context.Context, q state.Query) ([]state.Item, int, []state.Problem, error) {
	return s.items(ctx, q, func(*state.Item) {})
}

// Take returns free items that q selects, and leases them until an instant.
func (s *Store) Take(ctx context.Context, q state.Query, now, until time.Time) ([]state.Item, int, []state.Problem, error) {
	if err := state.CheckDue(until); err != nil {
		return nil, 0, nil, err
	}
	q.Free, q.Now = true, now
	return s.items(ctx, q, func(i *state.Item) {
		i.Leased = state.UTC(until)
		s.mailWatchers.send()
	})
}

// items calls use for each item that q selects, and returns them.
func (s *Store) items(ctx context.Context, q state.Query, use func(*state.Item)) (list []state.Item, more int, _ []state.Problem, err error) {
	if err := state.CheckCursor(q.Since); err != nil {
		return nil, 0, nil, err
	}
	err = s.do(ctx, func() {
		var picked []int
		picked, more = q.Pick(s.inbox)
		for _, i := range picked {
			use(&s.inbox[i])
			item := s.inbox[i]
			item.Line = item.Line.Clone()
			list = append(list, item)
		}
	})
	return list, more, nil, err
}

// Ack removes items. It returns an error for each ID.
func (s *Store) Ack(ctx context.Context, ids []string) []error {
	errs := make([]error, len(ids))
	for i, id := range ids {
		found := false
		err := s.do(ctx, func() {
			n := len(s.inbox)
			s.inbox = slices.DeleteFunc(s.inbox, func(i state.Item) bool { return i.ID == id })
			found = len(s.inbox) < n
		})
		if errs[i] = err; err == nil && !found {
			errs[i] = state.ErrNotFound
		}
	}
	return errs
}

// Dropped returns how many items Prune has removed.
func (s *Store) Dropped(ctx context.Context) (d state.Dropped, err error) {
	err = s.do(ctx, func() { d = s.dropped })
	return d, err
}

// Outbox returns the notices that are due, and when the next one is.
func (s *Store) Outbox(ctx context.Context, by time.Time, limit int, except ...string) (due []state.Notice, next time.Time, _ []state.Problem, err error) {
	err = s.do(ctx, func() {
		slices.SortFunc(s.outbox, state.CompareNotices)
		for _, n := range s.outbox {
			if slices.Contains(except, n.Channel) {
				continue
			}
			if n.Due.After(by) || limit > 0 && len(due) == limit {
				next = n.Due
				return
			}
			n.Line = n.Line.Clone()
			due = append(due, n)
		}
	})
	return due, next, nil, err
}

// notice calls use with the index of a notice. It returns ErrNotFound if the notice has changed
// since Outbox returned it.
func (s *Store) notice(ctx context.Context, n state.Notice, use func(i int)) error {
	found := false
	err := s.do(ctx, func() {
		i := slices.IndexFunc(s.outbox, func(o state.Notice) bool { return o.Place == n.Place })
		if found = i >= 0; found {
			use(i)
		}
	})
	if err == nil && !found {
		err = state.ErrNotFound
	}
	return err
}

// Postpone gives a notice the instant, the attempts and the last error of n.
func (s *Store) Postpone(ctx context.Context, n state.Notice) error {
	if err := state.CheckDue(n.Due); err != nil {
		return err
	}
	return s.notice(ctx, n, func(i int) {
		o := &s.outbox[i]
		o.Due, o.Attempts, o.Last, o.Place = state.UTC(n.Due), n.Attempts, n.Last, s.place()
		s.mailWatchers.send()
	})
}

// Told removes a notice and writes a line about it.
func (s *Store) Told(ctx context.Context, n state.Notice, line state.Line) error {
	return s.notice(ctx, n, func(i int) {
		line = s.outbox[i].Of(line)
		s.outbox = slices.Delete(s.outbox, i, i+1)
		s.write(line)
	})
}

// WatchMail tells of the inbox and the outbox.
func (s *Store) WatchMail(ctx context.Context) (<-chan struct{}, error) {
	return s.watch(ctx, s.mailWatchers)
}
