package storetest

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
)

// telling is a line that ends a claim, is an item and tells the channels.
func telling(r state.Record, inbox string, channels ...string) state.Line {
	l := line(r, state.Failed)
	l.Inbox, l.Tell, l.Reason, l.Text = inbox, channels, "exit 1", "text\n\x1b[31m\u2028"
	if len(channels) > 0 {
		l.News = state.NewsFailure
	}
	return l
}

// told ends an occurrence of a new task at the hour with a line that is an item and tells the
// channels.
func (b *bench) told(at int, inbox string, channels ...string) state.Record {
	b.Helper()
	r := b.claim(b.add(oneShot("n"), hour(at)).Task.ID, hour(at), time.Time{})
	b.is("end", b.b.End(b.ctx, r, telling(r, inbox, channels...)), nil)
	return r
}

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

// outbox are the notices due by then, as the other handle sees them.
func (b *bench) outbox(by time.Time) []state.Notice {
	b.Helper()
	due, _, problems, err := b.b.Outbox(b.ctx, by, 0)
	if err != nil || len(problems) > 0 {
		b.Fatalf("outbox: %v %v", problems, err)
	}
	return due
}

func noticeIDs(list []state.Notice) (out []string) {
	for _, n := range list {
		out = append(out, n.ID()+" "+n.Channel)
	}
	return out
}

// far is after everything.
var far = hour(100_000)

func (b *bench) wants(what string, got, want []string) {
	b.Helper()
	if !slices.Equal(got, want) {
		b.Errorf("%s: %v, want %v", what, got, want)
	}
}

