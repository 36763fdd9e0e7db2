// Package state defines what is remembered: tasks, the claims on their occurrences, and the ledger
// of how each ended.
//
// It holds plain data, the promise of a Store, and the rules that all stores share: what an ID is,
// what can be kept, what a line of the ledger says and counts for. It reads no file and not the
// environment. It reads the clock only for a new task or a line that comes without an instant
// (AddIn, Verbs). Package state/files keeps the promise in a folder, state/memory without a disk,
// and state/fleet on servers.
package state

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// Format is the version of the task format that this program writes. A task with a higher version
// is refused and not touched.
const Format = 1

// Task is what the user scheduled, as they said it. An occurrence does not change it: Entry.Due has
// when it is next due, and the Tally and the ledger have what came of it.
type Task struct {
	Format int    `toml:"format"`
	ID     string `toml:"id"`
	// grows by one with every change; writers compare and swap it
	Revision int64     `toml:"revision"`
	Created  time.Time `toml:"created"` // UTC

	// Key is the caller's own name for the task, or empty. No two tasks that live (pending, paused
	// or running) have the same key. A task that has ended does not live, even while it is run by
	// hand.
	Key string `toml:"key,omitempty"`

	// Origin is the ID of the task whose run made this one, or that task's own origin: all
	// descendants of one task have one origin. It is empty if no run made the task.
	Origin string `toml:"origin,omitempty"`

	Description string `toml:"description,omitempty"` // for people: confirmations and lists
	// a message's text, or the payload that a command gets as OURO_TASK
	Text string `toml:"task,omitempty"`

	// Tags are words of the caller's own, each once and in order, to list and pick tasks by.
	Tags []string `toml:"tags,omitempty"`

	// On are the nodes of a fleet, or their labels, on which the task may run. Empty means all.
	On []string `toml:"on,omitempty"`

	When     Timing   `toml:"when"`
	Run      Job      `toml:"run,omitempty"`
	Reminder Reminder `toml:"reminder,omitempty"`
	Policy   Policy   `toml:"policy,omitempty"`

	// Terminal is the terminal device that a message is also written to: the one it was set from,
	// or empty.
	Terminal string `toml:"terminal,omitempty"`

	Wait Wait `toml:"wait,omitempty"` // of a task of type wait
}

// Wait is what a task of type wait remembers of the call that waits. The task is for one instant,
// also if the call names a recurrence, and its due instant counts.
type Wait struct {
	Name string `toml:"name,omitempty"` // what the user waits for, in their words; may be empty
	Text string `toml:"text,omitempty"` // the time as it was given
	// the kind of the call's time: once, interval, cron or rrule
	Kind string `toml:"kind,omitempty"`
	// Elapsed says that the caller waits for an amount of real time, whatever is done to the clock
	// meanwhile.
	Elapsed bool `toml:"elapsed,omitempty"`
	// Left is how much of a held wait was left when the hold began, as Go writes durations. It is
	// empty if the wait is not held. The due instant has no meaning during a hold.
	Left string `toml:"left,omitempty"`
	// the arguments that wait for the recurrence's next time
	Again []string `toml:"again,omitempty"`
}

// Timing is a task's schedule in the words of the user, with all that is needed to read them again
// the same way.
type Timing struct {
	Text string `toml:"text" json:"text"`
	// the flag that forced the reading (when.Form), or empty
	Form string `toml:"form,omitempty" json:"form,omitempty"`
	Kind string `toml:"kind" json:"kind"` // once, interval, cron or rrule
	Zone string `toml:"tz" json:"tz"`     // IANA name, pinned when the task was made
	// Wall is the wall-clock reading of a one-shot's due instant in Zone ("2026-11-23T09:00:00").
	// With it, due can be computed again when the zone's rules change. It is empty for elapsed
	// durations and explicit offsets, which do not move.
	Wall string `toml:"wall,omitempty" json:"wall,omitempty"`
	// anchor of a recurrence; default: when the task was made
	Start time.Time `toml:"start" json:"start"`
	// the user gave Start: it may be an occurrence
	Given bool `toml:"given,omitempty" json:"given,omitempty"`
	// last possible instant of a recurrence; zero: no end
	End time.Time `toml:"end,omitempty" json:"end,omitzero"`
	// most instants of the schedule; 0: no bound
	Count int `toml:"count,omitzero" json:"count,omitempty"`

	// Except are the days that a recurrence leaves out, as they were given: days in words, or
	// "file:" and the absolute path of a file with a day a line. ExceptDays are the lines of those
	// files when they were last read.
	Except     []string `toml:"except,omitempty" json:"except,omitempty"`
	ExceptDays []string `toml:"except_days,omitempty" json:"except_days,omitempty"`

	// After are the ends of runs that a one-shot waits for, all of them: the ID of each task and
	// which end (AfterOK, …). Of a recurring task the first run counts that ends after Start. Until
	// all have come, the task is due at Unscheduled.
	After map[string]string `toml:"after,omitempty" json:"after,omitempty"`

	// Boot is the boot of the machine in which a task of each boot (KindBoot) got its time. It does
	// not come in that boot.
	Boot string `toml:"boot,omitempty" json:"boot,omitempty"`

	// Jitter is how late the task may be on purpose. Delay is the part of it that this task got
	// when it was made: every instant of its schedule comes later by Delay. Both are durations as
	// Go writes them; empty means none.
	Jitter string `toml:"jitter,omitempty" json:"jitter,omitempty"`
	Delay  string `toml:"jitter_delay,omitempty" json:"jitter_delay,omitempty"`
}

