package storetest

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
)

// from is a task that came of a run of the task with that ID.
func from(origin string, t state.Task) state.Task {
	t.Origin = origin
	return t
}

// waiting is the task as a wait.
func waiting(t state.Task) state.Task {
	t.Run, t.Wait = state.Job{}, state.Wait{Text: "1h", Kind: "once"}
	return t
}

// limited wants the error to be the refusal by a limit.
func (b *bench) limited(what string, err error, want state.LimitError) {
	b.Helper()
	var got *state.LimitError
	if !errors.As(err, &got) || !errors.Is(err, state.ErrLimit) {
		b.Errorf("%s: got error %v, want the limit %+v", what, err, want)
		return
	}
	if !want.Again.Equal(got.Again) || got.Setting != want.Setting || got.Have != want.Have || got.Most != want.Most || got.Origin != want.Origin {
		b.Errorf("%s: got the limit %+v, want %+v", what, *got, want)
	}
}

// The origins of tasks; those need not be there any more.
var root, other = state.ID(1000), state.ID(2000)

// testPendingLimit: of an origin no more tasks wait than are allowed, whatever became of others;
// and what ended leaves room.
func testPendingLimit(t *testing.T, b *bench) {
	b.limits = state.Limits{Pending: 3}
	full := state.LimitError{Setting: state.SettingPending, Have: 3, Most: 3, Origin: root}
	refused := func(what string) {
		b.Helper()
		lines := len(b.log(""))
		_, err := b.b.Add(b.ctx, from(root, oneShot("one more")), hour(1))
		b.limited(what, err, full)
		if after := len(b.log("")); after != lines {
			b.Errorf("%s: %d lines in the ledger, and then %d", what, lines, after)
		}
	}
	once := b.add(from(root, oneShot("once")), hour(1)).Task.ID
	every := b.add(from(root, daily("daily")), hour(1)).Task.ID
	held := b.add(from(root, daily("held")), hour(1)).Task.ID
	if got := b.find(held).Task.Origin; got != root {
		t.Errorf("the origin is %q", got)
	}
	refused("three wait")
	wait := waiting(from(root, oneShot("wait")))
	_, err := b.b.Add(b.ctx, wait, hour(1)) // it runs nothing, and takes room all the same
	b.limited("a wait", err, full)
	b.add(oneShot("of nobody"), hour(1))
	b.add(from(other, oneShot("of another")), hour(1))
	_, err = b.a.Pause(b.ctx, held, time.Time{}, hour(0))
	b.is("pause", err, nil)
	refused("one of them is paused")
	r := b.claim(every, hour(1), hour(25))
	refused("a recurring one runs")
	b.end(r, state.OK)
	b.is("move", b.a.Move(b.ctx, every, hour(25), hour(26), hour(2)), nil)
	refused("one was moved")

	r = b.claim(once, hour(1), time.Time{})
	waits := b.add(wait, hour(3)).Task.ID // what runs for the last time does not wait
	refused("a wait is one")
	_, err = b.a.Remove(b.ctx, waits, hour(2))
	b.is("remove the wait", err, nil)
	fourth := b.add(from(root, oneShot("fourth")), hour(3)).Task.ID
	refused("there are three again")
	b.end(r, state.OK)
	refused("one that did not wait has ended")
	_, err = b.a.Remove(b.ctx, fourth, hour(2))
	b.is("remove", err, nil)
	fifth := b.add(from(root, oneShot("fifth")), hour(4)).Task.ID
	_, err = b.b.Restore(b.ctx, fourth, hour(5), hour(2))
	b.limited("restore", err, full)
	b.phase(fourth, state.Removed, hour(3))
	_, err = b.a.Remove(b.ctx, fifth, hour(2))
	b.is("remove", err, nil)
	_, err = b.b.Restore(b.ctx, fourth, hour(5), hour(2))
	b.is("restore into the room", err, nil)
	refused("one was restored")
	b.is("skip", b.a.Skip(b.ctx, fourth, hour(5), time.Time{}, state.Line{Outcome: state.Missed}), nil)
	b.add(from(root, oneShot("sixth")), hour(4))
	refused("one was skipped")

	// An edit that gives a task to the origin is held to the limit; one that leaves it where it is,
	// is not.
	mine := b.find(every).Task
	mine.Description = "changed"
	_, err = b.a.Update(b.ctx, mine, time.Time{}, hour(3), nil)
	b.is("update of its own", err, nil)
	stray := b.add(oneShot("stray"), hour(9)).Task
	_, err = b.a.Update(b.ctx, from(root, stray), time.Time{}, hour(3), nil)
	b.limited("update", err, full)
	b.is("finish", b.a.Finish(b.ctx, held, "enough", hour(3)), nil)
	_, err = b.a.Update(b.ctx, from(root, stray), time.Time{}, hour(3), nil)
	b.is("update into the room", err, nil)
	refused("one was given to it")
	b.limits.Pending = 4
	b.add(from(root, oneShot("more is allowed")), hour(4))
	b.limits = state.Limits{}
	b.add(from(root, oneShot("all is allowed")), hour(4))
}

