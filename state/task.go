// Package state is what is remembered: tasks, the claims on their occurrences, and the ledger of how each ended.
//
// It holds plain data, the promise a Store makes, and the rules that are the same for every store: what an ID is, what can
// be kept, what a line of the ledger says and counts for. It never reads a clock, a file or the environment. Package
// state/files keeps the promise in a folder, state/memory without a disk.
package state

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// Format is the version of the task format this program writes. A task with a higher one is refused, untouched.
const Format = 1

// Task is what was scheduled, as the user said it. Nothing in it changes from occurrence to occurrence: when it is next
// due is kept beside it (Entry.Due), what became of it in its Tally and in the ledger.
type Task struct {
	Format   int       `toml:"format"`
	ID       string    `toml:"id"`
	Revision int64     `toml:"revision"` // goes up by one with every change; the compare-and-swap is on it
	Created  time.Time `toml:"created"`  // UTC

	// Key is the caller's own name for the task, or empty. No two tasks that live (pending, paused or running) have the same. One
	// that has ended does not live, also while it is run by hand.
	Key string `toml:"key,omitempty"`

	// Origin is the ID of the task from whose run this one was made, or of that one's own origin: all that came of one task has
	// one origin. It is empty for what somebody made who is no run of a task.
	Origin string `toml:"origin,omitempty"`

	Description string `toml:"description,omitempty"` // for people: confirmations and lists
	Text        string `toml:"task,omitempty"`        // a message's text, or the payload handed to a command as OURO_TASK

	// Tags are words of the caller's own, each once and in order, by which tasks are listed and picked.
	Tags []string `toml:"tags,omitempty"`

	When     Timing   `toml:"when"`
	Run      Job      `toml:"run,omitempty"`
	Reminder Reminder `toml:"reminder,omitempty"`
	Policy   Policy   `toml:"policy,omitempty"`

	// Terminal is the terminal device a message is also written to: the one it was set from, or empty.
	Terminal string `toml:"terminal,omitempty"`

	Wait Wait `toml:"wait,omitempty"` // of a task of type wait
}

// Wait is what a task of type wait remembers of the call that waits. The task is for one instant, also where the call was about a
// recurrence, and its due instant is what counts.
type Wait struct {
	Name string `toml:"name,omitempty"` // what is waited for, in words for people; empty: nobody said
	Text string `toml:"text,omitempty"` // the time as it was given
	Kind string `toml:"kind,omitempty"` // what that was: once, interval, cron or rrule
	// Elapsed says that who waits goes by real time, whatever is done to the clock meanwhile.
	Elapsed bool `toml:"elapsed,omitempty"`
	// Left is how much of a wait that is held was left when that began, as Go writes durations; empty: it is not held. Its due instant says nothing then.
	Left  string   `toml:"left,omitempty"`
	Again []string `toml:"again,omitempty"` // the words, after the program's name, that wait for the recurrence's next time
}

// Timing is a task's schedule in the words it was given, with all that is needed to read them again the same way.
type Timing struct {
	Text string `toml:"text" json:"text"`
	Form string `toml:"form,omitempty" json:"form,omitempty"` // the flag that forced the reading (when.Form), empty for none
	Kind string `toml:"kind" json:"kind"`                     // once, interval, cron or rrule
	Zone string `toml:"tz" json:"tz"`                         // IANA name, pinned when the task was made
	// Wall is the wall-clock reading of a one-shot's due instant in Zone ("2026-11-23T09:00:00"), kept so that due can be
	// recomputed when the zone's rules change. It is empty for elapsed durations and explicit offsets, which do not move.
	Wall  string    `toml:"wall,omitempty" json:"wall,omitempty"`
	Start time.Time `toml:"start" json:"start"`                     // anchor of a recurrence; the creation when none was given
	Given bool      `toml:"given,omitempty" json:"given,omitempty"` // Start was given by the user: it may itself be an occurrence
	End   time.Time `toml:"end,omitempty" json:"end,omitzero"`      // last instant a recurrence may have; zero: none
	Count int       `toml:"count,omitzero" json:"count,omitempty"`  // bound on scheduled instants; 0: none

	// Except are the days that are left out of a recurrence, as they were given: days in words, or "file:" and the absolute path of a
	// file that has a day a line. ExceptDays are the lines of those files as they were when they were last read.
	Except     []string `toml:"except,omitempty" json:"except,omitempty"`
	ExceptDays []string `toml:"except_days,omitempty" json:"except_days,omitempty"`

	// After are the ends of runs of other tasks that a one-shot waits for, all of them: by the ID of each, which end (AfterOK, …). Of a recurring one
	// the first run counts that ends after Start. Until they have come the task is due at Unscheduled.
	After map[string]string `toml:"after,omitempty" json:"after,omitempty"`

	// Boot is the boot of the machine in which a task of each boot (KindBoot) was given its time: it does not come in that one.
	Boot string `toml:"boot,omitempty" json:"boot,omitempty"`

	// Jitter is the span the task may be late by on purpose, and Delay how much of it this one was dealt when it was made: every
	// instant of its schedule comes later by Delay. Both are durations as Go writes them, and empty for none.
	Jitter string `toml:"jitter,omitempty" json:"jitter,omitempty"`
	Delay  string `toml:"jitter_delay,omitempty" json:"jitter_delay,omitempty"`
}

