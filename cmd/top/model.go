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

// mode says what keys mean.
type mode int

const (
	listing   mode = iota
	adding         // a new task is being typed
	editing        // the change of a task
	filtering      // the words that rows must have
	helping        // the keys are shown
)

// known is the data of the rows of all panes.
type known struct {
	zone       *time.Location
	times      cli.Locale
	clockWidth int // the width of an instant in a row
	now        time.Time
	seen       seen
	filter     string
}

// selection says which rows the keys are about.
type selection struct {
	known
	at    pane
	row   [panes]string // the key of the selected row
	place [panes]int    // the place of that row
}

// model has everything that is drawn. Update makes the next one of it, and View draws it; neither
// reads a clock or the store.
type model struct {
	selection
	do    doer
	looks looks

	width, height int
	begun         bool // a look has ended
	looking       bool // a look is going on
	stale         bool // something has changed since the look began

	whole    bool // one pane fills the screen
	details  [panes]detail
	watched  string // the task whose output is shown as it grows
	mode     mode
	input    input
	of       state.Entry // the task that is being changed
	echo     echo
	said     did
	fired    int  // how many runs of fire go on
	insisted bool // q was pressed once although runs of fire would end
}

func newModel(do doer, zone *time.Location, now time.Time, l looks) model {
	return model{selection: selection{known: known{zone: zone, now: now, times: l.times,
		clockWidth: clockWidth(l.times)}}, do: do, looks: l, looking: true}
}

// ticked says that a second has begun.
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
	lookPause = 200 * time.Millisecond // the least time between two looks
	lookLasts = 30 * time.Minute       // how long a look at coming instants lasts
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

// again looks at the store, after the look that is going on.
func (m model) again(more tea.Cmd) (tea.Model, tea.Cmd) {
	if m.looking {
		m.stale = true
		return m, more
	}
	m.looking = true
	return m, tea.Batch(more, m.look())
}

// found puts the result of a look into the model. When a row is gone the selection stays at its
// place.
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
	if told { // what was written to the terminal is on top of the screen
		cmd = tea.Batch(cmd, tea.ClearScreen)
	}
	return next, tea.Batch(more, cmd)
}

// toldHere reports whether a message was written to a terminal since the last look.
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

// settle moves the selection of a pane to a row that exists.
func (m *selection) settle(p pane) {
	rows := m.rows(p)
	if len(rows) == 0 {
		m.row[p], m.place[p] = "", 0
		return
	}
	at := slices.IndexFunc(rows, func(r row) bool { return r.key == m.row[p] })
	switch {
	case p == logPane && m.place[p] == 0: // the newest line stays selected
		at = 0
	case at < 0:
		at = min(m.place[p], len(rows)-1)
	}
	m.row[p], m.place[p] = rows[at].key, at
}

// shown asks for the details of the selected row, and watches the output of a run.
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

// subjectOf returns what the selected row of a pane is about; without a key when there is none.
func (m *selection) subjectOf(p pane) subject {
	if rows := m.rows(p); m.place[p] < len(rows) {
		return rows[m.place[p]].subject
	}
	return subject{}
}

// subject returns what the selected row of the active pane is about.
func (m *selection) subject() subject { return m.subjectOf(m.at) }

// task returns the task of the selected row, if it still exists.
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

// typing reports whether keys are letters of a line.
func (m *model) typing() bool { return m.mode == adding || m.mode == editing || m.mode == filtering }

// edited handles a typed line: it asks for its meaning, and uses a filter at once.
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

// filtered shows only rows that have the words of a text, and looks for more.
func (m model) filtered(text string) (tea.Model, tea.Cmd) {
	m.filter, m.said = text, did{}
	for p := range panes {
		m.settle(p)
	}
	next, cmd := m.again(nil)
	also, more := next.(model).shown()
	return also, tea.Batch(cmd, more)
}

// runs reports whether a run of a task goes on.
func (n *seen) runs(id string) bool {
	return slices.ContainsFunc(n.running, func(r ran) bool { return r.Task.ID == id })
}