// testMail: each way to end makes what the line says, once, and nothing when it says nothing.
func testMail(t *testing.T, b *bench) {
	if items := b.inbox(state.Query{}); len(items) != 0 {
		t.Errorf("a new store has %v", items)
	}
	b.end(b.claim(b.add(oneShot("quiet"), hour(1)).Task.ID, hour(1), time.Time{}), state.OK)
	if len(b.inbox(state.Query{})) != 0 || len(b.outbox(far)) != 0 {
		t.Error("a line without mail made some")
	}
	// End.
	r := b.told(1, state.ItemFailure, "desktop", "email:a@example.org", "desktop", "ntfy://example.org/topic")
	items := b.inbox(state.Query{})
	want := b.log(r.Task.ID)[0]
	if len(items) != 1 || items[0].ID != itemID(r) || !items[0].Leased.IsZero() || items[0].Cursor == "" || !sameLine(items[0].Line, want) {
		t.Errorf("items\n%+v\nwant one of\n%+v", items, want)
	}
	due := b.outbox(far)
	b.wants("notices", noticeIDs(due), sorted(itemID(r)+" desktop", itemID(r)+" email:a@example.org", itemID(r)+" ntfy://example.org/topic"))
	for _, n := range due {
		if !n.Due.Equal(want.At) || n.Attempts != 0 || n.Last != "" || !sameLine(n.Line, want) {
			t.Errorf("notice %+v, want one of %+v", n, want)
		}
	}
	b.is("end again", b.a.End(b.ctx, r, telling(r, state.ItemFailure, "desktop")), state.ErrEnded)
	if len(b.inbox(state.Query{})) != 1 || len(b.outbox(far)) != 3 {
		t.Error("an end that was refused made mail")
	}
	// EndAll: some with mail, some without, of one task twice.
	var ends []state.Ending
	for i := range 5 {
		r := b.claim(b.add(oneShot("n"), hour(2)).Task.ID, hour(2), time.Time{})
		l := line(r, state.OK)
		if i%2 == 0 {
			l = telling(r, state.ItemResult, "desktop")
		}
		ends = append(ends, state.Ending{Record: r, Line: l})
	}
	again := b.add(daily("n"), hour(2)).Task.ID
	for i := range 2 {
		r := b.claim(again, hour(2+i), hour(3+i))
		ends = append(ends, state.Ending{Record: r, Line: telling(r, state.ItemFailure)})
	}
	for i, err := range b.a.EndAll(b.ctx, ends) {
		b.is(fmt.Sprint("end ", i), err, nil)
	}
	var ids []string
	for _, i := range []int{0, 2, 4, 5, 6} {
		ids = append(ids, itemID(ends[i].Record))
	}
	b.wants("items of many ends", sorted(itemIDs(b.inbox(state.Query{}))[1:]...), sorted(ids...))
	if n := len(b.outbox(far)); n != 6 {
		t.Errorf("%d notices, want 6", n)
	}
	for i, err := range b.b.EndAll(b.ctx, ends) {
		b.is(fmt.Sprint("end again ", i), err, state.ErrEnded)
	}
	// Skip, also of what is paused.
	skipped := b.add(daily("n"), hour(3)).Task.ID
	miss := state.Line{At: hour(4), Outcome: state.Missed, Reason: "window", Inbox: state.ItemMissed}
	b.is("skip", b.a.Skip(b.ctx, skipped, hour(3), hour(5), miss), nil)
	b.pause(skipped, time.Time{})
	b.is("skip", b.a.Skip(b.ctx, skipped, hour(5), hour(6), miss), nil)
	b.is("skip again", b.a.Skip(b.ctx, skipped, hour(5), hour(6), miss), state.ErrTaken)
	b.wants("items of skips", itemIDs(b.inbox(state.Query{Tasks: []string{skipped}})), []string{skipped + "/1", skipped + "/2"})
	// By hand.
	byHand, err := b.a.Fire(b.ctx, skipped, self, hour(7))
	b.is("fire", err, nil)
	b.is("end", b.a.End(b.ctx, byHand, telling(byHand, state.ItemResult, "desktop")), nil)
	items = b.inbox(state.Query{Tasks: []string{itemID(byHand)}})
	if len(items) != 1 || items[0].Line.Type != state.LineManual {
		t.Errorf("a run by hand made %+v", items)
	}
	// Told, but nothing in the inbox; and the other way round.
	quiet := b.told(8, "", "desktop")
	if len(b.inbox(state.Query{Tasks: []string{quiet.Task.ID}})) != 0 || len(b.outbox(far)) != 8 {
		t.Errorf("inbox %v, outbox %d", b.inbox(state.Query{Tasks: []string{quiet.Task.ID}}), len(b.outbox(far)))
	}
	// They stay when the task is removed.
	all, notices := len(b.inbox(state.Query{})), len(b.outbox(far))
	_, err = b.a.Remove(b.ctx, skipped, hour(9))
	b.is("remove", err, nil)
	if len(b.inbox(state.Query{})) != all || len(b.outbox(far)) != notices {
		t.Error("a removal took mail along")
	}
}

// sameLine reports whether two lines are one: their instants may be in different zones.
func sameLine(a, b state.Line) bool {
	plain := func(l state.Line) state.Line {
		l.At = l.At.UTC()
		for _, p := range []**time.Time{&l.Due, &l.DueLast, &l.Started, &l.Ended} {
			if *p != nil {
				*p = new((**p).UTC())
			}
		}
		return l
	}
	return reflect.DeepEqual(plain(a), plain(b))
}

