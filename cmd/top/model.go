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
	editing        // the change of a task is being typed
	filtering      // the words that rows must have are being typed
	helping        // all keys are shown
)

// data is what the rows of all panes are made of.
type data struct {
	zone       *time.Location
	times      cli.Locale
	clockWidth int // the width of an instant in a row
	now        time.Time
	snapshot   snapshot
	filter     string
}

// selection says which rows the keys are about.
type selection struct {
	data
	active        pane
	selectedKey   [panes]string // the key of the selected row
	selectedIndex [panes]int    // its index among the rows of the pane
}

// model has everything that is drawn. Update makes the next one of it, and View draws it; neither
// reads a clock or the store.
type model struct {
	selection
	actions actions
	looks   looks

	width, height int
	loadedOnce    bool // there is a snapshot
	loading       bool // the store is being read
	stale         bool // something has changed since the reading began

	maximized      bool // one pane fills the screen
	details        [panes]detail
	watchedTask    string // the task whose output is shown as it grows
	mode           mode
	input          input
	editedTask     state.Entry // the task that is being changed
	interpretation interpretation
	status         status
	begun, told    int  // the last short action, and the last that was told; see inOrder
	firing         int  // how many runs of fire go on
	quitAsked      bool // q was pressed once although runs of fire would end
}

func newModel(do actions, zone *time.Location, now time.Time, l looks) model {
	return model{selection: selection{data: data{zone: zone, now: now, times: l.times,
		clockWidth: clockWidth(l.times)}}, actions: do, looks: l, loading: true}
}

// ticked says that a second has begun.
type ticked time.Time

// tick waits until the next second begins, when countdowns are drawn anew.
func tick(now time.Time) tea.Cmd {
	return tea.Tick(time.Second-time.Duration(now.Nanosecond()), func(t time.Time) tea.Msg { return ticked(t) })
}

func (m model) Init() tea.Cmd {
	return tea.Batch(m.load(), tick(m.now))
}

func (m model) load() tea.Cmd {
	return func() tea.Msg { return m.actions.load(m.filter) }
}

const (
	loadPause     = 200 * time.Millisecond // the least time between two readings of the store
	snapshotLasts = 30 * time.Minute       // how long a snapshot has enough of the coming instants
)

