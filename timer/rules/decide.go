package rules

import (
	"slices"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/timer/when"
)

// Schedule reads a task's timing again, as it was read when the task was made. A one-shot has none: its instant is its
// due. So has what comes in each boot of the machine.
func Schedule(t state.Task) (*when.Schedule, error) {
	if !t.Recurring() || t.When.OfBoots() {
		return nil, nil
	}
	return Recurrence(t.When)
}

// Recurrence is Schedule of the timing of a recurrence.
func Recurrence(t state.Timing) (*when.Schedule, error) {
	zone, err := when.LoadZone(t.Zone)
	if err != nil {
		return nil, err
	}
	o := when.Options{Now: t.Start, Zone: zone, Form: when.Form(t.Form), End: t.End, Count: t.Count}
	if t.Given {
		o.Start = t.Start
	}
	if o.Except, err = Excepted(t, o); err != nil {
		return nil, err
	}
	s, err := when.Parse(t.Text, o)
	if err != nil || t.Delay == "" {
		return s, err
	}
	d, err := time.ParseDuration(t.Delay)
	if err != nil {
		return nil, err
	}
	return s.Shifted(d), nil
}

// reasons of outcomes that are no ordinary run.
const (
	ReasonCoalesced   = "coalesced"    // missed; one run, for a later instant, stands for them
	reasonWindow      = "window"       // missed: later than the task's window
	reasonCatchup     = "catchup"      // missed, and the task catches up with nothing
	ReasonCap         = "cap"          // missed: more of a backlog than is worked off
	reasonClock       = "clock_back"   // missed: the clock was put back, and shows it for the second time
	ReasonOverlap     = "overlap"      // the run before was still going
	reasonPaused      = "paused"       // it was paused
	reasonGate        = "gate"         // the command of --if said no
	ReasonReplaced    = "replaced"     // a later instant's run took its place
	ReasonStopped     = Stopped        // somebody ended it
	ReasonRunnerEnds  = "runner_ends"  // the runner was told to end, and what it runs with it
	ReasonCutOff      = "cut_off"      // the runner was cut off from the others of its fleet, who may start it again
	reasonNextDue     = "next_due"     // a further attempt would have met the next instant
	reasonExitUnknown = "exit_unknown" // the command outlived its runner; nobody saw its exit code
	ReasonRunnerDied  = "runner_died"  // the runner or the machine ended before the command did
	ReasonNotAllowed  = "not_allowed"  // [run] allow does not have its command, or not any more
	ReasonPostponed   = "put_off"      // its task was changed before its start, which was put off, could succeed
	ReasonChanged     = "changed"      // its task was removed, paused or edited before its next attempt
	ReasonMemory      = "memory"       // it took more memory than it may, and the system has ended it
	ReasonNotStarted  = "not_started"  // the program, its folder or its surroundings could not be had
)

const (
	// grace is how late an instant may be run by a task that catches up with nothing: a busy machine is not a missing one.
	grace = time.Minute
	// backlogMost is how many missed instants a task works off that catches up with all.
	backlogMost = 100
	// BackoffLeast is the pause before the second attempt when the policy does not say, backoffMost the longest before any.
	BackoffLeast = 10 * time.Second
	BackoffMost  = time.Hour
	// rerunMost is how often an occurrence is begun again after its runner or its machine died.
	rerunMost = 3
)

// Reasons that may be given to Store.Halt for the end of a run. Killed is Stopped that leaves it no time to end by itself: how
// somebody asked, and no reason of its own in the ledger, where the signal tells the two apart.
const (
	Stopped = "stopped"
	Killed  = "killed"
)

// HaltReason is the reason of an outcome whose run was halted for why.
func HaltReason(why string) string {
	if why == Killed {
		return ReasonStopped
	}
	return why
}

// rules is a task's policy as the core needs it.
type rules struct {
	all, never bool          // catch up with all that was missed, with nothing
	window     time.Duration // 0: none
	Overlap    string
}

func RulesOf(t state.Task) rules {
	p := t.Policy
	r := rules{all: p.Catchup == state.CatchupAll, never: p.Catchup == state.CatchupSkip, window: Span(p.Window), Overlap: p.Overlap}
	if r.Overlap == "" {
		r.Overlap = state.OverlapSkip
	}
	if t.Told() {
		r.window, r.never, r.Overlap = 0, false, state.OverlapAllow // nothing is ever too late to be told
	}
	return r
}

// Span reads a duration of a policy; 0 when there is none.
func Span(text string) time.Duration {
	d, err := time.ParseDuration(text)
	if err != nil {
		return 0
	}
	return d
}

