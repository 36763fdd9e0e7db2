package manage

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ouro-timer/ouro-timer/cmd/cli"
	"github.com/ouro-timer/ouro-timer/cmd/view"
	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/timer/tasks"
	"github.com/ouro-timer/ouro-timer/timer/when/say"
)

// listDays writes the tasks as a calendar for people, in at most maxLines lines; 0 means all.
func listDays(o *cli.Out, entries []state.Entry, now time.Time, total, maxLines int) {
	width, paint, times := lineWidth(o), o.Paint(), cli.LocaleOf(o)
	slices.SortStableFunc(entries, func(a, b state.Entry) int { return pausedLast(a.Held) - pausedLast(b.Held) })
	widest := 0
	for _, e := range entries {
		widest = max(widest, len(e.Task.ID))
	}
	var rows []string
	// shown counts the tasks that have rows. fits counts those that leave a line for the number of
	// the others, and below is how many rows they take.
	shown, fits, below := 0, 0, 0
	day := ""
	for _, e := range entries {
		if head := dayHead(times, e, now); head != day {
			if day != "" {
				rows = append(rows, "")
			}
			day = head
			rows = append(rows, head)
		}
		rows = append(rows, dayRow(times, paint, e, now, width, widest))
		shown++
		if len(rows) < maxLines {
			fits, below = shown, len(rows)
		}
	}
	if maxLines > 0 && (len(rows) > maxLines || shown < total) {
		shown, rows = fits, rows[:below]
	}
	for _, r := range rows {
		o.Line("%s", cli.Fit(r, width))
	}
	switch more := total - shown; {
	case more > 0 && maxLines > 0:
		o.Line("%s", cli.Fit("… and "+view.Thousands(more)+" more; "+o.Program()+" ls --limit N, or ls | less", width))
	case more > 0:
		o.Line("… and %s more", view.Thousands(more))
	}
}

// dayHead returns the heading above a task.
func dayHead(times cli.Locale, e state.Entry, now time.Time) string {
	due := view.DueOf(e)
	switch {
	case e.Held:
		return "Paused"
	case tasks.Live(e) && e.AtBoot():
		return "At the next boot"
	case tasks.Live(e) && state.IsUnscheduled(e.Due):
		return "After others"
	case !due.IsZero():
		return view.DayName(times, due.In(now.Location()), now)
	case e.Phase == state.Removed:
		return "Removed"
	case tasks.IsRunning(e):
		return "Running"
	}
	return "Ended"
}

// dayRow returns the line of a task below its heading.
func dayRow(times cli.Locale, p cli.Paint, e state.Entry, now time.Time, width, widest int) string {
	coming := view.DueOf(e)
	due := cmp.Or(coming, e.Due).In(now.Location())
	left, clock, column := "in "+say.Distance(now, due), "15:04:05", 24
	if width < 80 {
		left, clock, column = shortDistance(due.Sub(now)), "15:04", 7
	}
	at := times.Clock(due, clock)
	if state.IsUnscheduled(e.Due) && !e.Held {
		at = cli.Pad("", times.ClockWidth(clock))
	}
	if e.Held { // the task does not start at that time
		if at = cli.Pad("", times.ClockWidth(clock)); column > 7 {
			at = cli.Pad("paused", times.ClockWidth(clock))
		}
	}
	switch {
	case tasks.IsRunning(e):
		left = "running"
	case e.Held && column == 7:
		left = "paused"
	case view.HeldWait(e):
		rest, _ := e.Task.Wait.Rest()
		left = say.Distance(now, now.Add(rest)) + " left"
	case e.Held && e.Resume.IsZero():
		left = "until resumed"
	case e.Held:
		left = "until " + times.Format(e.Resume.In(now.Location()), "2 Jan 2006 15:04")
	case !tasks.Live(e) && coming.IsZero():
		left = e.Tally.Last
		if column > 7 && !state.IsUnscheduled(e.Due) {
			left = strings.TrimSuffix(times.Format(due, "2 Jan 2006")+", "+left, ", ")
		}
	case view.IsOverdue(e, now):
		left = "overdue"
	case !due.After(now):
		left = "now"
	case e.AtBoot():
		left = ""
	case state.IsUnscheduled(e.Due):
		left = cli.Visible(e.Task.When.Text)
	}
	what := view.Describe(e.Task)
	if e.Task.Recurring() {
		what += " (" + cli.Visible(e.Task.When.Text) + ")"
	}
	switch {
	case view.HeldWait(e):
		what += " (wait --resume " + e.Task.ID + " goes on)"
	case e.Task.Type() != state.TypeWait || e.Phase != state.Pending:
	case e.Awaited:
		what += " (somebody waits)"
	default:
		what += " (nobody waits: wait --resume " + e.Task.ID + ")"
	}
	return "  " + at + "  " + cli.Pad(e.Task.ID, widest) + "  " +
		cli.Pad(p.As(meaningOf(e, now), left), column) + "  " + what
}

// meaningOf returns how the state of a task is painted.
func meaningOf(e state.Entry, now time.Time) cli.Meaning {
	switch {
	case tasks.IsRunning(e):
		return cli.Ordinary
	case e.Held:
		return cli.Minor
	case !tasks.Live(e) && view.DueOf(e).IsZero():
		return view.OutcomeMeans(state.Outcome(e.Tally.Last))
	case view.IsOverdue(e, now):
		return cli.Late
	}
	return cli.Ordinary
}

// pausedLast returns the key that sorts paused tasks after the others.
func pausedLast(paused bool) int {
	if paused {
		return 1
	}
	return 0
}

// shortDistance returns a distance in at most seven columns: 45s, 59m, 23h52m, 5d23h, 412d.
func shortDistance(d time.Duration) string {
	d = max(d, 0)
	h, m := int(d/time.Hour), int(d%time.Hour/time.Minute)
	switch {
	case d < time.Minute:
		return strconv.Itoa(int(d/time.Second)) + "s"
	case d < time.Hour:
		return strconv.Itoa(m) + "m"
	case h < 24:
		return fmt.Sprintf("%dh%02dm", h, m)
	case h < 100*24:
		return fmt.Sprintf("%dd%02dh", h/24, h%24)
	}
	return strconv.Itoa(h/24) + "d"
}
