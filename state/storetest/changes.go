package storetest

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
)

// update changes a task's description, from the revision it was read with.
func (b *bench) update(e state.Entry, text string, due time.Time) state.Entry {
	b.Helper()
	e.Task.Description = text
	e, err := b.a.Update(b.ctx, e.Task, due, hour(0), nil)
	if err != nil {
		b.Fatalf("update: %v", err)
	}
	return e
}

func (b *bench) pause(id string, resume time.Time) state.Entry {
	b.Helper()
	e, err := b.a.Pause(b.ctx, id, resume, hour(0))
	if err != nil {
		b.Fatalf("pause: %v", err)
	}
	return e
}

// events are the changes of a task, oldest first.
func (b *bench) events(id string) (list []string) {
	b.Helper()
	for _, l := range b.log(id) {
		if l.Type == state.LineTask {
			list = append(list, l.Event)
		}
	}
	slices.Reverse(list)
	return list
}

func testUpdate(t *testing.T, b *bench) {
	was := b.add(keyed(daily("before"), "k"), hour(1))
	id := was.Task.ID
	to := daily("after")
	to.ID, to.Revision, to.Key, to.Created = id, 1, "another", hour(7)
	to.When.Text, to.When.Kind, to.Run = "0 10 * * *", "cron", state.Job{Shell: "true", Prog: "/bin/sh", Dir: "/tmp", Env: map[string]string{"A": "1"}}
	to.Policy = state.Policy{Catchup: state.CatchupAll, Retries: 3, Backoff: "5s"}
	e := must[state.Entry](b)(b.a.Update(b.ctx, to, time.Time{}, hour(0), nil))
	got := b.find(id)
	want := to.UTC()
	want.Revision, want.Key, want.Created, want.Format = 2, "k", was.Task.Created, state.Format
	want.When.Start = got.Task.When.Start
	if !reflect.DeepEqual(got.Task, want) || !got.Due.Equal(hour(1)) || got.Phase != state.Pending || !reflect.DeepEqual(e.Task, got.Task) {
		t.Errorf("became\n%+v\nwant\n%+v\nanswer\n%+v", got, want, e)
	}
	if l := b.log(id)[0]; l.Event != state.EventEdited || l.Revision != 2 || l.When != "0 10 * * *" || l.Schedule == nil ||
		l.Schedule.Text != "0 10 * * *" || !l.Due.Equal(hour(1)) || !l.At.Equal(hour(0)) {
		t.Errorf("line %+v", l)
	}
	for _, revision := range []int64{0, 1, 3} {
		to.Revision = revision
		_, err := b.b.Update(b.ctx, to, time.Time{}, hour(0), nil)
		b.is(fmt.Sprint("update of revision ", revision), err, state.ErrConflict)
	}
	to.Revision = 2
	bad := to
	bad.Text = "caf\xe9"
	_, err := b.b.Update(b.ctx, bad, time.Time{}, hour(0), nil)
	b.is("what cannot be kept", err, state.ErrInvalid)
	_, err = b.b.Update(b.ctx, to, time.Date(12000, 1, 1, 0, 0, 0, 0, time.UTC), hour(0), nil)
	b.is("a due instant out of range", err, state.ErrInvalid)
	bad = to
	bad.ID = "zzzz"
	_, err = b.b.Update(b.ctx, bad, time.Time{}, hour(0), nil)
	b.is("update of no task", err, state.ErrNotFound)
	if again := b.find(id); !reflect.DeepEqual(again, got) {
		t.Errorf("refused, and became %+v", again)
	}

	// The due instant: later, earlier, and not to what was taken.
	e = b.update(got, "later", hour(9))
	b.phase(id, state.Pending, hour(9))
	_, err = b.b.Claim(b.ctx, id, hour(1), hour(25), self, hour(1))
	b.is("claim of the instant it had", err, state.ErrTaken)
	e = b.update(e, "earlier", hour(2))
	b.phase(id, state.Pending, hour(2))
	r := b.claim(id, hour(2), hour(26))
	if r.Task.Description != "earlier" || r.Task.Revision != e.Task.Revision {
		t.Errorf("claimed %+v", r.Task)
	}
	e = b.find(id)
	for _, due := range []time.Time{hour(1), hour(2)} {
		_, err = b.b.Update(b.ctx, e.Task, due, hour(3), nil)
		b.is("an instant that runs", err, state.ErrTaken)
	}
	e = b.update(e, "while it runs", hour(3))
	if o := b.open(); len(o) != 1 || o[0].Task.Description != "earlier" {
		t.Errorf("the claim became %+v", o)
	}
	if e.Phase != state.Running || len(e.Open) != 1 || !e.Due.Equal(hour(3)) {
		t.Errorf("updated while it runs: %+v", e)
	}
	b.end(r, state.OK)
	_, err = b.b.Update(b.ctx, b.find(id).Task, hour(2), hour(3), nil)
	b.is("an instant that has ended", err, state.ErrTaken)
	b.phase(id, state.Pending, hour(3))

	// None to come.
	must[state.Entry](b)(b.a.Remove(b.ctx, id, hour(4)))
	_, err = b.b.Update(b.ctx, b.find(id).Task, time.Time{}, hour(4), nil)
	b.is("update of what was removed", err, state.ErrEnded)
	once := b.add(oneShot("once"), hour(1))
	r = b.claim(once.Task.ID, hour(1), time.Time{})
	_, err = b.b.Update(b.ctx, once.Task, time.Time{}, hour(1), nil)
	b.is("update of a one-shot that runs", err, state.ErrEnded)
	b.end(r, state.OK)
	_, err = b.b.Update(b.ctx, once.Task, hour(5), hour(2), nil)
	b.is("update of what has ended", err, state.ErrEnded)
}