// limit is how late an instant may be run, and the reason of those that are later. 0: however late.
func (r rules) limit() (time.Duration, string) {
	if r.never && (r.window == 0 || r.window > grace) {
		return grace, reasonCatchup
	}
	return r.window, reasonWindow
}

// StepKind is what a step does.
type StepKind int

const (
	StepRun    StepKind = iota // claim the instant at due and run it
	StepSkip                   // end the instants from due on as line says, without a run
	StepHalt                   // end what runs of the task
	StepResume                 // put the paused task back into the queue
	StepFinish                 // end the task
)

// Step is one thing to do about a task that is due.
type Step struct {
	Kind StepKind
	Due  time.Time   // the task's due instant before the step
	Next time.Time   // its due instant after the step; zero: it was the last
	Skip *state.Line // of StepSkip
	Why  string      // of StepHalt and StepFinish
}

// Plan is what to do about a task, in order.
type Plan struct {
	Steps []Step
	// held: the task is due and waits for the end of what runs. Nothing is written for it meanwhile; its instants get their
	// outcomes then.
	Held bool
}

func (p *Plan) Add(s Step) { p.Steps = append(p.Steps, s) }

// Decide says what to do about an entry at now. It is a function of its arguments alone; it never decides about an
// instant after now, and what it plans leaves the task due after now, held, or ended, but for a backlog that is worked off
// one by one. docs/semantics.md tells the rules to users.
func Decide(e state.Entry, sched *when.Schedule, now time.Time) (p Plan) {
	switch {
	case e.Held:
		if !e.Resume.IsZero() && !e.Resume.After(now) {
			p.resume(e, sched, now)
		}
		return p
	case e.Due.After(now):
		return p
	case e.Awaited: // whoever waits tells it; should that end without having told, it is done here
		p.Held = true
		return p
	case e.Tally.Stop != "":
		p.Add(Step{Kind: StepFinish, Due: e.Due, Why: e.Tally.Stop})
		return p
	}
	r := RulesOf(e.Task)
	if sched == nil {
		p.once(e, r, now)
		return p
	}
	before := e.Due.Add(-1)
	latest, ok := sched.Latest(before, now)
	if !ok {
		// The schedule no longer has this instant: the zone's rules changed under it, or somebody moved it. What is due stays due.
		latest = e.Due
	}
	if len(e.Open) > 0 {
		backlog := r.all && (latest.After(e.Due) || slices.ContainsFunc(e.Open, func(o state.Record) bool { return catchingUp(o, sched) }))
		if r.Overlap != state.OverlapAllow || backlog {
			p.Held = true
			if r.Overlap == state.OverlapReplace && !backlog {
				p.Add(Step{Kind: StepHalt, Due: e.Due, Why: ReasonReplaced})
			}
			return p
		}
	}
	p.recurring(e, sched, r, latest, now)
	return p
}

// once is the plan of a one-shot that is due, or of what comes in each boot: it runs, however late, unless it has a window.
func (p *Plan) once(e state.Entry, r rules, now time.Time) {
	if most, reason := r.limit(); most > 0 && now.Sub(e.Due) > most {
		p.Add(Step{Kind: StepSkip, Due: e.Due, Next: afterOnly(e.Task), Skip: RangeLine(e, nil, e.Due, e.Due, state.Missed, reason)})
		return
	}
	if len(e.Open) > 0 && r.Overlap != state.OverlapAllow { // fired by hand
		p.Held = true
		return
	}
	p.Add(Step{Kind: StepRun, Due: e.Due, Next: afterOnly(e.Task)})
}

// afterOnly is the due instant behind the only one that is known of a task: none, or the next boot's.
func afterOnly(t state.Task) time.Time {
	if t.When.OfBoots() {
		return state.Unscheduled
	}
	return time.Time{}
}

