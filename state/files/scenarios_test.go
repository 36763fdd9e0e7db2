package files

import (
	"errors"
	"os"
	"testing"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/state/storetest"
)

var (
	day0 = time.Date(2026, 11, 23, 8, 0, 0, 0, time.UTC)
	day1 = day0.AddDate(0, 0, 1)
	day2 = day0.AddDate(0, 0, 2)
)

func once(text string) state.Task {
	return state.Task{Created: day0, Description: text, When: state.Timing{Text: "in 1h", Kind: "once", Zone: "UTC", Start: day0},
		Run: state.Job{Argv: []string{"true"}, Dir: "/"}}
}

func daily(text string) state.Task {
	t := once(text)
	t.When.Kind = "cron"
	return t
}

func keyed(t state.Task, key string) state.Task {
	t.Key = key
	return t
}

func from(origin string, t state.Task) state.Task {
	t.Origin = origin
	return t
}

// Origins of tasks.
var from1, from2 = state.ID(1000), state.ID(2000)

// scenario is one operation on a prepared store.
type scenario struct {
	name    string
	prepare func(t *testing.T, s *Store) state.Record
	op      func(s *Store, r state.Record) error
	// parts are what the operation does one after the other, if it is of many: a beginning of them may have happened.
	parts []func(s *Store, r state.Record) error
	row   bool    // several operations one after the other: the last may fail alone
	twice []error // what it answers when it has been done already
	// origins says that tasks have an origin: limitsHold then has something to hold.
	origins bool
}

// key is the key of the task that a scenario is about; other keys are those of tasks beside it.
const key = "k"

// The first tasks of a store.
var firstID, secondID, thirdID = state.ID(0), state.ID(1), state.ID(2)

