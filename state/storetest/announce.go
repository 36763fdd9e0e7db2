package storetest

import (
	"testing"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
)

// waits is a task of type wait.
func waits(text string) state.Task {
	return state.Task{
		Text: text, Created: base,
		When: state.Timing{Text: "1h", Kind: "once", Zone: "Europe/Warsaw", Start: base},
		Wait: state.Wait{Text: "every 1h", Kind: "interval", Elapsed: true, Again: []string{"wait", "--interval", "1h", `it's "hot"`}},
	}
}

// testAnnounce: who waits for a task is seen by all, as long as somebody does, and hears that it is
// over.
func testAnnounce(t *testing.T, b *bench) {
	attended := func(id string, want bool) {
		t.Helper()
		if got := b.find(id).Awaited; got != want {
			t.Errorf("found as attended: %v, want %v", got, want)
		}
		for _, e := range b.list(state.Pending) {
			if e.Task.ID == id && e.Awaited != want {
				t.Errorf("listed as attended: %v, want %v", e.Awaited, want)
			}
		}
		due, _, err := dueBy(b.ctx, b.b, hour(9), 0)
		if err != nil || len(due) == 0 {
			t.Fatalf("due: %v, %v", due, err)
		}
		for _, e := range due {
			if e.Task.ID == id && e.Awaited != want {
				t.Errorf("due as attended: %v, want %v", e.Awaited, want)
			}
		}
	}
	attend := func(id string, due time.Time) (<-chan struct{}, func()) {
		t.Helper()
		changed, leave, err := b.a.Announce(b.ctx, id, due)
		if err != nil {
			t.Fatal(err)
		}
		return changed, leave
	}
	e := b.add(waits("tea"), hour(1))
	other := b.add(waits("coffee"), hour(2))
	id := e.Task.ID
	if kept := b.find(id).Task; kept.Type() != state.TypeWait || kept.Wait.Text != "every 1h" || !kept.Wait.Elapsed || len(kept.Wait.Again) != 4 ||
		kept.Wait.Again[3] != `it's "hot"` || kept.Recurring() {
		t.Errorf("kept as %+v", kept)
	}
	attended(id, false)
	first, leave := attend(id, hour(1))
	second, leaveToo := attend(id, hour(1))
	attended(id, true)
	attended(other.Task.ID, false)
	leave()
	leave() // again: nothing
	attended(id, true)
	leaveToo()
	attended(id, false)
	_, _ = first, second

	changed, leave := attend(id, hour(1))
	must[state.Entry](b)(b.b.Remove(b.ctx, id, hour(0)))
	b.heard(changed, "a removal")
	if b.find(id).Awaited {
		t.Error("attended, and removed")
	}
	leave()
	must[state.Entry](b)(b.b.Restore(b.ctx, id, hour(1), hour(0)))
	attended(id, false)
	changed, leave = attend(id, hour(1))
	attended(id, true)
	r := b.claim(id, hour(1), time.Time{})
	b.heard(changed, "a claim")
	leave()
	b.end(r, state.OK)

	// two whose task moves look again one after the other, and neither hides the other
	moving := b.add(waits("soup"), hour(1)).Task.ID
	_, leave = attend(moving, hour(1))
	_, leaveToo = attend(moving, hour(1))
	b.ok(b.b.Move(b.ctx, moving, hour(1), hour(2), hour(0)))
	leave()
	_, leave = attend(moving, hour(2))
	leaveToo()
	attended(moving, true)
	leave()
	attended(moving, false)

	changed, leave = attend(other.Task.ID, hour(3))
	b.heard(changed, "another due instant than thought")
	leave()
	_, _, err := b.a.Announce(b.ctx, "nothing", hour(1))
	b.is("attending what is not a task", err, state.ErrNotFound)
}

// testHold: a wait that is held keeps what is left, and nobody is told of it until it goes on,
// which whoever waits hears.
func testHold(t *testing.T, b *bench) {
	id := b.add(waits("tea"), hour(1)).Task.ID
	change := func(rule state.Rule) (state.Entry, error) {
		answer := b.a.Apply(b.ctx, state.Change{ID: id, Rule: rule, Now: hour(0)})[0]
		return answer.Doc.Entry(), answer.Err
	}
	_, err := change(state.HoldWait(hour(2), time.Minute, hour(0)))
	b.is("held, due at another time than thought", err, state.ErrTaken)
	_, err = change(state.GoOnWaiting(hour(2), hour(0)))
	b.is("going on, not held", err, state.ErrTaken)
	changed, leave, err := b.b.Announce(b.ctx, id, hour(1))
	b.is("attending", err, nil)
	must[state.Entry](b)(change(state.HoldWait(hour(1), 90*time.Second, hour(0))))
	b.heard(changed, "a pause")
	leave()
	e := b.find(id)
	if left, held := e.Task.Wait.Rest(); !held || left != 90*time.Second || e.Phase != state.Paused || !e.Held {
		t.Errorf("held as %+v", e)
	}
	if due, _, err := dueBy(b.ctx, b.b, hour(9), 0); err != nil || len(due) > 0 {
		t.Errorf("due while it is held: %v %v", due, err)
	}
	_, err = b.b.Resume(b.ctx, id, hour(0))
	b.is("resumed as other tasks are", err, state.ErrTaken)
	must[state.Entry](b)(b.b.Remove(b.ctx, id, hour(0)))
	if e, err := b.b.Restore(b.ctx, id, hour(1), hour(2)); err != nil || !e.Held {
		t.Errorf("restored: %+v %v", e, err)
	}
	if changed, leave, err = b.b.Announce(b.ctx, id, hour(1)); err != nil {
		t.Fatal(err)
	}
	if e, err := change(state.GoOnWaiting(hour(3), hour(2))); err != nil || e.Held || !e.Due.Equal(hour(3)) || e.Task.Wait.Left != "" {
		t.Errorf("going on: %+v %v", e, err)
	}
	b.heard(changed, "its going on")
	leave()
	if l := b.log(id)[0]; l.Event != state.EventResumed || !l.Due.Equal(hour(3)) {
		t.Errorf("logged as %+v", l)
	}
	b.end(b.claim(id, hour(3), time.Time{}), state.OK)
}
