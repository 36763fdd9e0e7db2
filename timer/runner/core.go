package runner

import (
	"time"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/timer/rules"
	"github.com/ouro-timer/ouro-timer/timer/when"
)

// core are the decisions that the engine asks for: functions that depend on nothing but their
// arguments. The program has one, realCore. Tests plant mistakes into it, to see that the
// simulation finds them out.
type core struct {
	decide     func(e state.Entry, sched *when.Schedule, now time.Time) rules.Plan
	ahead      func(e state.Entry, sched *when.Schedule, now time.Time) (rules.Step, bool)
	judge      func(r state.Record, sched *when.Schedule, res rules.Result) state.Line
	again      func(r state.Record, sched *when.Schedule, l *state.Line, now time.Time) (time.Duration, bool)
	inform     func(r state.Record, was state.Tally, standing rules.TellDefaults, l *state.Line)
	takingOver func(r state.Record, self state.Ident, lives bool) rules.Settlement
	placed     func(r *run) bool
	pick       func(a *agenda, n int) []state.Slot
	ended      func(a *agenda, id string)
	passing    func(res rules.Result) bool
	follow     func(a state.After, w rules.Awaited) (rules.Followed, string)
	clockShift func(b state.ClockShift, latest time.Time, c state.Clocks) (state.ClockShift, bool)
}

var realCore = core{
	decide: rules.Decide, ahead: rules.Ahead, judge: rules.Judge, again: rules.Again, inform: rules.Inform, takingOver: rules.TakingOver, follow: rules.Follow,
	placed: placed, pick: (*agenda).pick, ended: (*agenda).ended, passing: passing, clockShift: state.ClockShift.Look,
}

// passing reports whether something temporary prevented an attempt, which is then made later.
func passing(res rules.Result) bool { return res.Postponed != nil }
