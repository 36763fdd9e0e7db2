// Package view shows tasks and lines of the ledger in answers, and finds the tasks that a call
// names.
package view

import (
	"cmp"
	"errors"
	"time"

	"github.com/ouro-timer/ouro-timer/cmd/cli"
	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/timer/rules"
	"github.com/ouro-timer/ouro-timer/timer/tasks"
	"github.com/ouro-timer/ouro-timer/timer/when"
	"github.com/ouro-timer/ouro-timer/timer/when/say"
)

// TaskType is the type of a task: command, message, wait or agent.
type TaskType string

// IsZero reports whether the type is command, which answers leave out.
func (t TaskType) IsZero() bool { return t == state.TypeCommand }

// TaskKind is the kind of a schedule.
type TaskKind string

// IsZero reports whether the kind is once, which answers leave out.
func (k TaskKind) IsZero() bool { return k == TaskKind(when.Once) }

// TaskJSON is a task as every command shows it. Fields are added, never renamed or dropped.
type TaskJSON struct {
	ID          string         `json:"id"`
	Type        TaskType       `json:"type,omitzero" enum:"command message agent wait" jsonschema:"absent: command"`
	State       string         `json:"state" enum:"pending running paused ended"`
	Kind        TaskKind       `json:"kind,omitzero" enum:"once interval cron rrule boot" jsonschema:"absent: once"`
	When        string         `json:"when"`
	Due         *time.Time     `json:"due,omitempty" jsonschema:"absent: nothing comes, as it has ended or is paused until somebody resumes it, or what it comes after has not ended, or the machine has not booted again"`
	After       []string       `json:"after,omitempty" jsonschema:"the tasks after whose runs it comes: ID, ID:failed or ID:any"`
	TZ          string         `json:"tz"`
	Description *string        `json:"description,omitempty"`
	Task        *string        `json:"task,omitempty"`
	Tags        []string       `json:"tags,omitempty"`
	On          []string       `json:"on,omitempty" jsonschema:"in a fleet: the nodes or labels on which it may run"`
	Command     cli.ArgvOrNull `json:"command,omitempty"`
	Shell       *string        `json:"shell,omitempty"`
	Agent       cli.ArgvOrNull `json:"agent,omitempty" jsonschema:"of type agent: its program"`
	Title       *string        `json:"title,omitempty" jsonschema:"of type agent: what it is told"`
	Project     *string        `json:"project_id,omitempty" jsonschema:"of type agent: what it is told"`
	Priority    *string        `json:"priority,omitempty" enum:"low medium high" jsonschema:"of type agent: what it is told"`
	Fired       int            `json:"fired,omitempty"`
	LastOutcome *string        `json:"last_outcome,omitempty" enum:"ok failed timeout interrupted missed skipped cancelled"`
	Key         *string        `json:"key,omitempty"`
	Origin      *string        `json:"origin,omitempty" jsonschema:"the ID of the task from whose run it was made, or of that one's own origin"`
	Paused      bool           `json:"paused,omitempty" jsonschema:"also while a run goes on, when state says so"`
	ResumeAt    *time.Time     `json:"resume_at,omitempty" jsonschema:"when the pause ends by itself"`
	Notify      []string       `json:"notify,omitempty" jsonschema:"the channels it names itself"`
	NotifyOn    *string        `json:"notify_on,omitempty" jsonschema:"as it was given; absent: the default"`
	Prefix      *string        `json:"prefix,omitempty" jsonschema:"absent: the config's; empty: none"`
	Awaited     *bool          `json:"attended,omitempty" jsonschema:"of a wait that is pending: whether anybody waits, else it goes to the inbox; absent of all others"`
	IfResumed   *time.Time     `json:"due_if_resumed,omitempty" jsonschema:"of one that is paused: when it is due if it is resumed now; absent: it would be over"`
}