// testUpdateRace: of those that change one revision exactly one does; and who reads, changes and
// tries again loses nothing.
func testUpdateRace(t *testing.T, b *bench) {
	const hands, each = 8, 6
	first := b.add(daily("n"), hour(1))
	var won atomic.Int32
	b.together(hands, func(h int, s state.Store) {
		task := first.Task
		task.Description = fmt.Sprint(h)
		due := []time.Time{{}, hour(2 + h)}[h/2%2]
		switch e, err := s.Update(b.ctx, task, due, hour(0), nil); {
		case err == nil:
			won.Add(1)
			if e.Task.Description != task.Description || e.Task.Revision != 2 {
				t.Errorf("the answer is %+v", e.Task)
			}
		case !errors.Is(err, state.ErrConflict):
			t.Error(err)
		}
	})
	if n := won.Load(); n != 1 {
		t.Errorf("%d changed revision 1", n)
	}
	id := b.add(daily("0"), hour(1)).Task.ID
	b.together(hands, func(_ int, s state.Store) {
		for done := 0; done < each; {
			l, err := s.Find(b.ctx, id)
			if err != nil || len(l) != 1 {
				t.Errorf("%v %v", l, err)
				return
			}
			task := l[0].Task
			n, _ := strconv.Atoi(task.Description)
			task.Description = strconv.Itoa(n + 1)
			_, err = s.Update(b.ctx, task, []time.Time{{}, hour(1 + n)}[n%2], hour(0), nil)
			switch {
			case err == nil:
				done++
			case !errors.Is(err, state.ErrConflict):
				t.Error(err)
				return
			}
		}
	})
	if e := b.find(id); e.Task.Description != strconv.Itoa(hands*each) || e.Task.Revision != hands*each+1 {
		t.Errorf("%d changes made it %s, revision %d", hands*each, e.Task.Description, e.Task.Revision)
	}
	for i, l := range b.log(id) {
		if l.Revision != int64(hands*each+1-i) {
			t.Errorf("line %d is of revision %d", i, l.Revision)
		}
	}
}