// testHourLimit: within an hour no more tasks of an origin are made than are allowed, also when
// none of them waits any more.
func testHourLimit(t *testing.T, b *bench) {
	b.limits = state.Limits{PerHour: 3}
	at := func(minute int) state.Task {
		task := from(root, oneShot("n"))
		task.Created = base.Add(time.Duration(minute) * time.Minute)
		return task
	}
	full := func(again int) state.LimitError {
		return state.LimitError{Setting: state.SettingPerHour, Have: 3, Most: 3, Origin: root, Again: base.Add(time.Duration(again) * time.Minute)}
	}
	for _, minute := range []int{0, 10, 20} {
		e := b.add(keyed(at(minute), "k"), hour(9))
		if minute < 20 {
			_, err := b.a.Remove(b.ctx, e.Task.ID, hour(0))
			b.is("remove", err, nil)
		}
	}
	_, err := b.b.Add(b.ctx, keyed(at(21), "k"), hour(9))
	b.is("one that is kept", err, state.ErrKept)
	for _, minute := range []int{20, 40, 59} {
		_, err := b.b.Add(b.ctx, at(minute), hour(9))
		b.limited("a fourth within the hour", err, full(60))
	}
	b.add(oneShot("of nobody"), hour(9))
	b.add(from(other, oneShot("of another")), hour(9))
	b.add(at(60), hour(9))
	_, err = b.b.Add(b.ctx, at(65), hour(9))
	b.limited("the next hour", err, full(70))
	b.is("charge", b.a.Charge(b.ctx, root, base.Add(70*time.Minute)), nil)
	b.limited("charge once more", b.b.Charge(b.ctx, root, base.Add(75*time.Minute)), full(80))
	_, err = b.b.Add(b.ctx, at(79), hour(9))
	b.limited("what was charged counts", err, full(80))
	b.is("charge of another", b.b.Charge(b.ctx, other, base.Add(75*time.Minute)), nil)
	b.add(at(-300), hour(9)) // the clock was put back: nobody waits for hours
	if n := len(b.list()); n != 7 {
		t.Errorf("%d tasks", n)
	}
}

// testTasksLimit: no more tasks wait than are allowed.
func testTasksLimit(t *testing.T, b *bench) {
	b.limits = state.Limits{Tasks: 2}
	full := state.LimitError{Setting: state.SettingTasks, Have: 2, Most: 2}
	first := b.add(oneShot("first"), hour(1)).Task.ID
	second := b.add(keyed(daily("second"), "k"), hour(1)).Task.ID
	_, err := b.a.Add(b.ctx, oneShot("third"), hour(1))
	b.limited("a third", err, full)
	_, err = b.a.Add(b.ctx, waiting(from(root, oneShot("a run waits"))), hour(1))
	b.limited("a wait of a run", err, full)
	// who only waits is never refused
	patient := b.add(waiting(oneShot("somebody waits")), hour(1)).Task.ID
	_, err = b.a.Remove(b.ctx, patient, hour(0))
	b.is("remove the wait", err, nil)
	_, err = b.a.Add(b.ctx, keyed(oneShot("third"), "k"), hour(1))
	b.is("one that is kept", err, state.ErrKept)
	_, err = b.a.Pause(b.ctx, second, time.Time{}, hour(0))
	b.is("pause", err, nil)
	_, err = b.a.Add(b.ctx, oneShot("third"), hour(1))
	b.limited("paused tasks wait", err, full)
	b.limits.Leaving = 1
	leaving := b.add(oneShot("instead of one that leaves"), hour(1)).Task.ID
	_, err = b.a.Add(b.ctx, oneShot("fourth"), hour(1))
	b.limited("those that leave do not count", err, full)
	_, err = b.a.Remove(b.ctx, leaving, hour(0))
	b.is("remove", err, nil)
	b.limits.Leaving = 0
	_, err = b.a.Remove(b.ctx, first, hour(0))
	b.is("remove", err, nil)
	third := b.add(oneShot("third"), hour(1)).Task.ID
	_, err = b.a.Restore(b.ctx, first, hour(1), hour(0))
	b.limited("restore", err, full)
	b.claim(third, hour(1), time.Time{})
	_, err = b.a.Restore(b.ctx, first, hour(1), hour(0))
	b.is("restore into the room", err, nil)
}