// AsJSON makes a TaskJSON of an entry as it is at now.
func AsJSON(e state.Entry, now time.Time) TaskJSON {
	zone, kind := rules.TaskZone(e.Task), e.Task.Type()
	j := TaskJSON{
		ID: e.Task.ID, Type: TaskType(kind), State: StateName(e), Kind: TaskKind(e.Task.When.Kind),
		When: e.Task.When.Text,
		TZ:   e.Task.When.Zone, Description: cli.OrNull(e.Task.Description), Task: cli.OrNull(e.Task.Text),
		Tags: cli.OrEmpty(e.Task.Tags), On: cli.OrEmpty(e.Task.On),
		Command: e.Task.Run.Argv, Shell: cli.OrNull(e.Task.Run.Shell), Fired: e.Tally.Fired,
		LastOutcome: cli.OrNull(e.Tally.Last),
		Key:         cli.OrNull(e.Task.Key), Origin: cli.OrNull(e.Task.Origin), Paused: e.Held,
		ResumeAt: cli.Instant(e.Resume, zone),
		Notify:   cli.OrEmpty(cli.ChannelWords(e.Task.Policy.Notify)), NotifyOn: cli.OrNull(e.Task.Policy.NotifyOn),
		Prefix: cli.OrNull(e.Task.Policy.Prefix),
	}
	if kind == state.TypeWait && e.Phase == state.Pending {
		j.Awaited = new(e.Awaited)
	}
	if kind == state.TypeAgent {
		j.Agent, j.Title, j.Project, j.Priority = e.Task.Run.Agent, cli.OrNull(e.Task.Reminder.Title),
			cli.OrNull(e.Task.Reminder.Project), cli.OrNull(PriorityOf(e.Task))
	}
	if e.Task.Policy.NoPrefix {
		j.Prefix = new(string)
	}
	for _, a := range e.Task.When.Awaits() {
		j.After = append(j.After, a.String())
	}
	j.Due = cli.Instant(DueOf(e), zone)
	if e.Held {
		j.IfResumed = cli.Instant(dueAfter(e, now), zone)
	}
	if len(e.Open) > 0 && !tasks.IsRunning(e) && tasks.NextAttempt(e).IsZero() {
		// The next runner will write that into the ledger.
		j.LastOutcome = cli.OrNull(string(state.Interrupted))
	}
	if e.Phase == state.Removed {
		j.LastOutcome = cli.OrNull(string(state.Cancelled))
	}
	return j
}

// RecurrenceJSON is what bounds and delays the instants of a task.
type RecurrenceJSON struct {
	Start  *time.Time `json:"start,omitempty"`
	End    *time.Time `json:"end,omitempty"`
	Count  *int       `json:"count,omitempty"`
	Except []string   `json:"except,omitempty" jsonschema:"the days that a recurrence leaves out; file:PATH names a file of them"`
	Jitter *float64   `json:"jitter_seconds,omitempty"`
}

// RecurrenceOf returns what bounds and delays the instants of a task.
func RecurrenceOf(t state.Task) RecurrenceJSON {
	j := RecurrenceJSON{Except: cli.OrEmpty(t.When.Except), Jitter: spanSeconds(t.When.Delay)}
	if t.Recurring() && !t.When.OfBoots() {
		zone := rules.TaskZone(t)
		j.Start, j.End, j.Count = cli.Instant(t.When.Start, zone), cli.Instant(t.When.End, zone), cli.OrNull(t.When.Count)
	}
	return j
}

// NeedsRunner reports whether a task needs a runner: it has an instant to come, and is not paused
// until somebody resumes it.
func NeedsRunner(e state.Entry) bool { return tasks.Live(e) && (!e.Held || !e.Resume.IsZero()) }

// HeldWait reports whether an entry is a wait that is paused by the process that waits.
func HeldWait(e state.Entry) bool {
	_, held := e.Task.Wait.Rest()
	return e.Held && held
}

