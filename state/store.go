package state

import (
	"context"
	"errors"
	"strings"
	"time"
)

// Store keeps tasks, claims and the ledger for every process of one user. All methods may be called from any goroutine
// and any process at once; each is atomic: it happens whole or not at all, also when its process is killed or the
// machine loses power. A method that has returned nil has made its effect durable. Reading methods change nothing.
//
// A task or other piece of state that cannot be read is left out of lists and reported as a Problem: no other task suffers.
type Store interface {
	// Add makes a task pending with a new ID, which is never one that was used before, and logs its creation. ErrInvalid for
	// what cannot be kept: text that is not UTF-8, more than 1 MiB, instants outside the years 1 to 9999. ErrKept when a task
	// that lives (pending, paused or running) has the same Key: nothing is added, and the entry is that task's. ErrLimit (a *LimitError)
	// when the store has Limits and there would be more. What counts of an origin is known without reading the queue, and at no
	// moment are fewer counted than there are: a process that dies while it adds may count for an hour, and no longer. A wait is never
	// refused: it runs nothing.
	Add(ctx context.Context, t Task, due time.Time) (Entry, error)

	// AddAll does for each draft, in order, what Add does, with far fewer waits for the disk. Each is added or not on its own: the
	// answers stand in the order of the drafts. Once ctx has ended no more are begun.
	AddAll(ctx context.Context, drafts []Draft) []Added

	// Update replaces what a task says by t, which names it by its ID and the Revision that was read: ErrConflict when the
	// task has another one by now. Its revision goes up by one; ID, Key and Created stay. A zero due leaves the due instant
	// as it is; another one moves the task there. It affects later occurrences only: ErrEnded when there are none
	// any more, as of a one-shot that was claimed; ErrTaken when an occurrence at or after the new due instant has been claimed or
	// has ended; ErrLimit as for Add when it has another origin than before. A paused task stays paused.
	Update(ctx context.Context, t Task, due, now time.Time) (Entry, error)

	// Charge counts a creation of an origin without adding anything: for a change that has a task run anew. ErrLimit as for Add.
	Charge(ctx context.Context, origin string, now time.Time) error

	// Pause takes a task out of the queue until Resume: nothing starts, and its due instant stays. A non-zero resume is kept
	// with it, for Next and DueBy. A task that is paused already gets the new resume. ErrEnded as for Update.
	Pause(ctx context.Context, id string, resume, now time.Time) (Entry, error)

	// Resume puts a paused task back into the queue at the due instant it has; one that is to go on later is first moved there
	// by Skip. ErrTaken when it is not paused, or an occurrence at or after that instant has been claimed or has ended.
	Resume(ctx context.Context, id string, now time.Time) (Entry, error)

	// Find returns the tasks in any phase whose ID is id, or else those whose ID begins with it, in order of ID. It reads
	// no task that does not match. ErrNotFound when there is none. An id that is whole by its check symbol is never taken
	// for the beginning of another. A match that cannot be read is an error.
	Find(ctx context.Context, id string) ([]Entry, error)

	// List returns the tasks of the given phases (of all when none is given), and what could not be read. The next due comes first;
	// paused tasks come after all that are in the queue or run, and those that ended or were removed come last (Compare).
	List(ctx context.Context, phases ...Phase) ([]Entry, []Problem, error)

	// First is the beginning of List, its first n, and how many List would return. It reads no other task, and so counts
	// those as readable.
	First(ctx context.Context, n int, phases ...Phase) (list []Entry, total int, problems []Problem, err error)

	// Each calls yield with the tasks that List would return, in no order, until it returns false. It holds few of them at a time,
	// and no lock while yield is called. A task that changes meanwhile may come as it was or as it is, or twice.
	Each(ctx context.Context, yield func(Entry) bool, phases ...Phase) ([]Problem, error)

	// Next returns the earliest instant after the given one at which a task in the queue is due or a paused one is to
	// be resumed; false when there is none. It reads names only.
	Next(ctx context.Context, after time.Time) (time.Time, bool, error)

	// DueBy returns the tasks in the queue due at or before t, and the paused ones to be resumed by then, earliest first, at most
	// limit of them (0: all). A recurring one that is Running is among them. One that cannot be read does not take another's place.
	DueBy(ctx context.Context, t time.Time, limit int) ([]Entry, []Problem, error)

	// Remove ends a task that is pending or running: no further occurrence starts. A running one goes on. ErrNotFound when there is
	// no such task, ErrEnded when it has ended or been removed already. It logs the removal; a pending one-shot or the
	// next instant of a recurring task gets no line of its own.
	Remove(ctx context.Context, id string, now time.Time) (Entry, error)

	// Restore undoes Remove with the due instant given. ErrEnded when the task was not removed, ErrTaken when an occurrence at
	// or after that instant has been claimed or has ended, ErrKept with the other task when one that lives has its Key, ErrLimit as for
	// Add; it is no creation.
	Restore(ctx context.Context, id string, due, now time.Time) (Entry, error)

	// Move changes the due instant of a task in the queue, because its zone's rules have changed, and logs it. ErrTaken when
	// due is no longer the task's due instant, or when an occurrence at or after the new one has been claimed or has ended.
	Move(ctx context.Context, id string, due, to, now time.Time) error

	// Rewind is Update to a due instant that may have ended, because the clock was put back by
	// hours and has stayed so: the instants from it on come again, and Tally.Taken says which of
	// them can be claimed. It logs that, and not an edit. ErrTaken when an occurrence at or after
	// the new due instant is open.
	Rewind(ctx context.Context, t Task, due, now time.Time) (Entry, error)

	// Setback is what was last noted of a clock that is back; the zero value: nothing.
	Setback(ctx context.Context) (Setback, error)

	// NoteSetback notes that, durably, for the runners to come. The zero value is forgotten.
	NoteSetback(ctx context.Context, b Setback) error

	// Claim takes the occurrence of id that is due at due and moves the task to its next due
	// instant, or to Ended when next is zero. Exactly one caller gets it, however many try; the
	// others get ErrTaken. The Record is durable before Claim returns, so that a claim that was
	// granted is never granted again. An instant that has ended (Tally.Taken) is never granted: the
	// task moves on to next, and the answer is ErrTaken. A claim that failed or whose process died
	// before it returned was not granted. For a command there is a folder for its output
	// (OutputPaths).
	Claim(ctx context.Context, id string, due, next time.Time, by Ident, now time.Time) (Record, error)

	// ClaimAll does for each want, in order, what Claim does, with far fewer waits for the disk.
	ClaimAll(ctx context.Context, wants []Want, by Ident, now time.Time) []Granted

	// EndAll does for each ending, in order, what End does, with far fewer waits for the disk.
	EndAll(ctx context.Context, ends []Ending) []error

	// Release undoes a claim for which nothing was started: the task is due again at the claim's
	// instant, and its number is given again; of a manual claim nothing is left. ErrEnded when the
	// claim is not open. ErrTaken when it cannot be undone, because a later occurrence has been
	// claimed or has ended, or the task was edited, paused, finished or removed since; the claim is
	// then still open.
	Release(ctx context.Context, r Record) error

	// Fire opens a claim that is no occurrence of the schedule, numbered as one: its line is of type LineManual, and the
	// task's due instant and tally stay. It works for tasks in every phase but Removed.
	Fire(ctx context.Context, id string, by Ident, now time.Time) (Record, error)

	// Started notes of a claim that its process is about to start, or has: Starting, Child, Started and Attempt. It is a hint for a
	// later runner, not awaited by the disk; it outlives this process, not the machine.
	Started(ctx context.Context, r Record) error

	// Note is Started, durably, with Retry and with Runner, for who takes a claim over: an attempt that is noted is not made again.
	Note(ctx context.Context, r Record) error

	// Halt asks whoever runs the claim to end it, and Record.Halt then says why. Watch tells of it. ErrEnded when it has ended.
	Halt(ctx context.Context, r Record, why string) error

	// Halted returns the open claims whose end was asked for. It reads no other.
	Halted(ctx context.Context) ([]Record, error)

	// Finish ends a task because a stop condition is met: it goes from the queue, or from the paused, to those that ended.
	// ErrEnded when it is there already.
	Finish(ctx context.Context, id, why string, now time.Time) error

	// Skip ends the occurrences of id from due on that line stands for without starting anything, and moves the task to
	// next, or to Ended when next is zero. It numbers the line. ErrTaken when due is no longer the task's due instant. A
	// paused task stays paused.
	Skip(ctx context.Context, id string, due, next time.Time, line Line) error

	// End appends the line to the ledger, brings the tally up to date and closes the claim, in this order, so that a
	// crash in between leaves a claim that is known to have ended. ErrEnded when it has ended already: no second line. Task,
	// number, due, revision and type of the line are the record's.
	End(ctx context.Context, r Record, line Line) error

	// Open returns the open claims, oldest first: those that were granted and have no line in the ledger. One whose record is damaged
	// is reported and stands in with its task's ID and due instant, so that it can be ended.
	Open(ctx context.Context) ([]Record, []Problem, error)

	// Log calls yield with the lines of the ledger, newest first, until it returns false. An empty task ID means all.
	// It has the text of a task once: Line.Lacks.
	Log(ctx context.Context, taskID string, yield func(Line) bool) ([]Problem, error)

	// Spell puts the text of their tasks into lines of the ledger that lack it. What is not kept any more is left out.
	Spell(ctx context.Context, lines []Line) error

	// OutputPaths names the files the run's standard output and standard error are kept in. Claim makes room for them.
	OutputPaths(taskID string, number int) (stdout, stderr string)

	// Lead takes the runner lock for this process; ErrLed when another process has it and keeps it for LeadWait. The lock is
	// given back by Release or by the end of the process, however it ends.
	Lead(ctx context.Context, r Leader) (Lease, error)

	// LeadNext is Lead, but waits until it has the lock, or ctx ends. It does not poll where the system lets it.
	LeadNext(ctx context.Context, r Leader) (Lease, error)

	// Led says whether a runner holds the lock, and which; the zero Leader for one that has not said so. It never stands in
	// the way of one that is starting.
	Led(ctx context.Context) (Leader, bool, error)

	// Leased reports whether a runner on the node has a lease. For as long as it has, its claims and those of all processes on its node
	// are theirs to end.
	Leased(ctx context.Context, node string) (bool, error)

	// Attend says that the caller waits for a pending task of type wait, until leave is called or the process ends, however it does:
	// Entry.Attended. Several may at once. The channel receives, soon and at least once, after the task is no longer pending at due; it may
	// receive before that for no reason. ErrNotFound for what is no ID.
	Attend(ctx context.Context, id string, due time.Time) (changed <-chan struct{}, leave func(), err error)

	// SetAside moves task files that cannot be read and have not changed for the given time out of the queue, so that
	// nothing trips over them again, and says which. They are kept for the user to mend.
	SetAside(ctx context.Context, unchanged time.Duration) ([]Problem, error)

	// Prune forgets what is older than keep says: tasks that ended or were removed, with their output; output of runs beyond the newest of
	// each task, and beyond the budget of all; the oldest lines of the ledger, by their age and beyond its budget; items beyond the newest of each task, and of all, and those that came
	// before what is kept of tasks that are no more. What is pending, paused or running is never touched, but for old output.
	Prune(ctx context.Context, keep Keep, now time.Time) (Pruned, error)

	// Sync does at leisure what ClaimAll and EndAll may put off while many tasks are due. Nothing is lost without it, whatever happens, but
	// what was put off becomes more. It is for a runner that has nothing to do, and keeps nobody waiting for long.
	Sync(ctx context.Context) error

	// Watch returns a channel that receives after tasks were added, changed or removed by any process, after Fire and Halt, soon
	// and at least once after the last change, until ctx ends. The watch is in place before Watch returns. Where the system has
	// no way to tell, it ticks.
	Watch(ctx context.Context) (<-chan struct{}, error)

	Mail
}