// scenarios are all operations that change the state, in every situation that makes a difference to their steps.
var scenarios = func() []scenario {
	type prepare = func(*testing.T, *Store) state.Record
	type op = func(*Store, state.Record) error
	// Worlds. The record is of the task that the operation is about, and of its claim if it has one.
	added := func(task state.Task) prepare {
		return func(t *testing.T, s *Store) state.Record {
			e := must[state.Entry](t)(s.Add(ctx, keyed(task, key), day0))
			return state.Record{Task: e.Task, Due: day0}
		}
	}
	then := func(p prepare, more ...op) prepare {
		return func(t *testing.T, s *Store) state.Record {
			r := p(t, s)
			for _, do := range more {
				if err := do(s, r); err != nil {
					t.Fatal(err)
				}
			}
			return r
		}
	}
	claimed := func(task state.Task, next time.Time) prepare {
		return func(t *testing.T, s *Store) state.Record {
			r := added(task)(t, s)
			return must[state.Record](t)(s.Claim(ctx, r.Task.ID, day0, next, state.Ident{PID: 1}, day0))
		}
	}
	fired := func(p prepare) prepare {
		return func(t *testing.T, s *Store) state.Record {
			return must[state.Record](t)(s.Fire(ctx, p(t, s).Task.ID, state.Ident{PID: 1}, day0.Add(time.Hour)))
		}
	}
	two := func(t *testing.T, s *Store) state.Record {
		r := added(once("one"))(t, s)
		must[state.Entry](t)(s.Add(ctx, keyed(daily("two"), "k2"), day0))
		return r
	}
	three := func(t *testing.T, s *Store) state.Record { // the third one runs
		r := two(t, s)
		must[state.Entry](t)(s.Add(ctx, keyed(daily("three"), "k3"), day0))
		must[state.Record](t)(s.Claim(ctx, thirdID, day0, day1, state.Ident{PID: 1}, day0))
		return r
	}
	// Operations.
	add := func(task state.Task, due time.Time) op {
		return func(s *Store, _ state.Record) error { _, err := s.Add(ctx, task, due); return err }
	}
	addAll := func(drafts ...state.Draft) op {
		return func(s *Store, _ state.Record) (err error) {
			for _, a := range s.AddAll(ctx, drafts) {
				if !errors.Is(a.Err, state.ErrKept) && !errors.Is(a.Err, state.ErrInvalid) {
					err = errors.Join(err, a.Err)
				}
			}
			return err
		}
	}
	claim := func(due, next time.Time) op {
		return func(s *Store, r state.Record) error {
			_, err := s.Claim(ctx, r.Task.ID, due, next, state.Ident{PID: 2}, due)
			return err
		}
	}
	want := func(id string, next time.Time) storetest.Want { return storetest.Want{ID: id, Due: day0, Next: next} }
	claimAll := func(wants ...storetest.Want) op {
		return func(s *Store, _ state.Record) (err error) {
			for _, g := range storetest.ClaimAll(ctx, s, wants, state.Ident{PID: 2}, day0) {
				err = errors.Join(err, g.Err)
			}
			return err
		}
	}
	end := func(o state.Outcome) op {
		return func(s *Store, r state.Record) error {
			return s.End(ctx, r, state.Line{At: r.Due, Outcome: o, Description: "n", ExitCode: new(int)})
		}
	}
	ending := func(id string) state.Ending {
		return state.Ending{Record: state.Record{Task: state.Task{ID: id}, Due: day0, Number: 1}, Line: state.Line{At: day0, Outcome: state.OK, Description: "n", ExitCode: new(int)}}
	}
	endAll := func(ends ...state.Ending) op {
		return func(s *Store, _ state.Record) error { return errors.Join(s.EndAll(ctx, ends)...) }
	}
	ends := func(of ...string) op {
		return func(s *Store, _ state.Record) error {
			var list []state.Ending
			for _, id := range of {
				list = append(list, ending(id))
			}
			for _, err := range s.EndAll(ctx, list) {
				if err != nil && !errors.Is(err, state.ErrEnded) { // was not claimed
					return err
				}
			}
			return nil
		}
	}
	all := func(ops ...op) op {
		return func(s *Store, r state.Record) error {
			for _, do := range ops {
				if err := do(s, r); err != nil {
					return err
				}
			}
			return nil
		}
	}
	skip := func(due, next time.Time) op {
		return func(s *Store, r state.Record) error {
			return s.Skip(ctx, r.Task.ID, due, next, state.Line{At: day0, Outcome: state.Missed})
		}
	}
	skipOf := func(id string, line *state.Line, next time.Time) op {
		return func(s *Store, _ state.Record) error { return s.Skip(ctx, id, *line.Due, next, *line) }
	}
	remove := func(s *Store, r state.Record) error { _, err := s.Remove(ctx, r.Task.ID, day0); return err }
	restore := func(due time.Time) op {
		return func(s *Store, r state.Record) error { _, err := s.Restore(ctx, r.Task.ID, due, day0); return err }
	}
	move := func(due, to time.Time) op {
		return func(s *Store, r state.Record) error { return s.Move(ctx, r.Task.ID, due, to, day0) }
	}
	rewind := func(to time.Time) op {
		return func(s *Store, r state.Record) error {
			_, err := s.Rewind(ctx, r.Task, to, to.Add(-time.Minute))
			return err
		}
	}
	back := state.ClockShift{Peak: day2, Stayed: 10 * time.Minute, Boot: "b00t", At: time.Hour}
	setback := func(b state.ClockShift) op {
		return func(s *Store, _ state.Record) error { return s.SetClockShift(ctx, b) }
	}
	pause := func(resume time.Time) op {
		return func(s *Store, r state.Record) error { _, err := s.Pause(ctx, r.Task.ID, resume, day0); return err }
	}
	resume := func(s *Store, r state.Record) error { _, err := s.Resume(ctx, r.Task.ID, day0); return err }
	changed := func(answers []state.Applied) (err error) {
		for _, a := range answers {
			err = errors.Join(err, a.Err)
		}
		return err
	}
	pauseAll := func(resume time.Time, ids ...string) op {
		return func(s *Store, _ state.Record) error { return changed(pauseAll(ctx, s, ids, resume, day0)) }
	}
	passed := func(due, last time.Time, count int) *state.Line {
		return &state.Line{At: day1, Due: &due, DueLast: &last, Count: count, Outcome: state.Skipped, Reason: "paused"}
	}
	resumingAll := func(list ...resumption) op {
		return func(s *Store, _ state.Record) error { return changed(resumeAll(ctx, s, list, day1)) }
	}
	replace := func(due time.Time, line *state.Line) op {
		return func(s *Store, r state.Record) error {
			task := r.Task
			task.Description = "changed"
			_, err := s.Update(ctx, task, due, day1, line)
			return err
		}
	}
	update := func(due time.Time) op {
		return func(s *Store, r state.Record) error {
			task := r.Task
			task.Description = "changed"
			_, err := s.Update(ctx, task, due, day0, nil)
			return err
		}
	}
	release := func(s *Store, r state.Record) error { return s.Release(ctx, r) }
	releaseOf := func(id string) op {
		return func(s *Store, _ state.Record) error {
			list, _, err := s.Open(ctx)
			for _, r := range list {
				if r.Task.ID == id {
					return s.Release(ctx, r)
				}
			}
			return err
		}
	}
	fire := func(s *Store, r state.Record) error {
		_, err := s.Fire(ctx, r.Task.ID, state.Ident{PID: 2}, day0.Add(2*time.Hour))
		return err
	}
	note := func(s *Store, r state.Record) error {
		r.Attempt, r.Retry, r.Child = 2, day1, state.Ident{PID: 7}
		return s.Note(ctx, r)
	}
	finish := func(s *Store, r state.Record) error { return s.Finish(ctx, r.Task.ID, "enough", day0) }
	rename := func(due, to time.Time) op { // by hand, once the disk has all that is to be renamed
		return func(s *Store, r state.Record) error {
			if err := s.Sync(ctx); err != nil {
				return err
			}
			id := r.Task.ID
			return os.Rename(s.path(queueDir+"/"+name{due: due.Format(stamp), id: id}.queue()), s.path(queueDir+"/"+name{due: to.Format(stamp), id: id}.queue()))
		}
	}
	never := time.Time{}
	gone := []error{state.ErrTaken, state.ErrEnded}
	again := []error{nil}
	conflict := []error{state.ErrConflict}
	kept := []error{state.ErrKept}
	draft := func(task state.Task) state.Draft { return state.Draft{Task: task, Due: day1} }
	invalid := draft(state.Task{Text: "\xff"})
	tasks := []state.Draft{draft(keyed(once("a"), "k2")), draft(once("b")), draft(keyed(daily("c"), "k3"))}
	endedOnce := then(claimed(once("n"), never), end(state.OK))
	return []scenario{
		{name: "add", prepare: added(once("before")), op: add(once("new"), day1), twice: again},
		{name: "add to nothing", prepare: func(*testing.T, *Store) state.Record { return state.Record{} }, op: add(once("new"), day1), twice: again},
		{name: "add with a key", prepare: added(once("before")), op: add(keyed(once("new"), "k2"), day1), twice: kept},
		{name: "add with the key of a removed task", prepare: then(added(daily("old")), remove), op: add(keyed(once("new"), key), day1), twice: kept},
		{name: "add with the key of a task that ended", prepare: endedOnce, op: add(keyed(once("new"), key), day1), twice: kept},
		{name: "add many", prepare: added(once("before")), twice: again,
			op:    addAll(tasks[0], invalid, tasks[1], draft(keyed(once("taken"), key)), draft(keyed(once("double"), "k2")), tasks[2]),
			parts: []op{addAll(tasks[0]), addAll(tasks[1]), addAll(tasks[2])}},
		{name: "add many, one with a key that is free again", prepare: then(added(daily("old")), remove), twice: again,
			op:    addAll(draft(keyed(once("new"), key)), tasks[1]),
			parts: []op{addAll(draft(keyed(once("new"), key))), addAll(tasks[1])}},

		{name: "add with an origin", origins: true, prepare: added(once("before")), op: add(from(from1, once("new")), day1), twice: again},
		{name: "add the second with an origin", origins: true, prepare: then(added(from(from1, daily("before"))), add(from(from2, once("other")), day1)),
			op: add(from(from1, keyed(once("new"), "k2")), day1), twice: kept},
		{name: "add many with origins", origins: true, prepare: added(from(from1, once("before"))), twice: again,
			op:    addAll(draft(from(from1, once("a"))), draft(from(from2, once("c")))),
			parts: []op{addAll(draft(from(from1, once("a")))), addAll(draft(from(from2, once("c"))))}},
		{name: "restore with an origin", origins: true, prepare: then(added(from(from1, daily("n"))), remove), op: restore(day1), twice: gone},
		{name: "remove with an origin", origins: true, prepare: added(from(from1, daily("n"))), op: remove, twice: gone},
		{name: "claim the last with an origin", origins: true, prepare: added(from(from1, once("n"))), op: claim(day0, never), twice: gone},
		{name: "release with an origin", origins: true, prepare: claimed(from(from1, once("n")), never), op: release, twice: gone},
		{name: "update takes an origin", origins: true, prepare: added(daily("n")), twice: conflict, op: func(s *Store, r state.Record) error {
			_, err := s.Update(ctx, from(from2, r.Task), day1, day0, nil)
			return err
		}},
		{name: "charge", origins: true, prepare: added(from(from1, once("n"))), twice: again,
			op: func(s *Store, _ state.Record) error { return s.Charge(ctx, from1, day0) }},

		{name: "claim once", prepare: added(once("n")), op: claim(day0, never), twice: gone},
		{name: "claim daily", prepare: added(daily("n")), op: claim(day0, day1), twice: gone},
		{name: "claim a message", prepare: added(state.Task{Text: "m", Created: day0, When: once("").When}), op: claim(day0, never), twice: gone},
		{name: "claim again what was released", prepare: then(claimed(daily("n"), day1), release), op: claim(day0, day1), twice: gone},
		{name: "claim what was moved back, which takes it to where it was", prepare: then(added(daily("n")), move(day0, day0.Add(-time.Hour))),
			op: claim(day0.Add(-time.Hour), day0), twice: gone},
		{name: "claim what was edited to be earlier, which takes it to where it was", prepare: then(added(daily("n")), update(day0.Add(-time.Hour))),
			op: claim(day0.Add(-time.Hour), day0), twice: gone},
		{name: "claim what was rewound, which takes it to where it was",
			prepare: then(added(daily("n")), skipOf(firstID, passed(day0, day1, 2), day2), rewind(day0)), op: claim(day0, day1), twice: gone},
		{name: "claim two", prepare: two, op: claimAll(want(firstID, never), want(secondID, day1)), twice: gone,
			parts: []op{claimAll(want(firstID, never)), claimAll(want(secondID, day1))}},

		{name: "claim two and end them", row: true, prepare: two, twice: gone,
			op:    all(claimAll(want(firstID, never), want(secondID, day1)), endAll(ending(firstID), ending(secondID))),
			parts: []op{claimAll(want(firstID, never)), claimAll(want(secondID, day1)), ends(firstID), ends(secondID)}},
		{name: "claim two, release one, and remove it", row: true, prepare: two, twice: gone,
			op:    all(claimAll(want(firstID, never), want(secondID, day1)), releaseOf(firstID), remove),
			parts: []op{claimAll(want(firstID, never)), claimAll(want(secondID, day1)), releaseOf(firstID), remove}},
		{name: "sync", prepare: then(two, claimAll(want(firstID, never), want(secondID, day1)), ends(firstID)), twice: again,
			op: func(s *Store, _ state.Record) error { return s.Sync(ctx) }},
		{name: "claim two, end one, and sync", row: true, prepare: two, twice: gone,
			op:    all(claimAll(want(firstID, never), want(secondID, day1)), endAll(ending(firstID)), func(s *Store, _ state.Record) error { return s.Sync(ctx) }),
			parts: []op{claimAll(want(firstID, never)), claimAll(want(secondID, day1)), ends(firstID)}},

		{name: "end once", prepare: claimed(once("n"), never), op: end(state.OK), twice: gone},
		{name: "end the second", prepare: func(t *testing.T, s *Store) state.Record {
			r := then(claimed(daily("n"), day1), end(state.OK))(t, s)
			return must[state.Record](t)(s.Claim(ctx, r.Task.ID, day1, day2, state.Ident{PID: 1}, day1))
		}, op: end(state.Failed), twice: gone},
		{name: "end two", prepare: then(two, claimAll(want(firstID, never), want(secondID, day1))), op: endAll(ending(firstID), ending(secondID)),
			twice: gone, parts: []op{endAll(ending(firstID)), endAll(ending(secondID))}},
		{name: "end a run by hand", prepare: fired(added(daily("n"))), op: end(state.OK), twice: gone},

		{name: "skip", prepare: added(daily("n")), op: skip(day0, day1), twice: gone},
		{name: "skip the last", prepare: added(daily("n")), op: skip(day0, never), twice: gone},
		{name: "skip what has ended", prepare: then(claimed(daily("n"), day1), end(state.OK), rename(day1, day0)), op: skip(day0, day1), twice: gone},
		{name: "skip of a paused task", prepare: then(added(daily("n")), pause(never)), op: skip(day0, day1), twice: gone},
		{name: "skip of a paused task to be resumed", prepare: then(added(daily("n")), pause(day2)), op: skip(day0, day1), twice: gone},
		{name: "skip the last of a paused task", prepare: then(added(daily("n")), pause(day2)), op: skip(day0, never), twice: gone},

		{name: "remove", prepare: added(daily("n")), op: remove, twice: gone},
		{name: "remove what runs", prepare: claimed(once("n"), never), op: remove, twice: gone},
		{name: "remove what is paused", prepare: then(added(daily("n")), pause(day2)), op: remove, twice: gone},
		{name: "restore", prepare: then(added(daily("n")), remove), op: restore(day1), twice: gone},
		{name: "restore what runs", prepare: then(claimed(daily("n"), day1), remove), op: restore(day2), twice: gone},
		{name: "restore what was paused", prepare: then(added(daily("n")), pause(day2), remove), op: restore(day1), twice: gone},
		{name: "restore when another that is gone had the key", prepare: func(t *testing.T, s *Store) state.Record {
			r := then(added(daily("n")), remove)(t, s)
			other := must[state.Entry](t)(s.Add(ctx, keyed(once("other"), key), day1))
			must[state.Entry](t)(s.Remove(ctx, other.Task.ID, day0))
			return r
		}, op: restore(day1), twice: gone},

		{name: "move", prepare: added(daily("n")), op: move(day0, day1), twice: gone},
		{name: "move back", prepare: added(daily("n")), op: move(day0, day0.Add(-time.Hour)), twice: gone},
		{name: "rewind", prepare: then(claimed(daily("n"), day1), end(state.OK)), op: rewind(day0), twice: conflict},
		{name: "rewind what is paused", prepare: then(added(daily("n")), pause(day2)), op: rewind(day0.Add(-time.Hour)), twice: conflict},
		{name: "skip what has run, and comes again", prepare: then(claimed(daily("n"), day1), end(state.OK), rewind(day0)), op: skip(day0, day1), twice: gone},
		{name: "note that the clock is back", prepare: added(daily("n")), op: setback(back), twice: again},
		{name: "note that the clock is not back", prepare: then(added(daily("n")), setback(back)), op: setback(state.ClockShift{}), twice: again},

		{name: "update", prepare: added(daily("n")), op: update(never), twice: conflict},
		{name: "update and move on", prepare: added(daily("n")), op: update(day1), twice: conflict},
		{name: "update and move back", prepare: added(daily("n")), op: update(day0.Add(-time.Hour)), twice: conflict},
		{name: "update what runs", prepare: claimed(daily("n"), day1), op: update(day2), twice: conflict},
		{name: "update what is paused", prepare: then(added(daily("n")), pause(never)), op: update(never), twice: conflict},
		{name: "update what is paused and move on", prepare: then(added(daily("n")), pause(day2)), op: update(day1), twice: conflict},

		{name: "replace what has passed", prepare: added(daily("n")), op: replace(day2, passed(day0, day1, 2)), twice: conflict},
		{name: "replace what has passed and is paused", prepare: then(added(daily("n")), pause(day2)), op: replace(day2, passed(day0, day1, 2)), twice: conflict},
		{name: "replace what has passed and runs", prepare: claimed(daily("n"), day1), op: replace(day2, passed(day1, day1, 1)), twice: conflict},
		{name: "replace what has ended", prepare: then(claimed(daily("n"), day1), end(state.OK), rename(day1, day0)), op: replace(day2, passed(day0, day0, 1)), twice: conflict},

		{name: "pause", prepare: added(daily("n")), op: pause(never), twice: again},
		{name: "pause until", prepare: added(daily("n")), op: pause(day2), twice: again},
		{name: "pause longer", prepare: then(added(daily("n")), pause(day1)), op: pause(day2), twice: again},
		{name: "pause the same", prepare: then(added(daily("n")), pause(day1)), op: pause(day1), twice: again},
		{name: "pause what runs", prepare: claimed(daily("n"), day1), op: pause(never), twice: again},
		{name: "pause three", prepare: three, op: pauseAll(never, firstID, secondID, thirdID), twice: again,
			parts: []op{pauseAll(never, firstID), pauseAll(never, secondID), pauseAll(never, thirdID)}},
		{name: "pause three until, one of which is paused", prepare: then(three, pauseAll(never, secondID)), op: pauseAll(day2, firstID, secondID, thirdID), twice: again,
			parts: []op{pauseAll(day2, firstID), pauseAll(day2, secondID), pauseAll(day2, thirdID)}},
		{name: "pause one as one of many", prepare: two, op: pauseAll(day1, firstID), twice: again},
		{name: "pause the same one twice", prepare: two, op: pauseAll(day1, firstID, firstID), twice: again, parts: []op{pauseAll(day1, firstID), pauseAll(day1, firstID)}},
		{name: "resume three", prepare: then(three, pauseAll(day2, firstID, secondID, thirdID)), twice: gone,
			op:    resumingAll(resumption{ID: firstID}, resumption{ID: secondID}, resumption{ID: thirdID}),
			parts: []op{resumingAll(resumption{ID: firstID}), resumingAll(resumption{ID: secondID}), resumingAll(resumption{ID: thirdID})}},
		{name: "resume three whose time has passed", prepare: then(three, pauseAll(day2, firstID, secondID, thirdID)), twice: gone,
			op: resumingAll(resumption{ID: firstID, Line: passed(day0, day0, 1)}, resumption{ID: secondID, Line: passed(day0, day1, 2), Next: day2},
				resumption{ID: thirdID}),
			parts: []op{resumingAll(resumption{ID: firstID, Line: passed(day0, day0, 1)}),
				resumingAll(resumption{ID: secondID, Line: passed(day0, day1, 2), Next: day2}), resumingAll(resumption{ID: thirdID})}},
		{name: "resume", prepare: then(added(daily("n")), pause(never)), op: resume, twice: gone},
		{name: "resume before its time", prepare: then(added(daily("n")), pause(day2)), op: resume, twice: gone},

		{name: "release once", prepare: claimed(once("n"), never), op: release, twice: gone},
		{name: "release daily", prepare: claimed(daily("n"), day1), op: release, twice: gone},
		{name: "release a run by hand", prepare: fired(added(daily("n"))), op: release, twice: gone},
		{name: "fire", prepare: added(daily("n")), op: fire, twice: again},
		{name: "fire what has ended", prepare: endedOnce, op: fire, twice: again},
		{name: "note", prepare: claimed(once("n"), never), op: note, twice: again},
		{name: "finish", prepare: added(daily("n")), op: finish, twice: gone},
		{name: "finish what is paused", prepare: then(added(daily("n")), pause(day2)), op: finish, twice: gone},
	}
}()