// recurring is the plan of a recurring task nothing runs of, or that may run beside itself; latest is its last instant that
// has come.
func (p *Plan) recurring(e state.Entry, sched *when.Schedule, r rules, latest, now time.Time) {
	after := func(t time.Time) time.Time { next, _ := sched.Next(t); return next }
	// last is the last instant from a on up to b. There is one, or a itself stands in: the schedule may have lost it.
	last := func(a, b time.Time) time.Time {
		if t, ok := sched.Latest(a.Add(-1), b); ok {
			return t
		}
		return a
	}
	skip := func(from, to time.Time, o state.Outcome, reason string) time.Time {
		next := after(to)
		p.Add(Step{Kind: StepSkip, Due: from, Next: next, Skip: RangeLine(e, sched, from, to, o, reason)})
		return next
	}
	first := e.Due
	if again, ok := repeated(e.Tally, sched, first, latest); ok {
		if first = skip(first, again, state.Missed, reasonClock); first.IsZero() || first.After(now) {
			return
		}
	}
	if busy := earlier(e.Tally.Busy, now); !first.After(busy) && r.Overlap != state.OverlapAllow {
		// It came while a run went on that has ended since.
		switch r.Overlap {
		case state.OverlapQueue:
			p.Add(Step{Kind: StepRun, Due: first, Next: after(first)})
			if more, ok := sched.Latest(first, busy); ok { // one was held already
				skip(after(first), more, state.Skipped, ReasonOverlap)
			}
			return
		case state.OverlapReplace:
			if latest.After(first) {
				skip(first, last(first, latest.Add(-1)), state.Skipped, ReasonOverlap)
			}
			p.Add(Step{Kind: StepRun, Due: latest, Next: after(latest)})
			return
		}
		if first = skip(first, last(first, busy), state.Skipped, ReasonOverlap); first.IsZero() || first.After(now) {
			return
		}
	}
	if most, reason := r.limit(); most > 0 && now.Sub(first) > most {
		if first = skip(first, last(first, now.Add(-most-1)), state.Missed, reason); first.IsZero() || first.After(now) {
			return
		}
	}
	if latest.Before(first) {
		latest = first
	}
	switch {
	case !latest.After(first):
	case r.all:
		if kept := nthLast(sched, first, latest, backlogMost); kept.After(first) {
			first = skip(first, last(first, kept.Add(-1)), state.Missed, ReasonCap)
		}
		latest = first
	default:
		skip(first, last(first, latest.Add(-1)), state.Missed, ReasonCoalesced)
	}
	p.Add(Step{Kind: StepRun, Due: latest, Next: after(latest)})
}

// nthLast is the n-th instant counted back from latest, which is the first; not before first.
func nthLast(sched *when.Schedule, first, latest time.Time, n int) time.Time {
	t := latest
	for range n - 1 {
		before, ok := sched.Latest(first.Add(-1), t.Add(-1))
		if !ok {
			return t
		}
		t = before
	}
	return t
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

// resume is the plan of a paused task that is to go on: what passed meanwhile is skipped, and nothing is caught up with.
func (p *Plan) resume(e state.Entry, sched *when.Schedule, now time.Time) {
	line, next, over := Resume(e, sched, now)
	if line != nil {
		p.Add(Step{Kind: StepSkip, Due: e.Due, Next: next, Skip: line})
	}
	if !over {
		p.Add(Step{Kind: StepResume, Due: next})
	}
}

// catchingUp reports whether a claim worked off a backlog: when it was made, the next instant had come as well.
func catchingUp(r state.Record, sched *when.Schedule) bool {
	if sched == nil || r.Manual || r.Task.Policy.Catchup != state.CatchupAll {
		return false
	}
	next, ok := sched.Next(r.Due)
	return ok && !next.After(r.Claimed)
}

// Ahead says whether an entry that is due a moment after now can be claimed already, to be started at its instant: nothing
// runs of it, and nothing but that instant is to be decided about. Of a wait it is not known before who attends to it then.
func Ahead(e state.Entry, sched *when.Schedule, now time.Time) (Step, bool) {
	if e.Held || !e.Due.After(now) || e.Task.Type() == state.TypeWait || len(e.Open) > 0 || e.Tally.Stop != "" || e.Tally.Taken(e.Due) {
		return Step{}, false
	}
	if sched == nil {
		return Step{Kind: StepRun, Due: e.Due, Next: afterOnly(e.Task)}, true
	}
	next, _ := sched.Next(e.Due)
	return Step{Kind: StepRun, Due: e.Due, Next: next}, true
}

// countMost bounds the counting of instants in one range line: a second-by-second schedule after years of absence.
const countMost = 10_000_000

// RangeLine is the ledger line of equal outcomes without a run, for the instants from first to last. A task without a schedule is a
// one-shot.
func RangeLine(e state.Entry, sched *when.Schedule, first, last time.Time, outcome state.Outcome, reason string) *state.Line {
	line := &state.Line{Type: state.LineOccurrence, TaskID: e.Task.ID, Due: &first, Count: 1, Outcome: outcome, Reason: reason,
		Revision: e.Task.Revision, Description: e.Task.Summary(), Inbox: inboxOfSkip(sched == nil, reason)}
	if last.After(first) {
		line.DueLast = &last
		line.Count = max(sched.Count(first.Add(-1), last, countMost), 2)
	}
	return line
}
