package tasks

import (
	"context"
	"slices"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/timer/clock"
)

// Mail says which items of the inbox are read, and whether they are taken.
type Mail struct {
	Query state.Query
	Take  time.Duration // for how long they are leased; 0 takes nothing
}

// Found is the result of reading the inbox.
type Found struct {
	Items    []state.Item
	More     int
	Problems []state.Problem
	Now      time.Time
	Until    time.Time // the end of the lease; zero when nothing was taken
}

// Look reads the inbox once, and takes what it finds if Take is set.
func (m Mail) Look(ctx context.Context, st state.Mail, c clock.Clock) (f Found, err error) {
	f.Now = c.Now()
	if m.Take > 0 {
		f.Until = f.Now.Add(m.Take)
		f.Items, f.More, f.Problems, err = st.Take(ctx, m.Query, f.Now, f.Until)
		inOrder(f.Items)
		return f, err
	}
	q := m.Query
	q.Now = f.Now
	f.Items, f.More, f.Problems, err = st.Inbox(ctx, q)
	inOrder(f.Items)
	return f, err
}

// inOrder sorts items that arrived in succession and were due at the same instant in the order in
// which their tasks were made. Which of them ended first means nothing.
func inOrder(items []state.Item) {
	for from, to := 0, 0; from < len(items); from = to {
		to = from + 1
		due := items[from].Line.Due
		for to < len(items) && due != nil && items[to].Line.Due != nil && items[to].Line.Due.Equal(*due) {
			to++
		}
		slices.SortStableFunc(items[from:to], func(a, b state.Item) int { return state.CompareIDs(a.Line.TaskID, b.Line.TaskID) })
	}
}

// Await reads again whenever something has arrived or a lease has ended, until there is something
// or ctx ends. It starts to watch before it reads, so that it misses nothing.
func (m Mail) Await(ctx context.Context, st state.Mail, c clock.Clock) (Found, error) {
	watching, stop := context.WithCancel(ctx)
	defer stop()
	changed, err := st.WatchMail(watching)
	if err != nil {
		return Found{}, err
	}
	for {
		free, err := m.nextFree(ctx, st)
		if err != nil {
			return Found{}, err
		}
		if f, err := m.Look(ctx, st, c); err != nil || len(f.Items) > 0 {
			return f, err
		}
		nap, wake := context.WithCancel(ctx)
		expired := make(chan struct{})
		if !free.IsZero() {
			go func() {
				if c.Until(nap, free) == nil {
					close(expired)
				}
			}()
		}
		select {
		case <-ctx.Done():
		case <-changed:
		case <-expired:
		}
		wake()
		if ctx.Err() != nil {
			return Found{}, ctx.Err()
		}
	}
}

// nextFree returns when the first lease of a matching item ends, or zero.
func (m Mail) nextFree(ctx context.Context, st state.Mail) (first time.Time, err error) {
	if !m.Query.Free {
		return first, nil
	}
	q := m.Query
	q.Free, q.Limit = false, 0
	items, _, _, err := st.Inbox(ctx, q)
	for _, i := range items {
		if !i.Leased.IsZero() && (first.IsZero() || i.Leased.Before(first)) {
			first = i.Leased
		}
	}
	return first, err
}

// maxGiveBack is how many items are given back at once: a Take with a lease that ends in the past
// takes no more.
const maxGiveBack = 256

// GiveBack ends the leases of what was taken.
func (f Found) GiveBack(ctx context.Context, st state.Mail) error {
	ids := make([]string, len(f.Items))
	for i, item := range f.Items {
		ids[i] = item.ID
	}
	for some := range slices.Chunk(ids, maxGiveBack) {
		// Seen from the end of our leases the items are free, and a lease that ends at this moment
		// is none.
		if _, _, _, err := st.Take(context.WithoutCancel(ctx), state.Query{Tasks: some}, f.Until, f.Now); err != nil {
			return err
		}
	}
	return nil
}
