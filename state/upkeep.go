package state

import (
	"context"
	"time"
)

// Upkeep is what a runner does for the store, besides its work: what is past is forgotten, and what
// is damaged is set aside.
type Upkeep interface {
	// Prune forgets what is older than keep says: tasks that ended or were removed, with their
	// output; output of runs beyond the newest of each task, and beyond the budget of all; the
	// oldest lines of the ledger, by their age and beyond its budget; items beyond the newest of
	// each task, and of all, and those that came before what is kept of tasks that are no more.
	// What is pending, paused or running is never touched, but for old output.
	Prune(ctx context.Context, keep Keep, now time.Time) (Pruned, error)

	// Sync does at leisure what every change may put off: it makes the disk take what the log of
	// commits stands for, and the log begins anew. Nothing is lost without it, whatever happens,
	// but the log grows. It is for a runner that has nothing to do, or ends, and keeps nobody
	// waiting for long.
	Sync(ctx context.Context) error

	// SetAside moves task files that cannot be read and have not changed for the given time out of
	// the queue, so that nothing trips over them again, and says which. They are kept for the user
	// to mend.
	SetAside(ctx context.Context, unchanged time.Duration) ([]Problem, error)

	// Aside names, as a person finds it, what was set aside and nobody has mended or deleted yet.
	// Looking is cheap, so that every command can say it. Older copies of tasks that are there are
	// left out: nothing is lost with them.
	Aside(ctx context.Context) ([]string, error)
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
