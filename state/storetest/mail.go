package storetest

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"
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
	var failing [2]bool // before each
	for i := range 2 {
		r := b.claim(again, hour(2+i), hour(3+i))
		ends = append(ends, state.Ending{Record: r, Line: line(r, state.Failed), Tell: func(before state.Tally, l *state.Line) {
			failing[i], l.Inbox = before.Failing, state.ItemFailure
		}})
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
	if failing != [2]bool{false, true} {
		t.Errorf("whether the task had failed before each end: %v", failing)
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

// testWatchMail: who waits for mail is told, and who waits for tasks hears nothing of it.
func testWatchMail(t *testing.T, b *bench) {
	ctx, stop := context.WithCancel(b.ctx)
	defer stop()
	r := b.claim(b.add(daily("n"), hour(1)).Task.ID, hour(1), hour(2))
	signal := must[<-chan struct{}](b)(b.a.WatchMail(ctx))
	heard := func(what string) {
		t.Helper()
		b.heard(signal, what)
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
	must[state.Entry](b)(b.a.Update(b.ctx, edited, time.Time{}, hour(26), nil))
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
