package state

import (
	"context"
	"time"
)

// Claims are the occurrences that runners have taken on. Each is granted to one runner.
type Claims interface {
	// Claim grants the occurrence of id that is due at due, and moves the task to its next due
	// instant, or to Ended if next is zero. Exactly one caller gets it, however many try; the
	// others get ErrTaken. The Record is durable before Claim returns, so a granted claim is never
	// granted again. A claim that failed, or whose process died before Claim returned, was not
	// granted.
	//
	// An instant that has ended (Tally.Taken) is never granted: the task moves on to next, and the
	// answer is ErrTaken. The claim of a command has room for its output.
	Claim(ctx context.Context, id string, due, next time.Time, by Ident, now time.Time) (Record, error)

	// Fire opens a claim for a run that is not part of the schedule. It gets the next number, its
	// line is of type LineManual, and the task's due instant and tally do not change. Fire works in
	// every phase but Removed.
	Fire(ctx context.Context, id string, by Ident, now time.Time) (Record, error)

	// Started keeps what the claim says of its process, which is about to start or has started:
	// Starting, Child, Started and Attempt. It is a hint for a later runner and does not wait for
	// the disk: it outlives this process, but not a crash of the machine.
	Started(ctx context.Context, r Record) error

	// Note does what Started does, and also keeps Retry and Runner, durably. Who takes the claim
	// over does not repeat an attempt that was noted.
	Note(ctx context.Context, r Record) error

	// Release undoes a claim for which nothing was started. The task is due again at the claim's
	// instant, and the claim's number is used again. A manual claim leaves no trace.
	//
	// It returns ErrEnded if the claim is not open, and ErrConflict if its start has been noted, of
	// which r does not know. It returns ErrTaken if a later occurrence has
	// been claimed or has ended, or the task was edited, paused, finished or removed since. The
	// claim then stays open.
	Release(ctx context.Context, r Record) error

	// Halt asks the runner of the claim to end it, and stores why in Record.Halt. Queue.Changed
	// tells the runner. It returns ErrEnded if the claim has ended.
	Halt(ctx context.Context, r Record, why string) error

	// Halted returns the open claims whose end was requested. It reads no others.
	Halted(ctx context.Context) ([]Record, error)

	// End appends the line to the ledger, updates the tally and closes the claim, in one
	// transaction. The line's task, number, due instant, revision and type are the record's. If the
	// claim has ended already, it returns ErrEnded and writes no second line.
	End(ctx context.Context, r Record, line Line) error

	// EndAll does for each ending, in order, what End does, with far fewer waits for the disk.
	EndAll(ctx context.Context, ends []Ending) []error

	// Open returns the open claims, oldest first: those that were granted and have no line in the
	// ledger. A claim with a damaged record is reported. It is returned with only its task's ID and
	// due instant, so that it can be ended.
	Open(ctx context.Context) ([]Record, []Problem, error)
}

// Ending is a claim and the line it ends with.
type Ending struct {
	Record Record
	Line   Line
	// Tell, if it is not nil, completes the line within the change itself, from the tally before
	// it: what is told of an end depends on the ends before. Of the tally, only Failing counts, and
	// whether Output is there and not that of the line. It may be called more than once, each time
	// with the line as it is here.
	Tell func(before Tally, line *Line)
}

// told is the line, completed from the tally before it.
func (e Ending) told(before Tally) Line {
	line := dated(e.Line)
	if e.Tell != nil {
		e.Tell(before, &line)
	}
	return line
}
