// Package runner is the loop that does what is due. Its core decides, from the task, its schedule and the present, and
// touches nothing; around it a thin shell claims, starts, waits and writes the ledger.
package runner

import (
	"time"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/timer/when"
)

// Schedule reads a task's timing again, as it was read when the task was made. A one-shot has none: its instant is its
// due.
func Schedule(t state.Task) (*when.Schedule, error) {
	if !t.Recurring() {
		return nil, nil
	}
	zone, err := when.LoadZone(t.When.Zone)
	if err != nil {
		return nil, err
	}
	o := when.Options{Now: t.When.Start, Zone: zone, Form: when.Form(t.When.Form), End: t.When.End, Count: t.When.Count}
	if t.When.Given {
		o.Start = t.When.Start
	}
	s, err := when.Parse(t.When.Text, o)
	if err != nil || t.When.Delay == "" {
		return s, err
	}
	d, err := time.ParseDuration(t.When.Delay)
	if err != nil {
		return nil, err
	}
	return s.Shifted(d), nil
}

// reasons of outcomes that are no run.
const (
	reasonCoalesced   = "coalesced"    // missed while down; one run, for the latest instant, stands for them
	reasonOverlap     = "overlap"      // the run before was still going
	reasonExitUnknown = "exit_unknown" // the command outlived its runner; nobody saw its exit code
	reasonRunnerDied  = "runner_died"  // the runner or the machine ended before the command did
	reasonNotStarted  = "not_started"  // the program, its folder or its surroundings could not be had
)

// step is one thing to do about a task that is due, in order: end instants without a run, or run one.
type step struct {
	due  time.Time   // the task's due instant before the step
	next time.Time   // its due instant after the step; zero: it was the last
	skip *state.Line // the line the instants from due on end with; nil: run due
}

// decide says what to do about an entry that is due at now. A one-shot runs, however late. A recurring task runs once for
// the latest instant that has come; those before it are missed. While a run of a command is open, its due instants are skipped. It never
// decides about an instant after now, and what it plans leaves the task due after now or ended.
func decide(e state.Entry, sched *when.Schedule, now time.Time) []step {
	if e.Due.After(now) {
		return nil
	}
	overlap := len(e.Open) > 0 && e.Task.Type() == state.TypeCommand
	if sched == nil {
		return []step{{due: e.Due}}
	}
	before := e.Due.Add(-1)
	latest, ok := sched.Latest(before, now)
	if !ok {
		// The schedule no longer has this instant: the zone's rules changed under it. What is due stays due.
		latest = e.Due
	}
	following, _ := sched.Next(latest)
	if overlap {
		return []step{{due: e.Due, next: following, skip: rangeLine(e, sched, latest, state.Skipped, reasonOverlap)}}
	}
	var steps []step
	if latest.After(e.Due) {
		last, _ := sched.Latest(before, latest.Add(-1))
		steps = append(steps, step{due: e.Due, next: latest, skip: rangeLine(e, sched, last, state.Missed, reasonCoalesced)})
	}
	return append(steps, step{due: latest, next: following})
}

// countMost bounds the counting of instants in one range line: a second-by-second schedule after years of absence.
const countMost = 10_000_000

// rangeLine is the ledger line of equal outcomes without a run, from the entry's due instant to last.
func rangeLine(e state.Entry, sched *when.Schedule, last time.Time, outcome state.Outcome, reason string) *state.Line {
	due := e.Due
	line := &state.Line{Type: state.LineOccurrence, TaskID: e.Task.ID, Due: &due, Count: 1, Outcome: outcome, Reason: reason,
		Description: e.Task.Summary()}
	if last.After(due) {
		line.DueLast = &last
		line.Count = max(sched.Count(due.Add(-1), last, countMost), 2)
	}
	return line
}

// environ is what the command of a claim sees: exactly the captured variables, and what tells it which occurrence it is.
func environ(r state.Record, last string) []string {
	env := make([]string, 0, len(r.Task.Run.Env)+6)
	for name, value := range r.Task.Run.Env {
		env = append(env, name+"="+value)
	}
	zone, err := when.LoadZone(r.Task.When.Zone)
	if err != nil {
		zone = time.UTC
	}
	return append(env,
		"OURO_TASK_ID="+r.Task.ID,
		"OURO_TASK="+r.Task.Text,
		"OURO_DUE="+r.Due.In(zone).Format(time.RFC3339Nano),
		"OURO_ATTEMPT=1",
		"OURO_OCCURRENCE="+state.OccurrenceID(r.Task.ID, r.Number),
		"OURO_LAST_OUTCOME="+last,
	)
}

// argv is the command line of a claim's job.
func argv(j state.Job) []string {
	switch {
	case j.Script != "":
		return []string{j.Prog} // reads the script from its standard input, as at(1) has it
	case j.Shell != "":
		return []string{j.Prog, "-c", j.Shell}
	}
	return j.Argv
}
