package storetest

import (
	"testing"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
)

// testRewind: after a line of event clock instants come again; what was claimed is refused, what
// was missed is granted, and what is left out gets its line.
func testRewind(t *testing.T, b *bench) {
	e := b.add(daily("a"), hour(24))
	id := e.Task.ID
	b.end(b.claim(id, hour(24), hour(48)), state.OK)
	last := hour(24 * 5)
	b.is("skip", b.a.Skip(b.ctx, id, hour(48), hour(24*6), state.Line{At: hour(24 * 6), DueLast: &last, Count: 4, Outcome: state.Missed}), nil)
	open := b.claim(id, hour(24*6), hour(24*7))
	task := b.find(id).Task
	_, err := b.b.Rewind(b.ctx, task, hour(24), hour(20))
	b.is("rewind while it runs", err, state.ErrTaken)
	b.end(open, state.OK)

	stale := task
	stale.Revision = 9
	_, err = b.b.Rewind(b.ctx, stale, hour(24), hour(20))
	b.is("rewind of what has changed", err, state.ErrConflict)
	_, err = b.b.Update(b.ctx, task, hour(24), hour(20), nil)
	b.is("update to what has ended", err, state.ErrTaken)
	task.When.Start = hour(-100)
	got, err := b.b.Rewind(b.ctx, task, hour(24), hour(20))
	b.is("rewind", err, nil)
	tally := b.find(id).Tally
	if !got.Due.Equal(hour(24)) || got.Task.Revision != task.Revision+1 || !b.find(id).Task.When.Start.Equal(hour(-100)) || !tally.LastDue.Equal(hour(24*6)) {
		t.Errorf("rewound it is %+v with %+v", got, tally)
	}
	if l := b.log(id)[0]; l.Event != state.EventClock || !l.Due.Equal(hour(24)) || !l.At.Equal(hour(20)) || !l.Schedule.Start.Equal(hour(-100)) {
		t.Errorf("it logs %+v", l)
	}

	_, err = b.a.Claim(b.ctx, id, hour(24), hour(48), self, hour(24))
	b.is("claim of what has run", err, state.ErrTaken)
	b.phase(id, state.Pending, hour(48))
	r := b.claim(id, hour(48), hour(72))
	b.is("release", b.a.Release(b.ctx, r), nil)
	b.phase(id, state.Pending, hour(48))
	b.end(b.claim(id, hour(48), hour(72)), state.OK)
	b.is("skip of what has been passed", b.a.Skip(b.ctx, id, hour(72), hour(24*6), state.Line{At: hour(24 * 6), DueLast: &last, Count: 3, Outcome: state.Missed}), nil)
	b.is("skip of what has run", b.a.Skip(b.ctx, id, hour(24*6), hour(24*7), state.Line{At: hour(24 * 6), Outcome: state.Missed}), nil)
	b.end(b.claim(id, hour(24*7), hour(24*8)), state.OK)
	if got := b.outcomes(id); len(got) != 7 || got[4] != state.Missed || got[5] != state.Missed {
		t.Errorf("its outcomes are %v", got)
	}
	if now := b.find(id).Tally; !now.LastDue.Equal(hour(24*7)) || now.Number != 12 || !now.Again.IsZero() {
		t.Errorf("in the end %+v", now)
	}

	// Of what is paused, too, and of nothing that is over.
	paused := b.add(daily("b"), hour(24))
	_, err = b.a.Pause(b.ctx, paused.Task.ID, time.Time{}, hour(1))
	b.is("pause", err, nil)
	_, err = b.b.Rewind(b.ctx, paused.Task, hour(3), hour(2))
	b.is("rewind of what is paused", err, nil)
	b.phase(paused.Task.ID, state.Paused, hour(3))
	_, err = b.a.Remove(b.ctx, id, hour(1))
	b.is("remove", err, nil)
	_, err = b.b.Rewind(b.ctx, b.find(id).Task, hour(24), hour(20))
	b.is("rewind of what was removed", err, state.ErrEnded)
	missing := paused.Task
	missing.ID = state.ID(1000)
	_, err = b.b.Rewind(b.ctx, missing, hour(24), hour(20))
	b.is("rewind of nothing", err, state.ErrNotFound)
}

// testTrouble: what a runner notes of its trouble is what another reads, and the last note counts.
func testTrouble(t *testing.T, b *bench) {
	for _, want := range []state.Trouble{{}, {At: hour(1).UTC(), Text: "the queue could not be read: \"x\"\n"}, {At: hour(2).UTC().Add(7), Text: "no room"}} {
		if want != (state.Trouble{}) {
			b.is("note", b.a.SetTrouble(want), nil)
		}
		if got, err := b.b.Trouble(b.ctx); err != nil || got != want {
			t.Errorf("%+v is read as %+v, %v", want, got, err)
		}
	}
}

// testClockShift: what is noted of a clock is what another reads, until it is forgotten.
func testClockShift(t *testing.T, b *bench) {
	for _, want := range []state.ClockShift{
		{},
		{Peak: hour(5).UTC(), Boot: "b00t", At: 1},
		{Peak: hour(50000).UTC().Add(7), Stayed: 59*time.Minute + 123456789, Boot: "process 7 \"8\"", At: 300 * 24 * time.Hour},
		{}, {},
	} {
		b.is("note", b.a.SetClockShift(b.ctx, want), nil)
		if got, err := b.b.ClockShift(b.ctx); err != nil || got != want {
			t.Errorf("%+v is read as %+v, %v", want, got, err)
		}
	}
}
