package storetest

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
)

func itemID(r state.Record) string { return state.OccurrenceID(r.Task.ID, r.Number) }

// inbox are the items asked for, as the other handle sees them.
func (b *bench) inbox(q state.Query) []state.Item {
	b.Helper()
	items, _, problems, err := b.b.Inbox(b.ctx, q)
	if err != nil || len(problems) > 0 {
		b.Fatalf("inbox: %v %v", problems, err)
	}
	return items
}

func (b *bench) take(q state.Query, now, until time.Time) []string {
	b.Helper()
	items, _, problems, err := b.a.Take(b.ctx, q, now, until)
	if err != nil || len(problems) > 0 {
		b.Fatalf("take: %v %v", problems, err)
	}
	for _, i := range items {
		if !i.Leased.Equal(until) {
			b.Errorf("%s was taken until %v, want %v", i.ID, i.Leased, until)
		}
	}
	return itemIDs(items)
}

func itemIDs(items []state.Item) (list []string) {
	for _, i := range items {
		list = append(list, i.ID)
	}
	return list
}

// testInbox: items come in the order in which they came in, whatever the clock did, and readers
// keep their own place.
func testInbox(t *testing.T, b *bench) {
	var ids []string
	for _, at := range []int{5, 3, 9, 9, 1, 2} { // the clock goes back, and stands still
		ids = append(ids, itemID(b.told(at, state.ItemFailure)))
	}
	items := b.inbox(state.Query{})
	b.wants("in order", itemIDs(items), ids)
	for i, item := range items {
		if i > 0 && item.Cursor <= items[i-1].Cursor {
			t.Errorf("cursor %s after %s", item.Cursor, items[i-1].Cursor)
		}
		if err := state.CheckCursor(item.Cursor); err != nil {
			t.Error(err)
		}
		b.wants("since "+item.Cursor, itemIDs(b.inbox(state.Query{Since: item.Cursor})), ids[i+1:])
	}
	first, _, _ := strings.Cut(ids[1], "/")
	for _, c := range []struct {
		what string
		q    state.Query
		want []string
		more int
	}{
		{"all", state.Query{}, ids, 0},
		{"the first two", state.Query{Limit: 2}, ids[:2], 4},
		{"as many as there are", state.Query{Limit: 6}, ids, 0},
		{"two after the first", state.Query{Since: items[0].Cursor, Limit: 2}, ids[1:3], 3},
		{"of a task", state.Query{Tasks: []string{first}}, ids[1:2], 0},
		{"of an item", state.Query{Tasks: []string{ids[2]}}, ids[2:3], 0},
		{"of a task and an item", state.Query{Tasks: []string{ids[3], first}, Limit: 1}, ids[1:2], 1},
		{"of another number", state.Query{Tasks: []string{first + "/2"}}, nil, 0},
		{"of the beginning of an ID", state.Query{Tasks: []string{first[:3]}}, nil, 0},
		{"of no task", state.Query{Tasks: []string{"zzzz"}}, nil, 0},
		{"after all", state.Query{Since: items[5].Cursor}, nil, 0},
	} {
		got, more, problems, err := b.a.Inbox(b.ctx, c.q)
		if err != nil || len(problems) > 0 || more != c.more || !slices.Equal(itemIDs(got), c.want) {
			t.Errorf("%s: %v and %d more, %v %v, want %v and %d", c.what, itemIDs(got), more, problems, err, c.want, c.more)
		}
	}
	for _, bad := range []string{"banana", "20261123", items[0].Cursor + "x", "20261131T000000.000000000Z"} {
		_, _, _, err := b.a.Inbox(b.ctx, state.Query{Since: bad})
		b.is("since "+bad, err, state.ErrInvalid)
		_, _, _, err = b.a.Take(b.ctx, state.Query{Since: bad}, hour(1), hour(2))
		b.is("take since "+bad, err, state.ErrInvalid)
	}
	// Also when nothing of the earlier is there any more.
	last := items[5].Cursor
	for i, err := range b.a.Ack(b.ctx, ids) {
		b.is(fmt.Sprint("ack ", i), err, nil)
	}
	b.told(0, state.ItemFailure)
	if got := b.inbox(state.Query{Since: last}); len(got) != 1 {
		t.Errorf("an item came after %s, and it is %+v", last, b.inbox(state.Query{}))
	}
}