func sorted(list ...string) []string {
	slices.Sort(list)
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
	var wg sync.WaitGroup
	for h := range takers {
		s := []state.Store{b.a, b.b}[h%2]
		wg.Go(func() {
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
	}
	wg.Wait()
	for _, i := range b.inbox(state.Query{}) {
		acked[i.ID]++
	}
	for _, e := range ends {
		if n := acked[itemID(e.Record)]; n != 1 {
			t.Errorf("%s was acknowledged or is there %d times", itemID(e.Record), n)
		}
	}
}

// testOutbox: notices come when they are due, are kept for later, and end with a line.
func testOutbox(t *testing.T, b *bench) {
	one := b.told(3, state.ItemFailure, "desktop", "email:a@example.org")
	two := b.told(1, "", "desktop")
	three := b.told(2, "", "https://user:secret@example.org/hook?token=secret")
	id := func(r state.Record, channel string) string { return itemID(r) + " " + channel }
	url := three.Task.ID
	// when the lines say they were written
	at := func(h int) time.Time { return hour(h).Add(time.Second) }
	for _, c := range []struct {
		by     time.Time
		limit  int
		except []string
		want   []string
		next   time.Time
	}{
		{hour(0), 0, nil, nil, at(1)},
		{at(1).Add(-1), 0, nil, nil, at(1)},
		{at(1), 0, nil, []string{id(two, "desktop")}, at(2)},
		{at(2), 1, nil, []string{id(two, "desktop")}, at(2)},
		{at(2), 0, []string{"desktop"}, []string{url}, at(3)},
		{far, 0, []string{"desktop", "email:a@example.org", "https://user:secret@example.org/hook?token=secret"}, nil, time.Time{}},
		{far, 0, []string{"email", "email:b@example.org"}, []string{id(two, "desktop"), url, id(one, "desktop"), id(one, "email:a@example.org")}, time.Time{}},
		{far, 2, nil, []string{id(two, "desktop"), url}, at(3)},
	} {
		got, next, problems, err := b.a.Outbox(b.ctx, c.by, c.limit, c.except...)
		ids := noticeIDs(got)
		for i, n := range got {
			if n.Line.TaskID == url {
				ids[i] = url
			}
		}
		if err != nil || len(problems) > 0 || !slices.Equal(ids, c.want) || !next.Equal(c.next) {
			t.Errorf("by %v, %d, but %v: %v, next %v, %v %v; want %v, next %v", c.by, c.limit, c.except, ids, next, problems, err, c.want, c.next)
		}
	}
	// Later.
	n := b.outbox(at(1))[0]
	later := n
	later.Due, later.Attempts, later.Last = hour(4), 1, "no route\nto host"
	b.is("postpone", b.a.Postpone(b.ctx, later), nil)
	b.is("postpone what was postponed", b.b.Postpone(b.ctx, n), state.ErrNotFound)
	b.is("told of what was postponed", b.b.Told(b.ctx, n, state.Line{At: hour(4), Delivered: true}), state.ErrNotFound)
	if got := b.outbox(hour(4).Add(-1)); len(got) != 3 {
		t.Errorf("postponed, and due are %v", noticeIDs(got))
	}
	got := b.outbox(hour(4))
	if len(got) != 4 || !got[3].Due.Equal(hour(4)) || got[3].Attempts != 1 || got[3].Last != later.Last || !sameLine(got[3].Line, n.Line) {
		t.Fatalf("postponed: %+v", got)
	}
	b.is("postpone out of all years", b.a.Postpone(b.ctx, state.Notice{Place: got[3].Place, Due: time.Date(12000, 1, 1, 0, 0, 0, 0, time.UTC)}), state.ErrInvalid)
	again := got[3]
	again.Attempts = 2
	b.is("postpone to the same instant", b.b.Postpone(b.ctx, again), nil)
	earlier := b.outbox(hour(4))[3]
	if earlier.Attempts != 2 || earlier.Last != later.Last {
		t.Errorf("postponed: %+v", earlier)
	}
	earlier.Due, earlier.Last = hour(0), "refused"
	b.is("postpone to an earlier instant", b.a.Postpone(b.ctx, earlier), nil)
	first := b.outbox(far)[0]
	if first.ID() != itemID(two) || !first.Due.Equal(hour(0)) || first.Last != "refused" {
		t.Errorf("the first is %+v", first)
	}

	// Told.
	items := len(b.inbox(state.Query{}))
	b.is("told", b.a.Told(b.ctx, first, state.Line{At: hour(5), Delivered: true, Attempts: 3, News: state.NewsFailure, Type: "x", TaskID: "zzzz", Number: 9}), nil)
	b.is("told again", b.b.Told(b.ctx, first, state.Line{At: hour(5), Delivered: true}), state.ErrNotFound)
	b.is("postpone what was told", b.b.Postpone(b.ctx, first), state.ErrNotFound)
	l := b.log(two.Task.ID)[0]
	if l.Type != state.LineDelivery || l.TaskID != two.Task.ID || l.Number != two.Number || l.Channel != "desktop" || !l.Delivered || l.Attempts != 3 ||
		!l.At.Equal(hour(5)) || l.News != state.NewsFailure || len(l.Tell) != 0 {
		t.Errorf("line %+v", l)
	}
	if len(b.outbox(far)) != 3 || len(b.inbox(state.Query{})) != items {
		t.Errorf("told: %v, %d items", noticeIDs(b.outbox(far)), len(b.inbox(state.Query{})))
	}
	for _, n := range b.outbox(far) {
		b.is("undelivered", b.a.Told(b.ctx, n, state.Line{At: hour(6), Attempts: 7, Reason: "gone", Inbox: state.ItemUndelivered, Tell: []string{"desktop"}}), nil)
	}
	if left := b.outbox(far); len(left) != 0 {
		t.Errorf("left are %v", noticeIDs(left))
	}
	failed := b.inbox(state.Query{})[items:]
	want := []string{itemID(three) + "/" + state.ChannelForm("https://user:secret@example.org/hook?token=secret"), itemID(one) + "/desktop",
		itemID(one) + "/" + state.ChannelForm("email:a@example.org")}
	b.wants("undelivered", itemIDs(failed), want)
	for _, i := range failed {
		if i.Line.Inbox != state.ItemUndelivered || i.Line.Type != state.LineDelivery || i.Line.Reason != "gone" || strings.Contains(i.ID, "secret") {
			t.Errorf("undelivered is %+v", i)
		}
	}
	b.wants("of their task", itemIDs(b.inbox(state.Query{Tasks: []string{one.Task.ID}})), []string{itemID(one), want[1], want[2]})
	for i, err := range b.a.Ack(b.ctx, want) {
		b.is("ack "+want[i], err, nil)
	}
	b.wants("left in the inbox", itemIDs(b.inbox(state.Query{})), []string{itemID(one)})
	if e := b.find(two.Task.ID); e.Tally.Number != 1 || e.Tally.Fired != 1 {
		t.Errorf("a delivery counts: %+v", e.Tally)
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
	if _, err := b.a.Remove(b.ctx, id, hour(10)); err != nil {
		t.Fatal(err)
	}
	pruned(state.Keep{Ended: kept}, far, 3, nil)
	if d, err := b.b.Dropped(b.ctx); err != nil || d.Items != 12 || !d.Since.Equal(hour(10)) || !d.Last.Equal(far) {
		t.Errorf("dropped were %+v, %v", d, err)
	}
}

// testWatchMail: who waits for mail is told, and who waits for tasks hears nothing of it.
func testWatchMail(t *testing.T, b *bench) {
	ctx, stop := context.WithCancel(b.ctx)
	defer stop()
	r := b.claim(b.add(daily("n"), hour(1)).Task.ID, hour(1), hour(2))
	signal, err := b.a.WatchMail(ctx)
	if err != nil {
		t.Fatal(err)
	}
	heard := func(what string) {
		t.Helper()
		select {
		case <-signal:
		case <-time.After(20 * time.Second):
			t.Fatalf("nothing was heard of %s", what)
		}
		for quiet := false; !quiet; { // the rest of it
			select {
			case <-signal:
			case <-time.After(50 * time.Millisecond):
				quiet = true
			}
		}
	}
	b.is("end", b.b.End(b.ctx, r, telling(r, state.ItemFailure)), nil)
	heard("an item")
	r = b.claim(r.Task.ID, hour(2), hour(3))
	b.is("end", b.b.End(b.ctx, r, telling(r, "", "desktop")), nil)
	heard("a notice")
	n := b.outbox(far)[0]
	n.Due, n.Attempts = hour(9), 1
	b.is("postpone", b.b.Postpone(b.ctx, n), nil)
	heard("a notice that was postponed")
	b.take(state.Query{}, hour(3), hour(4))
	heard("an item that was taken")
	b.is("told", b.b.Told(b.ctx, b.outbox(far)[0], state.Line{At: hour(9), Inbox: state.ItemUndelivered}), nil)
	heard("a notice that could not be delivered")
}

// testText: the ledger has the text of a task once, and once more when an edit changes it; items
// and notices have it, and lines are given it when they are read, as it was when they were claimed.
func testText(t *testing.T, b *bench) {
	task := daily("")
	task.Run, task.Text = state.Job{}, "The tea is ready. "+strings.Repeat("Come. ", 100)
	e := b.add(task, hour(1))
	id := e.Task.ID
	says := func(r state.Record) state.Line {
		l := line(r, state.OK)
		l.ExitCode, l.Description, l.Text, l.Inbox, l.Tell = nil, r.Task.Summary(), r.Task.Said(), state.ItemMessage, []string{"me"}
		return l
	}
	tell := func(r state.Record, said string) {
		t.Helper()
		b.is("end", b.b.End(b.ctx, r, says(r)), nil)
		items, notices := b.inbox(state.Query{Tasks: []string{itemID(r)}}), b.outbox(far)
		if len(items) != 1 || items[0].Line.Text != said || items[0].Line.Description != r.Task.Summary() {
			t.Errorf("items %+v", items)
		}
		if len(notices) != 1 || notices[0].Line.Text != said {
			t.Fatalf("notices %+v", notices)
		}
		b.is("told", b.a.Told(b.ctx, notices[0], state.Line{At: hour(1), Description: notices[0].Line.Description, Delivered: true, Attempts: 1}), nil)
	}
	tell(b.claim(id, hour(1), hour(25)), task.Text)
	r := b.claim(id, hour(25), hour(49))
	edited := b.find(id).Task
	edited.Text = "Coffee!"
	if _, err := b.a.Update(b.ctx, edited, time.Time{}, hour(26)); err != nil {
		t.Fatal(err)
	}
	tell(r, task.Text)
	due := hour(49)
	b.is("skip", b.a.Skip(b.ctx, id, due, hour(73), state.Line{At: due, Due: &due, Outcome: state.Missed, Description: "Coffee!"}), nil)
	tell(b.claim(id, hour(73), hour(97)), "Coffee!")
	_, err := b.b.Remove(b.ctx, id, hour(74))
	b.is("remove", err, nil)

	lines := b.log(id)
	brief := task.Summary()
	// what a line is, the text in it, and what it is given
	want := []struct{ what, in, said, text string }{
		{"removed", "", "Coffee!", ""},
		{"delivery 5", "", "Coffee!", ""},
		{"occurrence 4", "", "Coffee!", "Coffee!"},
		{"occurrence 3", "", "Coffee!", ""},
		{"delivery 2", "", brief, ""},
		{"occurrence 2", "", brief, task.Text},
		{"edited", "Coffee!", "Coffee!", "Coffee!"},
		{"delivery 1", "", brief, ""},
		{"occurrence 1", "", brief, task.Text},
		{"created", task.Text, brief, task.Text},
	}
	if len(lines) != len(want) {
		t.Fatalf("%d lines, want %d: %+v", len(lines), len(want), lines)
	}
	for i, l := range lines {
		if l.Text != want[i].in || (l.Description != "") != (l.Event == state.EventCreated) {
			t.Errorf("%s has %q and %q in the ledger", want[i].what, l.Description, l.Text)
		}
	}
	b.is("spell", b.b.Spell(b.ctx, lines), nil)
	for i, l := range lines {
		if l.Description != want[i].said || l.Text != want[i].text {
			t.Errorf("%s says %q and %q", want[i].what, l.Description, l.Text)
		}
	}
	// A line that says no revision stays as it is.
	odd := []state.Line{{Type: state.LineTask, TaskID: id, Event: "moved"}}
	b.is("spell", b.a.Spell(b.ctx, odd), nil)
	if !reflect.DeepEqual(odd[0], state.Line{Type: state.LineTask, TaskID: id, Event: "moved"}) {
		t.Errorf("%+v", odd[0])
	}
}
