package top

import (
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/ouro-timer/ouro-timer/cmd/cli"
)

// These parts of the view have methods of their own. Each reads the whole model, and changes
// nothing.
type (
	layout  struct{ *model } // says what is where on the screen
	picture struct{ layout } // draws it
)

// View draws the model.
func (m model) View() tea.View {
	p := picture{layout{&m}}
	v := tea.NewView(strings.Join(p.screen(), "\n"))
	v.AltScreen, v.MouseMode, v.WindowTitle = true, tea.MouseModeCellMotion, "ouro-timer"
	if m.typing() && p.fits() {
		prompt := p.prompt()
		_, column := m.input.window(m.width - cli.Columns(prompt) - 1)
		v.Cursor = tea.NewCursor(cli.Columns(prompt)+column, m.height-p.bottom())
	}
	return v
}

// screen returns the rows of the screen.
func (m picture) screen() []string {
	if !m.fits() {
		return []string{m.looks.cut(fmt.Sprintf("%d x %d is too small:", m.width, m.height), m.width),
			m.looks.cut(fmt.Sprintf("%d x %d is needed; q quits", leastWidth, leastHeight), m.width)}
	}
	rows := make([]string, 0, m.height)
	rows = append(rows, m.header())
	rows = append(rows, m.timeline()...)
	body := m.height - tabsRow - m.bottom()
	switch boxes := m.boxes(); {
	case m.mode == helping:
		rows = append(rows, m.helpRows(body)...)
	case len(boxes) == 1:
		rows = append(rows, m.boxRows(boxes[0])...)
	default:
		left := append(m.boxRows(boxes[0]), m.boxRows(boxes[1])...)
		right := append(m.boxRows(boxes[2]), m.boxRows(boxes[3])...)
		bar := "│"
		if m.looks.ascii {
			bar = "|"
		}
		for i := range left {
			rows = append(rows, left[i]+m.looks.paint(dim, bar)+right[i])
		}
	}
	return append(rows, m.footer()...)
}

// header says the time, and who runs what is due.
func (m picture) header() string {
	l := m.looks
	now := m.now.In(m.zone)
	text := l.times.Format(now, "15:04:05")
	if m.width >= 80 {
		text = l.paint(bold, "ouro-timer") + "  " + l.times.Format(now, "Mon 2 Jan 15:04:05 MST")
	}
	if !m.loadedOnce {
		return l.fill(text+"  reading …", m.width)
	}
	n := m.snapshot
	if n.filter == "" {
		text += fmt.Sprintf("  %d due", len(n.due)+n.moreDue)
	}
	if len(n.running) > 0 {
		text += "  " + l.paint(green, fmt.Sprintf("%d running", len(n.running)))
	}
	if n.unread > 0 {
		text += "  " + l.paint(bold, fmt.Sprintf("%d unread", n.unread))
	}
	switch {
	case n.runner != "":
		text += "  " + n.runner
	case n.needsRunner:
		text += "  " + l.paint(yellow, "no runner alive")
	}
	return l.fill(text, m.width)
}

// boxRows returns the rows of an area.
func (m picture) boxRows(b box) []string {
	l := m.looks
	lines := []string{m.title(b)}
	rows := m.rows(b.pane)
	first := b.first(len(rows), m.selectedIndex[b.pane])
	for i := range b.listRows {
		text := ""
		switch n := first + i; {
		case n < len(rows) && n == m.selectedIndex[b.pane] && b.pane == m.active:
			lines = append(lines, l.paint(reverse,
				l.fill(">"+rows[n].draw(looks{ascii: l.ascii, flat: true}, b.w-1), b.w)))
			continue
		case n < len(rows):
			text = " " + rows[n].draw(l, b.w-1)
		case n == 0 && m.loadedOnce:
			text = l.paint(dim, "  "+m.emptyText(b.pane))
		}
		lines = append(lines, l.fill(text, b.w))
	}
	return append(lines, m.detailRows(b)...)
}

// emptyText is the text of an empty list.
func (m picture) emptyText(p pane) string {
	if m.filter != "" {
		return "nothing has " + cli.Quote(m.filter)
	}
	return [panes]string{"nothing is due; a adds a task", "nothing is running", "nothing is unread",
		"nothing has happened yet"}[p]
}

// title is the first row of an area.
func (m picture) title(b box) string {
	l := m.looks
	if !m.grid() {
		text := ""
		for _, t := range m.tabs() {
			s := dim
			if t.pane == m.active {
				s = reverse
			}
			text += l.paint(s, t.text) + " "
		}
		return l.fill(text, b.w)
	}
	s := dim
	if b.pane == m.active {
		s = bold
	}
	return l.rule(s, strings.TrimSpace(fmt.Sprintf("%d %s %s", b.pane+1, titles[b.pane], m.count(b.pane))), b.w)
}

