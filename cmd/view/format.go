package view

import (
	"strconv"
	"time"

	"github.com/ouro-timer/ouro-timer/cmd/cli"
	"github.com/ouro-timer/ouro-timer/state"
)

// FoldOnce parts the rows of a summary: those that are shown, and those that come once, but for the
// first 20 of these.
func FoldOnce[T any](rows []T, once func(T) bool) (shown, folded []T) {
	const most = 20
	shown = []T{}
	listed := 0
	for _, r := range rows {
		if !once(r) {
			shown = append(shown, r)
		} else if listed++; listed <= most {
			shown = append(shown, r)
		} else {
			folded = append(folded, r)
		}
	}
	return shown, folded
}

// Thousands writes a number for people: 9,958.
func Thousands(n int) string {
	text := strconv.Itoa(n)
	for at := len(text) - 3; at > 0 && text[at-1] != '-'; at -= 3 {
		text = text[:at] + "," + text[at:]
	}
	return text
}

// ListedInstant is how a list for people writes an instant.
const ListedInstant = "Mon 2 Jan 2006 15:04:05"

// ProblemTexts are the problems as texts, for an answer in JSON.
func ProblemTexts(problems []state.Problem) []string {
	texts := []string{}
	for _, p := range problems {
		texts = append(texts, p.Error())
	}
	return texts
}

// DayName is the heading of a day in the calendar.
func DayName(l cli.Locale, t, now time.Time) string {
	name := l.Format(t, "Mon 2 Jan 2006")
	y, m, d := now.Date()
	today := time.Date(y, m, d, 0, 0, 0, 0, time.UTC)
	y, m, d = t.Date()
	switch time.Date(y, m, d, 0, 0, 0, 0, time.UTC).Sub(today) {
	case 0:
		return "Today, " + name
	case 24 * time.Hour:
		return "Tomorrow, " + name
	}
	return name
}
