package view

import (
	"slices"

	"github.com/ouro-timer/ouro-timer/cmd/cli"
	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/timer/problem"
	"github.com/ouro-timer/ouro-timer/timer/rules"
)

// TooLate warns about a one-shot whose pause ends after it is due.
func TooLate(e state.Entry) []cli.Warning {
	if !comesTooLate(e) {
		return nil
	}
	return []cli.Warning{{Kind: cli.WarnLate,
		Text: problem.T("task %s is due on %s, before it is resumed: it will be skipped; %s gives it another time",
			e.Task.ID, Stamp(e.Due.In(rules.TaskZone(e.Task))), problem.To("edit", e.Task.ID))}}
}

func comesTooLate(e state.Entry) bool {
	return !e.Task.Recurring() && e.Held && !e.Resume.IsZero() && !e.Due.After(e.Resume)
}

// AllTooLate is TooLate for several tasks. More than three share one warning.
func AllTooLate(list []state.Entry) (warnings []cli.Warning) {
	var late []state.Entry
	for _, e := range list {
		if comesTooLate(e) {
			late = append(late, e)
		}
	}
	if len(late) > 3 {
		first := slices.MinFunc(late, func(a, b state.Entry) int { return a.Due.Compare(b.Due) })
		return []cli.Warning{{Kind: cli.WarnLate,
			Text: problem.T("%d of them are due before they are resumed, the first (%s) on %s: they will be skipped; "+
				"%s gives one another time", len(late), first.Task.ID, Stamp(first.Due.In(rules.TaskZone(first.Task))),
				problem.To("edit", "ID", "WHEN"))}}
	}
	for _, e := range late {
		warnings = append(warnings, TooLate(e)...)
	}
	return warnings
}
