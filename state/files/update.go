package files

import (
	"context"
	"path/filepath"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
)

// Update writes the task into a new file, appends the change to the ledger, renames the file to its place and removes the
// old one where that has another name. Keys in the old file that this version does not know are kept. Should a crash leave
// both files, the higher revision counts and the next change removes the other.
func (s *Store) Update(ctx context.Context, task state.Task, due, now time.Time) (state.Entry, error) {
	return s.Replace(ctx, task, due, now, nil)
}

// Replace is Update, and with a line the instants from the task's due one on that it stands for end as it says. Both happen or neither
// does, but for a loss of power while the lines are written: then the instants may have ended and the task be as it was. It is not
// run for them, as for none that has ended. state.ErrTaken when the line is not about the task's due instant.
func (s *Store) Replace(ctx context.Context, task state.Task, due, now time.Time, passed *state.Line) (state.Entry, error) {
	return s.replace(ctx, task, due, now, passed, state.EventEdited)
}

// Rewind is Update with a line that lets instants come again that have ended.
func (s *Store) Rewind(ctx context.Context, task state.Task, due, now time.Time) (state.Entry, error) {
	return s.replace(ctx, task, due, now, nil, state.EventClock)
}

func (s *Store) replace(ctx context.Context, task state.Task, due, now time.Time, passed *state.Line, event string) (state.Entry, error) {
	t, err := s.beginLimited(ctx)
	if err != nil {
		return state.Entry{}, err
	}
	defer t.done()
	f, open, err := t.held(task.ID)
	if err != nil {
		return state.Entry{}, err
	}
	old, err := readOwn(t.path(f.place()), state.TaskLimit)
	if err != nil {
		return state.Entry{}, fail("reading a task", err)
	}
	was, unknown, err := decodeTask(old)
	if err != nil {
		return state.Entry{}, fail("reading a task", err)
	}
	if was.Revision != task.Revision {
		return state.Entry{}, state.ErrConflict
	}
	task.Format, task.Revision, task.Key, task.Created = state.Format, was.Revision+1, was.Key, was.Created
	to := f
	var before []entry // the line of what has passed
	var tally tally
	if passed != nil {
		if before, tally, err = t.passing(f, was, *passed); err != nil {
			return state.Entry{}, err
		}
	} else if tally, err = t.readTally(f.id); err != nil {
		return state.Entry{}, err
	}
	if !due.IsZero() && !due.Equal(f.time()) {
		if to.name, err = nameOf(f.id, due); err != nil {
			return state.Entry{}, err
		}
		to.extra = f.extra
		ended := tally.Tally
		if event == state.EventClock {
			ended = state.Tally{}
		}
		if err := t.checkFree(to.name, open, ended); err != nil {
			return state.Entry{}, err
		}
		if f.dir == queueDir {
			if err := t.dropUnfinished(f.name); err != nil {
				return state.Entry{}, err
			}
		}
	}
	if len(before) > 0 && to == f { // nothing may be due again that has ended
		return state.Entry{}, state.CheckFree(f.time(), tally.Floor())
	}
	task = task.UTC()
	if err := state.Check(task, to.time()); err != nil {
		return state.Entry{}, err
	}
	data, err := encodeTask(task, unknown)
	if err != nil {
		return state.Entry{}, err
	}
	if task.Origin != was.Origin && t.counted(task.Origin) {
		if err := t.admitPending(task.Origin, now); err != nil {
			return state.Entry{}, err
		}
		if err := t.enter(task, to.place(), false, now); err != nil {
			return state.Entry{}, err
		}
	}
	temp := fresh(t.path(f.dir))
	if err := t.createTwice(&temp, data); err != nil {
		return state.Entry{}, fail("saving the task", err)
	}
	// Unlike that of a new task, its name must not be lost once the line is there: the line stands for what is in it.
	if err := t.disk.syncDir(t.path(f.dir)); err != nil {
		t.disk.remove(temp)
		return state.Entry{}, fail("saving the task", err)
	}
	if err := t.keepBooks(); err != nil {
		t.disk.remove(temp)
		return state.Entry{}, err
	}
	what := redo{From: f.dir + "/" + filepath.Base(temp), To: to.place(), Drop: f.place()}
	e := to.entry(task, len(open) > 0)
	e.Tally = tally.Tally
	e.Open, _ = t.records(open)
	line := state.TaskLine(e, event, now)
	if said := task.Said(); said != was.Said() {
		line.Text = said
	}
	done := true
	if len(before) == 0 {
		err = t.change(entry{Line: line, Store: what})
	} else {
		done, err = t.together(append(before, entry{Line: line, Store: what})...)
	}
	if err != nil {
		if t.end.last.Store.From != what.From { // else the line stands and the next turn needs the file
			t.disk.remove(temp)
			t.dropBooks()
		}
		return state.Entry{}, err
	}
	if !done { // the next turn puts the file in its place
		return e, nil
	}
	t.noteKey(task, to.place())
	return t.entry(to, open)
}

// passing is the line of instants that have passed, without its move, and the task's tally after it. There is none when they
// have ended already, as after a name was changed by hand.
func (t *turn) passing(f found, task state.Task, passed state.Line) ([]entry, tally, error) {
	v, err := t.readTally(f.id)
	if err != nil {
		return nil, v, err
	}
	if passed.Due == nil || !passed.Due.Equal(f.time()) {
		return nil, v, state.ErrTaken
	}
	if err := state.CheckSkip(passed.Outcome); err != nil {
		return nil, v, err
	}
	last := f.time()
	if passed.DueLast != nil {
		last = *passed.DueLast
	}
	if !last.After(v.Floor()) {
		return nil, v, nil
	}
	number, err := t.nextNumber(f.id, v)
	if err != nil {
		return nil, v, err
	}
	line := passed.Of(f.id, number, f.time())
	line.Revision = task.Revision
	v.add(line, "")
	return []entry{lean(line, task.Said(), redo{})}, v, nil
}

// together makes durable, at once, what several lines tell of, which are of different tasks or follow from each other. On error
// nothing has happened. What does not succeed once the lines are there is done by the next turn; done says that nothing is left.
func (t *turn) together(entries ...entry) (done bool, err error) {
	for i := range entries {
		entries[i].Store.IDs = t.end.ids
	}
	end, err := t.appendLines(t.end, entries...)
	if err != nil {
		return false, err
	}
	t.end = end
	if t.apply() != nil || t.drop() != nil {
		return false, nil
	}
	t.remember()
	return true, nil
}
