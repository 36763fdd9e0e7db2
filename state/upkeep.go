package state

import (
	"context"
	"time"
)

// Upkeep is what a runner does for the store besides its work: it drops what is old, and
// quarantines what is damaged.
type Upkeep interface {
	// Prune drops what is older than keep says:
	// - tasks that ended or were removed, with their output
	// - output of runs beyond the newest of each task, and beyond the budget of all
	// - the oldest lines of the ledger, by age and beyond its budget
	// - items beyond the newest of each task and of all, and those older than what is kept of tasks
	//   that are over
	//
	// What is pending, paused or running is never touched, except for old output.
	Prune(ctx context.Context, keep Keep, now time.Time) (Pruned, error)

	// Sync makes the disk take the files that the commit log stands for, and empties the log.
	// Without it nothing is lost, but the log grows. A runner calls it when it is idle, or ends. It
	// delays no other caller for long.
	Sync(ctx context.Context) error

	// Quarantine moves task files that cannot be read, and have not changed for the given time, out
	// of the queue, and returns them. Nothing reads them again until the user mends them.
	Quarantine(ctx context.Context, unchanged time.Duration) ([]Problem, error)

	// Quarantined returns the paths of files that are in quarantine. It is cheap enough for every
	// command to call. Older copies of tasks that are there are left out, because nothing is lost
	// with them.
	Quarantined(ctx context.Context) ([]string, error)
}

// NoFiles is embedded by a store that keeps nothing in files of its own. A change is kept when it
// is made, and nobody edits the state by hand.
type NoFiles struct{}

// Sync does nothing.
func (NoFiles) Sync(ctx context.Context) error { return ctx.Err() }

// Quarantine does nothing.
func (NoFiles) Quarantine(ctx context.Context, _ time.Duration) ([]Problem, error) {
	return nil, ctx.Err()
}

// Quarantined returns nothing.
func (NoFiles) Quarantined(ctx context.Context) ([]string, error) { return nil, ctx.Err() }

// Keep says how much Prune keeps. Zero means no limit.
type Keep struct {
	Ended  time.Duration // ended and removed tasks, and the ledger
	Runs   int           // runs of each task whose output is kept
	Output int64         // bytes of output of all tasks together
	Ledger int64         // bytes of the ledger, the newest lines
	Items  int           // of each task in the inbox
	Inbox  int           // items of all tasks together
}

// Pruned is what Prune has dropped.
type Pruned struct {
	Tasks  int
	Runs   int   // whose output was removed
	Bytes  int64 // of output
	Ledger int   // parts of the ledger
	Lines  int   // of the ledger
	Items  int   // unacknowledged items, the oldest
}
