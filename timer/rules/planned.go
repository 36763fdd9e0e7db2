package rules

import (
	"time"

	"github.com/ouro-timer/ouro-timer/state"
)

// Planned returns what a runner would do about an entry at now, as lines of the ledger: a line
// without an outcome for an instant that would run, and the usual lines for others. It does not run
// a gate (--if), and changes nothing.
func Planned(e state.Entry, now time.Time) ([]state.Line, error) {
	sched, err := Schedule(e.Task)
	if err != nil {
		return nil, err
	}
	var lines []state.Line
	for _, s := range Decide(e, sched, now).Steps {
		switch s.Kind {
		case StepRun:
			l := state.Line{Type: state.LineOccurrence, Count: 1, Description: e.Task.Description}.Of(e.Task.ID, 0, s.Due)
			lines = append(lines, l)
		case StepSkip:
			lines = append(lines, s.Skip.Of(e.Task.ID, 0, s.Due))
		}
	}
	return lines, nil
}
