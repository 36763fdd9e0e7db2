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
	// shown is how the help writes the keys, together with those of the next bindings that have
	// none.
	shown  string
	help   string // what the keys do, in about twenty letters
	action func(m model) (tea.Model, tea.Cmd)
}

const helpKey, quitKey = "?", "q"

// bindings returns all keys in the order of the help. It is a function because a variable that
// some of its own actions use cannot be initialized.
func bindings() []binding {
	return []binding{
		{[]string{"a"}, "add", "a", "add a task", add},
		{[]string{"e"}, "edit", "e", "change the task", edit},
		{[]string{"p"}, "pause", "p", "pause or resume it", onTask(actions.pause)},
		{[]string{"f"}, "fire", "f", "run it now", fire},
		{[]string{"s"}, "stop", "s K", "end its run; kill it",
			func(m model) (tea.Model, tea.Cmd) { return stop(m, false) }},
		{[]string{"K"}, "", "", "", func(m model) (tea.Model, tea.Cmd) { return stop(m, true) }},
		{[]string{"d", "delete"}, "remove", "d", "remove it", onTask(actions.remove)},
		{[]string{"u"}, "undo", "u", "undo the removal",
			func(m model) (tea.Model, tea.Cmd) { return m.beginAction("restoring", m.actions.restore) }},
		{[]string{"c"}, "ack", "c C", "acknowledge it; all", acknowledge},
		{[]string{"C"}, "", "", "", acknowledgeAll},
		{[]string{"/"}, "filter", "/", "filter the rows", filterRows},
		{[]string{"1", "2", "3", "4"}, "", "1 2 3 4", "go to the pane", nil},
		{[]string{"tab", "right", "l"}, "", "tab", "the next pane",
			func(m model) (tea.Model, tea.Cmd) { return m.switchTo(m.active + 1) }},
		{[]string{"shift+tab", "left", "h"}, "", "", "",
			func(m model) (tea.Model, tea.Cmd) { return m.switchTo(m.active + panes - 1) }},
		{[]string{"down", "j"}, "", "up down", "another row", func(m model) (tea.Model, tea.Cmd) { return m.move(1) }},
		{[]string{"up", "k"}, "", "", "", func(m model) (tea.Model, tea.Cmd) { return m.move(-1) }},
		{[]string{"pgdown", "space"}, "", "", "",
			func(m model) (tea.Model, tea.Cmd) { return m.move(layout{&m}.page()) }},
		{[]string{"pgup"}, "", "", "", func(m model) (tea.Model, tea.Cmd) { return m.move(-layout{&m}.page()) }},
		{[]string{"home", "g"}, "", "g G", "the first; the last",
			func(m model) (tea.Model, tea.Cmd) { return m.move(-1 << 30) }},
		{[]string{"end", "G"}, "", "", "", func(m model) (tea.Model, tea.Cmd) { return m.move(1 << 30) }},
		{[]string{"enter"}, "", "enter", "maximize the pane",
			func(m model) (tea.Model, tea.Cmd) { m.maximized = !m.maximized; return m, nil }},
		{[]string{"esc"}, "", "esc", "show all panes", back},
		{[]string{"ctrl+l"}, "", "", "", func(m model) (tea.Model, tea.Cmd) { return m, tea.ClearScreen }},
		{[]string{"ctrl+z"}, "", "ctrl+z", "back to the shell",
			func(m model) (tea.Model, tea.Cmd) { return m, tea.Suspend }},
		{[]string{helpKey}, "help", helpKey, "these keys",
			func(m model) (tea.Model, tea.Cmd) { m.mode = helping; return m, nil }},
		{[]string{quitKey, "ctrl+c"}, "quit", quitKey, "quit", quit},
	}
}

// back shows all panes and all rows.
func back(m model) (tea.Model, tea.Cmd) {
	m.maximized, m.status = false, status{}
	return m.withFilter("")
}

// pressed returns the model after a key.
func pressed(m model, k tea.KeyPressMsg) (tea.Model, tea.Cmd) {
	stroke := k.Keystroke()
	if k.Text != "" && k.Text != " " { // K is a key, whether it is typed with shift or caps lock
		stroke = k.Text
	}
	if stroke != quitKey && stroke != "ctrl+c" {
		m.quitAsked = false
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
			return b.action(m)
		}
	}
	return m, nil
}

// typedKey returns the model after a key while a line is typed.
func typedKey(m model, k tea.KeyPressMsg) (tea.Model, tea.Cmd) {
	switch stroke := k.Keystroke(); {
	case stroke == "ctrl+c", stroke == "esc":
		was := m.mode
		m.mode, m.input, m.interpretation = listing, input{}, interpretation{}
		if was == filtering {
			return m.withFilter("")
		}
		return m, nil
	case stroke == "enter" && (m.mode == filtering || strings.TrimSpace(m.input.text) == ""):
		m.mode, m.input = listing, input{}
		return m, nil
	case stroke == "enter":
		t := typed{m.input.text, m.editedTask}
		return m.inOrder(func() tea.Msg { return m.actions.submit(t) })
	}
	in, ok := m.input.press(tea.Key(k))
	if !ok {
		return m, nil
	}
	return m.withInput(in)
}

// refuse returns the model with a status line that says why something cannot be done.
func (m model) refuse(format string, a ...any) (tea.Model, tea.Cmd) {
	m.status = status{text: fmt.Sprintf(format, a...), failed: true}
	return m, nil
}

