package files

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
)

// Changed is what became of one of many tasks.
type Changed struct {
	Entry state.Entry
	Err   error
}

// PauseAll does for each task, in order, what Pause does, with far fewer waits for the disk. Each is paused or not on its own: the
// answers stand in the order of the IDs. Once ctx has ended no more are begun.
func (s *Store) PauseAll(ctx context.Context, ids []string, resume, now time.Time) []Changed {
	return s.shiftAll(ctx, ids, func(t *turn, _ int, at standing) (shifting, error) {
		return t.pausing(at, resume, now)
	})
}

// Resumption is a task that is to go on. With a line, the instants from the task's due one on that it stands for are skipped first,
// and the task moves to Next; when that is zero it has ended, and nothing goes on.
type Resumption struct {
	ID   string
	Line *state.Line
	Next time.Time
}

// ResumeAll does for each task, in order, what Skip with its line and then Resume do, as PauseAll does. Of a task for which both are to
// be done, both are or neither is, but for a loss of power, after which only the first may have been.
func (s *Store) ResumeAll(ctx context.Context, list []Resumption, now time.Time) []Changed {
	ids := make([]string, len(list))
	for i, r := range list {
		ids[i] = r.ID
	}
	return s.shiftAll(ctx, ids, func(t *turn, i int, at standing) (shifting, error) {
		return t.goingOn(at, list[i], now)
	})
}

// standing is where a task that is to be changed stands.
type standing struct {
	found
	open  []name
	entry state.Entry
	tally tally
}

// shifting is a change of a task that moves its file: its lines, and how it stands afterwards.
type shifting struct {
	lines []entry
	to    found
	after state.Entry
}

// shiftAll makes the changes that prepare makes ready, many to a turn.
func (s *Store) shiftAll(ctx context.Context, ids []string, prepare func(t *turn, i int, at standing) (shifting, error)) []Changed {
	answers := make([]Changed, len(ids))
	for from := 0; from < len(ids); {
		to := from + different(ids[from:])
		err := ctx.Err()
		var t *turn
		if err == nil {
			t, err = s.begin(ctx)
		}
		if err != nil {
			for i := from; i < len(ids); i++ {
				answers[i].Err = err
			}
			break
		}
		t.shiftSome(ids[from:to], answers[from:to], func(i int, at standing) (shifting, error) { return prepare(t, from+i, at) })
		t.done()
		from = to
	}
	return answers
}

// different is how many of the IDs go together: no task comes twice, because a change is made ready by how its task stands.
func different(ids []string) int {
	seen := make(map[string]bool, batchMost)
	for i, id := range ids {
		if i == batchMost || seen[id] {
			return i
		}
		seen[id] = true
	}
	return len(ids)
}

// shiftSome is one turn of shiftAll.
func (t *turn) shiftSome(ids []string, answers []Changed, prepare func(i int, at standing) (shifting, error)) {
	var ready []shifting
	var index []int
	for i, at := range t.standings(ids, answers) {
		if answers[i].Err != nil {
			continue
		}
		c, err := prepare(i, at)
		if err != nil {
			answers[i].Err = err
			continue
		}
		ready, index = append(ready, c), append(index, i)
	}
	if len(ready) > 1 {
		err := t.shiftTogether(ready)
		if err == nil || errors.Is(err, errLater) {
			for k, i := range index {
				if answers[i].Err = err; err == nil {
					answers[i].Entry = ready[k].after
				}
			}
			return
		}
	}
	for k, i := range index { // one by one, each gets an answer of its own
		if answers[i].Err = t.shiftTogether(ready[k : k+1]); answers[i].Err == nil {
			answers[i].Entry = ready[k].after
		}
	}
}

// shiftTogether makes changes of different tasks with one wait for the ledger. On an error other than errLater none of them was made.
func (t *turn) shiftTogether(list []shifting) error {
	var entries []entry
	for _, c := range list {
		entries = append(entries, c.lines...)
	}
	switch len(entries) {
	case 0:
		return nil
	case 1:
		if err := t.change(entries[0]); err != nil {
			return err
		}
	default:
		if err := t.allOrNone(entries); err != nil {
			return err
		}
	}
	for _, c := range list {
		t.noteKey(c.after.Task, c.to.place())
		t.note(c.to)
	}
	return nil
}

// errLater is changes that are in the ledger and could be neither finished nor taken back: the next turn finishes them.
var errLater = errors.New("the change may be made later")

// allOrNone makes the moves that lines tell of, which are of different tasks or follow from each other, or takes them back: what one task
// keeps from being done is not left to the next turn, which could do nothing else before it was.
func (t *turn) allOrNone(entries []entry) error {
	before, old := t.end, map[string]tally{}
	for i, e := range entries {
		entries[i].Store.IDs = t.end.ids
		if !counts(e.Line) {
			continue
		}
		v, err := t.readTally(e.TaskID)
		if err != nil {
			return err
		}
		old[e.TaskID] = v
	}
	end, err := t.appendLines(t.end, entries...)
	if err != nil {
		return err
	}
	t.end = end
	if err = t.apply(); err != nil {
		if t.takeBack(before, old) != nil {
			return fmt.Errorf("%w; %w", err, errLater)
		}
		return err
	}
	t.remember()
	return nil
}