func testPause(t *testing.T, b *bench) {
	id := b.add(daily("n"), hour(1)).Task.ID
	_, err := b.a.Resume(b.ctx, id, hour(0))
	b.is("resume what is not paused", err, state.ErrTaken)
	_, err = b.a.Pause(b.ctx, "zzzz", time.Time{}, hour(0))
	b.is("pause of no task", err, state.ErrNotFound)
	_, err = b.a.Resume(b.ctx, "zzzz", hour(0))
	b.is("resume of no task", err, state.ErrNotFound)
	held := func(what string, e state.Entry, due, resume time.Time) {
		t.Helper()
		if f := b.find(id); e.Phase != state.Paused || !e.Held || !e.Due.Equal(due) || !e.Resume.Equal(resume) || !reflect.DeepEqual(e, f) {
			t.Errorf("%s: answer\n%+v\nfound\n%+v\nwant due %v, resume %v", what, e, f, due, resume)
		}
	}
	held("paused", b.pause(id, time.Time{}), hour(1), time.Time{})
	if got := ids(b.list(state.Paused)); !slices.Equal(got, []string{id}) || len(b.list(state.Pending)) != 0 {
		t.Errorf("paused are %v", got)
	}
	_, err = b.b.Claim(b.ctx, id, hour(1), hour(25), self, hour(1))
	b.is("claim of what is paused", err, state.ErrTaken)
	b.is("move of what is paused", b.b.Move(b.ctx, id, hour(1), hour(2), hour(0)), state.ErrTaken)
	if at, ok, err := state.Next(b.ctx, b.b, time.Time{}); ok || err != nil {
		t.Errorf("next of what is paused until told: %v %v", at, err)
	}
	held("paused again", b.pause(id, hour(5)), hour(1), hour(5))
	held("paused the same", b.pause(id, hour(5)), hour(1), hour(5))
	if l := b.log(id)[0]; l.Event != state.EventPaused || l.Resume == nil || !l.Resume.Equal(hour(5)) || !l.Due.Equal(hour(1)) {
		t.Errorf("line %+v", l)
	}
	_, err = b.a.Pause(b.ctx, id, time.Date(12000, 1, 1, 0, 0, 0, 0, time.UTC), hour(0))
	b.is("a resumption after all years", err, state.ErrInvalid)
	if at, ok, err := state.Next(b.ctx, b.b, hour(1)); !ok || err != nil || !at.Equal(hour(5)) {
		t.Errorf("next is %v %v %v, want the resumption", at, ok, err)
	}

	// Skipped, it stays paused.
	miss := state.Line{At: hour(6), Outcome: state.Skipped, Reason: "paused"}
	b.is("skip of another instant", b.b.Skip(b.ctx, id, hour(2), hour(25), miss), state.ErrTaken)
	b.is("skip of what is paused", b.b.Skip(b.ctx, id, hour(1), hour(25), miss), nil)
	b.is("skip again", b.b.Skip(b.ctx, id, hour(1), hour(25), miss), state.ErrTaken)
	held("skipped", b.find(id), hour(25), hour(5))
	if got := b.outcomes(id); !slices.Equal(got, []state.Outcome{state.Skipped}) {
		t.Errorf("outcomes %v", got)
	}
	// Changed, it stays paused.
	held("updated", b.update(b.find(id), "u", time.Time{}), hour(25), hour(5))
	held("updated and moved", b.update(b.find(id), "v", hour(30)), hour(30), hour(5))
	_, err = b.a.Update(b.ctx, b.find(id).Task, hour(1), hour(0), nil)
	b.is("an instant that has ended", err, state.ErrTaken)

	e, err := b.b.Resume(b.ctx, id, hour(6))
	if err != nil || e.Phase != state.Pending || e.Held || !e.Resume.IsZero() || !e.Due.Equal(hour(30)) || !reflect.DeepEqual(e, b.find(id)) {
		t.Errorf("resumed: %+v %v", e, err)
	}
	_, err = b.b.Resume(b.ctx, id, hour(6))
	b.is("resume twice", err, state.ErrTaken)
	r := b.claim(id, hour(30), hour(54))
	if r.Number != 2 || r.Task.Description != "v" {
		t.Errorf("claimed %+v", r)
	}
	// Paused while it runs.
	e = b.pause(id, time.Time{})
	if e.Phase != state.Running || !e.Held || len(e.Open) != 1 || !e.Due.Equal(hour(54)) || !reflect.DeepEqual(e, b.find(id)) {
		t.Errorf("paused while it runs: %+v", e)
	}
	b.end(r, state.OK)
	held("its run ended", b.find(id), hour(54), time.Time{})
	want := []string{"created", "paused", "paused", "paused", "edited", "edited", "resumed", "paused"}
	if got := b.events(id); !slices.Equal(got, want) {
		t.Errorf("events %v, want %v", got, want)
	}

	// Removed, restored, and at its end.
	e, err = b.a.Remove(b.ctx, id, hour(60))
	if err != nil || e.Phase != state.Removed || e.Held || !e.Resume.IsZero() {
		t.Errorf("removed: %+v %v", e, err)
	}
	_, err = b.b.Pause(b.ctx, id, time.Time{}, hour(60))
	b.is("pause of what was removed", err, state.ErrEnded)
	_, err = b.b.Resume(b.ctx, id, hour(60))
	b.is("resume of what was removed", err, state.ErrEnded)
	if e, err = b.b.Restore(b.ctx, id, hour(61), hour(60)); err != nil || e.Phase != state.Pending || e.Held {
		t.Errorf("restored: %+v %v", e, err)
	}
	b.pause(id, hour(70))
	b.is("skip to the end", b.b.Skip(b.ctx, id, hour(61), time.Time{}, miss), nil)
	if e := b.find(id); e.Phase != state.Ended || e.Held || !e.Resume.IsZero() || !e.Due.Equal(hour(61)) {
		t.Errorf("at its end: %+v", e)
	}
	_, err = b.b.Pause(b.ctx, id, time.Time{}, hour(62))
	b.is("pause of what has ended", err, state.ErrEnded)
}