// inOrder begins a short action. Actions run beside each other, so one may end before another that
// was begun first: the status line then stays with the one that was begun last.
func (m model) inOrder(do func() tea.Msg) (tea.Model, tea.Cmd) {
	m.begun++
	number := m.begun
	return m, func() tea.Msg {
		msg := do()
		if s, ok := msg.(status); ok {
			s.number = number
			return s
		}
		return msg
	}
}

// beginAction begins an action that may take long. The status line shows it until it is done, and
// tells its end whatever was done meanwhile.
func (m model) beginAction(doing string, do func() tea.Msg) (tea.Model, tea.Cmd) {
	m.status = status{text: doing + " …"}
	return m, do
}

// noTask says that a key needs a task.
func noTask(m model) (tea.Model, tea.Cmd) {
	return m.refuse("no task that can still be due is selected")
}

// onTask makes the action of a key that is about the selected task.
func onTask(do func(actions, state.Entry) tea.Msg) func(m model) (tea.Model, tea.Cmd) {
	return func(m model) (tea.Model, tea.Cmd) {
		e, ok := m.task()
		if !ok {
			return noTask(m)
		}
		m.status = status{}
		return m.inOrder(func() tea.Msg { return do(m.actions, e) })
	}
}

func add(m model) (tea.Model, tea.Cmd) {
	m.mode, m.input, m.interpretation, m.editedTask, m.status = adding, input{}, interpretation{}, state.Entry{}, status{}
	return m, nil
}

func edit(m model) (tea.Model, tea.Cmd) {
	e, ok := m.task()
	switch {
	case !ok || !tasks.Live(e):
		return noTask(m)
	case e.Task.Type() == state.TypeWait:
		return m.refuse("%s is a wait, which cannot be changed: somebody may depend on it", e.Task.ID)
	}
	m.mode, m.input, m.interpretation, m.editedTask, m.status = editing, input{}, interpretation{}, e, status{}
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
	m.firing++
	return m.beginAction("running "+e.Task.ID, func() tea.Msg { return m.actions.fire(e) })
}

func stop(m model, kill bool) (tea.Model, tea.Cmd) {
	e, ok := m.task()
	if !ok || !m.snapshot.runs(e.Task.ID) {
		return m.refuse("no running task is selected")
	}
	return m.beginAction("ending "+e.Task.ID, func() tea.Msg { return m.actions.stop(e, kill) })
}

func acknowledge(m model) (tea.Model, tea.Cmd) {
	of := m.subject()
	if of.item == nil {
		return m.refuse("no item of the inbox is selected; 3 goes to the inbox")
	}
	id := of.item.ID
	return m.inOrder(func() tea.Msg { return m.actions.acknowledge([]string{id}) })
}

func acknowledgeAll(m model) (tea.Model, tea.Cmd) {
	var ids []string
	for _, r := range m.rows(inboxPane) {
		ids = append(ids, r.subject.item.ID)
	}
	if m.active != inboxPane || len(ids) == 0 {
		return m.refuse("no items are listed here; 3 goes to the inbox")
	}
	return m.beginAction("acknowledging", func() tea.Msg { return m.actions.acknowledge(ids) })
}

func quit(m model) (tea.Model, tea.Cmd) {
	if m.firing > 0 && !m.quitAsked {
		m.quitAsked = true
		return m.refuse("a task that was fired here still runs, and ends with the view; q again quits")
	}
	return m, tea.Quit
}

// switchTo goes to a pane.
func (m model) switchTo(to pane) (tea.Model, tea.Cmd) {
	m.active = to % panes
	return m.readDetails()
}

// move selects another row, as far as there are rows.
func (m model) move(by int) (tea.Model, tea.Cmd) {
	rows := m.rows(m.active)
	if len(rows) == 0 {
		return m, nil
	}
	at := min(max(m.selectedIndex[m.active]+by, 0), len(rows)-1)
	m.selectedIndex[m.active], m.selectedKey[m.active] = at, rows[at].key
	return m.readDetails()
}

// page is how many rows of the pane are on the screen.
func (m layout) page() int {
	for _, b := range m.boxes() {
		if b.pane == m.active {
			return max(b.listRows-1, 1)
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
	where := layout{&m}
	if m.typing() || at.Button != tea.MouseLeft || !where.fits() {
		return m, nil
	}
	for _, tab := range where.tabs() {
		if at.Y == tabsRow && at.X >= tab.from && at.X < tab.to {
			return m.switchTo(tab.pane)
		}
	}
	for _, b := range where.boxes() {
		if !b.contains(at.X, at.Y) {
			continue
		}
		m.active = b.pane
		rows := m.rows(b.pane)
		n := at.Y - b.y - 1
		if n >= 0 && n < b.listRows && b.first(len(rows), m.selectedIndex[b.pane])+n < len(rows) {
			m.selectedIndex[b.pane] = b.first(len(rows), m.selectedIndex[b.pane]) + n
			m.selectedKey[b.pane] = rows[m.selectedIndex[b.pane]].key
		}
		return m.readDetails()
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
	for _, b := range (layout{&m}).boxes() {
		if b.contains(at.X, at.Y) {
			m.active = b.pane
			return m.move(by)
		}
	}
	return m, nil
}