// Complete reports whether there is enough to make a schedule.
func (t Timing) Complete() bool { return t.Text != "" && t.Kind != "" }

// WallForm is how Timing.Wall writes a reading.
const WallForm = "2006-01-02T15:04:05.999999999"

// Reminder is what an agent process is told, beside the task's description, which is the long text,
// and its due instant.
type Reminder struct {
	Title   string `toml:"title,omitempty"`
	Project string `toml:"project_id,omitempty"`
	// PriorityLow, PriorityMedium, PriorityHigh; empty: medium
	Priority string `toml:"priority,omitempty"`
	// the agent gets a request, which has an id, instead of a notification
	Request bool `toml:"request,omitempty"`
}

// What Reminder.Priority says.
const (
	PriorityLow    = "low"
	PriorityMedium = "medium"
	PriorityHigh   = "high"
)

// Job is the command of a task, or its agent, and the surroundings it runs in. A task with neither
// is a message.
type Job struct {
	Argv  []string `toml:"command,omitempty"` // executed directly, without a shell
	Agent []string `toml:"agent,omitempty"`   // the program of the agent process that is told
	Shell string   `toml:"shell,omitempty"`   // text given to the shell with -c
	// a whole script, which the shell reads from standard input
	Script string `toml:"script,omitempty"`
	Prog   string `toml:"program,omitempty"` // the shell for Shell and Script

	Dir   string `toml:"dir,omitempty"` // absolute; empty in a fleet: the home of the runner's user
	Umask int    `toml:"umask"`
	// the command's environment, except for the OURO_ variables
	Env map[string]string `toml:"env,omitempty"`
}

// Policy says what to do with occurrences that do not go as planned. The zero value is the default.
// Durations are as Go writes them; empty means none.
type Policy struct {
	// instants that were missed while nobody could run them: CatchupOnce, CatchupAll, CatchupSkip
	Catchup string `toml:"catchup,omitempty"`
	// a later occurrence is missed; empty: no bound; never for messages
	Window string `toml:"window,omitempty"`
	// an instant that comes during a run: OverlapSkip, -Queue, -Allow, -Replace
	Overlap string `toml:"overlap,omitempty"`

	// shell text to run before each run: unless it ends with 0, the occurrence is skipped
	If      string `toml:"if,omitempty"`
	Timeout string `toml:"timeout,omitempty"` // of a run
	// further attempts after one that failed or timed out
	Retries int `toml:"retries,omitzero"`
	// pause before the first of them; each further pause is Factor times as long; empty:
	// BackoffLeast
	Backoff string `toml:"backoff,omitempty"`
	// by which the pause grows with each attempt; 0: 2; 1 keeps it the same
	Factor int  `toml:"backoff_factor,omitzero"`
	Rerun  bool `toml:"rerun_interrupted,omitempty"`

	Nice int `toml:"nice,omitzero"` // is added to the runner's niceness
	// the priority at the disks, as proc.ParseIOPriority reads it; empty: the runner's
	IONice string `toml:"ionice,omitempty"`
	Memory int64  `toml:"memory,omitzero"` // the most bytes of a run; 0: no limit
	CPU    int    `toml:"cpu,omitzero"`    // the most percent of one processor; 0: no limit

	// channels to tell: NAME, NAME:RECIPIENT or a URL; none: those of the configuration
	Notify []string `toml:"notify,omitempty"`
	// NotifyAlways, …; empty: always for a message, output for a command
	NotifyOn string `toml:"notify_on,omitempty"`
	// before the subject of what is told; empty: that of the configuration
	Prefix   string `toml:"prefix,omitempty"`
	NoPrefix bool   `toml:"no_prefix,omitempty"` // no prefix, whatever the configuration says

	UntilOK bool `toml:"until_ok,omitempty"` // the task ends with its first ok
	// regular expression: the task ends when it matches a run's standard output
	UntilOutput string `toml:"until_output,omitempty"`
}

