package top

import (
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/timer/tasks"
)

// binding says what keys do in lists.
type binding struct {
	keys []string
	word string // the word at the bottom of the screen; may be empty
	// how the help writes the keys, with those of the next bindings; may be empty
	shown string
	says  string // what the keys do, in about twenty letters
	do    func(m model) (tea.Model, tea.Cmd)
}

const helpKey, quitKey = "?", "q"

// bindings returns all keys in the order of the help. It is a function because some of their
// actions use it.
func bindings() []binding {
	return []binding{
		{[]string{"a"}, "add", "a", "add a task", add},
		{[]string{"e"}, "edit", "e", "change the task", edit},
		{[]string{"p"}, "pause", "p", "pause or resume it", onTask(doer.pause)},
		{[]string{"f"}, "fire", "f", "run it now", fire},
		{[]string{"s"}, "stop", "s K", "end its run; by KILL",
			func(m model) (tea.Model, tea.Cmd) { return stopping(m, false) }},
		{[]string{"K"}, "", "", "", func(m model) (tea.Model, tea.Cmd) { return stopping(m, true) }},
		{[]string{"d", "delete"}, "remove", "d", "remove it", onTask(doer.remove)},
		{[]string{"u"}, "undo", "u", "undo the removal",
			func(m model) (tea.Model, tea.Cmd) { return m.deed("restoring", m.do.restore) }},
		{[]string{"c"}, "ack", "c C", "acknowledge it; all", acknowledge},
		{[]string{"C"}, "", "", "", acknowledgeAll},
		{[]string{"/"}, "filter", "/", "rows with words", filterRows},
		{[]string{"1", "2", "3", "4"}, "", "1 2 3 4", "go to the pane", nil},
		{[]string{"tab", "right", "l"}, "", "tab", "the next pane",
			func(m model) (tea.Model, tea.Cmd) { return m.switchTo(m.at + 1) }},
		{[]string{"shift+tab", "left", "h"}, "", "", "",
			func(m model) (tea.Model, tea.Cmd) { return m.switchTo(m.at + panes - 1) }},
		{[]string{"down", "j"}, "", "up down", "another row", func(m model) (tea.Model, tea.Cmd) { return m.move(1) }},
		{[]string{"up", "k"}, "", "", "", func(m model) (tea.Model, tea.Cmd) { return m.move(-1) }},
		{[]string{"pgdown", "space"}, "", "", "",
			func(m model) (tea.Model, tea.Cmd) { return m.move(plan{&m}.page()) }},
		{[]string{"pgup"}, "", "", "", func(m model) (tea.Model, tea.Cmd) { return m.move(-plan{&m}.page()) }},
		{[]string{"home", "g"}, "", "g G", "the first; the last",
			func(m model) (tea.Model, tea.Cmd) { return m.move(-1 << 30) }},
		{[]string{"end", "G"}, "", "", "", func(m model) (tea.Model, tea.Cmd) { return m.move(1 << 30) }},
		{[]string{"enter"}, "", "enter", "the pane alone",
			func(m model) (tea.Model, tea.Cmd) { m.whole = !m.whole; return m, nil }},
		{[]string{"esc"}, "", "esc", "back to everything", back},
		{[]string{"ctrl+l"}, "", "", "", func(m model) (tea.Model, tea.Cmd) { return m, tea.ClearScreen }},
		{[]string{"ctrl+z"}, "", "ctrl+z", "back to the shell",
			func(m model) (tea.Model, tea.Cmd) { return m, tea.Suspend }},
		{[]string{helpKey}, "help", helpKey, "these keys",
			func(m model) (tea.Model, tea.Cmd) { m.mode = helping; return m, nil }},
		{[]string{quitKey, "ctrl+c"}, "quit", quitKey, "quit", quit},
	}
}

// An action makes the next model of the present one.

// back removes the filter, and shows all panes.
func back(m model) (tea.Model, tea.Cmd) {
	m.whole, m.said = false, did{}
	return m.filtered("")
}

// pressed returns the model after a key.
func pressed(m model, k tea.KeyPressMsg) (tea.Model, tea.Cmd) {
	stroke := k.Keystroke()
	if k.Text != "" && k.Text != " " { // the letter K, however it was typed
		stroke = k.Text
	}
	switch {
	case m.typing():
		return typedKey(m, k)
	case m.mode == helping && stroke != "ctrl+c":
		m.mode = listing
		return m, nil
	case len(stroke) == 1 && stroke >= "1" && stroke <= "4":
		return m.switchTo(pane(stroke[0] - '1'))
	}
	for _, b := range bindings() {
		if slices.Contains(b.keys, stroke) {
			if stroke != quitKey && stroke != "ctrl+c" {
				m.insisted = false
			}
			return b.do(m)
		}
	}
	return m, nil
}

// typedKey returns the model after a key while a line is typed.
func typedKey(m model, k tea.KeyPressMsg) (tea.Model, tea.Cmd) {
	switch stroke := k.Keystroke(); {
	case stroke == "ctrl+c", stroke == "esc":
		was := m.mode
		m.mode, m.input, m.echo = listing, input{}, echo{}
		if was == filtering {
			return m.filtered("")
		}
		return m, nil
	case stroke == "enter" && m.mode == filtering:
		m.mode, m.input = listing, input{}
		return m, nil
	case stroke == "enter" && strings.TrimSpace(m.input.text) == "":
		m.mode, m.input = listing, input{}
		return m, nil
	case stroke == "enter":
		t := typed{m.input.text, m.of}
		return m, func() tea.Msg { return m.do.enter(t) }
	}
	in, ok := m.input.press(tea.Key(k))
	if !ok {
		return m, nil
	}
	return m.edited(in)
}

