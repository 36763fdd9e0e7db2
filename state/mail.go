package state

import (
	"cmp"
	"context"
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"
	"time"
)

// What waits in the inbox, by what it tells of (Line.Inbox).
const (
	ItemMessage     = "message"     // a message that was told
	ItemFailure     = "failure"     // a run that failed, timed out or was interrupted
	ItemResult      = "result"      // a run that has written something
	ItemMissed      = "missed"      // an occurrence that will not come: out of its window, or passed while its task was paused
	ItemWait        = "wait"        // what somebody waited for, and nobody did any more when it came
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
	ID     string // what users call it: k7m2/3; of an undelivered notice k7m2/3/desktop, or what ChannelForm makes of the channel
	Cursor string // items that came later have a greater one, also after the clock was put back; as CursorForm writes it
	Line   Line
	Leased time.Time // until then somebody has it, who took it, unless that has passed; zero: nobody took it
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
	// Now is when leases that end by then have run out, for Free. The zero instant is before all ends. Take has its own.
	Now time.Time
}

// CursorForm is how cursors are written.
const CursorForm = "20060102T150405.000000000Z"

// CheckCursor refuses, with ErrInvalid, what is no cursor. None is one: it is before all.
func CheckCursor(text string) error {
	if t, err := time.Parse(CursorForm, text); text != "" && (err != nil || t.Format(CursorForm) != text) {
		return fmt.Errorf("%w: %q is no cursor of the inbox; take the one of an item", ErrInvalid, text)
	}
	return nil
}

// Wants reports whether an item is asked for, but for how many are. Its line is not looked at.
func (q Query) Wants(i Item, taskID string) bool {
	return i.Cursor > q.Since && (len(q.Tasks) == 0 || slices.Contains(q.Tasks, taskID) || slices.Contains(q.Tasks, i.ID)) &&
		!(q.Free && i.Leased.After(q.Now))
}

// NextCursor is the cursor of an item that comes at an instant, after the one that came last; empty: there is none.
func NextCursor(last string, at time.Time) string {
	if before, err := time.Parse(CursorForm, last); err == nil && !at.After(before) {
		at = before.Add(1)
	}
	return at.UTC().Format(CursorForm)
}

// Surplus are the cursors of the items that are to be forgotten of those there are, which come oldest first: those beyond the newest of each task,
// and of all, and those that came before what is kept of tasks that are no more.
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

// CompareNotices is the order of notices: what is due first comes first.
func CompareNotices(a, b Notice) int {
	return cmp.Or(a.Due.Compare(b.Due), strings.Compare(a.Line.TaskID, b.Line.TaskID), a.Line.Number-b.Line.Number, strings.Compare(a.Channel, b.Channel))
}

// ItemID is what users call an item: the occurrence, and of an undelivered notice its channel.
func ItemID(l Line) string {
	id := OccurrenceID(l.TaskID, l.Number)
	if l.Type == LineDelivery {
		id += "/" + ChannelForm(l.Channel)
	}
	return id
}

// ChannelForm is a channel as it stands in an item's ID: its name, or the beginning of it and a hash when it is a URL, has a recipient or
// is not made of a-z, 0-9, _ and -. No secret of a URL is in it.
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

// HasMail reports whether a line makes an item or notices. Only lines of occurrences, manual runs and deliveries do.
func (l Line) HasMail() bool {
	switch l.Type {
	case LineOccurrence, LineManual:
		return l.Inbox != "" || len(l.Tell) > 0
	case LineDelivery:
		return l.Inbox != ""
	}
	return false
}

// Channels are the channels to tell by, each once.
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

// Of returns the line as a store writes it, of the end of a notice.
func (n Notice) Of(line Line) Line {
	line.Type, line.TaskID, line.Number, line.Channel, line.Tell = LineDelivery, n.Line.TaskID, n.Line.Number, n.Channel, nil
	line.Revision, line.said = n.Line.Revision, n.Line.Said()
	return line
}

// Mail is the inbox and the outbox. What they hold comes of the lines that End, EndAll, Skip and Told write: whole or not at all, as
// the line, and once. A line is in at most one item, and in one notice for each of its channels. Items and notices stay when their task is
// removed.
type Mail interface {
	// Inbox returns the items asked for, oldest first, and how many more there are. ErrInvalid for a Since that is no cursor.
	Inbox(ctx context.Context, q Query) (items []Item, more int, problems []Problem, err error)

	// Take is Inbox of items that nobody has, and leases them to the caller: until then no other Take returns them. A lease that
	// has run out by now leaves an item as it was.
	Take(ctx context.Context, q Query, now, until time.Time) (items []Item, more int, problems []Problem, err error)

	// Ack ends items for good, whoever has them. The answers stand in the order of the IDs, which are whole: ErrNotFound for one that is
	// not there. One that cannot be read can be acknowledged, too.
	Ack(ctx context.Context, ids []string) []error

	// Dropped says how many items Prune has forgotten that nobody had acknowledged. The zero value: none.
	Dropped(ctx context.Context) (Dropped, error)

	// Outbox returns the notices due by then, earliest first, at most limit (0: all), and when the next one after them is due; zero: none.
	// Notices of the channels in except (words of a line's Tell) are left out of both, by their names alone: a channel that hangs, with a
	// thousand notices before it, is to hide no other and to cost no reading.
	Outbox(ctx context.Context, by time.Time, limit int, except ...string) (due []Notice, next time.Time, problems []Problem, err error)

	// Postpone keeps a notice, as Outbox returned it, for a later try: Due, Attempts and Last are its new ones. ErrNotFound when it was
	// told or postponed since.
	Postpone(ctx context.Context, n Notice) error

	// Told ends a notice, as Outbox returned it, with a line of type LineDelivery, which says how; task, number and channel of the line
	// are the notice's. Where the line's Inbox is not empty, it becomes an item. ErrNotFound when it was told or postponed since.
	Told(ctx context.Context, n Notice, line Line) error

	// WatchMail returns a channel like Queue.Changed. It receives after items and notices have come, were taken or postponed; that one
	// has ended makes no signal.
	WatchMail(ctx context.Context) (<-chan struct{}, error)
}

// Dropped is what Prune has forgotten of the inbox that nobody had acknowledged, all in all.
type Dropped struct {
	Items int       `toml:"items"`
	Since time.Time `toml:"since"` // the first time
	Last  time.Time `toml:"last"`  // the latest
}

// Count adds items that were forgotten at an instant.
func (d *Dropped) Count(items int, now time.Time) {
	if items == 0 {
		return
	}
	if d.Items == 0 {
		d.Since = UTC(now)
	}
	d.Items, d.Last = d.Items+items, UTC(now)
}