func (m model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.width, m.height = msg.Width, msg.Height
		return m, nil
	case ticked:
		m.now = time.Time(msg).Round(0)
		if m.now.Sub(m.snapshot.at) > snapshotLasts {
			return m.reload(tick(m.now))
		}
		return m, tick(m.now)
	case storeChanged:
		return m.reload(nil)
	case loaded:
		return m.take(msg)
	case detail:
		for p := range panes {
			if msg.of == m.selectedKey[p] {
				m.details[p] = msg
			}
		}
		return m, nil
	case outputGrew:
		if msg.id != m.watchedTask {
			return m, nil
		}
		m.watchedTask = ""
		return m.readDetails()
	case interpretation:
		if msg.typed.line == m.input.text && (m.mode == adding || m.mode == editing) {
			m.interpretation = msg
		}
		return m, nil
	case status:
		if msg.number == 0 || msg.number > m.told {
			m.status = msg
		}
		m.told = max(m.told, msg.number)
		m.firing += msg.firingChange
		if msg.closesInput {
			m.mode, m.input = listing, input{}
		}
		return m.reload(nil)
	case tea.PasteMsg:
		if m.typing() {
			return m.withInput(m.input.insert(msg.Content))
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

// reload reads the store. While it is being read, another reading follows.
func (m model) reload(more tea.Cmd) (tea.Model, tea.Cmd) {
	if m.loading {
		m.stale = true
		return m, more
	}
	m.loading = true
	return m, tea.Batch(more, m.load())
}

// take puts a new snapshot into the model. When the selected row is gone, the row that is now at
// its index is selected.
func (m model) take(f loaded) (tea.Model, tea.Cmd) {
	m.loading = false
	var more tea.Cmd
	if m.stale || f.filter != m.filter {
		m.stale = false
		m.loading = true
		more = tea.Tick(loadPause, func(time.Time) tea.Msg { return m.actions.load(m.filter) })
	}
	if f.err != nil {
		m.status = status{text: f.err.Error(), failed: true}
		return m, more
	}
	wrote := m.loadedOnce && f.wroteOnTerminal(m.snapshot)
	m.snapshot, m.loadedOnce = f.snapshot, true
	for p := range panes {
		m.keepSelection(p)
	}
	next, cmd := m.readDetails()
	if wrote { // the message has overwritten a part of the screen
		cmd = tea.Batch(cmd, tea.ClearScreen)
	}
	return next, tea.Batch(more, cmd)
}

// wroteOnTerminal reports whether a message was written to a terminal since an earlier snapshot.
func (n snapshot) wroteOnTerminal(was snapshot) bool {
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

// keepSelection keeps the selected row of a pane selected, or selects a row that exists.
func (m *selection) keepSelection(p pane) {
	rows := m.rows(p)
	if len(rows) == 0 {
		m.selectedKey[p], m.selectedIndex[p] = "", 0
		return
	}
	at := slices.IndexFunc(rows, func(r row) bool { return r.key == m.selectedKey[p] })
	switch {
	case p == logPane && m.selectedIndex[p] == 0: // the newest line stays selected
		at = 0
	case at < 0:
		at = min(m.selectedIndex[p], len(rows)-1)
	}
	m.selectedKey[p], m.selectedIndex[p] = rows[at].key, at
}

// readDetails asks for the details of the selected rows, and watches the output of a run.
func (m model) readDetails() (tea.Model, tea.Cmd) {
	var cmds []tea.Cmd
	for p := range panes {
		of := m.subjectOf(p)
		if of.key != m.details[p].of {
			m.details[p] = detail{}
		}
		if of.key == "" || p != m.active && p != runningPane {
			continue
		}
		cmds = append(cmds, func() tea.Msg { return m.actions.readDetail(of) })
		if of.run != nil && m.watchedTask != of.run.Task.ID {
			id := of.run.Task.ID
			m.watchedTask = id
			cmds = append(cmds, func() tea.Msg { return m.actions.awaitOutput(id) })
		}
	}
	return m, tea.Batch(cmds...)
}

// subjectOf returns what the selected row of a pane is about; without a key when there is none.
func (m *selection) subjectOf(p pane) subject {
	if rows := m.rows(p); m.selectedIndex[p] < len(rows) {
		return rows[m.selectedIndex[p]].subject
	}
	return subject{}
}

// subject returns what the selected row of the active pane is about.
func (m *selection) subject() subject { return m.subjectOf(m.active) }

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
	at := slices.IndexFunc(m.snapshot.due, func(e state.Entry) bool { return e.Task.ID == id })
	if at < 0 {
		return state.Entry{}, false
	}
	return m.snapshot.due[at], true
}

// typing reports whether keys are letters of a line that is being typed.
func (m *model) typing() bool { return m.mode == adding || m.mode == editing || m.mode == filtering }

// withInput takes a typed line: it asks for its meaning, or filters the rows by it.
func (m model) withInput(in input) (tea.Model, tea.Cmd) {
	m.input = in
	if m.mode == filtering {
		return m.withFilter(in.text)
	}
	if in.text == "" {
		m.interpretation = interpretation{}
		return m, nil
	}
	t := typed{in.text, m.editedTask}
	return m, func() tea.Msg { return m.actions.interpret(t) }
}

// withFilter shows only rows that have the words of a text, and reads more of them from the store.
func (m model) withFilter(text string) (tea.Model, tea.Cmd) {
	m.filter, m.status = text, status{}
	for p := range panes {
		m.keepSelection(p)
	}
	next, cmd := m.reload(nil)
	also, more := next.(model).readDetails()
	return also, tea.Batch(cmd, more)
}

// runs reports whether a run of a task goes on.
func (n *snapshot) runs(id string) bool {
	return slices.ContainsFunc(n.running, func(r openRun) bool { return r.Task.ID == id })
}
