package top

import (
	"fmt"
)

// titles are the names of the panes.
var titles = [panes]string{"Due", "Running", "Inbox", "Log"}

// The screen has a heading, the coming day with its hours, and then the panes, or a row of tabs
// with one of them.
const tabsRow = 3

// box is the area of a pane: a row with its title, rows of its list, and below them rows of the
// detail.
type box struct {
	pane
	x, y, w, h           int
	listRows, detailRows int
}

func (b box) contains(x, y int) bool { return x >= b.x && x < b.x+b.w && y >= b.y && y < b.y+b.h }

// first is the first of n rows that is shown, so that the selected one is visible.
func (b box) first(n, selected int) int { return max(min(selected-b.listRows/2, n-b.listRows), 0) }

// fits reports whether there is room to show anything.
func (m layout) fits() bool { return m.width >= leastWidth && m.height >= leastHeight }

// grid reports whether all panes are shown at once.
func (m layout) grid() bool { return m.width >= 110 && m.height >= 24 && !m.maximized }

// bottom is how many rows are below the panes.
func (m layout) bottom() int {
	if m.mode == adding || m.mode == editing {
		return 4
	}
	return 2
}

// boxes returns the areas of the panes.
func (m layout) boxes() []box {
	h := m.height - tabsRow - m.bottom()
	if !m.grid() {
		return []box{m.split(box{pane: m.active, x: 0, y: tabsRow, w: m.width, h: h})}
	}
	left := (m.width - 1) * 11 / 20
	right := m.width - 1 - left
	due, inbox := h*11/20, h/2
	return []box{
		m.split(box{pane: duePane, x: 0, y: tabsRow, w: left, h: due}),
		m.split(box{pane: runningPane, x: 0, y: tabsRow + due, w: left, h: h - due}),
		m.split(box{pane: inboxPane, x: left + 1, y: tabsRow, w: right, h: inbox}),
		m.split(box{pane: logPane, x: left + 1, y: tabsRow + inbox, w: right, h: h - inbox}),
	}
}

// split says how many rows of an area the detail has. Output of a run always has some.
func (m layout) split(b box) box {
	room, n := b.h-1, len(m.rows(b.pane))
	switch {
	case n == 0:
	case b.pane == runningPane:
		b.detailRows = room - min(n, max(room/3, 1))
	case b.pane != m.active:
	case m.maximized:
		b.detailRows = room - min(n, max(room/3, 1))
	case b.pane == inboxPane && room >= 6:
		b.detailRows = room - min(n, room/2)
	case room >= 12:
		b.detailRows = room * 2 / 5
	}
	b.listRows = room - b.detailRows
	return b
}

// tab is the name of a pane in the row of tabs, with its first and last column.
type tab struct {
	pane
	from, to int
	text     string
}

// tabs returns the names of all panes; none when all panes are shown.
func (m layout) tabs() (list []tab) {
	if m.grid() {
		return nil
	}
	at := 0
	for p := range panes {
		text := fmt.Sprintf(" %d %s %s ", p+1, titles[p], m.count(p))
		list = append(list, tab{p, at, at + len(text), text})
		at += len(text) + 1
	}
	return list
}

// count says how many rows a pane has. The log has no total.
func (m layout) count(p pane) string {
	n, more := len(m.rows(p)), 0
	switch p {
	case duePane:
		more = m.snapshot.moreDue
	case inboxPane:
		more = m.snapshot.unread - len(m.snapshot.items)
	case logPane:
		return ""
	}
	return fmt.Sprint(n + more)
}
