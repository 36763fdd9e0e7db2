package state

import (
	"context"
	"time"
)

// What waits in the inbox, by what it tells of (Line.Inbox).
const (
	ItemMessage     = "message"     // a message that was told
	ItemFailure     = "failure"     // a run that failed, timed out or was interrupted
	ItemResult      = "result"      // a run that has written something
	ItemMissed      = "missed"      // an occurrence that will not come: out of its window, or passed while its task was paused
	ItemUndelivered = "undelivered" // a notice that could not be delivered
)

// Why somebody is told (Line.News).
const (
	NewsMessage  = "message"
	NewsFailure  = "failure"  // the first of a row of failures
	NewsRecovery = "recovery" // the first success after it
	NewsOutput   = "output"   // it has written something
	NewsChange   = "change"   // what it has written is not what the last success wrote
	NewsOutcome  = "outcome"  // each outcome is told
)

// When a task tells (Policy.NotifyOn).
const (
	NotifyAlways   = "always"
	NotifyFailure  = "failure"
	NotifyOutput   = "output"
	NotifyChange   = "change"
	NotifyRecovery = "recovery"
	NotifyNever    = "never"
)

// Item is something that waits in the inbox until somebody acknowledges it. It is a line of the ledger, of an occurrence, a manual run
// or a delivery, whose Inbox is not empty.
type Item struct {
	ID     string // what users call it: k7m2/3; of an undelivered notice k7m2/3/desktop
	Cursor string // items that came later have a greater one
	Line   Line
	Leased time.Time // until then somebody has it, who took it; zero: nobody
}

// Notice is a delivery to be made: one channel of a line's Tell.
type Notice struct {
	Line     Line   // of the occurrence or the manual run
	Channel  string // as the line's Tell has it: NAME, NAME:RECIPIENT or a URL
	Attempts int    // made so far
	Due      time.Time
	Last     string // the last error
	// Place is the store's own.
	Place string
}

// ID is what users and receivers call it.
func (n Notice) ID() string { return OccurrenceID(n.Line.TaskID, n.Line.Number) }

// Query says which items are asked for.
type Query struct {
	Tasks []string // whole IDs of tasks, or of items (k7m2/3); none: all
	Since string   // only those with a greater cursor
	Limit int      // at most so many, oldest first; 0: all
	Free  bool     // only those that nobody has taken
}

// Mail is the inbox and the outbox. What they hold comes of the lines that End, EndAll, Skip and Told write: whole or not at all, as
// the line. A crash between an acknowledgement and the next change may, after a loss of power only, bring an item back; it never loses one.
type Mail interface {
	// Inbox returns the items asked for, oldest first, and how many more there are.
	Inbox(ctx context.Context, q Query) (items []Item, more int, problems []Problem, err error)

	// Take is Inbox of items that nobody has, and leases them to the caller: until then no other Take returns them. A lease that
	// has run out leaves an item as it was.
	Take(ctx context.Context, q Query, now, until time.Time) (items []Item, more int, problems []Problem, err error)

	// Ack ends items for good, whoever has them. The answers stand in the order of the IDs: ErrNotFound for one that is not there.
	Ack(ctx context.Context, ids []string) []error

	// Outbox returns the notices due by then, earliest first, at most limit (0: all), and when the next one after them is due; zero: none.
	Outbox(ctx context.Context, by time.Time, limit int) (due []Notice, next time.Time, problems []Problem, err error)

	// Postpone keeps a notice for a later try: Due, Attempts and Last are its new ones. ErrNotFound when it is no longer there.
	Postpone(ctx context.Context, n Notice) error

	// Told ends a notice with a line of type LineDelivery, which says how. Where the line's Inbox is not empty, it becomes an item.
	// ErrNotFound when it is no longer there.
	Told(ctx context.Context, n Notice, line Line) error

	// WatchMail is Watch of the inbox and the outbox.
	WatchMail(ctx context.Context) (<-chan struct{}, error)
}
