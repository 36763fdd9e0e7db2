package state

import (
	"cmp"
	"context"
	"crypto/sha256"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// The kinds of items in the inbox (Line.Inbox).
const (
	ItemMessage = "message" // a message that was told
	ItemFailure = "failure" // a run that failed, timed out or was interrupted
	ItemResult  = "result"  // a run that has written something
	// an occurrence that will not come: outside its window, or passed while its task was paused
	ItemMissed      = "missed"
	ItemWait        = "wait"        // the end of a wait that nobody was waiting for any more
	ItemUndelivered = "undelivered" // a notice that could not be delivered
)

// Why somebody is told (Line.News).
const (
	NewsMessage  = "message"
	NewsFailure  = "failure"  // the first of a row of failures
	NewsRecovery = "recovery" // the first success after it
	NewsOutput   = "output"   // it has written something
	NewsChange   = "change"   // the output differs from that of the last success
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

// Item waits in the inbox until somebody acknowledges it. It is a line of the ledger about an
// occurrence, a manual run or a delivery whose Inbox is not empty.
type Item struct {
	// k7m2/3; of an undelivered notice k7m2/3/desktop, with the channel as ChannelForm writes it
	ID string
	// as CheckCursor reads it; later items have a greater one, even if the clock was put back
	Cursor string
	Line   Line
	Leased time.Time // until when somebody who took it has it; zero: nobody took it
}

// Notice is a delivery to make: one channel of a line's Tell.
type Notice struct {
	Line     Line   // of the occurrence or the manual run
	Channel  string // as the line's Tell has it: NAME, NAME:RECIPIENT or a URL
	Attempts int    // made so far
	Due      time.Time
	Last     string // the last error
	// Place is the store's own.
	Place string
}

// ID is the notice's name for users and receivers.
func (n Notice) ID() string { return OccurrenceID(n.Line.TaskID, n.Line.Number) }

// Query selects items.
type Query struct {
	Tasks []string // whole IDs of tasks or of items (k7m2/3); none: all
	Since string   // only those with a greater cursor
	Limit int      // the most items, oldest first; 0: all
	Free  bool     // only those that nobody has taken
	// Now is the present instant, for Free: leases that end by then have run out. Zero is before
	// all ends. Take has its own.
	Now time.Time
}

// CursorForm is how cursors are written, except those of NumberCursor.
const CursorForm = "20060102T150405.000000000Z"

// NumberCursor returns the cursor of an item that has a number instead of an instant. It is after
// all cursors that are instants.
func NumberCursor(n uint64) string { return fmt.Sprintf("n%020d", n) }

// CheckCursor refuses, with ErrInvalid, text that is not a cursor. The empty text is a cursor,
// which is before all items.
func CheckCursor(text string) error {
	number, numbered := strings.CutPrefix(text, "n")
	if n, err := strconv.ParseUint(number, 10, 64); numbered && err == nil && NumberCursor(n) == text {
		return nil
	}
	if t, err := time.Parse(CursorForm, text); text != "" && (err != nil || t.Format(CursorForm) != text) {
		return fmt.Errorf("%w: %q is not a cursor of the inbox; take the one of an item", ErrInvalid, text)
	}
	return nil
}

// Wants reports whether the query selects an item, regardless of Limit. It does not look at the
// item's line.
func (q Query) Wants(i Item, taskID string) bool {
	return i.Cursor > q.Since && (len(q.Tasks) == 0 || slices.Contains(q.Tasks, taskID) || slices.Contains(q.Tasks, i.ID)) &&
		!(q.Free && i.Leased.After(q.Now))
}

// Pick returns the indexes of the items, given oldest first, that the query selects, and how many
// more there are beyond its limit.
func (q Query) Pick(all []Item) (picked []int, more int) {
	for i, item := range all {
		switch {
		case !q.Wants(item, item.Line.TaskID):
		case q.Limit > 0 && len(picked) == q.Limit:
			more++
		default:
			picked = append(picked, i)
		}
	}
	return picked, more
}

// NextCursor returns the cursor of an item that comes at an instant. last is the cursor of the item
// before it, or empty.
func NextCursor(last string, at time.Time) string {
	if before, err := time.Parse(CursorForm, last); err == nil && !at.After(before) {
		at = before.Add(1)
	}
	return at.UTC().Format(CursorForm)
}

// Surplus returns the cursors of the items that are to be dropped, of all items, given oldest
// first: those beyond the newest of each task and of all, and those older than what is kept of
// tasks that are over.
func (k Keep) Surplus(items []Item, there func(taskID string) bool, now time.Time) map[string]bool {
	before := ""
	if k.Ended > 0 {
		before = now.Add(-k.Ended).UTC().Format(CursorForm)
	}
	of := map[string]int{}
	for _, i := range items {
		of[i.taskID()]++
	}
	old := map[string]bool{}
	for _, i := range items {
		id := i.taskID()
		if k.Items > 0 && of[id] > k.Items || k.Inbox > 0 && len(items)-len(old) > k.Inbox || i.Cursor < before && !there(id) {
			of[id]--
			old[i.Cursor] = true
		}
	}
	return old
}

func (i Item) taskID() string {
	id, _, _ := strings.Cut(i.ID, "/")
	return id
}

// CompareNotices orders notices, the one that is due first comes first.
func CompareNotices(a, b Notice) int {
	return cmp.Or(a.Due.Compare(b.Due), strings.Compare(a.Line.TaskID, b.Line.TaskID), a.Line.Number-b.Line.Number, strings.Compare(a.Channel, b.Channel))
}

// ItemID is an item's name for users: the occurrence and, of an undelivered notice, its channel.
func ItemID(l Line) string {
	id := OccurrenceID(l.TaskID, l.Number)
	if l.Type == LineDelivery {
		id += "/" + ChannelForm(l.Channel)
	}
	return id
}

// ChannelForm writes a channel for an item's ID. It is the channel's name. If the channel is a URL,
// has a recipient or has characters other than a-z, 0-9, _ and -, it is the name's beginning and a
// hash. It never contains a secret of a URL.
func ChannelForm(channel string) string {
	n := 0
	for n < len(channel) && (channel[n] >= 'a' && channel[n] <= 'z' || channel[n] >= '0' && channel[n] <= '9' || channel[n] == '_' || channel[n] == '-') {
		n++
	}
	if n > 0 && n == len(channel) && n <= 40 {
		return channel
	}
	sum := sha256.Sum256([]byte(channel))
	return fmt.Sprintf("%s+%x", channel[:min(n, 20)], sum[:8])
}

// HasMail reports whether a line makes an item or notices. Only lines of occurrences, manual runs
// and deliveries do.
func (l Line) HasMail() bool {
	if !WholeID(l.TaskID) || l.Number <= 0 {
		return false
	}
	switch l.Type {
	case LineOccurrence, LineManual:
		return l.Inbox != "" || len(l.Tell) > 0
	case LineDelivery:
		return l.Inbox != ""
	}
	return false
}

// Channels returns the channels to tell, each once.
func (l Line) Channels() (list []string) {
	if l.Type == LineDelivery {
		return nil
	}
	for _, c := range l.Tell {
		if !slices.Contains(list, c) {
			list = append(list, c)
		}
	}
	return list
}

// Of returns the line as a store writes it for the end of a notice. A line without an instant is
// written now.
func (n Notice) Of(line Line) Line {
	line = dated(line)
	line.Type, line.TaskID, line.Number, line.Channel, line.Tell = LineDelivery, n.Line.TaskID, n.Line.Number, n.Channel, nil
	line.Revision, line.said = n.Line.Revision, n.Line.Said()
	return line
}

// Mail is the inbox and the outbox. End, EndAll, Skip and Told fill them with the lines that they
// write: in the same transaction, and once. A line makes at most one item, and one notice for each
// of its channels. Items and notices stay when their task is removed.
type Mail interface {
	// Inbox returns the items that the query selects, oldest first, and how many more there are.
	// ErrInvalid: Since is not a cursor.
	Inbox(ctx context.Context, q Query) (items []Item, more int, problems []Problem, err error)

	// Take is Inbox of items that nobody has. It leases them to the caller: no other Take returns
	// them until the lease ends at until. An item whose lease has ended is as it was before.
	Take(ctx context.Context, q Query, now, until time.Time) (items []Item, more int, problems []Problem, err error)

	// Ack ends items for good, whoever has them. The errors are in the order of the IDs, which are
	// whole. It returns ErrNotFound if there is no such item. A damaged item can be acknowledged,
	// too.
	Ack(ctx context.Context, ids []string) []error

	// Dropped says how many items Prune has dropped that nobody had acknowledged. It is zero if
	// there were none.
	Dropped(ctx context.Context) (Dropped, error)

	// Outbox returns the notices due by then, earliest first, at most limit (0: all), and when the
	// next one after them is due (zero: there is none). It leaves out notices of the channels in
	// except (words of a line's Tell) by their names alone. So a channel that hangs, with a
	// thousand notices before it, hides no other and costs no reading.
	Outbox(ctx context.Context, by time.Time, limit int, except ...string) (due []Notice, next time.Time, problems []Problem, err error)

	// Postpone keeps a notice that Outbox returned for a later try, with its new Due, Attempts and
	// Last. It returns ErrNotFound if the notice was told or postponed since.
	Postpone(ctx context.Context, n Notice) error

	// Told ends a notice that Outbox returned with a line of type LineDelivery. The line's task,
	// number and channel are the notice's. If the line's Inbox is not empty, it becomes an item.
	// Told returns ErrNotFound if the notice was told or postponed since.
	Told(ctx context.Context, n Notice, line Line) error

	// WatchMail returns a channel like Queue.Changed. It receives after items and notices came,
	// were taken or were postponed. It does not receive when one ends.
	WatchMail(ctx context.Context) (<-chan struct{}, error)
}

// Dropped counts the items that Prune has dropped and nobody had acknowledged, all in all.
type Dropped struct {
	Items int       `toml:"items"`
	Since time.Time `toml:"since"` // the first time
	Last  time.Time `toml:"last"`  // the latest
}

// Count adds items that were dropped at an instant.
func (d *Dropped) Count(items int, now time.Time) {
	if items == 0 {
		return
	}
	if d.Items == 0 {
		d.Since = UTC(now)
	}
	d.Items, d.Last = d.Items+items, UTC(now)
}
