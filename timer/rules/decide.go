package rules

import (
	"cmp"
	"slices"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/timer/when"
	"github.com/ouro-timer/ouro-timer/timer/when/civil"
)

// Schedule reads the timing of a task again, as it was read when the task was made. It is nil for a
// one-shot, whose instant is its due, and for a task that runs in each boot of the machine.
func Schedule(t state.Task) (*when.Schedule, error) {
	if !t.Recurring() || t.When.OfBoots() {
		return nil, nil
	}
	return Recurrence(t.When)
}

// Recurrence is Schedule for the timing of a recurrence.
func Recurrence(t state.Timing) (*when.Schedule, error) {
	zone, err := civil.LoadZone(t.Zone)
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

// Reasons of outcomes without an ordinary run.
const (
	ReasonCoalesced = "coalesced" // missed: one run, for a later instant, stands for it
	reasonWindow    = "window"    // missed: later than the window of the task
	reasonCatchup   = "catchup"   // missed: the task catches up with nothing
	ReasonCap       = "cap"       // missed: more than the largest backlog
	// missed: the clock was put back and shows it for the second time
	reasonClock      = "clock_back"
	ReasonOverlap    = "overlap"     // the previous run was still going on
	reasonPaused     = "paused"      // the task was paused
	reasonGate       = "gate"        // the command of --if said no
	ReasonReplaced   = "replaced"    // the run of a later instant replaced it
	ReasonStopped    = Stopped       // somebody ended it
	ReasonRunnerEnds = "runner_ends" // the runner was told to end, and its runs with it
	// the runner was cut off from the others of its fleet, which may start it again
	ReasonCutOff  = "cut_off"
	reasonNextDue = "next_due" // another attempt would have met the next instant
	// the command outlived its runner, and nobody saw its exit code
	reasonExitUnknown = "exit_unknown"
	ReasonRunnerDied  = "runner_died" // the runner or the machine ended before the command did
	ReasonNotAllowed  = "not_allowed" // [run] allow does not match its command, or no longer does
	reasonPutOff      = "put_off"     // its task was changed before its postponed start succeeded
	// its task was removed or paused, or got another command or schedule, before its next
	// attempt
	ReasonChanged = "changed"
	ReasonMemory  = "memory" // it used more memory than it may, and the system ended it
	// the program, its folder or its environment was not available
	ReasonNotStarted = "not_started"
)

const (
	// grace is how late an instant may run when its task catches up with nothing: a busy machine is
	// not a missing one.
	grace = time.Minute
	// maxBacklog is how many missed instants a task runs that catches up with all.
	maxBacklog = 100
	// BackoffLeast is the pause before the second attempt when the policy has none. BackoffMost is
	// the longest pause.
	BackoffLeast = 10 * time.Second
	BackoffMost  = time.Hour
	// maxReruns is how often an occurrence starts again after its runner or its machine died.
	maxReruns = 3
)

// Reasons for Store.Halt. Killed is Stopped without time to end. It is not a reason of its own in
// the ledger, where the signal tells the two apart.
const (
	Stopped = "stopped"
	Killed  = "killed"
)

// HaltReason returns the reason of an outcome for a reason of Store.Halt.
func HaltReason(why string) string {
	if why == Killed {
		return ReasonStopped
	}
	return why
}

// policy is the policy of a task in the form that Decide uses.
type policy struct {
	all, never bool          // catch up with all that was missed, or with nothing
	window     time.Duration // 0 for none
	overlap    string
}

func policyOf(t state.Task) policy {
	p := t.Policy
	r := policy{all: p.Catchup == state.CatchupAll, never: p.Catchup == state.CatchupSkip, window: Span(p.Window), overlap: Overlap(t)}
	if t.Told() {
		r.window, r.never = 0, false // it is never too late to tell
	}
	return r
}

// Overlap returns what happens to an instant of a task that comes while a run of it goes on.
func Overlap(t state.Task) string {
	if t.Told() {
		return state.OverlapAllow
	}
	return cmp.Or(t.Policy.Overlap, state.OverlapSkip)
}

// Span reads a duration of a policy, or 0 for none.
func Span(text string) time.Duration {
	d, err := time.ParseDuration(text)
	if err != nil {
		return 0
	}
	return d
}

// limit returns how late an instant may run, and the reason of later ones. 0 means no limit.
func (r policy) limit() (time.Duration, string) {
	if r.never && (r.window == 0 || r.window > grace) {
		return grace, reasonCatchup
	}
	return r.window, reasonWindow
}

// StepKind is the kind of a step.
type StepKind int

const (
	StepRun    StepKind = iota // claim the instant Due and run it
	StepSkip                   // end the instants from Due on with the line Skip, without a run
	StepHalt                   // end the runs of the task
	StepResume                 // end the pause of the task
	StepFinish                 // end the task
)

// Step is one thing to do about a task that is due.
type Step struct {
	Kind StepKind
	Due  time.Time   // the due instant of the task before the step
	Next time.Time   // its due instant after the step; zero when that was the last
	Skip *state.Line // of StepSkip
	Why  string      // of StepHalt and StepFinish
}

// Plan is what to do about a task, in order.
type Plan struct {
	Steps []Step
	// Waits says that the task is due and waits for the end of its run. Nothing is written for it
	// meanwhile; its instants get their outcomes then.
	Waits bool
}

func (p *Plan) Add(s Step) { p.Steps = append(p.Steps, s) }

// Decide returns what to do about an entry at now. The result depends only on the arguments. It
// never decides about an instant after now. Its plan leaves the task due after now, waiting, or
// ended, except for a backlog that is worked off one by one. docs/semantics.md explains the rules
// to users.
func Decide(e state.Entry, sched *when.Schedule, now time.Time) (p Plan) {
	switch {
	case e.Held:
		if !e.Resume.IsZero() && !e.Resume.After(now) {
			p.resume(e, sched, now)
		}
		return p
	case e.Due.After(now):
		return p
	// The waiting process reports it. If that ends before it has, the runner does.
	case e.Awaited:
		p.Waits = true
		return p
	case e.Tally.Stop != "":
		p.Add(Step{Kind: StepFinish, Due: e.Due, Why: e.Tally.Stop})
		return p
	}
	r := policyOf(e.Task)
	if sched == nil {
		p.once(e, r, now)
		return p
	}
	before := e.Due.Add(-1)
	latest, ok := sched.Latest(before, now)
	if !ok {
		// The schedule no longer has this instant: the rules of the zone have changed, or somebody
		// moved it. What is due stays due.
		latest = e.Due
	}
	if len(e.Open) > 0 {
		backlog := r.all && (latest.After(e.Due) || slices.ContainsFunc(e.Open, func(o state.Record) bool { return catchingUp(o, sched) }))
		if r.overlap != state.OverlapAllow || backlog {
			p.Waits = true
			if r.overlap == state.OverlapReplace && !backlog {
				p.Add(Step{Kind: StepHalt, Due: e.Due, Why: ReasonReplaced})
			}
			return p
		}
	}
	p.recurring(e, sched, r, latest, now)
	return p
}

// Stale reports whether what a claim was made for has to be decided anew at now: a later instant
// has come, or it is too late. With OverlapAllow other claims may have followed, and nothing is.
func Stale(r state.Record, now time.Time) bool {
	sched, err := Schedule(r.Task)
	if err != nil || Overlap(r.Task) == state.OverlapAllow {
		return false
	}
	p := Decide(state.Entry{Task: r.Task, Due: r.Due}, sched, now)
	if len(p.Steps) == 0 || p.Steps[0].Kind != StepRun {
		return true
	}
	next := p.Steps[0].Next
	return !next.IsZero() && !state.IsUnscheduled(next) && !next.After(now)
}

// once plans a one-shot that is due, or a run of each boot. It runs, however late, unless it has a
// window or catches up with nothing.
func (p *Plan) once(e state.Entry, r policy, now time.Time) {
	if most, reason := r.limit(); most > 0 && now.Sub(e.Due) > most {
		p.Add(Step{Kind: StepSkip, Due: e.Due, Next: dueAfterOnly(e.Task), Skip: RangeLine(e, nil, e.Due, e.Due, state.Missed, reason)})
		return
	}
	if len(e.Open) > 0 && r.overlap != state.OverlapAllow { // run by hand
		p.Waits = true
		return
	}
	p.Add(Step{Kind: StepRun, Due: e.Due, Next: dueAfterOnly(e.Task)})
}

// dueAfterOnly returns the due instant after the only one that is known: none, or the next boot.
func dueAfterOnly(t state.Task) time.Time {
	if t.When.OfBoots() {
		return state.Unscheduled
	}
	return time.Time{}
}

// recurring plans a recurring task that has no run, or that may run beside itself. latest is its
// last instant that has come.
func (p *Plan) recurring(e state.Entry, sched *when.Schedule, r policy, latest, now time.Time) {
	after := func(t time.Time) time.Time { next, _ := sched.Next(t); return next }
	// last returns the last instant from a to b. When there is none, because the schedule has lost
	// it, it is a.
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
	held := false
	if busy := earlier(e.Tally.Busy, now); !first.After(busy) && r.overlap != state.OverlapAllow {
		// The instant came during a run that has ended since, and so did all up to came.
		came := last(first, busy)
		switch {
		case r.overlap == state.OverlapQueue: // the latest that has come since waits for its end
			next := after(first)
			p.Add(Step{Kind: StepRun, Due: first, Next: next})
			held = true
			if came.After(first) {
				next = skip(next, came, state.Skipped, ReasonOverlap)
			}
			first = next
		case r.overlap != state.OverlapReplace || latest.After(came):
			first = skip(first, came, state.Skipped, ReasonOverlap)
		case latest.After(first): // the latest takes the place of that run
			first = skip(first, last(first, latest.Add(-1)), state.Skipped, ReasonOverlap)
		}
		if first.IsZero() || first.After(now) {
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
		if kept := nthLast(sched, first, latest, maxBacklog); kept.After(first) {
			first = skip(first, last(first, kept.Add(-1)), state.Missed, ReasonCap)
		}
		latest = first
	default:
		skip(first, last(first, latest.Add(-1)), state.Missed, ReasonCoalesced)
	}
	if !held {
		p.Add(Step{Kind: StepRun, Due: latest, Next: after(latest)})
	}
}

// nthLast returns the n-th instant counted back from latest, which counts as the first of them. It
// returns none before first.
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

// resume plans a paused task that goes on. The instants that passed meanwhile are skipped, and none
// is made up for.
func (p *Plan) resume(e state.Entry, sched *when.Schedule, now time.Time) {
	line, next, over := Resume(e, sched, now)
	if line != nil {
		p.Add(Step{Kind: StepSkip, Due: e.Due, Next: next, Skip: line})
	}
	if !over {
		p.Add(Step{Kind: StepResume, Due: next})
	}
}

// Resume returns what resuming a paused task at now means. The instants that came during the pause
// end as skipped, in the one line, and none is made up for. next is the due instant from then on.
// over says that there is none: the task has ended, as a one-shot has whose time has passed.
func Resume(e state.Entry, sched *when.Schedule, now time.Time) (line *state.Line, next time.Time, over bool) {
	if e.Due.After(now) {
		return nil, e.Due, false
	}
	last, next := e.Due, dueAfterOnly(e.Task)
	if sched != nil {
		if t, ok := sched.Latest(e.Due.Add(-1), now); ok {
			last = t
		}
		next, _ = sched.Next(last)
	}
	return RangeLine(e, sched, e.Due, last, state.Skipped, reasonPaused), next, next.IsZero()
}

// catchingUp reports whether a claim worked off a backlog: the next instant had come as well when
// it was made.
func catchingUp(r state.Record, sched *when.Schedule) bool {
	if sched == nil || r.Manual || r.Task.Policy.Catchup != state.CatchupAll {
		return false
	}
	next, ok := sched.Next(r.Due)
	return ok && !next.After(r.Claimed)
}

// Ahead reports whether an entry that is due a moment after now can be claimed ahead and started at
// its instant: it has no run, and only that instant is to be decided. For a wait, nobody knows
// before the instant whether its caller is present.
func Ahead(e state.Entry, sched *when.Schedule, now time.Time) (Step, bool) {
	if e.Held || !e.Due.After(now) || e.Task.Type() == state.TypeWait || len(e.Open) > 0 || e.Tally.Stop != "" || e.Tally.Taken(e.Due) {
		return Step{}, false
	}
	if sched == nil {
		return Step{Kind: StepRun, Due: e.Due, Next: dueAfterOnly(e.Task)}, true
	}
	next, _ := sched.Next(e.Due)
	return Step{Kind: StepRun, Due: e.Due, Next: next}, true
}

// maxCounted is how many instants are counted for one line: those of a schedule of seconds after
// years of absence.
const maxCounted = 10_000_000

// RangeLine returns the ledger line of equal outcomes without a run, for the instants from first to
// last. A task without a schedule is a one-shot.
func RangeLine(e state.Entry, sched *when.Schedule, first, last time.Time, outcome state.Outcome, reason string) *state.Line {
	line := &state.Line{Type: state.LineOccurrence, TaskID: e.Task.ID, Due: &first, Count: 1, Outcome: outcome, Reason: reason,
		Revision: e.Task.Revision, Description: e.Task.Summary(), Inbox: inboxOfSkip(sched == nil, reason)}
	if last.After(first) {
		line.DueLast = &last
		line.Count = max(sched.Count(first.Add(-1), last, maxCounted), 2)
	}
	return line
}
