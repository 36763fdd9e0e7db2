package top

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/ouro-timer/ouro-timer/cmd/cli"
	"github.com/ouro-timer/ouro-timer/cmd/history"
	"github.com/ouro-timer/ouro-timer/cmd/view"
	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/state/output"
	"github.com/ouro-timer/ouro-timer/timer/rules"
	"github.com/ouro-timer/ouro-timer/timer/runner"
	"github.com/ouro-timer/ouro-timer/timer/tasks"
)

// These are the most rows of a snapshot. The rest is counted and not shown.
const (
	tasksMost = 500
	itemsMost = 500
	linesMost = 300
	tailMost  = 16 << 10 // the last bytes of each stream of a run
)

// snapshot is the result of one reading of the store. It never changes.
type snapshot struct {
	at          time.Time
	filter      string
	due         []state.Entry // the tasks that will be due, in the order of lists
	moreDue     int           // how many more there are
	running     []openRun
	items       []state.Item // the newest first
	unread      int
	log         []state.Line     // the newest first
	slots       map[string][]int // of the coming day, by the ID of the task
	runner      string           // how the runner is; empty when there is none
	needsRunner bool             // something needs a runner
	unreadable  string           // what could not be read
}

// openRun is a run that goes on.
type openRun struct {
	state.Record
	entry state.Entry
}

// began is when the run began, if that is known.
func (r openRun) began() time.Time {
	for _, at := range []time.Time{r.First, r.Started, r.Claimed} {
		if !at.IsZero() {
			return at
		}
	}
	return r.Due
}

func (r openRun) id() string { return state.OccurrenceID(r.Task.ID, r.Number) }

// load reads the store. It keeps the tasks that the filter lets through.
func load(ctx context.Context, st state.Store, now time.Time, filter string) (n snapshot, err error) {
	n = snapshot{at: now, filter: filter, slots: map[string][]int{}}
	list, err := st.List(ctx, state.Pending, state.Running, state.Paused)
	if err != nil {
		return n, err
	}
	one := func(e *state.Entry) state.Entry { return *e }
	problems, err := state.Map(ctx, list, one, func(e state.Entry, behind int) bool {
		n.needsRunner = n.needsRunner || view.NeedsRunner(e)
		if tasks.IsRunning(e) {
			for _, r := range e.Open {
				n.running = append(n.running, openRun{r, e})
			}
		}
		switch {
		case !tasks.Live(e) || !matches(filter, e.Task.ID, describe(e.Task)):
		case len(n.due) < tasksMost:
			n.due = append(n.due, e)
			if slots := slotsOf(e, now); len(slots) > 0 {
				n.slots[e.Task.ID] = slots
			}
		case filter == "":
			n.moreDue = behind + 1
			return false
		default:
			n.moreDue++
		}
		return true
	})
	if err != nil {
		return n, err
	}
	slices.SortStableFunc(n.due, state.Compare)
	items, more, lost, err := st.Inbox(ctx, state.Query{Limit: itemsMost})
	if err != nil {
		return n, err
	}
	slices.Reverse(items)
	n.items, n.unread, problems = items, len(items)+more, append(problems, lost...)
	_, lost, err = st.Log(ctx, "", func(l state.Line) bool {
		n.log = append(n.log, l)
		return len(n.log) < linesMost
	})
	if err != nil {
		return n, err
	}
	if problems = append(problems, lost...); view.CountUnreadable(problems) > 0 {
		n.unreadable = problems[0].Error()
	}
	if leader, led, err := runner.Led(ctx, st); err == nil && led {
		n.runner = "runner alive"
		if runner.Suspended(leader.Ident) {
			n.runner = "runner stopped (SIGSTOP)"
		}
	}
	return n, nil
}

// matches reports whether the texts together have all words of the filter. Case does not matter.
func matches(filter string, texts ...string) bool {
	all := strings.ToLower(strings.Join(texts, " "))
	for _, word := range strings.Fields(strings.ToLower(filter)) {
		if !strings.Contains(all, word) {
			return false
		}
	}
	return true
}

// describe describes a task in a few words, with its recurrence.
func describe(t state.Task) string {
	if t.Recurring() {
		return view.Describe(t) + " (" + cli.Visible(t.When.Text) + ")"
	}
	return view.Describe(t)
}

// The coming day is divided into slots of a few minutes. A snapshot has some more, so that it has
// the coming day for a while.
const (
	slot      = 5 * time.Minute
	daySlots  = int(24 * time.Hour / slot)
	slotsMost = daySlots + int(time.Hour/slot)
)

