package rules

import (
	"time"

	"github.com/ouro-timer/ouro-timer/state"
)

// Planned is what a runner would do about an entry at now, before anything else happens, as lines
// of the ledger: of an instant that would be run one without an outcome, of those that would not
// the lines they would get. A gate (--if) is not asked. It changes nothing.
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
