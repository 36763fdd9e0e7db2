package top

import (
	"strings"
	"time"
)

// These are the signs of the coming day, by the height of a column.
var (
	heights = []string{"·", "▁", "▂", "▄", "▆", "█"}
	digits  = []string{".", "1", "2", "4", "6", "#"}
)

// height returns the index of the sign for a number of instants.
func height(n int) int {
	switch {
	case n <= 2:
		return n
	case n <= 4:
		return 3
	case n <= 9:
		return 4
	}
	return 5
}

// timeline draws the coming day in two rows: the instants, with those of the selected task
// highlighted, and the hours.
func (m picture) timeline() []string {
	l := m.looks
	width := min(m.width, daySlots)
	passed := 0
	if m.loadedOnce {
		passed = int(slotStart(m.now).Sub(slotStart(m.snapshot.at)) / slot)
	}
	all, own := make([]int, width), make([]bool, width)
	selected, _ := m.task()
	for id, slots := range m.snapshot.slots {
		for _, n := range slots {
			if n -= passed; n < 0 {
				n = 0 // an overdue task is in the first column
			}
			if n < daySlots {
				all[n*width/daySlots]++
				own[n*width/daySlots] = own[n*width/daySlots] || id == selected.Task.ID
			}
		}
	}
	letters := heights
	if l.ascii {
		letters = digits
	}
	styleAt := func(i int) style {
		switch {
		case all[i] == 0:
			return dim
		case own[i]:
			return reverse
		}
		return cyan
	}
	var row strings.Builder
	for from, to := 0, 0; from < width; from = to {
		text := ""
		for ; to < width && styleAt(to) == styleAt(from); to++ {
			text += letters[height(all[to])]
		}
		row.WriteString(l.paint(styleAt(from), text))
	}
	return []string{l.fill(row.String(), m.width), l.fill(l.paint(dim, m.hours(width)), m.width)}
}

// hours writes full hours below the columns in which they begin.
func (m picture) hours(width int) string {
	const room = 6 // the least columns from one to the next
	step := 1
	for _, step = range []int{1, 2, 3, 4, 6} {
		if width*step/24 >= room {
			break
		}
	}
	row := []byte(strings.Repeat(" ", width))
	copy(row, "now")
	start := slotStart(m.now)
	for at := m.now.In(m.zone).Truncate(time.Hour).Add(time.Hour); at.Sub(start) < 24*time.Hour; at = at.Add(time.Hour) {
		if at.Hour()%step != 0 {
			continue
		}
		column := int(at.Sub(start)/slot) * width / daySlots
		name := at.Format("15h")
		if at.Hour() == 0 {
			name = at.Format("Mon")
		}
		if column > len("now") && column+len(name) <= width {
			copy(row[column:], name)
		}
	}
	return string(row)
}