// testTake: what was taken is nobody else's until its lease runs out, by the instant that is given.
func testTake(t *testing.T, b *bench) {
	b.wants("nothing", b.take(state.Query{}, hour(0), hour(1)), nil)
	var ids []string
	for range 5 {
		ids = append(ids, itemID(b.told(1, state.ItemFailure)))
	}
	b.wants("the first two", b.take(state.Query{Limit: 2}, hour(2), hour(3)), ids[:2])
	_, more, _, err := b.a.Take(b.ctx, state.Query{Tasks: ids[2:4], Limit: 1}, hour(2), hour(4))
	if more != 1 || err != nil {
		t.Errorf("%d more, %v", more, err)
	}
	b.wants("what is left", b.take(state.Query{}, hour(3).Add(-1), hour(5)), ids[3:])
	b.wants("nothing is left", b.take(state.Query{}, hour(3).Add(-1), hour(5)), nil)
	leases := map[string]time.Time{ids[0]: hour(3), ids[1]: hour(3), ids[2]: hour(4), ids[3]: hour(5), ids[4]: hour(5)}
	items := b.inbox(state.Query{})
	b.wants("all are there", itemIDs(items), ids)
	for _, i := range items {
		if !i.Leased.Equal(leases[i.ID]) {
			t.Errorf("%s is leased until %v, want %v", i.ID, i.Leased, leases[i.ID])
		}
	}
	b.wants("free when no lease has run out", itemIDs(b.inbox(state.Query{Free: true})), nil)
	b.wants("free when two have", itemIDs(b.inbox(state.Query{Free: true, Now: hour(3)})), ids[:2])
	b.wants("taken again", b.take(state.Query{Limit: 1}, hour(3), hour(6)), ids[:1])
	b.wants("free when all have", itemIDs(b.inbox(state.Query{Free: true, Now: hour(6)})), ids)
	b.wants("taken when all have", b.take(state.Query{}, hour(6), hour(7)), ids)
	_, _, _, err = b.a.Take(b.ctx, state.Query{}, hour(6), time.Date(12000, 1, 1, 0, 0, 0, 0, time.UTC))
	b.is("a lease after all years", err, state.ErrInvalid)

	// Acknowledged, taken or not.
	free := itemID(b.told(7, state.ItemResult))
	for i, err := range b.b.Ack(b.ctx, []string{ids[3], "zzzz/1", free, ids[3], "", ids[0]}) {
		b.is(fmt.Sprint("ack ", i), err, []error{nil, state.ErrNotFound, nil, state.ErrNotFound, state.ErrNotFound, nil}[i])
	}
	b.wants("left", itemIDs(b.inbox(state.Query{})), []string{ids[1], ids[2], ids[4]})
	b.wants("taken of what is left", b.take(state.Query{}, hour(8), hour(9)), []string{ids[1], ids[2], ids[4]})
	if got := b.a.Ack(b.ctx, nil); len(got) != 0 {
		t.Errorf("nothing was acknowledged: %v", got)
	}
	for i, err := range b.a.Ack(b.ctx, []string{free}) {
		b.is(fmt.Sprint("ack again ", i), err, state.ErrNotFound)
	}
}

