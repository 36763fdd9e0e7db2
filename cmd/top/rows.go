package top

import (
	"fmt"
	"strings"
	"time"

	"github.com/ouro-timer/ouro-timer/cmd/cli"
	"github.com/ouro-timer/ouro-timer/cmd/history"
	"github.com/ouro-timer/ouro-timer/cmd/view"
	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/timer/rules"
)

// row is a row of a list: some short columns, and a text.
type row struct {
	key     string
	columns []column
	style   style // the style of the text
	text    string
	subject subject
}

// column is a short text in a column of its own.
type column struct {
	style    style
	width    int // below zero means at the right
	text     string
	onlyWide bool // shown only where the row has wideRow columns
}

// wideRow is the width from which a row shows all its columns.
const wideRow = 72

// draw writes the row in at most so many columns.
func (r row) draw(l looks, width int) string {
	text := ""
	for _, c := range r.columns {
		if c.onlyWide && width < wideRow {
			continue
		}
		cell := c.text
		if c.width < 0 {
			cell = strings.Repeat(" ", max(-c.width-len(cell), 0)) + cell
		}
		text += l.paint(c.style, l.fill(cell, max(c.width, -c.width))) + "  "
	}
	return l.cut(text+l.paint(r.style, r.text), width)
}

// rows returns the rows of a pane that the filter lets through.
func (m *data) rows(p pane) []row {
	switch n := m.snapshot; p {
	case duePane:
		return rowsOf(m, n.due, m.dueRow)
	case runningPane:
		return rowsOf(m, n.running, m.runningRow)
	case inboxPane:
		return rowsOf(m, n.items, m.itemRow)
	}
	return rowsOf(m, m.snapshot.log, m.lineRow)
}

func rowsOf[T any](m *data, all []T, rowOf func(*T) row) (list []row) {
	for i := range all {
		r := rowOf(&all[i])
		r.subject.key = r.key
		if matches(m.filter, r.key, r.text) {
			list = append(list, r)
		}
	}
	return list
}

// dueRow is a row of a task that will be due, and when.
func (m *data) dueRow(e *state.Entry) row {
	r := row{key: e.Task.ID, text: describe(e.Task), subject: subject{task: e}}
	due := view.DueOf(*e)
	left, clock, s := "", "", plain
	if !due.IsZero() {
		left, clock = countdown(due.Sub(m.now)), m.clock(due)
	}
	switch {
	case e.Held && e.Resume.IsZero():
		left, s, r.style = "paused", dim, dim
	case e.Held:
		left, clock, s, r.style = "paused", m.clock(e.Resume), dim, dim
	case m.snapshot.runs(e.Task.ID) && !due.After(m.now):
		left, s = "running", green
	case view.IsOverdue(*e, m.now):
		left, s = "overdue", yellow
	case !due.After(m.now):
		left = "now"
	case due.Sub(m.now) < time.Minute:
		s = bold
	}
	if e.Awaited {
		r.text += " (somebody waits)"
	}
	r.columns = []column{{s, -8, left, false}, {dim, m.clockWidth, clock, true}, {cyan, 5, e.Task.ID, false}}
	return r
}

// runningRow is a row of a run that goes on, and for how long.
func (m *data) runningRow(r *openRun) row {
	text := view.Describe(r.Task)
	s := green
	switch {
	case r.Halt != "":
		text, s = "ending: "+text, yellow
	case !r.Retry.IsZero():
		text, s = fmt.Sprintf("attempt %d failed, again in %s: %s", r.Attempt,
			countdown(r.Retry.Sub(m.now)), text), yellow
	case r.Manual:
		text += " (by hand)"
	}
	return row{key: r.id(), text: text, columns: []column{{s, -8, countdown(m.now.Sub(r.began())), false},
		{cyan, 8, r.id(), false}}, subject: subject{run: r}}
}

// itemRow is a row of an item of the inbox, and since when it waits.
func (m *data) itemRow(i *state.Item) row {
	l := i.Line
	text := l.Description
	if l.Text != "" && l.Text != text && (l.Inbox == state.ItemMessage || l.Inbox == state.ItemWait) {
		text = strings.TrimPrefix(text+": "+l.Text, ": ")
	}
	s := bold
	switch l.Inbox {
	case state.ItemFailure, state.ItemMissed, state.ItemUndelivered:
		s = red
	case state.ItemResult:
		s = plain
	}
	if i.Leased.After(m.now) {
		text += " (somebody has taken it)"
	}
	return row{key: i.ID, text: cli.Visible(text), columns: []column{{dim, m.clockWidth, m.clock(l.At), false},
		{s, 7, l.Inbox, false}, {cyan, 8, i.ID, true}}, subject: subject{item: i}}
}

// lineRow is a row of a line of the ledger. Lines have no ID, so its key is made of what it says.
func (m *data) lineRow(l *state.Line) row {
	id := l.TaskID
	if l.Number > 0 {
		id = state.OccurrenceID(l.TaskID, l.Number)
	}
	s := plain
	switch {
	case rules.Failure(l.Outcome), l.Type == state.LineDelivery && !l.Delivered, l.Outcome == state.Missed:
		s = red
	case l.Type == state.LineTask, l.Type == state.LineDelivery:
		s = dim
	case l.Late >= 1:
		s = yellow
	}
	text := history.Happened(*l, m.zone)
	if l.Description != "" && l.Description != l.Text {
		text += "  " + cli.Visible(l.Description)
	}
	key := fmt.Sprintf("%s %s %d %s %s", l.At.Format(time.RFC3339Nano), id, l.Revision, l.Event, l.Channel)
	return row{key: key, style: s, text: text, columns: []column{{dim, m.clockWidth, m.clock(l.At), false},
		{cyan, 8, id, false}}, subject: subject{line: l}}
}

// clockWidth is how many columns clock takes: nine unless the locale needs more.
func clockWidth(times cli.Locale) (width int) {
	for month := range 12 { // tries each day of the week and each month
		at := time.Date(2026, time.Month(1+month), 1+month, 22, 0, 0, 0, time.UTC)
		width = max(width, cli.Columns(today(times, at)), cli.Columns(times.Format(at, "Mon 15:04")),
			cli.Columns(times.Format(at, "02 Jan 06")))
	}
	return width
}

// today is a time of this day, to the second unless the locale needs more columns for that.
func today(times cli.Locale, t time.Time) string {
	if times.ClockWidth("15:04:05") > len("15:04:05") {
		return times.Format(t, "15:04")
	}
	return t.Format("15:04:05")
}

// clock is an instant in few columns: the time if it is today, the day if it is this week, or the
// date.
func (m *data) clock(t time.Time) string {
	t, now := t.In(m.zone), m.now.In(m.zone)
	ty, td := t.Year(), t.YearDay()
	ny, nd := now.Year(), now.YearDay()
	switch far := t.Sub(now); {
	case ty == ny && td == nd:
		return today(m.times, t)
	case far > -6*24*time.Hour && far < 6*24*time.Hour:
		return m.times.Format(t, "Mon 15:04")
	}
	return m.times.Format(t, "02 Jan 06")
}

// countdown is a duration in at most eight columns: 00:19:59, 5d 23h, 412d. It is rounded up to a
// second.
func countdown(d time.Duration) string {
	d = max(d, 0)
	n := int64((d + time.Second - 1) / time.Second)
	switch days := n / 86400; {
	case days >= 100:
		return fmt.Sprintf("%dd", days)
	case days > 0:
		return fmt.Sprintf("%dd %02dh", days, n/3600%24)
	}
	return fmt.Sprintf("%02d:%02d:%02d", n/3600, n/60%60, n%60)
}
