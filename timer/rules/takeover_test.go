package rules

import (
	"testing"

	"github.com/ouro-timer/ouro-timer/state"
)

// TestChangedAndWanted: what a change of a task means for a claim that was made before.
func TestChangedAndWanted(t *testing.T) {
	for _, c := range []struct {
		name            string
		change          func(*state.Entry, *state.Record)
		changed, wanted bool
	}{
		{"nothing", func(*state.Entry, *state.Record) {}, false, true},
		{"another command", func(e *state.Entry, _ *state.Record) { e.Task.Revision, e.Task.Run.Argv = 2, []string{"false"} }, true, false},
		{"another schedule", func(e *state.Entry, _ *state.Record) { e.Task.Revision, e.Task.When.Text = 2, "every 2h" }, true, false},
		{"other words", func(e *state.Entry, _ *state.Record) { e.Task.Revision, e.Task.Text = 2, "tea" }, false, false},
		{"paused", func(e *state.Entry, _ *state.Record) { e.Held = true }, true, false},
		{"removed", func(e *state.Entry, _ *state.Record) { e.Phase = state.Removed }, true, false},
		{"another command, of a run by hand", func(e *state.Entry, r *state.Record) {
			r.Manual, e.Task.Revision, e.Task.Run.Argv = true, 2, []string{"false"}
		}, false, false},
		{"its stop condition was met", func(e *state.Entry, _ *state.Record) { e.Tally.Stop = "until_ok" }, false, false},
		{"another run of it", func(e *state.Entry, r *state.Record) { e.Open = append(e.Open, *r) }, false, false},
		{"another run of it beside which it may run", func(e *state.Entry, r *state.Record) {
			e.Open, e.Task.Policy.Overlap = append(e.Open, *r), state.OverlapAllow
		}, false, true},
	} {
		task := state.Task{ID: "k7m2", Revision: 1, When: state.Timing{Text: "every 1h", Kind: "interval"}, Run: state.Job{Argv: []string{"true"}}}
		r := state.Record{Task: task, Number: 1}
		e := state.Entry{Task: task.Clone(), Phase: state.Running, Open: []state.Record{r}}
		c.change(&e, &r)
		if changed, wanted := Changed(e, r), Wanted(e, r); changed != c.changed || wanted != c.wanted {
			t.Errorf("%s: changed %v, wanted %v", c.name, changed, wanted)
		}
	}
}
