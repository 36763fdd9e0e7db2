package state

import (
	"slices"
	"strconv"
	"time"
)

// Outcome is how an occurrence ended. Each occurrence has exactly one.
type Outcome string

// The outcomes.
const (
	OK          Outcome = "ok"
	Failed      Outcome = "failed"
	TimedOut    Outcome = "timeout"
	Interrupted Outcome = "interrupted" // the runner or the machine died during the run
	Missed      Outcome = "missed"
	Skipped     Outcome = "skipped"
	Cancelled   Outcome = "cancelled"
)

// Ran reports whether an occurrence with this outcome was started or delivered.
func (o Outcome) Ran() bool {
	return o == OK || o == Failed || o == TimedOut || o == Interrupted
}

// The types of a ledger line. Audits count only the first.
const (
	LineOccurrence = "occurrence"
	LineManual     = "manual"
	LineTask       = "task"     // a task was created, changed, removed, restored
	LineDelivery   = "delivery" // somebody was told, or could not be told
)

// The events of a task in lines of type LineTask.
const (
	EventCreated     = "created"
	EventRemoved     = "removed"
	EventMoved       = "moved"
	EventRestored    = "restored"
	EventQuarantined = "set_aside"
	EventEdited      = "edited"
	EventPaused      = "paused"
	EventResumed     = "resumed"
	EventFinished    = "finished" // its stop condition was met
	// the clock was put back by hours, and instants after it come again
	EventClock = "clock"
)

// Line is one entry of the ledger, which is append-only. Instants are in the task's zone if it is
// known.
type Line struct {
	Type   string    `json:"type"`
	At     time.Time `json:"at"` // when the line was written
	TaskID string    `json:"task_id"`

	// Of an occurrence or a manual run. Revision is the task's: of a run, as it was claimed. Lines
	// about a change of the task have it, too.
	Number int        `json:"number,omitempty"` // of a range, the first one's
	Due    *time.Time `json:"due,omitempty"`
	// of a range of instants with one outcome: the last of them
	DueLast *time.Time `json:"due_last,omitempty"`
	// how many instants the line stands for; 1 except for ranges
	Count    int        `json:"count,omitempty"`
	Outcome  Outcome    `json:"outcome,omitempty"`
	Reason   string     `json:"reason,omitempty"`
	Started  *time.Time `json:"started,omitempty"`
	Ended    *time.Time `json:"ended,omitempty"`
	Late     float64    `json:"late_seconds,omitempty"` // start minus due
	Attempts int        `json:"attempts,omitempty"`
	Node     string     `json:"node,omitempty"` // of a run in a fleet: the name of its machine
	// the run caught up with missed instants, and more were waiting
	Backlog  bool   `json:"backlog,omitempty"`
	Stop     string `json:"stop,omitempty"` // the stop condition that it met
	ExitCode *int   `json:"exit_code,omitempty"`
	Signal   string `json:"signal,omitempty"`
	Stdout   Output `json:"stdout,omitzero"`
	Stderr   Output `json:"stderr,omitzero"`
	// of an agent's standard output: lines that are not JSON-RPC
	Ignored  int     `json:"ignored_lines,omitempty"`
	User     float64 `json:"user_seconds,omitempty"`
	System   float64 `json:"system_seconds,omitempty"`
	MaxRSS   int64   `json:"max_rss_bytes,omitempty"`
	Revision int64   `json:"revision,omitempty"`

	// Of an occurrence or a manual run: who is told and why, and its kind in the inbox. Empty:
	// nobody is told, and the inbox gets nothing.
	Tell  []string `json:"tell,omitempty"` // channels: NAME, NAME:RECIPIENT or a URL
	News  string   `json:"news,omitempty"`
	Inbox string   `json:"inbox,omitempty"`
	// of standard output, if the next run's is compared with it
	StdoutSum string `json:"stdout_sum,omitempty"`

	// Of a delivery: Number, Attempts, Reason (the last error, without secrets) and News are the
	// notice's.
	Channel   string `json:"channel,omitempty"`
	Delivered bool   `json:"delivered,omitempty"`

	// Of a change of the task: which change, and the schedule that the task then had.
	Event string `json:"event,omitempty"`
	When  string `json:"when,omitempty"`
	Zone  string `json:"tz,omitempty"`
	// whole, with its anchor, so that an audit can compute it again
	Schedule *Timing `json:"schedule,omitempty"`
	// how many numbers the task's occurrences and manual runs had; nil: not known
	Given  *int       `json:"given,omitempty"`
	Origin string     `json:"origin,omitempty"` // of the task
	Resume *time.Time `json:"resume,omitempty"` // of a pause: when it ends by itself

	// Description is what the task is called. Text is what the line says: why a run failed, or the
	// text of the task. The ledger has a task's text only in the line of its making and in each
	// edit that changes it (Lacks).
	Description string `json:"description,omitempty"`
	Text        string `json:"text,omitempty"`

	said string // the task's text, until the line is in a ledger (Kept)
}

// Has reports whether the line is about the occurrence with a number.
func (l *Line) Has(number int) bool { return l.Number <= number && number < l.Number+max(l.Count, 1) }

// Counts reports whether the line changes its task's tally.
func (l Line) Counts() bool {
	return l.Type == LineOccurrence || l.Type == LineManual || l.Type == LineTask && l.Event == EventClock
}

// TaskLine returns the ledger's line about a change of a task, as the task stands afterwards. A due
// instant that is zero or not known is left out. The line says how many numbers have been used.
// This tells claims from before the change, which end after it, from later ones. The line of the
// task's making has its text.
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

// Of returns the line as a store writes it for an occurrence: the store sets the task, the number
// and the due instant. A correct due instant stays in its zone. A line without a count of instants
// counts 1.
func (l Line) Of(taskID string, number int, due time.Time) Line {
	l.Type, l.TaskID, l.Number, l.Count = LineOccurrence, taskID, number, max(l.Count, 1)
	if l.Due == nil || !l.Due.Equal(due) {
		l.Due = &due
	}
	return l
}

// Clone returns a copy that shares no memory with the line.
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

// Output says what a run wrote to one stream. The store has the bytes in a file.
type Output struct {
	Bytes     int64 `json:"bytes"`
	Truncated bool  `json:"truncated,omitempty"`
	Own       int64 `json:"own,omitempty"` // how many of the bytes are ouro-timer's own answers
}

// Told reports whether a run wrote something worth telling. ouro-timer's own answers do not count.
func (o Output) Told() bool { return o.Bytes > o.Own }
