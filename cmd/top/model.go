package top

import (
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/ouro-timer/ouro-timer/cmd/cli"
	"github.com/ouro-timer/ouro-timer/state"
)

// pane is one of the lists.
type pane int

const (
	duePane pane = iota
	runningPane
	inboxPane
	logPane
	panes // how many there are
)

// mode is what keys mean.
type mode int

const (
	listing   mode = iota
	adding         // a new task is being typed
	editing        // the change of a task
	filtering      // what rows are to say
	helping        // the keys are shown
)

// known is what the rows of all panes are made of.
type known struct {
	zone       *time.Location
	times      cli.Locale
	clockWidth int // of an instant in a row
	now        time.Time
	seen       seen
	filter     string
}

// selection is which rows the keys are about.
type selection struct {
	known
	at    pane
	row   [panes]string // the key of the row that is selected
	place [panes]int    // where that was
}

// model is all that the view is made of. Update makes the next one of it, and View draws it;
// neither reads a clock or the store.
type model struct {
	selection
	do    doer
	looks looks

	width, height int
	begun         bool // something was seen
	looking       bool // a look is under way
	stale         bool // something has changed since it began

	whole    bool // the pane has the screen for itself
	details  [panes]detail
	watched  string // the task whose output is followed
	mode     mode
	input    input
	of       state.Entry // the task that is edited
	echo     echo
	said     did
	fired    int  // runs that were begun here and go on
	insisted bool // q was pressed, and runs begun here would end
}

func newModel(do doer, zone *time.Location, now time.Time, l looks) model {
	return model{selection: selection{known: known{zone: zone, now: now, times: l.times,
		clockWidth: clockWidth(l.times)}}, do: do, looks: l, looking: true}
}

// ticked is the beginning of a second.
type ticked time.Time

func tick(now time.Time) tea.Cmd {
	return tea.Tick(second(now), func(t time.Time) tea.Msg { return ticked(t) })
}

func (m model) Init() tea.Cmd {
	return tea.Batch(m.look(), tick(m.now))
}

func (m model) look() tea.Cmd {
	return func() tea.Msg { return m.do.look(m.filter) }
}

const (
	lookPause = 200 * time.Millisecond // between two looks, whoever writes in a hurry
	lookLasts = 30 * time.Minute       // what is to come is looked at anew
)

func (m model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.width, m.height = msg.Width, msg.Height
		return m, nil
	case ticked:
		m.now = time.Time(msg).Round(0)
		if m.now.Sub(m.seen.at) > lookLasts {
			return m.again(tick(m.now))
		}
		return m, tick(m.now)
	case changed:
		return m.again(nil)
	case found:
		return m.found(msg)
	case detail:
		for p := range panes {
			if msg.of == m.row[p] {
				m.details[p] = msg
			}
		}
		return m, nil
	case wrote:
		if msg.id != m.watched {
			return m, nil
		}
		m.watched = ""
		return m.shown()
	case echo:
		if msg.of.line == m.input.text && (m.mode == adding || m.mode == editing) {
			m.echo = msg
		}
		return m, nil
	case did:
		m.said = msg
		m.fired += msg.fired
		if msg.closes {
			m.mode, m.input = listing, input{}
		}
		return m.again(nil)
	case tea.PasteMsg:
		if m.typing() {
			return m.edited(m.input.insert(msg.Content))
		}
		return m, nil
	case tea.KeyPressMsg:
		return pressed(m, msg)
	case tea.MouseClickMsg:
		return clicked(m, tea.Mouse(msg))
	case tea.MouseWheelMsg:
		return wheeled(m, tea.Mouse(msg))
	}
	return m, nil
}

// again looks at the store, once the look that is under way has ended.
func (m model) again(more tea.Cmd) (tea.Model, tea.Cmd) {
	if m.looking {
		m.stale = true
		return m, more
	}
	m.looking = true
	return m, tea.Batch(more, m.look())
}