// Complete reports whether there is enough to make a schedule of.
func (t Timing) Complete() bool { return t.Text != "" && t.Kind != "" }

// WallForm is how Timing.Wall writes a reading.
const WallForm = "2006-01-02T15:04:05.999999999"

// Reminder is what an agent process is told of, beside the task's description, which is the long text, and its due instant.
type Reminder struct {
	Title    string `toml:"title,omitempty"`
	Project  string `toml:"project_id,omitempty"`
	Priority string `toml:"priority,omitempty"` // PriorityLow, PriorityMedium, PriorityHigh; empty: medium
	Request  bool   `toml:"request,omitempty"`  // it is told by a request, which has an id, and not by a notification
}

// What Reminder.Priority says.
const (
	PriorityLow    = "low"
	PriorityMedium = "medium"
	PriorityHigh   = "high"
)

// Job is the command of a task, or its agent, and the surroundings it runs in. A task with neither is a message.
type Job struct {
	Argv   []string `toml:"command,omitempty"` // executed directly, without a shell
	Agent  []string `toml:"agent,omitempty"`   // the program of the agent process that is told
	Shell  string   `toml:"shell,omitempty"`   // text given to the shell with -c
	Script string   `toml:"script,omitempty"`  // a script's whole text, given to the shell on standard input
	Prog   string   `toml:"program,omitempty"` // the shell for Shell and Script

	Dir   string            `toml:"dir,omitempty"` // absolute
	Umask int               `toml:"umask"`
	Env   map[string]string `toml:"env,omitempty"` // exactly what the command sees, but for the OURO_ variables
}

// Policy is what becomes of occurrences that do not go by the plan. The zero value is the default. Durations are written as
// Go writes them, and empty for none.
type Policy struct {
	Catchup string `toml:"catchup,omitempty"` // of the instants missed while nobody could run them: CatchupOnce, CatchupAll, CatchupSkip
	Window  string `toml:"window,omitempty"`  // what is later than this is missed; no bound when empty, never for messages
	Overlap string `toml:"overlap,omitempty"` // when an instant comes while a run goes on: OverlapSkip, -Queue, -Allow, -Replace

	If      string `toml:"if,omitempty"`            // shell text asked before each run: when it does not end with 0, the occurrence is skipped
	Timeout string `toml:"timeout,omitempty"`       // of a run
	Retries int    `toml:"retries,omitzero"`        // further attempts after one that failed or timed out
	Backoff string `toml:"backoff,omitempty"`       // before the first of them, and Factor times as long before each further one; BackoffLeast when empty
	Factor  int    `toml:"backoff_factor,omitzero"` // by which the pause grows from attempt to attempt; 2 when it is 0, 1 keeps it
	Rerun   bool   `toml:"rerun_interrupted,omitempty"`

	Notify   []string `toml:"notify,omitempty"`    // channels to tell by: NAME, NAME:RECIPIENT or a URL; none: those of the configuration
	NotifyOn string   `toml:"notify_on,omitempty"` // NotifyAlways, …; empty: always for a message, output for a command
	Prefix   string   `toml:"prefix,omitempty"`    // before the subject of what is told; empty: that of the configuration
	NoPrefix bool     `toml:"no_prefix,omitempty"` // nothing stands there, whatever the configuration says

	UntilOK     bool   `toml:"until_ok,omitempty"`     // the task ends with its first ok
	UntilOutput string `toml:"until_output,omitempty"` // regular expression: the task ends when a run's standard output has it
}

// What Policy.Catchup and Policy.Overlap say. The empty word is the first of each.
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
	TypeWait    = "wait" // told by who waits for it; as a message when nobody does
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