// DueOf is when a task is due next; zero when nothing comes. Instants during a pause do not count.
// A one-shot whose runner ended between two attempts is due with the next.
func DueOf(e state.Entry) time.Time {
	switch {
	case e.Phase == state.Running && !e.Task.Recurring() && !tasks.IsRunning(e):
		return tasks.NextAttempt(e)
	case !NeedsRunner(e), state.IsUnscheduled(e.Due), HeldWait(e):
		return time.Time{}
	case e.Held:
		return dueAfter(e, e.Resume)
	}
	return e.Due
}

// dueAfter is when a paused task is due if it is resumed at an instant; zero when nothing comes
// after that.
func dueAfter(e state.Entry, resumed time.Time) time.Time {
	if state.IsUnscheduled(e.Due) {
		return time.Time{}
	}
	if left, held := e.Task.Wait.Rest(); held {
		return resumed.Add(left)
	}
	if e.Due.After(resumed) {
		return e.Due
	}
	sched, err := rules.Schedule(e.Task)
	if err != nil {
		return time.Time{} // doctor reports what is wrong with the schedule
	}
	_, next, _ := rules.Resume(e, sched, resumed)
	return next
}

// StateName is the state of an entry in lists and JSON: pending, running, paused or ended.
func StateName(e state.Entry) string {
	switch {
	case tasks.IsRunning(e):
		return "running"
	case e.Held:
		return string(state.Paused)
	case e.Phase == state.Running && (e.Task.Recurring() || !tasks.NextAttempt(e).IsZero()):
		return string(state.Pending)
	case e.Phase == state.Running:
		return string(state.Ended)
	case e.Phase == state.Removed:
		return "ended"
	}
	return string(e.Phase)
}

// Describe says in a few words what a task does. The text is safe for a terminal.
func Describe(t state.Task) string { return cli.Visible(t.Summary()) }

// Echo writes an instant for people, with its distance from now: to the millisecond within ten
// seconds from now, and else to the second. The distance is always exact.
func Echo(t, now time.Time) string {
	unit := time.Second
	if d := t.Sub(now); d > -10*time.Second && d < 10*time.Second {
		unit = time.Millisecond
	}
	cut := t.Truncate(unit)
	return say.Echo(cut, now.Add(cut.Sub(t)))
}

// Coming says for people when a task is due, or what it waits for.
func Coming(e state.Entry, now time.Time) string {
	switch {
	case HeldWait(e):
		rest, _ := e.Task.Wait.Rest()
		return say.Distance(now, now.Add(rest)) + " after it is resumed"
	case e.AtBoot():
		return "at the next boot"
	case state.IsUnscheduled(e.Due):
		return cli.Visible(e.Task.When.Text)
	}
	return Echo(e.Due.In(now.Location()), now)
}

// Stamp writes an instant for people, to the second.
func Stamp(t time.Time) string { return say.Stamp(t.Truncate(time.Second)) }

// overdueAfter is how long after its due instant a task counts as overdue.
const overdueAfter = 5 * time.Second

// IsOverdue reports whether a task should have started but has not: it has no runner, or its
// schedule cannot be read. A wait that a process waits for is never overdue.
func IsOverdue(e state.Entry, now time.Time) bool {
	return tasks.Live(e) && !e.Held && !e.Awaited && !tasks.IsRunning(e) && now.Sub(e.Due) > overdueAfter
}

// Incomplete is the exit code of an answer that lacks the tasks that cannot be read; nil when there
// are no such tasks.
func Incomplete(problems []state.Problem) error {
	if CountUnreadable(problems) > 0 {
		return cli.ExitCode(cli.ExitState)
	}
	return nil
}

// CountUnreadable is how many of the problems are tasks that cannot be read. An older copy of a
// task does not count, because the task itself is there.
func CountUnreadable(problems []state.Problem) (n int) {
	for _, p := range problems {
		if !errors.Is(p, state.ErrCopy) {
			n++
		}
	}
	return n
}

// PriorityOf is the priority of a reminder.
func PriorityOf(t state.Task) string { return cmp.Or(t.Reminder.Priority, state.PriorityMedium) }