// Want is an occurrence to be claimed, and the task's due instant after it.
type Want struct {
	ID        string
	Due, Next time.Time
}

// Granted is what became of a want.
type Granted struct {
	Record Record
	Err    error
}

// Ending is a claim and the line it ends with.
type Ending struct {
	Record Record
	Line   Line
}

// Keep says how long what is past is kept. A zero is no bound.
type Keep struct {
	Ended  time.Duration // tasks that ended or were removed, and the ledger
	Runs   int           // runs of each task whose output is kept
	Output int64         // bytes of output of all tasks together
	Ledger int64         // bytes of the ledger, the newest lines
	Items  int           // of each task in the inbox
	Inbox  int           // items of all tasks together
}

// Pruned is what was forgotten.
type Pruned struct {
	Tasks  int
	Runs   int   // whose output was removed
	Bytes  int64 // of output
	Ledger int   // parts of the ledger
	Lines  int   // of the ledger
	Items  int   // that nobody has acknowledged: the oldest
}

// Dropped is what Prune has forgotten of the inbox that nobody had acknowledged, all in all.
type Dropped struct {
	Items int       `toml:"items"`
	Since time.Time `toml:"since"` // the first time
	Last  time.Time `toml:"last"`  // the latest
}

// Gone is what Prune has dropped of the ledger, all in all: its beginning.
type Gone struct {
	Lines int       `toml:"lines"`
	Until time.Time `toml:"until"` // when the latest of them was written
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

// LeadWait is how long Lead tries: longer than anybody looks whether a runner is there, and than a runner that is about to
// end takes to look at the queue once more.
const LeadWait = 250 * time.Millisecond

// Lease is the runner lock while it is held.
type Lease interface {
	Release() error
	// Delay has Led say for what the leader puts off the start of tasks. It replaces what was said
	// before. It is a hint, not awaited by the disk.
	Delay(list []Delay) error
}

// Leader is the runner that holds the runner lock.
type Leader struct {
	Ident   Ident     `toml:"process"`
	Since   time.Time `toml:"since"` // when it got the lock, which stores fill in
	Version string    `toml:"version"`
	Mode    string    `toml:"mode"` // foreground, background
	// Yields says that the runner gives up the lock when it is asked to (runner.AskToYield), and sees only what it runs to the end.
	Yields bool `toml:"yields,omitempty"`
	// Delays are the tasks that it cannot start for now, the longest first. There may be more.
	Delays []Delay `toml:"delays,omitempty"`
}

// Delay is a task whose start is put off, for a reason that passes by itself.
type Delay struct {
	TaskID string    `toml:"task"`
	Since  time.Time `toml:"since"`
	Why    string    `toml:"why"`
}

// DelayOf says why the start of a task is put off; empty: it is not.
func (l Leader) DelayOf(id string) string {
	for _, d := range l.Delays {
		if d.TaskID == id {
			return d.Why
		}
	}
	return ""
}

// Problem is a piece of state that could not be read, and what was done about it.
type Problem struct {
	Path string
	Err  error
	Hint string
}

func (p Problem) Error() string {
	text := p.Err.Error()
	if strings.Contains(text, p.Path) {
		return text
	}
	return p.Path + ": " + text
}

func (p Problem) Unwrap() error { return p.Err }

// What a caller may decide on.
var (
	ErrNotFound = errors.New("no such task")
	ErrEnded    = errors.New("already ended")
	ErrTaken    = errors.New("taken by another runner")
	ErrKept     = errors.New("a task with this key exists")
	ErrConflict = errors.New("changed in the meantime")
	ErrLed      = errors.New("another runner holds the lock")
	ErrBusy     = errors.New("the state is busy")          // the state lock could not be had in time
	ErrUnusable = errors.New("the state cannot be used")   // wrong owner, permissions, no room, read-only
	ErrNewer    = errors.New("written by a newer version") // and left untouched
	ErrInvalid  = errors.New("cannot be kept")             // what was to be stored: not UTF-8, too large, an instant out of range
)