// The values of Policy.Catchup and Policy.Overlap. The empty word is the first of each.
const (
	CatchupOnce = "once" // run once for the latest
	CatchupAll  = "all"  // run each, one after the other
	CatchupSkip = "skip" // run none

	OverlapSkip    = "skip"
	OverlapQueue   = "queue"   // hold one until the run has ended
	OverlapAllow   = "allow"   // run beside it
	OverlapReplace = "replace" // end the run and run instead of it
)

// The types of a task, as lists and JSON name them.
const (
	TypeCommand = "command"
	TypeMessage = "message"
	TypeAgent   = "agent"
	TypeWait    = "wait" // the process that waits is told; without one, told like a message
)

// Type says what happens at an occurrence: TypeCommand, TypeMessage, TypeAgent or TypeWait.
func (t *Task) Type() string {
	switch {
	case t.Wait.Kind != "":
		return TypeWait
	case len(t.Run.Agent) > 0:
		return TypeAgent
	}
	if t.Run.Argv != nil || t.Run.Shell != "" || t.Run.Script != "" {
		return TypeCommand
	}
	return TypeMessage
}

// Rest is how much of a held wait is left. It is false if the wait is not held.
func (w Wait) Rest() (time.Duration, bool) {
	left, _ := time.ParseDuration(w.Left) // what cannot be read is over
	return max(left, 0), w.Left != ""
}

// Told reports whether an occurrence of the task tells somebody and runs nothing.
func (t *Task) Told() bool { return t.Type() == TypeMessage || t.Type() == TypeWait }

// ChildOrigin is the origin of the tasks that this task's runs make.
func (t Task) ChildOrigin() string { return cmp.Or(t.Origin, t.ID) }

// Message is the text that an occurrence tells.
func (t Task) Message() string {
	if t.Text == "" && t.Type() == TypeWait { // there was nothing to do but wait
		return t.Description + " is over"
	}
	return t.Text
}

// Recurring reports whether the task can have more than one occurrence.
func (t *Task) Recurring() bool { return t.When.Kind != "once" }

// Summary says in a few words what the task does: its title or description, else its text or its
// command, cut if it is long. Lists and the ledger call the task this. It may contain any
// character, so a terminal must not get it as it is.
func (t Task) Summary() string {
	text := t.Description
	switch {
	case t.Reminder.Title != "":
		text = t.Reminder.Title
	case text != "":
	case t.Run.Shell != "":
		text = t.Run.Shell
	case t.Run.Script != "":
		text = fmt.Sprintf("a script of %d bytes", len(t.Run.Script))
	case len(t.Run.Argv) > 0:
		text = ShellLine(t.Run.Argv)
	case len(t.Run.Agent) > 0:
		text = ShellLine(t.Run.Agent)
	default:
		text = t.Text
	}
	return brief(text)
}

// Clone returns a copy that shares no memory with the task.
func (t Task) Clone() Task {
	t.Run.Argv, t.Run.Agent, t.Run.Env = slices.Clone(t.Run.Argv), slices.Clone(t.Run.Agent), maps.Clone(t.Run.Env)
	t.Policy.Notify, t.Wait.Again = slices.Clone(t.Policy.Notify), slices.Clone(t.Wait.Again)
	t.When.After = maps.Clone(t.When.After)
	t.Tags, t.On = slices.Clone(t.Tags), slices.Clone(t.On)
	t.When.Except, t.When.ExceptDays = slices.Clone(t.When.Except), slices.Clone(t.When.ExceptDays)
	return t
}

// UTC returns the task with its instants as stores keep them.
func (t Task) UTC() Task {
	t.Created, t.When.Start, t.When.End = UTC(t.Created), UTC(t.When.Start), UTC(t.When.End)
	return t
}

// UTC is an instant as stores keep it: in UTC, which is the same on every machine, and without a
// monotonic clock reading. The zero instant stays the zero value.
func UTC(t time.Time) time.Time {
	if t.IsZero() {
		return time.Time{}
	}
	return t.Round(0).UTC()
}

// ShellLine writes words as a line that sh reads back as the same words.
func ShellLine(words []string) string {
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = shellQuote(w)
	}
	return strings.Join(quoted, " ")
}

func shellQuote(word string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("_-+=./:,@%", r)
	}
	if word != "" && word[0] != '=' && strings.IndexFunc(word, func(r rune) bool { return !plain(r) }) < 0 {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