// testPauseDue: those to be resumed are found among those that are due, in the order in which they
// want to be looked at.
func testPauseDue(t *testing.T, b *bench) {
	late := b.add(daily("due first, resumed last"), hour(1)).Task.ID
	early := b.add(daily("due last, resumed first"), hour(9)).Task.ID
	due := b.add(daily("due between"), hour(3)).Task.ID
	b.pause(b.add(daily("paused until told"), hour(0)).Task.ID, time.Time{})
	b.pause(late, hour(5))
	b.pause(early, hour(2))
	for _, c := range []struct {
		by    time.Time
		limit int
		want  []string
	}{{hour(1), 0, nil}, {hour(2), 0, []string{early}}, {hour(9), 0, []string{early, due, late}}, {hour(9), 2, []string{early, due}}} {
		l, p, err := dueBy(b.ctx, b.b, c.by, c.limit)
		if err != nil || len(p) > 0 || !slices.Equal(ids(l), c.want) {
			t.Errorf("due by %v, %d: %v %v %v, want %v", c.by, c.limit, ids(l), p, err, c.want)
		}
		for _, e := range l {
			if e.Held != (e.Task.ID != due) {
				t.Errorf("%+v", e)
			}
		}
	}
	for _, want := range []time.Time{hour(2), hour(3), hour(5)} {
		if at, ok, err := state.Next(b.ctx, b.b, want.Add(-1)); !ok || err != nil || !at.Equal(want) {
			t.Errorf("next is %v %v %v, want %v", at, ok, err, want)
		}
	}
}

