package state

import (
	"context"
	"iter"
	"time"
)

// EndOfTime is after every instant a task can be due at.
var EndOfTime = time.Date(9999, 12, 31, 0, 0, 0, 0, time.UTC)

// Tasks says which tasks there are and when they are due.
type Tasks interface {
	// Find returns the tasks in any phase whose ID is id, or else those whose ID begins with it, in
	// order of ID. It reads no task that does not match. ErrNotFound when there is none. An id that
	// is whole by its check symbol is never taken for the beginning of another. A match that cannot
	// be read is an error.
	Find(ctx context.Context, id string) ([]Entry, error)

	// Finder is Find for many IDs: what tasks there are is asked once, when it is made. Its
	// function is for one goroutine.
	Finder(ctx context.Context) (find func(ctx context.Context, id string) ([]Entry, error), err error)

	// List says which tasks of the given phases (of all when none is given) there are. It reads names
	// only. The next due comes first; paused tasks come after all that are in the queue or run, and
	// those that ended or were removed come last (Compare). Each, All, Map, DueBy and Next go on from
	// there.
	List(ctx context.Context, phases ...Phase) (Listing, error)

	// Follow tells of changes of tasks by any process from now on, until ctx ends. The watch is in
	// place before Follow returns. Where the system has no way to tell, it ticks.
	Follow(ctx context.Context) (Queue, error)
}

// Queue says which tasks a runner has to look at some time, and keeps saying so.
type Queue interface {
	// Changed receives after tasks were added, changed or removed, after Fire and Halt, soon and at
	// least once after the last change. It holds one signal: many changes in a row are one.
	Changed() <-chan struct{}

	// Take returns what has changed since it was called last: of a task that is in another place now
	// that it is gone from where it was, and where it is, in any order. Whole says that the slots are those
	// of all tasks there are, in the place of what was told before; so are the first. It is for one
	// goroutine.
	Take(ctx context.Context) (slots iter.Seq[Slot], whole bool, err error)
}

// Slot is a place in the queue: when a runner has to look at a task.
type Slot struct {
	ID     string
	Due    time.Time
	Resume time.Time // when the task, which is paused, is to go on; zero: it is not paused
	Gone   bool      // the task is not in this place any more
}

// Wake is when a runner has to look at the task.
func (s Slot) Wake() time.Time {
	if s.Resume.IsZero() {
		return s.Due
	}
	return s.Resume
}

// Same reports whether two slots are one place of a task.
func (s Slot) Same(o Slot) bool { return s.Due.Equal(o.Due) && s.Resume.Equal(o.Resume) }

