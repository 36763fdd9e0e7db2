package runner

import (
	"time"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/timer/rules"
	"github.com/ouro-timer/ouro-timer/timer/when"
)

// core is what the engine asks before it acts: functions of their arguments alone. There is one, rightly; tests put others in its
// place, to see that they are found out.
type core struct {
	decide     func(e state.Entry, sched *when.Schedule, now time.Time) rules.Plan
	ahead      func(e state.Entry, sched *when.Schedule, now time.Time) (rules.Step, bool)
	judge      func(r state.Record, sched *when.Schedule, res rules.Result) state.Line
	again      func(r state.Record, sched *when.Schedule, l *state.Line, now time.Time) (time.Duration, bool)
	inform     func(r state.Record, was rules.AlertState, standing rules.Standing, l *state.Line)
	takingOver func(r state.Record, self state.Ident, lives bool) rules.Settlement
	placed     func(r *run) bool
	pick       func(a *agenda, n int) []state.Slot
	ended      func(a *agenda, id string)
	passing    func(res rules.Result) bool
	follow     func(a state.After, w rules.Awaited) (rules.Followed, string)
	setback    func(b state.Setback, latest time.Time, c state.Clocks) (state.Setback, bool)
}

var rightly = core{rules.Decide, rules.Ahead, rules.Judge, rules.Again, rules.Inform, rules.TakingOver, placed, (*agenda).pick, (*agenda).ended, passing, rules.Follow, state.Setback.Look}

// passing reports whether an attempt was kept back by something that passes by itself, and is to be made later.
func passing(res rules.Result) bool { return res.PutOff != nil }