// Rest is how much of a wait is left that is held; false: it is not.
func (w Wait) Rest() (time.Duration, bool) {
	left, _ := time.ParseDuration(w.Left) // what cannot be read is over
	return max(left, 0), w.Left != ""
}

// Told reports whether an occurrence of the task is told to somebody, and runs nothing.
func (t *Task) Told() bool { return t.Type() == TypeMessage || t.Type() == TypeWait }

// Lineage is the origin that what comes of the task's runs has.
func (t Task) Lineage() string { return cmp.Or(t.Origin, t.ID) }

// Message is what is told of an occurrence of a task that is told.
func (t Task) Message() string {
	if t.Text == "" && t.Type() == TypeWait { // there was nothing to do but to wait
		return t.Description + " is over"
	}
	return t.Text
}

// Recurring reports whether the task can have more than one occurrence.
func (t *Task) Recurring() bool { return t.When.Kind != "once" }

// Summary says in a few words what the task does: its title or description, else its text or its command, cut where it is long. It
// is what lists and the ledger call the task. It may hold any character: it is not fit for a terminal as it is.
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

// Clone returns a copy that shares nothing with the task that could be changed.
func (t Task) Clone() Task {
	t.Run.Argv, t.Run.Agent, t.Run.Env = slices.Clone(t.Run.Argv), slices.Clone(t.Run.Agent), maps.Clone(t.Run.Env)
	t.Policy.Notify, t.Wait.Again = slices.Clone(t.Policy.Notify), slices.Clone(t.Wait.Again)
	t.When.After = maps.Clone(t.When.After)
	t.Tags = slices.Clone(t.Tags)
	t.When.Except, t.When.ExceptDays = slices.Clone(t.When.Except), slices.Clone(t.When.ExceptDays)
	return t
}

// UTC returns the task with its instants as stores keep them.
func (t Task) UTC() Task {
	t.Created, t.When.Start, t.When.End = UTC(t.Created), UTC(t.When.Start), UTC(t.When.End)
	return t
}

// UTC is an instant as stores keep it: in UTC, where it is the same on every machine, and without the reading of a
// monotonic clock. The zero instant stays the zero value.
func UTC(t time.Time) time.Time {
	if t.IsZero() {
		return time.Time{}
	}
	return t.Round(0).UTC()
}

// ShellLine writes words as a line that can be pasted into sh and is read back as the same words.
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

// Phase is where a task is in its life.
type Phase string

// The phases. Running is Pending or Ended with an open claim; a recurring task can be pending and running at once, and
// shows as Running then.
const (
	Pending Phase = "pending"
	Running Phase = "running"
	Paused  Phase = "paused"  // held: nothing starts until it is resumed; it shows as Running while a run goes on
	Ended   Phase = "ended"   // its last occurrence was claimed
	Removed Phase = "removed" // by rm; can be restored
)

// Rank is where lists have tasks of the phase: first what may start or runs, then what is paused, then what is no more.
func (p Phase) Rank() int {
	switch p {
	case Paused:
		return 1
	case Ended, Removed:
		return 2
	}
	return 0
}

// Order is what an entry has its place in lists by.
type Order struct {
	Rank int // of the phase
	Due  time.Time
	ID   string
}

// Order is the entry's, which may be kept without the entry.
func (e *Entry) Order() Order { return Order{e.Phase.Rank(), e.Due, e.Task.ID} }

// Compare is the order of lists: by the rank of the phase, then the next due first, then by ID.
func (o Order) Compare(p Order) int {
	return cmp.Or(o.Rank-p.Rank, o.Due.Compare(p.Due), strings.Compare(o.ID, p.ID))
}

// Compare is the order of lists, of entries.
func Compare(a, b Entry) int { return a.Order().Compare(b.Order()) }

// Entry is a task with where it stands.
type Entry struct {
	Task  Task
	Due   time.Time // the next due instant; for Ended the last one, for Removed the one it had
	Phase Phase
	// Held says that the task is paused, whatever its phase is called, and Resume when it goes on by itself; zero: when told.
	Held   bool
	Resume time.Time
	Tally  Tally
	Open   []Record // its open claims, oldest first
	// Attended says of a task of type wait that is pending that somebody waits for it (Store.Attend).
	Attended bool
}

