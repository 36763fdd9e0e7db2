package files

import (
	"context"
	"path"
	"path/filepath"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
)

// Add writes the task into a file that no reader looks at, appends its creation to the ledger, and renames the file to where
// the runner sees it. After a crash in between the next change finishes it, or it never was.
func (s *Store) Add(ctx context.Context, t state.Task, due time.Time) (state.Entry, error) {
	if err := state.Check(t, due); err != nil {
		return state.Entry{}, err
	}
	turn, err := s.beginLimited(ctx)
	if err != nil {
		return state.Entry{}, err
	}
	defer turn.done()
	return turn.add(t, due)
}

func (t *turn) add(task state.Task, due time.Time) (state.Entry, error) {
	if e, taken, err := t.keyed(task.Key); err != nil {
		return state.Entry{}, err
	} else if taken {
		return e, state.ErrKept
	}
	if task.Created.IsZero() {
		task.Created = time.Now()
	}
	if err := t.admit(task, true, task.Created); err != nil {
		return state.Entry{}, err
	}
	count, err := t.nextID()
	if err != nil {
		return state.Entry{}, err
	}
	p, err := prepare(task, due, count)
	if err != nil {
		return state.Entry{}, err
	}
	temp := fresh(t.path(queueDir))
	if err := t.createTwice(&temp, p.data); err != nil {
		return state.Entry{}, fail("saving the task", err)
	}
	if err = t.takeKey(p.Task, p.place()); err == nil {
		if err = t.enter(p.Task, p.place(), true, p.Task.Created); err == nil {
			err = t.keepBooks()
		}
	}
	if err != nil {
		t.disk.remove(temp)
		return state.Entry{}, err
	}
	from := inQueue(temp)
	if err := t.commit(p.line, from, p.place(), count); err != nil {
		if t.end.last.Store.From != from { // else the line stands and the next turn needs the file
			t.disk.remove(temp)
			t.dropBooks()
		}
		return state.Entry{}, err
	}
	t.sealBooks()
	return p.Entry, nil
}

// prepared is a task that is ready to be written.
type prepared struct {
	state.Entry
	name name
	data []byte
	line state.Line
}

func (p prepared) place() string { return queueDir + "/" + p.name.queue() }

// prepare gives a task the ID of the count and writes its file's content.
func prepare(task state.Task, due time.Time, count uint64) (p prepared, err error) {
	task.ID, task.Format, task.Revision = state.ID(count-1), state.Format, 1
	if task.Created.IsZero() {
		task.Created = time.Now()
	}
	task = task.UTC()
	if p.name, err = nameOf(task.ID, due); err != nil {
		return p, err
	}
	if p.data, err = encodeTask(task, nil); err != nil {
		return p, err
	}
	p.line = state.TaskLine(state.Entry{Task: task, Due: due}, state.EventCreated, task.Created)
	decoded, _, err := decodeTask(p.data)
	p.Entry = state.Entry{Task: decoded, Due: p.name.time(), Phase: state.Pending}
	return p, err
}

// inQueue is the place of a file in the queue's folder.
func inQueue(path string) string { return queueDir + "/" + filepath.Base(path) }

// createTwice makes a temporary file, and another when the disk does not take the first: a sync is never repeated.
func (t *turn) createTwice(temp *string, data []byte) error {
	err := t.disk.create(*temp, data)
	if isSync(err) {
		*temp = fresh(path.Dir(*temp))
		err = t.disk.create(*temp, data)
	}
	return err
}

// nextID is the number of IDs given out once the next one is. It is in every line of the ledger, which is durable
// before a task with a new ID can be seen; so no ID comes twice, also after a power loss. Without a ledger the copy beside
// the queue has it, and without that the IDs that are still about.
func (t *turn) nextID() (uint64, error) {
	count := t.end.ids
	c, err := t.readCounter()
	if err == nil {
		return max(count, c.ids) + 1, nil
	}
	if count > 0 {
		return count + 1, nil
	}
	names, err := t.list(everything, "")
	if err != nil {
		return 0, err
	}
	more, count, err := t.otherIDs()
	if err != nil {
		return 0, err
	}
	for id := range names.ids(more) {
		if n, ok := state.IDNumber(id); ok {
			count = max(count, n+1)
		}
	}
	return count + 1, nil
}