// Changes are what people and programs do to tasks.
type Changes interface {
	Changer

	// Add makes a task pending with a new ID, which is never one that was used before, and logs its
	// creation. ErrInvalid for what cannot be kept: text that is not UTF-8, more than 1 MiB,
	// instants outside the years 1 to 9999. ErrKept when a task that lives (pending, paused or
	// running) has the same Key: nothing is added, and the entry is that task's. ErrLimit (a
	// *LimitError) when the store has Limits and there would be more. What counts of an origin is
	// known without reading the queue, and at no moment are fewer counted than there are: a process
	// that dies while it adds may count for an hour, and no longer. A wait is never refused: it
	// runs nothing.
	Add(ctx context.Context, t Task, due time.Time) (Entry, error)

	// Charge counts a creation of an origin without adding anything: for a change that has a task
	// run anew. ErrLimit as for Add.
	Charge(ctx context.Context, origin string, now time.Time) error

	// Update replaces what a task says by t, which names it by its ID and the Revision that was
	// read: ErrConflict when the task has another one by now. Its revision goes up by one; ID, Key
	// and Created stay. A zero due leaves the due instant as it is; another one moves the task
	// there. It affects later occurrences only: ErrEnded when there are none any more, as of a
	// one-shot that was claimed; ErrTaken when an occurrence at or after the new due instant has
	// been claimed or has ended; ErrLimit as for Add when it has another origin than before. A
	// paused task stays paused.
	Update(ctx context.Context, t Task, due, now time.Time) (Entry, error)

	// Replace is Update, and with a line the instants from the task's due one on that it stands for
	// end as it says. Both happen or neither does.
	Replace(ctx context.Context, t Task, due, now time.Time, passed *Line) (Entry, error)

	// Pause takes a task out of the queue until Resume: nothing starts, and its due instant stays.
	// A non-zero resume is kept with it, for Next and DueBy. A task that is paused already gets the
	// new resume. ErrEnded as for Update.
	Pause(ctx context.Context, id string, resume, now time.Time) (Entry, error)

	// PauseAll does for each task, in order, what Pause does, with far fewer waits for the disk.
	PauseAll(ctx context.Context, ids []string, resume, now time.Time) []Changed

	// Resume puts a paused task back into the queue at the due instant it has; one that is to go on
	// later is first moved there by Skip. ErrTaken when it is not paused, or an occurrence at or
	// after that instant has been claimed or has ended.
	Resume(ctx context.Context, id string, now time.Time) (Entry, error)

	// ResumeAll does for each task, in order, what Skip with its line and then Resume do, with far
	// fewer waits for the disk.
	ResumeAll(ctx context.Context, list []Resumption, now time.Time) []Changed

	// Remove ends a task that is pending or running: no further occurrence starts. A running one
	// goes on. ErrNotFound when there is no such task, ErrEnded when it has ended or been removed
	// already. It logs the removal; a pending one-shot or the next instant of a recurring task gets
	// no line of its own.
	Remove(ctx context.Context, id string, now time.Time) (Entry, error)

	// Restore undoes Remove with the due instant given. ErrEnded when the task was not removed,
	// ErrTaken when an occurrence at or after that instant has been claimed or has ended, ErrKept
	// with the other task when one that lives has its Key, ErrLimit as for Add; it is no creation.
	Restore(ctx context.Context, id string, due, now time.Time) (Entry, error)

	// Dry returns a handle that says what would become of changes at the moment of the call, and
	// makes none. A draft that would be added takes its key for those that the handle is asked
	// about later. What would be added has no ID.
	Dry() Changes
}

// Occurrences are what a runner does about instants besides running them, and about the clock that
// they are told by.
type Occurrences interface {
	// Move changes the due instant of a task in the queue, because its zone's rules have changed,
	// and logs it. ErrTaken when due is no longer the task's due instant, or when an occurrence at
	// or after the new one has been claimed or has ended.
	Move(ctx context.Context, id string, due, to, now time.Time) error

	// Rewind is Update to a due instant that may have ended, because the clock was put back by
	// hours and has stayed so: the instants from it on come again, and Tally.Taken says which of
	// them can be claimed. It logs that, and not an edit. ErrTaken when an occurrence at or after
	// the new due instant is open.
	Rewind(ctx context.Context, t Task, due, now time.Time) (Entry, error)

	// Skip ends the occurrences of id from due on that line stands for without starting anything,
	// and moves the task to next, or to Ended when next is zero. It numbers the line. ErrTaken when
	// due is no longer the task's due instant. A paused task stays paused.
	Skip(ctx context.Context, id string, due, next time.Time, line Line) error

	// Finish ends a task because a stop condition is met: it goes from the queue, or from the
	// paused, to those that ended. ErrEnded when it is there already.
	Finish(ctx context.Context, id, why string, now time.Time) error

	// Setback is what was last noted of a clock that is back; the zero value: nothing.
	Setback(ctx context.Context) (Setback, error)

	// NoteSetback notes that, durably, for the runners to come. The zero value is forgotten.
	NoteSetback(ctx context.Context, b Setback) error
}

// Draft is a task to be added, and when it is first due.
type Draft struct {
	Task Task
	Due  time.Time
}

// Added is what became of a draft.
type Added struct {
	Entry Entry
	Err   error
}
