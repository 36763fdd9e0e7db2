package state

import (
	"context"
	"time"
)

// Claims are the runs that somebody has begun to see to, each granted to one.
type Claims interface {
	// Claim takes the occurrence of id that is due at due and moves the task to its next due
	// instant, or to Ended when next is zero. Exactly one caller gets it, however many try; the
	// others get ErrTaken. The Record is durable before Claim returns, so that a claim that was
	// granted is never granted again. An instant that has ended (Tally.Taken) is never granted: the
	// task moves on to next, and the answer is ErrTaken. A claim that failed or whose process died
	// before it returned was not granted. For a command there is room for its output.
	Claim(ctx context.Context, id string, due, next time.Time, by Ident, now time.Time) (Record, error)

	// ClaimAll does for each want, in order, what Claim does, with far fewer waits for the disk.
	ClaimAll(ctx context.Context, wants []Want, by Ident, now time.Time) []Granted

	// Fire opens a claim that is no occurrence of the schedule, numbered as one: its line is of
	// type LineManual, and the task's due instant and tally stay. It works for tasks in every phase
	// but Removed.
	Fire(ctx context.Context, id string, by Ident, now time.Time) (Record, error)

	// Started notes of a claim that its process is about to start, or has: Starting, Child, Started
	// and Attempt. It is a hint for a later runner, not awaited by the disk; it outlives this
	// process, not the machine.
	Started(ctx context.Context, r Record) error

	// Note is Started, durably, with Retry and with Runner, for who takes a claim over: an attempt
	// that is noted is not made again.
	Note(ctx context.Context, r Record) error

	// Release undoes a claim for which nothing was started: the task is due again at the claim's
	// instant, and its number is given again; of a manual claim nothing is left. ErrEnded when the
	// claim is not open. ErrTaken when it cannot be undone, because a later occurrence has been
	// claimed or has ended, or the task was edited, paused, finished or removed since; the claim is
	// then still open.
	Release(ctx context.Context, r Record) error

	// Halt asks whoever runs the claim to end it, and Record.Halt then says why. Queue.Changed tells of it.
	// ErrEnded when it has ended.
	Halt(ctx context.Context, r Record, why string) error

	// Halted returns the open claims whose end was asked for. It reads no other.
	Halted(ctx context.Context) ([]Record, error)

	// End appends the line to the ledger, brings the tally up to date and closes the claim, in one
	// transaction. ErrEnded when it has ended already: no second line. Task, number, due, revision
	// and type of the line are the record's.
	End(ctx context.Context, r Record, line Line) error

	// EndAll does for each ending, in order, what End does, with far fewer waits for the disk.
	EndAll(ctx context.Context, ends []Ending) []error

	// Open returns the open claims, oldest first: those that were granted and have no line in the
	// ledger. One whose record is damaged is reported and stands in with its task's ID and due
	// instant, so that it can be ended.
	Open(ctx context.Context) ([]Record, []Problem, error)
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