// Given is how many numbers the task's occurrences and runs by hand have been given so far.
func (e Entry) Given() int {
	n := e.Tally.Number
	for _, r := range e.Open {
		n = max(n, r.Number)
		if r.Number == 0 { // its record is damaged, and had a number
			n++
		}
	}
	return n
}

// Tally is the short memory of a task: what lists show without reading the ledger. It follows from the ledger and is
// rebuilt from it when it is damaged.
type Tally struct {
	Number  int       `toml:"number"`             // the number of the last occurrence that ended: k7m2/3 is number 3
	Fired   int       `toml:"fired"`              // runs and deliveries so far
	Last    string    `toml:"last,omitempty"`     // the last outcome
	LastDue time.Time `toml:"last_due"`           // the latest due instant that has ended; never lowered (Taken)
	LastEnd time.Time `toml:"last_end,omitempty"` // when it ended
	// Busy is the end of the last run as somebody saw it: instants up to it that have no outcome came while it went on. It is
	// not of runs that caught up with a backlog, nor of those whose end nobody saw.
	Busy time.Time `toml:"busy,omitempty"`
	Stop string    `toml:"stop,omitempty"` // the stop condition that was met; the task is to end
	// Failing says that the last run has failed: the first failure of a row is told, and the first success after it.
	Failing bool   `toml:"failing,omitempty"`
	Output  string `toml:"output,omitempty"` // StdoutSum of the last ok

	First time.Time `toml:"first,omitempty"` // the due instant of occurrence 1: nothing was ever claimed before it
	// Again is set while instants up to LastDue come again, because the clock was put back: none at
	// or before it comes any more.
	Again time.Time `toml:"again,omitempty"`
	Unrun []Stretch `toml:"unrun,omitempty"` // stretches of instants that ended without a claim

	Boot string `toml:"boot,omitempty"` // the boot of the machine in which a task of each boot (KindBoot) has last come
}

// Count adds a line of the ledger to its task's tally. Of a manual run only the number counts: it is no occurrence.
func (t *Tally) Count(l Line) {
	if l.Number > 0 {
		t.Number = max(t.Number, l.Number+max(l.Count, 1)-1)
	}
	switch {
	case l.Type == LineTask && l.Event == EventClock:
		t.again(l)
		return
	case l.Type == LineManual:
		return
	}
	if l.Outcome.Ran() || l.Started != nil {
		t.Fired++
	}
	switch t.Last = string(l.Outcome); l.Outcome {
	case OK:
		t.Failing = false
		if l.StdoutSum != "" {
			t.Output = l.StdoutSum
		}
	case Failed, TimedOut, Interrupted:
		t.Failing = true
	}
	t.pass(l)
	end := l.At
	if l.Ended != nil {
		end = *l.Ended
	}
	t.LastEnd = UTC(end)
	if l.Started != nil && l.Ended != nil && !l.Backlog && l.Ended.After(t.Busy) {
		t.Busy = UTC(*l.Ended)
	}
	if l.Stop != "" {
		t.Stop = l.Stop
	}
}

// Ident names a process so that another one with the same number is not taken for it, be it later or on another machine.
type Ident struct {
	Node  string `toml:"node,omitempty"` // the machine, over all its boots; empty where it has no such name
	Boot  string `toml:"boot"`           // the machine's epoch: each boot of it has another name
	NS    string `toml:"pidns"`
	PID   int    `toml:"pid"`
	Start uint64 `toml:"start"` // the kernel's start time of the process, in clock ticks since boot
}

// Record is an open claim: durable before the process starts, gone after the ledger line is.
type Record struct {
	Task    Task      `toml:"task"` // as it was when claimed
	Due     time.Time `toml:"due"`
	Number  int       `toml:"number"`
	Manual  bool      `toml:"manual,omitempty"` // by fire: not an occurrence of the schedule
	Claimed time.Time `toml:"claimed"`
	Runner  Ident     `toml:"runner"` // who claimed it

	// What is noted of it while it runs, beside the record. Before a process is started, Starting is noted: a claim without any note, of a runner that was
	// killed on a machine that still runs, has started nothing.
	Starting time.Time `toml:"-"`
	Child    Ident     `toml:"-"` // the command's process once it runs
	Started  time.Time `toml:"-"`
	First    time.Time `toml:"-"` // the start of the first attempt
	Attempt  int       `toml:"-"` // the number of the attempt, from 1; 0 before the first
	Retry    time.Time `toml:"-"` // when the next attempt begins; zero while one runs
	Halt     string    `toml:"-"` // why somebody asked for its end; empty: nobody did
}