// says returns the model with a line about something that cannot be done.
func (m model) says(format string, a ...any) (tea.Model, tea.Cmd) {
	m.said = did{text: fmt.Sprintf(format, a...), failed: true}
	return m, nil
}

// deed begins an action. The status line shows it until it is done.
func (m model) deed(doing string, do func() tea.Msg) (tea.Model, tea.Cmd) {
	m.said = did{text: doing + " …"}
	return m, do
}

// noTask says that a key needs a task.
func noTask(m model) (tea.Model, tea.Cmd) {
	return m.says("no task is selected here that can still be due")
}

// onTask makes the action of a key about the selected task.
func onTask(do func(doer, state.Entry) tea.Msg) func(m model) (tea.Model, tea.Cmd) {
	return func(m model) (tea.Model, tea.Cmd) {
		e, ok := m.task()
		if !ok {
			return noTask(m)
		}
		m.said = did{}
		return m, func() tea.Msg { return do(m.do, e) }
	}
}

func add(m model) (tea.Model, tea.Cmd) {
	m.mode, m.input, m.echo, m.of, m.said = adding, input{}, echo{}, state.Entry{}, did{}
	return m, nil
}

func edit(m model) (tea.Model, tea.Cmd) {
	e, ok := m.task()
	switch {
	case !ok || !tasks.Live(e):
		return noTask(m)
	case e.Task.Type() == state.TypeWait:
		return m.says("%s is a wait: somebody may be waiting for what it says", e.Task.ID)
	}
	m.mode, m.input, m.echo, m.of, m.said = editing, input{}, echo{}, e, did{}
	return m, nil
}

func filterRows(m model) (tea.Model, tea.Cmd) {
	m.mode, m.input = filtering, input{m.filter, len(m.filter)}
	return m, nil
}

func fire(m model) (tea.Model, tea.Cmd) {
	e, ok := m.task()
	if !ok {
		return noTask(m)
	}
	m.fired++
	return m.deed("running "+e.Task.ID, func() tea.Msg { return m.do.fire(e) })
}

func stopping(m model, kill bool) (tea.Model, tea.Cmd) {
	e, ok := m.task()
	if !ok || !m.seen.runs(e.Task.ID) {
		return m.says("nothing runs of what is selected")
	}
	return m.deed("ending "+e.Task.ID, func() tea.Msg { return m.do.stop(e, kill) })
}

func acknowledge(m model) (tea.Model, tea.Cmd) {
	of := m.subject()
	if of.item == nil {
		return m.says("nothing of the inbox is selected; 3 goes there")
	}
	id := of.item.ID
	return m, func() tea.Msg { return m.do.acknowledge([]string{id}) }
}

func acknowledgeAll(m model) (tea.Model, tea.Cmd) {
	var ids []string
	for _, r := range m.rows(inboxPane) {
		ids = append(ids, r.subject.item.ID)
	}
	if m.at != inboxPane || len(ids) == 0 {
		return m.says("nothing of the inbox is listed here; 3 goes there")
	}
	return m.deed("acknowledging", func() tea.Msg { return m.do.acknowledge(ids) })
}

func quit(m model) (tea.Model, tea.Cmd) {
	if m.fired > 0 && !m.insisted {
		m.insisted = true
		next, cmd := m.says("what was fired here still runs, and ends with the view; q again ends both")
		return next, cmd
	}
	return m, tea.Quit
}

// switchTo goes to a pane.
func (m model) switchTo(to pane) (tea.Model, tea.Cmd) {
	m.at = to % panes
	return m.shown()
}

// move selects another row, as far as there are rows.
func (m model) move(by int) (tea.Model, tea.Cmd) {
	rows := m.rows(m.at)
	if len(rows) == 0 {
		return m, nil
	}
	at := min(max(m.place[m.at]+by, 0), len(rows)-1)
	m.place[m.at], m.row[m.at] = at, rows[at].key
	return m.shown()
}

// page is how many rows of the pane are on the screen.
func (m plan) page() int {
	for _, b := range m.layout() {
		if b.pane == m.at {
			return max(b.list-1, 1)
		}
	}
	return 1
}

// clicked selects what is under the mouse: a pane, or a row of it.
func clicked(m model, at tea.Mouse) (tea.Model, tea.Cmd) {
	if m.mode == helping {
		m.mode = listing
		return m, nil
	}
	where := plan{&m}
	if m.typing() || at.Button != tea.MouseLeft || !where.fits() {
		return m, nil
	}
	for _, tab := range where.tabs() {
		if at.Y == tabsRow && at.X >= tab.from && at.X < tab.to {
			return m.switchTo(tab.pane)
		}
	}
	for _, b := range where.layout() {
		if !b.holds(at.X, at.Y) {
			continue
		}
		m.at = b.pane
		rows := m.rows(b.pane)
		n := at.Y - b.y - 1
		if n >= 0 && n < b.list && b.first(len(rows), m.place[b.pane])+n < len(rows) {
			m.place[b.pane] = b.first(len(rows), m.place[b.pane]) + n
			m.row[b.pane] = rows[m.place[b.pane]].key
		}
		return m.shown()
	}
	return m, nil
}

// wheeled moves in the pane that is under the mouse.
func wheeled(m model, at tea.Mouse) (tea.Model, tea.Cmd) {
	by := 3
	switch at.Button {
	case tea.MouseWheelUp:
		by = -3
	case tea.MouseWheelDown:
	default:
		return m, nil
	}
	for _, b := range (plan{&m}).layout() {
		if b.holds(at.X, at.Y) {
			m.at = b.pane
			return m.move(by)
		}
	}
	return m, nil
}