// Remove moves the task's file out of the queue, or out of those that ended when its last occurrence is still running.
func (s *Store) Remove(ctx context.Context, id string, now time.Time) (state.Entry, error) {
	t, err := s.begin(ctx)
	if err != nil {
		return state.Entry{}, err
	}
	defer t.done()
	f, open, err := t.whereNoted(id)
	if err != nil {
		return state.Entry{}, err
	}
	if f.dir == removedDir || f.dir == endedDir && len(open) == 0 {
		return state.Entry{}, state.ErrEnded
	}
	e, err := t.entry(f, open)
	if err != nil {
		return state.Entry{}, fail("reading a task", err)
	}
	if err := t.dropUnfinished(f.name); err != nil {
		return state.Entry{}, err
	}
	gone, err := f.with(now)
	if err != nil {
		return state.Entry{}, err
	}
	to := removedDir + "/" + gone.file()
	if err := t.commit(state.TaskLine(e, state.EventRemoved, now), f.place(), to, 0); err != nil {
		return state.Entry{}, err
	}
	t.noteKey(e.Task, to)
	e.Phase, e.Held, e.Resume = state.Removed, false, time.Time{}
	return e, nil
}

// Restore moves the task's file back into the queue.
func (s *Store) Restore(ctx context.Context, id string, due, now time.Time) (state.Entry, error) {
	t, err := s.beginLimited(ctx)
	if err != nil {
		return state.Entry{}, err
	}
	defer t.done()
	f, open, err := t.whereNoted(id)
	if err != nil {
		return state.Entry{}, err
	}
	if f.dir != removedDir {
		return state.Entry{}, state.ErrEnded
	}
	e, err := t.entry(f, open)
	if err != nil {
		return state.Entry{}, fail("reading a task", err)
	}
	n, err := nameOf(id, due)
	if err != nil {
		return state.Entry{}, err
	}
	if err := t.checkFree(n, open, e.Tally); err != nil {
		return state.Entry{}, err
	}
	if other, taken, err := t.keyed(e.Task.Key); err != nil {
		return state.Entry{}, err
	} else if taken {
		return other, state.ErrKept
	}
	to := queueDir + "/" + n.queue()
	e.Due = n.time()
	if err := t.admit(e.Task, false, now); err != nil {
		return state.Entry{}, err
	}
	if err := t.takeKey(e.Task, to); err != nil {
		return state.Entry{}, err
	}
	if err = t.enter(e.Task, to, false, now); err == nil {
		err = t.keepBooks()
	}
	if err != nil {
		return state.Entry{}, err
	}
	if err := t.commit(state.TaskLine(e, state.EventRestored, now), f.place(), to, 0); err != nil {
		if t.end.last.Store.To != to { // else the line stands
			t.dropBooks()
		}
		return state.Entry{}, err
	}
	e.Phase = state.Pending
	if len(open) > 0 {
		e.Phase = state.Running
	}
	return e, nil
}

// checkFree refuses an instant that was taken: its record would be read as a claim that was never finished. A run by hand takes
// nothing but the very instant in its name.
func (t *turn) checkFree(n name, open []name, tally state.Tally) error {
	if err := state.CheckFree(n.time(), tally.Floor()); err != nil {
		return err
	}
	for _, o := range open {
		if n.due > o.due {
			continue
		}
		if r, err := t.readRecord(o); err == nil && r.Manual && n.due != o.due {
			continue
		}
		return state.CheckFree(n.time(), o.time())
	}
	return nil
}
