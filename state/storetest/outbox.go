package storetest

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
)

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
