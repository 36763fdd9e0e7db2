package files

import (
	"context"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
)

// What would be done is found out by the same steps that do it, as far as they only read, in a turn whose disk takes nothing. It has the
// lock that readers share, finishes nothing that another writer has begun, and makes nothing where there is nothing yet.

// noDisk takes every step and does none.
type noDisk struct{}

func (noDisk) mkdir(string) error                 { return nil }
func (noDisk) create(string, []byte) error        { return nil }
func (noDisk) createAll([]newFile) error          { return nil }
func (noDisk) drafts([]newFile) error             { return nil }
func (noDisk) syncAll([]string) error             { return nil }
func (noDisk) scribble(string, []byte) error      { return nil }
func (noDisk) patch(string, []byte) error         { return nil }
func (noDisk) extend(string, int64, []byte) error { return nil }
func (noDisk) cut(string, int64) error            { return nil }
func (noDisk) rename(string, string) error        { return nil }
func (noDisk) link(string, string) error          { return nil }
func (noDisk) remove(string) error                { return nil }
func (noDisk) syncDir(string) error               { return nil }

// would calls f with a turn that changes nothing.
func (s *Store) would(ctx context.Context, f func(t *turn) error) error {
	limits, err := s.limited()
	if err != nil {
		return err
	}
	return s.look(ctx, func() error {
		idle := &Store{dir: s.dir, wait: s.wait, report: s.report, disk: noDisk{}, volume: s.volume, check: s.check, inspect: s.inspect, partMost: s.partMost}
		return f(&turn{Store: idle, limits: limits, unlock: func() {}})
	})
}

// WouldAddAll says of each draft what AddAll would answer at this moment, and adds nothing. The tasks have no ID. keys are those that
// earlier drafts would have taken, and these take theirs in it; the limits count these drafts alone.
func (s *Store) WouldAddAll(ctx context.Context, drafts []state.Draft, keys map[string]state.Entry) []state.Added {
	answers := make([]state.Added, len(drafts))
	err := s.would(ctx, func(t *turn) error {
		for i, d := range drafts {
			answers[i].Entry, answers[i].Err = t.wouldAdd(d, keys)
		}
		return ctx.Err()
	})
	if err != nil {
		for i := range answers {
			answers[i] = state.Added{Err: err}
		}
	}
	return answers
}

// wouldAdd is WouldAddAll of one.
func (t *turn) wouldAdd(d state.Draft, keys map[string]state.Entry) (state.Entry, error) {
	task := d.Task
	if task.Created.IsZero() {
		task.Created = time.Now()
	}
	if err := state.Check(task, d.Due); err != nil {
		return state.Entry{}, err
	}
	if e, taken := keys[task.Key]; taken {
		return e, state.ErrKept
	}
	if e, taken, err := t.keyed(task.Key); err != nil {
		return state.Entry{}, err
	} else if taken {
		return e, state.ErrKept
	}
	if err := t.admit(task, true, task.Created); err != nil {
		return state.Entry{}, err
	}
	if err := t.enter(task, queueDir, true, task.Created); err != nil {
		return state.Entry{}, err
	}
	task.Format, task.Revision = state.Format, 1
	e := state.Entry{Task: task.UTC(), Due: d.Due, Phase: state.Pending}
	if task.Key != "" {
		keys[task.Key] = e
	}
	return e, nil
}

// WouldReplace says what Replace would answer at this moment, and changes nothing.
func (s *Store) WouldReplace(ctx context.Context, task state.Task, due, now time.Time, passed *state.Line) (e state.Entry, err error) {
	err = s.would(ctx, func(t *turn) error {
		f, open, err := t.held(task.ID)
		if err != nil {
			return err
		}
		if e, err = t.entry(f, open); err != nil {
			return fail("reading a task", err)
		}
		if e.Task.Revision != task.Revision {
			return state.ErrConflict
		}
		if passed != nil {
			if _, _, err := t.passing(f, e.Task, *passed); err != nil {
				return err
			}
		}
		if !due.IsZero() && !due.Equal(f.time()) {
			n, err := nameOf(f.id, due)
			if err != nil {
				return err
			}
			if err := t.checkFree(n, open, e.Tally); err != nil {
				return err
			}
			e.Due = n.time()
		}
		task.Format, task.Revision, task.Key, task.Created = state.Format, e.Task.Revision+1, e.Task.Key, e.Task.Created
		if err := state.Check(task, e.Due); err != nil {
			return err
		}
		if task.Origin != e.Task.Origin && t.counted(task.Origin) {
			if err := t.admitPending(task.Origin, now); err != nil {
				return err
			}
		}
		e.Task = task.UTC()
		return nil
	})
	return e, err
}

// WouldCharge says what Charge would answer at this moment, and counts nothing.
func (s *Store) WouldCharge(ctx context.Context, origin string, now time.Time) error {
	return s.would(ctx, func(t *turn) error {
		if !t.counted(origin) || t.limits.PerHour <= 0 {
			return nil
		}
		b, err := t.book(origin, now)
		if err != nil {
			return err
		}
		return t.limits.CheckHour(origin, b.Made, now)
	})
}

// WouldRestore says what Restore would answer at this moment, and changes nothing.
func (s *Store) WouldRestore(ctx context.Context, id string, due, now time.Time) (e state.Entry, err error) {
	err = s.would(ctx, func(t *turn) error {
		f, open, err := t.whereNoted(id)
		if err != nil {
			return err
		}
		if f.dir != removedDir {
			return state.ErrEnded
		}
		if e, err = t.entry(f, open); err != nil {
			return fail("reading a task", err)
		}
		n, err := nameOf(id, due)
		if err != nil {
			return err
		}
		if err := t.checkFree(n, open, e.Tally); err != nil {
			return err
		}
		if other, taken, err := t.keyed(e.Task.Key); err != nil {
			return err
		} else if taken {
			e = other
			return state.ErrKept
		}
		if err := t.admit(e.Task, false, now); err != nil {
			return err
		}
		e.Phase, e.Due = state.Pending, n.time()
		if len(open) > 0 {
			e.Phase = state.Running
		}
		return nil
	})
	return e, err
}