// takeBack undoes the last lines, which were written together: the files go back the way they came, the last one first, and then the
// lines. Nobody has seen any of it: the lock is held.
func (t *turn) takeBack(before tail, old map[string]tally) error {
	var dirs []string
	var moved []redo
	stays := map[string]bool{} // tasks with a move that was not made, on which the next one would build
	for e := range t.end.entries() {
		if _, err := os.Lstat(t.path(e.Store.From)); !missing(err) {
			stays[e.TaskID] = true
		}
		if !stays[e.TaskID] {
			moved = append(moved, e.Store)
		}
	}
	for _, m := range slices.Backward(moved) {
		from, to := m.From, m.To
		if err := t.disk.rename(t.path(to), t.path(from)); err != nil {
			return err
		}
		dirs = append(dirs, path.Dir(from), path.Dir(to))
	}
	slices.Sort(dirs)
	for _, d := range slices.Compact(dirs) {
		if err := t.disk.syncDir(t.path(d)); err != nil {
			return err
		}
	}
	for e := range t.end.entries() { // as they were written, with the cursors of their items
		if err := t.unpost(e); err != nil {
			return err
		}
	}
	if err := t.disk.cut(t.path(ledgerFile), before.size); err != nil {
		return err
	}
	for id, v := range old {
		if v.Line == "" {
			t.disk.remove(t.path(tallyPlace(id)))
		} else {
			t.writeTally(id, v)
		}
	}
	t.end = before
	return nil
}

// standings reads on all processors how the tasks stand. Errors are answered.
func (t *turn) standings(ids []string, answers []Changed) []standing {
	list := make([]standing, len(ids))
	all, err := t.list(openOnly, "")
	if err != nil {
		for i := range answers {
			answers[i].Err = err
		}
		return nil
	}
	var wg sync.WaitGroup
	workers := min(runtime.GOMAXPROCS(0), len(ids)/16+1)
	for w := range workers {
		wg.Go(func() {
			for i := w; i < len(ids); i += workers {
				list[i], answers[i].Err = t.standing(ids[i], all.open[ids[i]])
			}
		})
	}
	wg.Wait()
	return list
}

// standing is held, and reads the task.
func (t *turn) standing(id string, open []name) (at standing, err error) {
	f, noted := t.noted(id)
	noted = noted && state.WholeID(id) && (f.dir == queueDir || f.dir == pausedDir)
	if noted {
		_, gone := os.Lstat(t.path(f.place()))
		noted = gone == nil
	}
	if at.found, at.open = f, open; !noted {
		if at.found, at.open, err = t.held(id); err != nil {
			return at, err
		}
	}
	task, err := t.readTask(at.place(), id)
	if err != nil {
		return at, fail("reading a task", err)
	}
	if at.tally, err = t.readTally(id); err != nil {
		return at, err
	}
	at.entry = at.found.entry(task, len(at.open) > 0)
	if at.entry.Tally = at.tally.Tally; len(at.open) > 0 {
		at.entry.Open, _ = t.records(at.open)
	}
	return at, nil
}

// pausing is a pause until resume, for ever when that is zero.
func (t *turn) pausing(at standing, resume, now time.Time) (shifting, error) {
	n, err := at.with(resume)
	if err != nil {
		return shifting{}, err
	}
	if at.dir == queueDir {
		if err := t.dropUnfinished(at.name); err != nil {
			return shifting{}, err
		}
	}
	return at.shifting(found{n, pausedDir}, state.EventPaused, now), nil
}

// shifting is a move of the task's file from the queue to the paused or back.
func (at standing) shifting(to found, event string, now time.Time) shifting {
	line := state.TaskLine(at.entry, event, now)
	if to.extra != "" {
		resume := to.moment()
		line.Resume = &resume
	}
	after := to.entry(at.entry.Task, len(at.open) > 0)
	after.Tally, after.Open = at.entry.Tally, at.entry.Open
	return shifting{[]entry{{Line: line, Store: redo{From: at.place(), To: to.place()}}}, to, after}
}

// goingOn is the end of a pause.
func (t *turn) goingOn(at standing, r Resumption, now time.Time) (c shifting, err error) {
	if at.dir != pausedDir {
		return c, state.ErrTaken
	}
	if r.Line != nil {
		if c, err = t.skipping(at, r); err != nil || r.Next.IsZero() {
			return c, err
		}
		at.found, at.entry, at.tally.Tally = c.to, c.after, c.after.Tally
	}
	if err := t.checkFree(at.name, at.open, at.tally.Tally); err != nil {
		return c, err
	}
	skip := c.lines
	c = at.shifting(found{name{due: at.due, id: at.id}, queueDir}, state.EventResumed, now)
	c.lines = append(skip, c.lines...)
	return c, nil
}

// skipping is a skip of a paused task's instants, which have not ended yet.
func (t *turn) skipping(at standing, r Resumption) (c shifting, err error) {
	if err := state.CheckNext(at.time(), r.Next); err != nil {
		return c, err
	}
	lines, tally, err := t.passing(at.found, at.entry.Task, *r.Line)
	if err != nil {
		return c, err
	}
	if len(lines) == 0 {
		return c, state.ErrTaken // they have an outcome already
	}
	c.to = found{name{due: at.due, id: at.id}, endedDir}
	if !r.Next.IsZero() {
		if c.to.name, err = nameOf(at.id, r.Next); err != nil {
			return c, err
		}
		c.to.extra, c.to.dir = at.extra, pausedDir
	}
	lines[0].Store.From, lines[0].Store.To = at.place(), c.to.place()
	c.lines, c.after = lines, c.to.entry(at.entry.Task, len(at.open) > 0)
	c.after.Tally, c.after.Open = tally.Tally, at.entry.Open
	return c, nil
}