// found takes in what a look has found. Rows that are gone leave the selection where it was.
func (m model) found(f found) (tea.Model, tea.Cmd) {
	m.looking = false
	var more tea.Cmd
	if m.stale || f.filter != m.filter {
		m.stale = false
		m.looking = true
		more = tea.Tick(lookPause, func(time.Time) tea.Msg { return m.do.look(m.filter) })
	}
	if f.err != nil {
		m.said = did{text: f.err.Error(), failed: true}
		return m, more
	}
	told := m.begun && f.toldHere(m.seen)
	m.seen, m.begun = f.seen, true
	for p := range panes {
		m.settle(p)
	}
	next, cmd := m.shown()
	if told { // what was written on the terminal stands on the view
		cmd = tea.Batch(cmd, tea.ClearScreen)
	}
	return next, tea.Batch(more, cmd)
}

// toldHere reports whether somebody was told by a terminal since the last look.
func (n seen) toldHere(was seen) bool {
	if len(n.log) == 0 || len(was.log) == 0 {
		return false
	}
	for _, l := range n.log {
		if l.At.Equal(was.log[0].At) && l.TaskID == was.log[0].TaskID && l.Type == was.log[0].Type {
			return false
		}
		if l.Type == state.LineDelivery {
			return true
		}
	}
	return false
}

// settle puts the selection of a pane on a row that is there.
func (m *selection) settle(p pane) {
	rows := m.rows(p)
	if len(rows) == 0 {
		m.row[p], m.place[p] = "", 0
		return
	}
	at := slices.IndexFunc(rows, func(r row) bool { return r.key == m.row[p] })
	switch {
	case p == logPane && m.place[p] == 0: // who looks at the newest line goes on doing so
		at = 0
	case at < 0:
		at = min(m.place[p], len(rows)-1)
	}
	m.row[p], m.place[p] = rows[at].key, at
}

// shown asks for the details of what is selected, and of the run whose output is followed.
func (m model) shown() (tea.Model, tea.Cmd) {
	var cmds []tea.Cmd
	for p := range panes {
		of := m.subjectOf(p)
		if of.key != m.details[p].of {
			m.details[p] = detail{}
		}
		if of.key == "" || p != m.at && p != runningPane {
			continue
		}
		cmds = append(cmds, func() tea.Msg { return m.do.show(of) })
		if of.run != nil && m.watched != of.run.Task.ID {
			id := of.run.Task.ID
			m.watched = id
			cmds = append(cmds, func() tea.Msg { return m.do.grow(id) })
		}
	}
	return m, tea.Batch(cmds...)
}

// subjectOf is what the row that is selected in a pane stands for; without a key when there is
// none.
func (m *selection) subjectOf(p pane) subject {
	if rows := m.rows(p); m.place[p] < len(rows) {
		return rows[m.place[p]].subject
	}
	return subject{}
}

// subject is that of the pane that has the keys.
func (m *selection) subject() subject { return m.subjectOf(m.at) }

// task is the task that the row that is selected is about, if it is still there.
func (m *selection) task() (state.Entry, bool) {
	of := m.subject()
	switch {
	case of.task != nil:
		return *of.task, true
	case of.run != nil:
		return of.run.entry, true
	}
	id := ""
	if of.item != nil {
		id = of.item.Line.TaskID
	} else if of.line != nil {
		id = of.line.TaskID
	}
	at := slices.IndexFunc(m.seen.due, func(e state.Entry) bool { return e.Task.ID == id })
	if at < 0 {
		return state.Entry{}, false
	}
	return m.seen.due[at], true
}

// typing reports whether keys are letters.
func (m *model) typing() bool { return m.mode == adding || m.mode == editing || m.mode == filtering }

// edited takes in what was typed: what it means is asked for, and a filter is used at once.
func (m model) edited(in input) (tea.Model, tea.Cmd) {
	m.input = in
	if m.mode == filtering {
		return m.filtered(in.text)
	}
	if in.text == "" {
		m.echo = echo{}
		return m, nil
	}
	t := typed{in.text, m.of}
	return m, func() tea.Msg { return m.do.read(t) }
}

// filtered shows only rows that have the words of a text, of those that there are, and looks for
// others.
func (m model) filtered(text string) (tea.Model, tea.Cmd) {
	m.filter, m.said = text, did{}
	for p := range panes {
		m.settle(p)
	}
	next, cmd := m.again(nil)
	also, more := next.(model).shown()
	return also, tea.Batch(cmd, more)
}

// runs reports whether something runs of a task.
func (n *seen) runs(id string) bool {
	return slices.ContainsFunc(n.running, func(r ran) bool { return r.Task.ID == id })
}