// testLimitsOfMany: of many that are added at once, each is held to the limits on its own.
func testLimitsOfMany(t *testing.T, b *bench) {
	b.limits = state.Limits{Pending: 3, PerHour: 4, Tasks: 8}
	draft := func(task state.Task) state.Draft { return state.Draft{Task: task, Due: hour(1)} }
	added := b.a.AddAll(b.ctx, []state.Draft{
		draft(from(root, oneShot("1"))), draft(from(other, oneShot("1"))), draft(from(root, keyed(oneShot("2"), "k"))), draft(from(root, keyed(oneShot("kept"), "k"))),
		draft(from(root, oneShot("3"))), draft(from(root, oneShot("4"))), draft(oneShot("5")), draft(from(other, oneShot("2"))),
	})
	for i, want := range []error{nil, nil, nil, state.ErrKept, nil, state.ErrLimit, nil, nil} {
		b.is("draft", added[i].Err, want)
	}
	b.limited("the fourth", added[5].Err, state.LimitError{Setting: state.SettingPending, Have: 3, Most: 3, Origin: root})
	_, err := b.b.Remove(b.ctx, added[0].Entry.Task.ID, hour(0))
	b.is("remove", err, nil)
	added = b.b.AddAll(b.ctx, []state.Draft{draft(from(root, oneShot("4"))), draft(oneShot("6")), draft(oneShot("7")), draft(oneShot("8"))})
	for i, want := range []error{nil, nil, nil, state.ErrLimit} {
		b.is("draft", added[i].Err, want)
	}
	b.limited("the last", added[3].Err, state.LimitError{Setting: state.SettingTasks, Have: 8, Most: 8})
	if n := len(b.list(state.Pending)); n != 8 {
		t.Errorf("%d tasks wait", n)
	}
}

// testLimitsOfDryRun: asked one by one, a store refuses what it would refuse in earnest.
func testLimitsOfDryRun(t *testing.T, b *bench) {
	b.limits = state.Limits{Pending: 3, PerHour: 4, Tasks: 6}
	gone := b.add(from(other, oneShot("ends")), hour(1)).Task.ID
	_, err := b.a.Remove(b.ctx, gone, hour(0))
	b.is("remove", err, nil)
	names := []state.Task{
		from(root, oneShot("1")), from(root, oneShot("2")), from(root, oneShot("3")), from(root, oneShot("4")),
		from(other, oneShot("1")), from(other, oneShot("2")), oneShot("5"), oneShot("6"),
	}
	dry := b.a.Dry()
	var would []error
	for _, task := range names {
		_, err := dry.Add(b.ctx, task, hour(1))
		would = append(would, err)
	}
	for i, task := range names {
		_, err := b.a.Add(b.ctx, task, hour(1))
		if fmt.Sprint(would[i]) != fmt.Sprint(err) {
			t.Errorf("task %d would be answered %v, and is answered %v", i, would[i], err)
		}
	}
	b.limited("the fourth of an origin", would[3], state.LimitError{Setting: state.SettingPending, Have: 3, Most: 3, Origin: root})
	b.limited("the last", would[7], state.LimitError{Setting: state.SettingTasks, Have: 6, Most: 6})
	b.limits = state.Limits{PerHour: 4}
	dry = b.a.Dry()
	_, err = dry.Add(b.ctx, from(other, oneShot("3")), hour(1))
	b.is("the fourth within an hour", err, nil)
	if _, err = dry.Add(b.ctx, from(other, oneShot("4")), hour(1)); !errors.Is(err, state.ErrLimit) {
		t.Errorf("the fifth within an hour: %v", err)
	}
}

// testLimitRace: of those who add at once, exactly as many succeed as are allowed.
func testLimitRace(t *testing.T, b *bench) {
	b.limits = state.Limits{Pending: 10, PerHour: 100}
	var mu sync.Mutex
	made := 0
	b.together(8, func(_ int, s state.Store) {
		for range 4 {
			_, err := s.Add(b.ctx, from(root, oneShot("n")), hour(1))
			if err != nil && !errors.Is(err, state.ErrLimit) {
				t.Error(err)
			}
			mu.Lock()
			if err == nil {
				made++
			}
			mu.Unlock()
		}
	})
	if n := len(b.list(state.Pending)); made != 10 || n != 10 {
		t.Errorf("%d were made, %d wait", made, n)
	}
	if _, err := b.a.Add(b.ctx, from("no id", oneShot("n")), hour(1)); !errors.Is(err, state.ErrInvalid) {
		t.Errorf("an origin that is not an ID: %v", err)
	}
}