// slotStart is the start of the first slot of a snapshot.
func slotStart(at time.Time) time.Time { return at.Truncate(slot) }

// slotsOf returns the slots, in order, in which a task has an instant.
func slotsOf(e state.Entry, now time.Time) (slots []int) {
	start := slotStart(now)
	end := start.Add(time.Duration(slotsMost) * slot)
	due := view.DueOf(e)
	if due.IsZero() {
		return nil
	}
	sched, err := rules.Schedule(e.Task)
	for !due.IsZero() && due.Before(end) {
		n := max(int(due.Sub(start)/slot), 0)
		slots = append(slots, n)
		if err != nil || sched == nil {
			break
		}
		next, ok := sched.Next(start.Add(time.Duration(n+1)*slot - 1))
		if !ok || !next.After(due) {
			break
		}
		due = next
	}
	return slots
}

// detail is the text about the selected row, below its list.
type detail struct {
	of    string // the key of the row
	title string
	lines []string
}

// taskDetail describes a task in full.
func taskDetail(e state.Entry, zone *time.Location) []string {
	t := e.Task
	lines := []string{"when    " + cli.Visible(t.When.Text) + " (" + t.When.Zone + ")"}
	if due := view.DueOf(e); !due.IsZero() {
		lines = append(lines, "due     "+view.Stamp(due.In(zone)))
	}
	if e.Held && !e.Resume.IsZero() {
		lines = append(lines, "paused  until "+view.Stamp(e.Resume.In(zone)))
	} else if e.Held {
		lines = append(lines, "paused  until somebody resumes it")
	}
	for _, part := range [][2]string{{"text    ", t.Text}, {"runs    ", commandOf(t)}, {"in      ", t.Run.Dir},
		{"key     ", t.Key}, {"last    ", e.Tally.Last}} {
		if part[1] != "" {
			lines = append(lines, part[0]+cli.Visible(part[1]))
		}
	}
	return lines
}

// commandOf is the command of a task as a line; empty for none.
func commandOf(t state.Task) string {
	switch {
	case t.Run.Shell != "":
		return t.Run.Shell
	case len(t.Run.Argv) > 0:
		return state.ShellLine(t.Run.Argv)
	case len(t.Run.Agent) > 0:
		return state.ShellLine(t.Run.Agent)
	}
	return ""
}

// outputLines returns the last lines of the output of a run, standard output before standard error,
// safe for a terminal.
func outputLines(ctx context.Context, st state.Outputs, id string, number int) (lines []string) {
	stdout, stderr := st.Output(id, number)
	for i, stream := range []state.Stream{stdout, stderr} {
		text, _, err := output.Tail(ctx, stream, tailMost)
		if err != nil || len(text) == 0 {
			continue
		}
		if i == 1 {
			lines = append(lines, "standard error:")
		}
		for _, line := range strings.Split(strings.TrimRight(string(text), "\n"), "\n") {
			lines = append(lines, cli.Visible(strings.ReplaceAll(strings.TrimRight(line, "\r"), "\t", "    ")))
		}
	}
	return lines
}

// lineDetail is a line of the log, and the output of its run.
func lineDetail(ctx context.Context, st state.Store, l state.Line, zone *time.Location) []string {
	one := []state.Line{l}
	if l.Lacks() && st.Spell(ctx, one) == nil {
		l = one[0]
	}
	lines := []string{view.Stamp(l.At.In(zone)), history.Happened(l, zone)}
	if l.Description != "" {
		lines = append(lines, cli.Visible(l.Description))
	}
	if l.Number > 0 && l.Type != state.LineDelivery {
		lines = append(lines, outputLines(ctx, st, l.TaskID, l.Number)...)
	}
	return lines
}

// itemDetail is the text of an item of the inbox.
func itemDetail(ctx context.Context, st state.Outputs, i state.Item, now time.Time, zone *time.Location) []string {
	j := view.AsItemJSON(ctx, st, i, now, zone)
	lines := []string{j.Type + "  " + view.Stamp(j.At)}
	if j.Description != nil {
		lines = append(lines, cli.Visible(*j.Description))
	}
	for _, line := range strings.Split(j.Text, "\n") {
		lines = append(lines, cli.Visible(strings.ReplaceAll(line, "\t", "    ")))
	}
	return lines
}