// testTakers: many who take, some of whom die with what they have: two never have the same at once,
// and nothing is lost.
func testTakers(t *testing.T, b *bench) {
	const items, takers = 40, 6
	var ends []state.Ending
	for range items {
		r := b.claim(b.add(oneShot("n"), hour(1)).Task.ID, hour(1), time.Time{})
		ends = append(ends, state.Ending{Record: r, Line: telling(r, state.ItemResult)})
	}
	for _, err := range b.a.EndAll(b.ctx, ends) {
		b.is("end", err, nil)
	}
	var mu sync.Mutex
	had := map[string]int{} // by item and lease
	acked := map[string]int{}
	b.together(takers, func(h int, s state.Store) {
		for round := 0; round < 60; round++ {
			now := hour(2 + round/10) // leases last to the hour
			until := now.Add(time.Hour)
			got, _, problems, err := s.Take(b.ctx, state.Query{Limit: 1 + (h+round)%4}, now, until)
			if err != nil || len(problems) > 0 {
				t.Error(problems, err)
				return
			}
			for _, i := range got {
				mu.Lock()
				if had[i.ID+until.String()]++; had[i.ID+until.String()] > 1 {
					t.Errorf("two have %s until %v", i.ID, until)
				}
				mu.Unlock()
				if (h+round)%3 == 0 { // it dies with it
					continue
				}
				if err := s.Ack(b.ctx, []string{i.ID})[0]; err == nil {
					mu.Lock()
					acked[i.ID]++
					mu.Unlock()
				} else if !errors.Is(err, state.ErrNotFound) {
					t.Error(err)
				}
			}
		}
	})
	for _, i := range b.inbox(state.Query{}) {
		acked[i.ID]++
	}
	for _, e := range ends {
		if n := acked[itemID(e.Record)]; n != 1 {
			t.Errorf("%s was acknowledged or is there %d times", itemID(e.Record), n)
		}
	}
}

// testPruneInbox: the inbox has bounds, and items outlive their task as long as the ledger does.
func testPruneInbox(t *testing.T, b *bench) {
	const kept = 30 * 24 * time.Hour
	id := b.add(daily("often"), hour(0)).Task.ID
	var often, others []string
	for i := range 6 {
		r := b.claim(id, hour(i), hour(i+1))
		b.is("end", b.a.End(b.ctx, r, telling(r, state.ItemFailure, "desktop")), nil)
		often = append(often, itemID(r))
		others = append(others, itemID(b.told(i, state.ItemFailure)))
	}
	pruned := func(keep state.Keep, at time.Time, dropped int, want []string) {
		t.Helper()
		p, err := b.a.Prune(b.ctx, keep, at)
		if got := sorted(itemIDs(b.inbox(state.Query{}))...); err != nil || p.Items != dropped || !slices.Equal(got, sorted(want...)) {
			t.Errorf("%+v at %v: %+v %v, left %v, want %d dropped and %v", keep, at, p, err, got, dropped, want)
		}
	}
	b.take(state.Query{Tasks: often[:1]}, hour(6), far)
	all := slices.Concat(often, others)
	pruned(state.Keep{}, hour(10), 0, all)
	pruned(state.Keep{Items: 6, Inbox: 12, Ended: kept}, hour(10), 0, all)
	pruned(state.Keep{Items: 4}, hour(10), 2, slices.Concat(often[2:], others))
	// the oldest of all
	pruned(state.Keep{Items: 4, Inbox: 7}, hour(10), 3, slices.Concat(often[3:], others[2:]))
	if n := len(b.outbox(far)); n != 6 {
		t.Errorf("%d notices are left of 6", n)
	}
	// the end of 2 is a second after it
	pruned(state.Keep{Ended: kept}, hour(3).Add(kept), 1, slices.Concat(often[3:], others[3:]))
	if _, err := b.b.Find(b.ctx, id); err != nil {
		t.Error(err)
	}
	pruned(state.Keep{Ended: kept}, far, 3, often[3:]) // that task lives
	must[state.Entry](b)(b.a.Remove(b.ctx, id, hour(10)))
	pruned(state.Keep{Ended: kept}, far, 3, nil)
	if d, err := b.b.Dropped(b.ctx); err != nil || d.Items != 12 || !d.Since.Equal(hour(10)) || !d.Last.Equal(far) {
		t.Errorf("dropped were %+v, %v", d, err)
	}
}
