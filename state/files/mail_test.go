package files

import (
	"errors"
	"testing"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
)

// The changes of the inbox and the outbox, and those that make something for them, among the operations that crash at every step.
func init() {
	type op = func(*Store, state.Record) error
	far := day0.AddDate(100, 0, 0)
	channels := []string{"desktop", "https://example.org/hook?token=secret"}
	telling := func(at time.Time) state.Line {
		return state.Line{At: at, Outcome: state.Failed, Inbox: state.ItemFailure, Tell: channels, News: state.NewsFailure}
	}
	claimed := func(t *testing.T, s *Store) state.Record {
		e := must[state.Entry](t)(s.Add(ctx, keyed(once("n"), key), day0))
		return must[state.Record](t)(s.Claim(ctx, e.Task.ID, day0, time.Time{}, state.Ident{PID: 1}, day0))
	}
	three := func(t *testing.T, s *Store) (r state.Record) {
		for i, k := range []string{key, "k2", "k3"} {
			e := must[state.Entry](t)(s.Add(ctx, keyed(once([]string{"one", "two", "three"}[i]), k), day0))
			r = must[state.Record](t)(s.Claim(ctx, e.Task.ID, day0, time.Time{}, state.Ident{PID: 1}, day0))
		}
		return r
	}
	ending := func(id string, l state.Line) state.Ending {
		return state.Ending{Record: state.Record{Task: state.Task{ID: id}, Due: day0, Number: 1}, Line: l}
	}
	endAll := func(ends ...state.Ending) op {
		return func(s *Store, _ state.Record) error { return errors.Join(s.EndAll(ctx, ends)...) }
	}
	end := func(s *Store, r state.Record) error { return s.End(ctx, r, telling(r.Due)) }
	ended := func(t *testing.T, s *Store) state.Record {
		r := three(t, s)
		err := endAll(ending(firstID, telling(day0)), ending(secondID, telling(day0)), ending(thirdID, state.Line{At: day0, Outcome: state.OK}))(s, r)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	endedLast := func(t *testing.T, s *Store) state.Record { // that made mail is the last line of the ledger
		r := claimed(t, s)
		if err := end(s, r); err != nil {
			t.Fatal(err)
		}
		return r
	}
	paused := func(t *testing.T, s *Store) state.Record {
		e := must[state.Entry](t)(s.Add(ctx, keyed(daily("n"), key), day0))
		must[state.Entry](t)(s.Pause(ctx, e.Task.ID, day2, day0))
		return state.Record{Task: e.Task, Due: day0}
	}
	added := func(t *testing.T, s *Store) state.Record {
		e := must[state.Entry](t)(s.Add(ctx, keyed(daily("n"), key), day0))
		return state.Record{Task: e.Task, Due: day0}
	}
	missed := func(due time.Time) state.Line {
		return state.Line{At: day1, Due: &due, Outcome: state.Missed, Reason: "window", Inbox: state.ItemMissed, Tell: channels[:1]}
	}
	skip := func(next time.Time) op {
		return func(s *Store, r state.Record) error { return s.Skip(ctx, r.Task.ID, day0, next, missed(day0)) }
	}
	take := func(until time.Time, ids ...string) op {
		return func(s *Store, _ state.Record) error {
			_, _, problems, err := s.Take(ctx, state.Query{Tasks: ids}, day1, until)
			for _, p := range problems {
				err = errors.Join(err, p)
			}
			return err
		}
	}
	taken := func(t *testing.T, s *Store) state.Record {
		r := ended(t, s)
		if err := take(day2)(s, r); err != nil {
			t.Fatal(err)
		}
		return r
	}
	ack := func(ids ...string) op {
		return func(s *Store, _ state.Record) error { return errors.Join(s.Ack(ctx, ids)...) }
	}
	first := func(s *Store) (state.Notice, error) {
		due, _, problems, err := s.Outbox(ctx, far, 1)
		if err != nil || len(problems) > 0 {
			return state.Notice{}, errors.Join(err, problems[0])
		}
		if len(due) == 0 {
			return state.Notice{}, state.ErrNotFound
		}
		return due[0], nil
	}
	last := func(s *Store) (state.Notice, error) {
		due, _, _, err := s.Outbox(ctx, far, 0)
		if err != nil || len(due) == 0 {
			return state.Notice{}, errors.Join(err, state.ErrNotFound)
		}
		return due[len(due)-1], nil
	}
	postpone := func(pick func(*Store) (state.Notice, error), due time.Time, why string) op {
		return func(s *Store, _ state.Record) error {
			n, err := pick(s)
			if err != nil {
				return err
			}
			n.Due, n.Attempts, n.Last = due, 1, why
			return s.Postpone(ctx, n)
		}
	}
	told := func(s *Store, line state.Line) error {
		n, err := first(s)
		if err != nil {
			return err
		}
		return s.Told(ctx, n, line)
	}
	one := func(t *testing.T, s *Store) state.Record { // notice
		r := claimed(t, s)
		l := telling(day0)
		l.Tell = l.Tell[1:]
		if err := s.End(ctx, r, l); err != nil {
			t.Fatal(err)
		}
		return r
	}
	item := func(id string) string { return state.OccurrenceID(id, 1) }
	gone, again, none := []error{state.ErrTaken, state.ErrEnded}, []error{nil}, []error{state.ErrNotFound}
	scenarios = append(scenarios,
		scenario{name: "end with mail", prepare: claimed, op: end, twice: gone},
		scenario{name: "end a run by hand with mail", twice: gone, op: end, prepare: func(t *testing.T, s *Store) state.Record {
			return must[state.Record](t)(s.Fire(ctx, added(t, s).Task.ID, state.Ident{PID: 1}, day1))
		}},
		scenario{name: "end three, two with mail", prepare: three, twice: gone,
			op: endAll(ending(firstID, telling(day0)), ending(secondID, state.Line{At: day0, Outcome: state.OK}), ending(thirdID, missed(day0))),
			parts: []op{endAll(ending(firstID, telling(day0))), endAll(ending(secondID, state.Line{At: day0, Outcome: state.OK})),
				endAll(ending(thirdID, missed(day0)))}},
		scenario{name: "skip with mail", prepare: added, op: skip(day1), twice: gone},
		scenario{name: "skip the last of a paused task with mail", prepare: paused, op: skip(time.Time{}), twice: gone},
		scenario{name: "resume what has passed with mail", prepare: paused, twice: gone,
			op: func(s *Store, r state.Record) error {
				l := missed(day0)
				return resumeAll(ctx, s, []resumption{{ID: r.Task.ID, Line: &l, Next: day2}}, day1)[0].Err
			}},
		scenario{name: "replace what has passed with mail", prepare: added, twice: []error{state.ErrConflict},
			op: func(s *Store, r state.Record) error {
				r.Task.Description = "changed"
				l := missed(day0)
				_, err := s.Update(ctx, r.Task, day2, day1, &l)
				return err
			}},

		scenario{name: "take one", prepare: ended, op: take(day2, firstID), twice: again},
		scenario{name: "take two", prepare: ended, op: take(day2), twice: again, parts: []op{take(day2, firstID), take(day2, secondID)}},
		scenario{name: "take what came last", prepare: endedLast, op: take(day2), twice: again},
		scenario{name: "take what was taken", prepare: func(t *testing.T, s *Store) state.Record {
			r := ended(t, s)
			if err := take(day1.Add(-time.Hour), firstID)(s, r); err != nil {
				t.Fatal(err)
			}
			return r
		}, op: take(day2, firstID), twice: again},
		scenario{name: "ack one", prepare: ended, op: ack(item(firstID)), twice: none},
		scenario{name: "ack what came last", prepare: endedLast, op: ack(item(firstID)), twice: none},
		scenario{name: "ack two that were taken", prepare: taken, op: ack(item(firstID), item(secondID)), twice: none,
			parts: []op{ack(item(firstID)), ack(item(secondID))}},
		scenario{name: "postpone", prepare: one, op: postpone(first, day1, "refused"), twice: again},
		scenario{name: "postpone to an earlier instant", prepare: ended, op: postpone(last, day0.Add(-time.Hour), ""), twice: again},
		scenario{name: "told", prepare: one, twice: none,
			op: func(s *Store, _ state.Record) error {
				return told(s, state.Line{At: day1, Delivered: true, Attempts: 1})
			}},
		scenario{name: "told in vain", prepare: one, twice: none,
			op: func(s *Store, _ state.Record) error {
				return told(s, state.Line{At: day1, Attempts: 9, Reason: "refused", Inbox: state.ItemUndelivered})
			}},
		scenario{name: "prune the inbox", prepare: ended, twice: again,
			op: func(s *Store, _ state.Record) error { _, err := s.Prune(ctx, state.Keep{Inbox: 1}, day1); return err }},
	)
}