// detailRows is the detail of the selected row. It shows the end of the output of a run, and the
// beginning of other texts.
func (m picture) detailRows(b box) (lines []string) {
	if b.detailRows == 0 {
		return nil
	}
	l, d := m.looks, m.details[b.pane]
	lines = append(lines, l.rule(dim, d.title, b.w))
	var text []string
	for _, line := range d.lines {
		text = append(text, wrap(line, b.w-2)...)
	}
	room := b.detailRows - 1
	if over := len(text) - room; over > 0 && b.pane == runningPane {
		text = text[over:]
	}
	for i := range room {
		line := ""
		if i < len(text) {
			line = "  " + text[i]
		}
		lines = append(lines, l.fill(line, b.w))
	}
	return lines
}

// prompt is the text before the typed line.
func (m picture) prompt() string {
	switch m.mode {
	case adding:
		return "add: "
	case editing:
		return "edit " + m.editedTask.Task.ID + ": "
	}
	return "filter: "
}

// footer returns the rows below the panes: the typed line with its meaning, or the last message and
// the keys.
func (m picture) footer() []string {
	l := m.looks
	if m.typing() {
		prompt := m.prompt()
		text, _ := m.input.window(m.width - cli.Columns(prompt) - 1)
		rows := []string{l.fill(l.paint(bold, prompt)+text, m.width)}
		if m.mode == filtering {
			return append(rows, l.fill(l.paint(dim, "enter keeps the filter, esc ends it"), m.width))
		}
		return append(rows, m.meaningRows()...)
	}
	s := plain
	if m.status.failed {
		s = red
	}
	text := m.status.text
	switch {
	case text == "" && m.snapshot.unreadable != "":
		s, text = red, cli.Visible(m.snapshot.unreadable)
	case text == "" && m.filter != "":
		text = "only rows with " + cli.Quote(m.filter) + "; esc shows all"
	}
	return []string{l.fill(l.paint(s, l.cut(text, m.width)), m.width), l.fill(m.keyRow(), m.width)}
}

// meaningRows returns the rows with the meaning of the typed line, and what is wrong with it.
func (m picture) meaningRows() []string {
	l := m.looks
	fault := m.status.text
	if !m.status.failed {
		fault = ""
	}
	meaning := l.paint(green, m.interpretation.meaning)
	switch {
	case m.input.text == "" && m.mode == adding:
		meaning = l.paint(dim, `WHEN --task TEXT, or WHEN -- COMMAND, or WHEN -c 'SHELL TEXT'; as ouro-timer at has it`)
	case m.input.text == "":
		meaning = l.paint(dim, `15:00, +1h, "every day at 9am", --description TEXT; as ouro-timer edit has it`)
	case m.interpretation.fault != "":
		fault = m.interpretation.fault
	}
	rows := []string{l.fill(meaning, m.width)}
	wrapped := wrap(fault, m.width)
	for i := range 2 {
		text := ""
		if i < len(wrapped) {
			text = wrapped[i]
		}
		if i == 1 && len(wrapped) > 2 {
			text = strings.Join(wrapped[1:], " ")
		}
		rows = append(rows, l.fill(l.paint(red, l.cut(text, m.width)), m.width))
	}
	return rows
}

// keyRow is the row of keys: as many as there is room for, and always the one that shows the
// others.
func (m picture) keyRow() string {
	text, last := "", ""
	for _, b := range bindings() {
		if b.word == "" {
			continue
		}
		key := m.looks.paint(bold, b.keys[0]) + " " + b.word + "  "
		if b.keys[0] == helpKey || b.keys[0] == quitKey {
			last += key
		} else if cli.Columns(text+key)+len("? help  q quit") <= m.width {
			text += key
		}
	}
	return strings.TrimRight(text+last, " ")
}

// helpRows writes all keys, in as many columns as needed.
func (m picture) helpRows(height int) []string {
	var cells []string
	for _, b := range bindings() {
		if b.shown != "" {
			cells = append(cells, m.looks.paint(bold, cli.Pad(b.shown, 8))+" "+b.help)
		}
	}
	rows := min(height-1, len(cells))
	columns := (len(cells) + rows - 1) / rows
	lines := []string{m.looks.rule(bold, "keys; any key goes back", m.width)}
	for i := range height - 1 {
		text := ""
		for c := range columns {
			if n := c*rows + i; i < rows && n < len(cells) {
				text += m.looks.fill(cells[n], m.width/columns)
			}
		}
		lines = append(lines, m.looks.fill(text, m.width))
	}
	return lines
}