// testPauseRace: a claim and a pause at once: when the pause came first nothing was granted, and
// nothing is lost either way.
func testPauseRace(t *testing.T, b *bench) {
	for range 10 {
		id := b.add(daily("n"), hour(1)).Task.ID
		var granted atomic.Int32
		var wg sync.WaitGroup
		for _, s := range []state.Store{b.a, b.b} {
			wg.Go(func() {
				r, err := s.Claim(b.ctx, id, hour(1), hour(25), self, hour(1))
				if err == nil {
					granted.Add(1)
					err = s.End(b.ctx, r, line(r, state.OK))
				}
				if err != nil && !errors.Is(err, state.ErrTaken) {
					t.Error(err)
				}
			})
			wg.Go(func() {
				if _, err := s.Pause(b.ctx, id, hour(50), hour(1)); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		e := b.find(id)
		due := []time.Time{hour(1), hour(25)}[min(granted.Load(), 1)]
		if granted.Load() > 1 || !e.Held || !e.Due.Equal(due) || len(e.Open) != 0 || len(b.outcomes(id)) != int(granted.Load()) {
			t.Errorf("granted %d times, and it is %+v", granted.Load(), e)
		}
		for range 4 { // of many who resume it one does
			s := b.a
			wg.Go(func() {
				if _, err := s.Resume(b.ctx, id, hour(2)); err == nil {
					granted.Add(100)
				} else if !errors.Is(err, state.ErrTaken) {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if granted.Load()/100 != 1 {
			t.Errorf("resumed %d times", granted.Load()/100)
		}
		b.end(b.claim(id, due, hour(100)), state.OK)
	}
}

func testRelease(t *testing.T, b *bench) {
	for _, c := range []struct {
		task state.Task
		next time.Time
	}{{oneShot("once"), time.Time{}}, {daily("daily"), hour(25)}} {
		id := b.add(c.task, hour(1)).Task.ID
		for range 2 {
			r := b.claim(id, hour(1), c.next)
			r.Starting = hour(1)
			b.is("started", b.a.Started(b.ctx, r), nil)
			out, errs := b.a.Output(id, r.Number)
			// what was made ready uses no number up
			for _, stream := range []state.Stream{out, errs} {
				f, err := stream.Create(b.ctx)
				b.is("making its output", err, nil)
				f.Close()
			}
			unknowing := r
			unknowing.Starting = time.Time{}
			b.is("release by one who does not know of the start", b.b.Release(b.ctx, unknowing), state.ErrConflict)
			b.is("release", b.b.Release(b.ctx, r), nil)
			b.phase(id, state.Pending, hour(1))
			if len(b.open()) != 0 {
				t.Errorf("released, and open are %+v", b.open())
			}
			b.is("release again", b.a.Release(b.ctx, r), state.ErrEnded)
			b.is("end what was released", b.a.End(b.ctx, r, line(r, state.OK)), state.ErrEnded)
			b.phase(id, state.Pending, hour(1))
		}
		r := b.claim(id, hour(1), c.next)
		if o := b.open(); r.Number != 1 || len(o) != 1 || !o[0].Starting.IsZero() {
			t.Errorf("claimed anew with number %d; open are %+v", r.Number, o)
		}
		b.end(r, state.OK)
		b.is("release of what has ended", b.b.Release(b.ctx, r), state.ErrEnded)
		if got := b.outcomes(id); !slices.Equal(got, []state.Outcome{state.OK}) {
			t.Errorf("outcomes %v", got)
		}
	}
	// What has become of the task since stands in the way; the claim is still open then.
	for name, since := range map[string]func(id string) error{
		"claimed again": func(id string) error {
			_, err := b.a.Claim(b.ctx, id, hour(25), hour(49), self, hour(25))
			return err
		},
		"claimed again and ended": func(id string) error {
			r, err := b.a.Claim(b.ctx, id, hour(25), hour(49), self, hour(25))
			return errors.Join(err, b.a.End(b.ctx, r, line(r, state.OK)))
		},
		"skipped": func(id string) error {
			return b.a.Skip(b.ctx, id, hour(25), hour(49), state.Line{Outcome: state.Missed})
		},
		"edited": func(id string) error {
			_, err := b.a.Update(b.ctx, b.find(id).Task, time.Time{}, hour(2), nil)
			return err
		},
		"paused":   func(id string) error { _, err := b.a.Pause(b.ctx, id, time.Time{}, hour(2)); return err },
		"removed":  func(id string) error { _, err := b.a.Remove(b.ctx, id, hour(2)); return err },
		"finished": func(id string) error { return b.a.Finish(b.ctx, id, "enough", hour(2)) },
	} {
		id := b.add(daily(name), hour(1)).Task.ID
		r := b.claim(id, hour(1), hour(25))
		if err := since(id); err != nil {
			t.Fatal(name, err)
		}
		before := b.find(id)
		b.is("release after it was "+name, b.b.Release(b.ctx, r), state.ErrTaken)
		if after := b.find(id); !reflect.DeepEqual(after, before) {
			t.Errorf("%s: refused, and it became\n%+v\nfrom\n%+v", name, after, before)
		}
		b.end(r, state.Interrupted)
	}
	// A run by hand stands in nobody's way, and is nothing but itself.
	id := b.add(daily("n"), hour(1)).Task.ID
	r := b.claim(id, hour(1), hour(25))
	manual, err := b.a.Fire(b.ctx, id, self, hour(2))
	b.is("fire", err, nil)
	b.is("release beside a run by hand", b.b.Release(b.ctx, r), nil)
	b.is("release of a run by hand", b.b.Release(b.ctx, manual), nil)
	b.phase(id, state.Pending, hour(1))
	if n := b.claim(id, hour(1), hour(25)).Number; n != 1 {
		t.Errorf("number %d", n)
	}
}

// testReleaseRace: claims are given back and taken again by many. Each instant ends once, and no
// number is lost or comes twice.
func testReleaseRace(t *testing.T, b *bench) {
	const hands, days = 6, 5
	id := b.add(daily("n"), hour(0)).Task.ID
	var ended atomic.Int32
	b.together(hands, func(h int, s state.Store) {
		who := self
		who.PID += h
		for i := 0; ended.Load() < days; i++ {
			l, _, err := dueBy(b.ctx, s, hour(24*days), 0)
			if err != nil {
				t.Error(err)
				return
			}
			if len(l) == 0 {
				continue
			}
			next := l[0].Due.Add(24 * time.Hour)
			if next.Equal(hour(24 * days)) {
				next = time.Time{}
			}
			r, err := s.Claim(b.ctx, id, l[0].Due, next, who, l[0].Due)
			if errors.Is(err, state.ErrTaken) {
				continue
			}
			if err != nil {
				t.Error(err)
				return
			}
			if (h+i)%3 != 0 {
				if err = s.Release(b.ctx, r); err == nil {
					continue
				}
			}
			if err != nil && !errors.Is(err, state.ErrTaken) {
				t.Error(err)
			}
			if err := s.End(b.ctx, r, line(r, state.OK)); err != nil {
				t.Error(err)
			}
			ended.Add(1)
		}
	})
	var numbers []int
	var dues []time.Time
	for _, l := range b.log(id) {
		if l.Type == state.LineOccurrence {
			numbers, dues = append(numbers, l.Number), append(dues, *l.Due)
		}
	}
	slices.Sort(numbers)
	slices.SortFunc(dues, time.Time.Compare)
	for d := range days {
		if len(numbers) != days || numbers[d] != d+1 || !dues[d].Equal(hour(24*d)) {
			t.Fatalf("numbers %v of %v", numbers, dues)
		}
	}
	if o := b.open(); len(o) != 0 || b.find(id).Phase != state.Ended {
		t.Errorf("open %v, %s", o, b.find(id).Phase)
	}
}

// testGiven: the line of each change says how many numbers had been given, those of open claims
// among them, and that of an end of which revision the run was.
func testGiven(t *testing.T, b *bench) {
	e := b.add(daily("news"), hour(1))
	id := e.Task.ID
	given := func(what, event string, want int) {
		t.Helper()
		if l := b.log(id)[0]; l.Event != event || l.Given == nil || *l.Given != want {
			t.Errorf("%s: the last line is %s and says %v, want %s and %d", what, l.Event, l.Given, event, want)
		}
	}
	given("made", state.EventCreated, 0)
	r := b.claim(id, hour(1), hour(25))
	b.update(b.find(id), "while it runs", hour(25))
	given("edited while number 1 runs", state.EventEdited, 1)
	b.end(r, state.OK)
	if l := b.log(id)[0]; l.Number != 1 || l.Revision != 1 || l.Given != nil {
		t.Errorf("the end of what was claimed before the edit: %+v", l)
	}
	second := b.claim(id, hour(25), hour(49))
	_, err := b.b.Pause(b.ctx, id, time.Time{}, hour(26))
	b.is("pause", err, nil)
	given("paused while number 2 runs", state.EventPaused, 2)
	due := hour(49)
	b.is("skip", b.a.Skip(b.ctx, id, due, hour(73), state.Line{At: hour(50), Due: &due, Count: 3, Outcome: state.Skipped, Reason: "paused"}), nil)
	_, err = b.a.Resume(b.ctx, id, hour(51))
	b.is("resume", err, nil)
	given("resumed after three were skipped", state.EventResumed, 5)
	b.end(second, state.Failed)
	if l := b.log(id)[0]; l.Revision != 2 {
		t.Errorf("the end of what was claimed after the edit is of revision %d", l.Revision)
	}
	b.is("move", b.b.Move(b.ctx, id, hour(73), hour(74), hour(52)), nil)
	given("moved", state.EventMoved, 5)
	_, err = b.b.Rewind(b.ctx, b.find(id).Task, hour(60), hour(55))
	b.is("rewind", err, nil)
	given("the clock was put back", state.EventClock, 5)
	third := b.claim(id, hour(60), hour(84))
	b.is("release", b.a.Release(b.ctx, third), nil)
	_, err = b.b.Remove(b.ctx, id, hour(56))
	b.is("remove", err, nil)
	given("removed after number 6 was given back", state.EventRemoved, 5)
	_, err = b.a.Restore(b.ctx, id, hour(84), hour(57))
	b.is("restore", err, nil)
	given("restored", state.EventRestored, 5)
	must[state.Record](b)(b.a.Fire(b.ctx, id, self, hour(58)))
	b.is("finish", b.a.Finish(b.ctx, id, "enough", hour(59)), nil)
	given("finished under a run by hand", state.EventFinished, 6)
}
