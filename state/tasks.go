package state

import (
	"context"
	"iter"
	"time"
)

// EndOfTime is after every instant at which a task can be due.
var EndOfTime = time.Date(9999, 12, 31, 0, 0, 0, 0, time.UTC)

// Tasks says which tasks there are and when they are due.
type Tasks interface {
	// Find returns the tasks in any phase whose ID is id or, if there is none, those whose ID
	// begins with it, in order of ID. It reads no other tasks. An id with a correct check symbol is
	// never taken for the beginning of another. It returns ErrNotFound if there is no such task. A
	// match that cannot be read is an error.
	Find(ctx context.Context, id string) ([]Entry, error)

	// Finder is Find for many IDs. It asks once which tasks there are. Its function is for one
	// goroutine.
	Finder(ctx context.Context) (find func(ctx context.Context, id string) ([]Entry, error), err error)

	// List names the tasks of the given phases (of all phases if none is given) without reading
	// them. The next due comes first. Paused tasks follow those that are in the queue or run, and
	// tasks that ended or were removed come last (Compare). Each, All, Map, DueBy and Next build on
	// it.
	List(ctx context.Context, phases ...Phase) (Listing, error)

	// Follow tells of changes of tasks by any process from now on, until ctx ends. The watch is in
	// place before Follow returns. On systems that cannot tell of changes, it ticks.
	Follow(ctx context.Context) (Queue, error)
}

// Queue says which tasks a runner has to look at in the future, and what changes of that.
type Queue interface {
	// Changed receives after tasks were added, changed or removed, and after Fire and Halt, soon
	// and at least once after the last change. It holds one signal: many changes in a row are one.
	Changed() <-chan struct{}

	// Take returns what has changed since the last call. A task in another place has two slots, in
	// any order: the old place, which is Gone, and the new one. whole says that the slots are all
	// there are and replace those told before; the first call does so. Take is for one goroutine.
	Take(ctx context.Context) (slots iter.Seq[Slot], whole bool, err error)
}

// Slot is a place in the queue: when a runner has to look at a task.
type Slot struct {
	ID     string
	Due    time.Time
	Resume time.Time // of a paused task: when it resumes; zero: the task is not paused
	Gone   bool      // the task is no longer in this place
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

// TaskWriter does what people and programs do to tasks.
type TaskWriter interface {
	Changer

	// Add makes a task pending with a new ID, which was never used before, and logs its creation.
	//
	// It returns ErrInvalid if the task cannot be kept, because its text is not UTF-8 or more than
	// 1 MiB, or an instant is outside the years 1 to 9999. It returns ErrKept if a task that lives
	// (pending, paused or running) has the same Key; the entry is then that task's, and nothing is
	// added. It returns ErrLimit (a *LimitError) if the store's Limits allow no more.
	//
	// The count of an origin's tasks needs no reading of the queue, and is never too low. A process
	// that dies in Add may leave it too high for an hour. A wait is never refused, because it runs
	// nothing.
	Add(ctx context.Context, t Task, due time.Time) (Entry, error)

	// Holder returns the task that lives and has the key, or ErrNotFound. It needs no reading of
	// the queue.
	Holder(ctx context.Context, key string) (Entry, error)

	// Charge counts a creation of an origin without adding anything, for a change that makes a task
	// run again. It returns ErrLimit as for Add.
	Charge(ctx context.Context, origin string, now time.Time) error

	// Update replaces what a task says by t. t has the task's ID and the Revision that the caller
	// read. The revision grows by one; ID, Key and Created stay. A zero due leaves the due instant
	// as it is; another one moves the task there. Only later occurrences change. A paused task
	// stays paused. With a line, the instants that it stands for, from the task's due instant on,
	// also end as it says, in the same transaction.
	//
	// It returns ErrConflict if the task has another revision by now. It returns ErrEnded if the
	// task has no later occurrences, such as a one-shot that was claimed. It returns ErrTaken if an
	// occurrence at or after the new due instant has been claimed or has ended. It returns ErrLimit
	// as for Add, if the origin changes.
	Update(ctx context.Context, t Task, due, now time.Time, passed *Line) (Entry, error)

	// Pause takes a task out of the queue until Resume: nothing starts, and its due instant stays.
	// A resume that is not zero is kept with it, for Next and DueBy. A task that is paused already
	// gets the new resume. It returns ErrEnded as for Update.
	Pause(ctx context.Context, id string, resume, now time.Time) (Entry, error)

	// Resume puts a paused task back into the queue at the due instant that it has. If it is to
	// resume at a later one, call Skip before. It returns ErrTaken if the task is not paused, or an
	// occurrence at or after that instant has been claimed or has ended.
	Resume(ctx context.Context, id string, now time.Time) (Entry, error)

	// Remove ends a task that is pending, paused or running: no further occurrence starts. An open
	// run goes on. Remove logs the removal, but no line for the instant that would have come. It
	// returns ErrNotFound if there is no such task. It returns ErrEnded if the task has ended or
	// was removed already.
	Remove(ctx context.Context, id string, now time.Time) (Entry, error)

	// Restore undoes Remove, with the given due instant. It does not count as a creation. It
	// returns ErrEnded if the task was not removed. It returns ErrTaken if an occurrence at or
	// after that instant has been claimed or has ended. It returns ErrKept and the other task if
	// one that lives has its Key. It returns ErrLimit as for Add.
	Restore(ctx context.Context, id string, due, now time.Time) (Entry, error)

	// Dry returns a handle that answers what changes would do at the moment of the call, and makes
	// none. A draft takes its key, so that the handle refuses a later draft with the same key. A
	// task that would be added has no ID.
	Dry() TaskWriter
}

// Occurrences are what a runner does with instants besides running them, and with the clock that
// shows them.
type Occurrences interface {
	// Move changes the due instant of a task in the queue because its zone's rules have changed,
	// and logs it. It returns ErrTaken if due is no longer the task's due instant, or an occurrence
	// at or after the new one has been claimed or has ended.
	Move(ctx context.Context, id string, due, to, now time.Time) error

	// Rewind is Update to a due instant that may have ended. The clock was put back by hours and
	// has stayed so, and the instants from due on come again. Tally.Taken says which of them can be
	// claimed. Rewind logs that, and not an edit. It returns ErrTaken if an occurrence at or after
	// the new due instant is open.
	Rewind(ctx context.Context, t Task, due, now time.Time) (Entry, error)

	// Skip ends the occurrences of id that line stands for, from due on, without starting anything.
	// It moves the task to next, or to Ended if next is zero, and numbers the line. A paused task
	// stays paused. It returns ErrTaken if due is no longer the task's due instant.
	Skip(ctx context.Context, id string, due, next time.Time, line Line) error

	// Finish ends a task because a stop condition is met. It returns ErrEnded if the task has ended
	// already.
	Finish(ctx context.Context, id, why string, now time.Time) error

	// ClockShift is what was last stored about a clock that is back. It is zero if there is
	// nothing.
	ClockShift(ctx context.Context) (ClockShift, error)

	// SetClockShift stores it durably for later runners. The zero value deletes it.
	SetClockShift(ctx context.Context, b ClockShift) error
}

// Draft is a task to add, and when it is first due.
type Draft struct {
	Task Task
	Due  time.Time
}

// Added is the answer to a draft.
type Added struct {
	Entry Entry
	Err   error
}
