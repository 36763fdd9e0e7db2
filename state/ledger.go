package state

import (
	"slices"
	"strconv"
	"time"
)

// Outcome is how an occurrence ended. Each ends with exactly one.
type Outcome string

// The outcomes.
const (
	OK          Outcome = "ok"
	Failed      Outcome = "failed"
	TimedOut    Outcome = "timeout"
	Interrupted Outcome = "interrupted" // the runner or the machine died under it
	Missed      Outcome = "missed"
	Skipped     Outcome = "skipped"
	Cancelled   Outcome = "cancelled"
)

// Ran reports whether something was started or delivered for an occurrence that ended so.
func (o Outcome) Ran() bool {
	return o == OK || o == Failed || o == TimedOut || o == Interrupted
}

// The types of a ledger line. Audits count the first only.
const (
	LineOccurrence = "occurrence"
	LineManual     = "manual"
	LineTask       = "task"     // a task was created, changed, removed, restored
	LineDelivery   = "delivery" // somebody was told, or could not be
)

// The events of a task that lines of type LineTask tell of.
const (
	EventCreated  = "created"
	EventRemoved  = "removed"
	EventMoved    = "moved"
	EventRestored = "restored"
	EventSetAside = "set_aside"
	EventEdited   = "edited"
	EventPaused   = "paused"
	EventResumed  = "resumed"
	EventFinished = "finished" // its stop condition was met
	EventClock    = "clock"    // the clock was put back by hours: instants after it come again
)

// Line is one entry of the ledger, which is only ever appended to. Instants are in the task's zone where it is known.
type Line struct {
	Type   string    `json:"type"`
	At     time.Time `json:"at"` // when the line was written
	TaskID string    `json:"task_id"`

	// Of an occurrence or a manual run. Revision, also of a change of the task, is the task's: of a run, as it was claimed.
	Number   int        `json:"number,omitempty"` // of a range, the first one's
	Due      *time.Time `json:"due,omitempty"`
	DueLast  *time.Time `json:"due_last,omitempty"` // of a range of equal outcomes: the last instant
	Count    int        `json:"count,omitempty"`    // instants the line stands for; 1 but for ranges
	Outcome  Outcome    `json:"outcome,omitempty"`
	Reason   string     `json:"reason,omitempty"`
	Started  *time.Time `json:"started,omitempty"`
	Ended    *time.Time `json:"ended,omitempty"`
	Late     float64    `json:"late_seconds,omitempty"` // start minus due
	Attempts int        `json:"attempts,omitempty"`
	Backlog  bool       `json:"backlog,omitempty"` // it caught up with what was missed, and more was waiting
	Stop     string     `json:"stop,omitempty"`    // the stop condition that it met
	ExitCode *int       `json:"exit_code,omitempty"`
	Signal   string     `json:"signal,omitempty"`
	Stdout   Output     `json:"stdout,omitzero"`
	Stderr   Output     `json:"stderr,omitzero"`
	Ignored  int        `json:"ignored_lines,omitempty"` // of an agent's standard output: lines that were no JSON-RPC
	User     float64    `json:"user_seconds,omitempty"`
	System   float64    `json:"system_seconds,omitempty"`
	MaxRSS   int64      `json:"max_rss_bytes,omitempty"`
	Revision int64      `json:"revision,omitempty"`

	// Of an occurrence or a manual run: who is told, and why; and what it is in the inbox. Empty: nobody, nothing.
	Tell      []string `json:"tell,omitempty"` // channels: NAME, NAME:RECIPIENT or a URL
	News      string   `json:"news,omitempty"`
	Inbox     string   `json:"inbox,omitempty"`
	StdoutSum string   `json:"stdout_sum,omitempty"` // of standard output, where the next run's is compared with it

	// Of a delivery: Number, Attempts, Reason (the last error, without secrets) and News are the notice's.
	Channel   string `json:"channel,omitempty"`
	Delivered bool   `json:"delivered,omitempty"`

	// Of a change of the task: what it was, and the schedule the task then had.
	Event    string     `json:"event,omitempty"`
	When     string     `json:"when,omitempty"`
	Zone     string     `json:"tz,omitempty"`
	Schedule *Timing    `json:"schedule,omitempty"` // whole, with its anchor, so that an audit can make it again
	Given    *int       `json:"given,omitempty"`    // how many numbers the task's occurrences and runs by hand had been given; nil: not known
	Origin   string     `json:"origin,omitempty"`   // of the task
	Resume   *time.Time `json:"resume,omitempty"`   // of a pause: when it ends by itself

	// What the task is called, and what the line says: of a run why it failed; of a task's making, where that is more than what it is called, and
	// of an edit that changes it, its text, which a ledger has nowhere else (Lacks).
	Description string `json:"description,omitempty"`
	Text        string `json:"text,omitempty"`

	said string // the text of its task, as long as the line is on its way into a ledger (Kept)
}

// Counts reports whether the line changes its task's tally.
func (l Line) Counts() bool {
	return l.Type == LineOccurrence || l.Type == LineManual || l.Type == LineTask && l.Event == EventClock
}

// TaskLine is the ledger's line about a change of a task, as the task stands after it; a due instant that is zero or not known is left out. It says how many
// numbers have been given, so that what was claimed before the change and ends after it can be told from what is claimed later. That of
// the task's making has its text.
func TaskLine(e Entry, event string, at time.Time) Line {
	t, timing, given := e.Task, e.Task.When, e.Given()
	l := Line{Type: LineTask, At: at, TaskID: t.ID, Event: event, When: timing.Text, Zone: timing.Zone, Schedule: &timing, Revision: t.Revision,
		Given: &given, Origin: t.Origin, Description: t.Summary()}
	switch said := t.Said(); {
	case event != EventCreated:
		l = l.Lean(said)
	case said != l.Description:
		l.Text = said
	}
	if !e.Due.IsZero() && !IsUnscheduled(e.Due) {
		due := UTC(e.Due)
		l.Due = &due
	}
	return l
}

// Of returns the line as a store writes it, about an occurrence: whose it is, its number and its due instant are the
// store's. A due instant that is right stays in the zone it came in. A line that stands for no number of instants counts 1.
func (l Line) Of(taskID string, number int, due time.Time) Line {
	l.Type, l.TaskID, l.Number, l.Count = LineOccurrence, taskID, number, max(l.Count, 1)
	if l.Due == nil || !l.Due.Equal(due) {
		l.Due = &due
	}
	return l
}

// Clone returns a copy that shares nothing with the line that could be changed.
func (l Line) Clone() Line {
	l.Due, l.DueLast, l.Started, l.Ended = copyOf(l.Due), copyOf(l.DueLast), copyOf(l.Started), copyOf(l.Ended)
	l.ExitCode, l.Schedule, l.Resume = copyOf(l.ExitCode), copyOf(l.Schedule), copyOf(l.Resume)
	l.Tell = slices.Clone(l.Tell)
	return l
}

func copyOf[T any](p *T) *T {
	if p == nil {
		return nil
	}
	return new(*p)
}

// OccurrenceID names an occurrence as users see it: k7m2/3.
func OccurrenceID(taskID string, number int) string { return taskID + "/" + strconv.Itoa(number) }

// Output says what a run wrote to one stream. The bytes themselves are in a file of the store.
type Output struct {
	Bytes     int64 `json:"bytes"`
	Truncated bool  `json:"truncated,omitempty"`
	Own       int64 `json:"own,omitempty"` // how many of the bytes are answers of ouro-timer itself
}

// Told reports whether a run wrote something that is to be told: ouro-timer's own answers are none.
func (o Output) Told() bool { return o.Bytes > o.Own }
