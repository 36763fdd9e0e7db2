package runner

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/timer/proc"
	"github.com/ouro-timer/ouro-timer/timer/rules"
	"github.com/ouro-timer/ouro-timer/timer/when"
)

// job is a task whose instant has come, and what is done about it. The decision is made within the
// change itself, from the task as it then stands, so nothing can come in between.
type job struct {
	slot  state.Slot
	said  bool // the ledger knows its due instant (byHand)
	read  bool // its files of days were read
	alone bool // of a wait: nobody attends to it

	// What the rule leaves.
	entry state.Entry // as the task stood; zero: it could not be read
	place state.Slot  // where it stood
	sched *when.Schedule
	plan  rules.Plan
	lines []state.Line // of what was skipped
	halts bool         // a run of another process was asked to end
	run   bool         // it is claimed
}

// does reports whether a step of a kind is planned.
func (j *job) does(kind rules.StepKind) bool {
	return slices.ContainsFunc(j.plan.Steps, func(s rules.Step) bool { return s.Kind == kind })
}

// Why a rule leaves a task as it is.
var (
	errEarly   = errors.New("it is not due")
	errPlace   = errors.New("there is no place for it")
	errRunning = errors.New("it waits for the end of what runs")
	errUnread  = errors.New("its files of days may have changed")
	errUnsaid  = errors.New("the ledger does not know its due instant")
	errAwaited = errors.New("somebody may wait for it")
)

const (
	// againPause is the pause before the next look at a task that somebody else reached first, or
	// of which another process runs something. Nobody tells of the end of that.
	againPause = time.Second
	// stuckPause is the pause before the next look at a task that could not be run.
	stuckPause = 5 * time.Second
	// awaitedMost is the longest pause between two looks at a due wait that a process attends to.
	// Each pause is as long as the wait is late by then.
	awaitedMost = 30 * time.Second
	// urgentMost is how many tasks that may need no place are looked at together.
	urgentMost = 256
)

// fill starts what is due, in order, while fewer than free places are taken. It always looks at
// tasks that may need no place: a paused task that resumes, and one that runs, whose run may have
// to end.
func (g *engine) fill(ctx context.Context, now time.Time, free int) {
	urgent := g.agenda.takeReady(now, func(s state.Slot) bool { return !s.Resume.IsZero() || g.running(s.ID) })
	for lot := range slices.Chunk(urgent, urgentMost) {
		free -= g.begin(ctx, lot, now, free)
	}
	for free > 0 && ctx.Err() == nil {
		lot := g.core.pick(g.agenda, free)
		if len(lot) == 0 {
			return
		}
		free -= g.begin(ctx, lot, now, free)
	}
}

// running reports whether this engine runs something of a task.
func (g *engine) running(id string) bool {
	for c := range g.runs {
		if c.id == id {
			return true
		}
	}
	return false
}

const (
	// turnStep is the time between the tries of machines of a fleet for one occurrence, and
	// turnsMost is how many tries are apart. Only the claim decides which of them gets it.
	turnStep  = 60 * time.Millisecond
	turnsMost = 15
)

// turn is when it is this machine's turn to try for what is due. Alone, or late, it is at once.
func (g *engine) turn(s state.Slot, now time.Time) time.Time {
	first := s.Due.Add(-g.agenda.claimAhead)
	if g.rank == nil || !s.Resume.IsZero() || now.Sub(first) >= turnsMost*turnStep {
		return now
	}
	return first.Add(time.Duration(min(g.rank(s.ID, s.Due), turnsMost)) * turnStep)
}

// begin does what is due for tasks, together. It returns how many of the free places that takes.
func (g *engine) begin(ctx context.Context, lot []state.Slot, now time.Time, free int) (begun int) {
	var jobs []*job
	for _, s := range lot {
		if d := g.delays[s.ID]; tooEarly(now, d.until, delayMost) {
			g.agenda.at(s.ID, d.until)
			continue
		}
		if turn := g.turn(s, now); turn.After(now) {
			g.agenda.at(s.ID, turn)
			continue
		}
		jobs = append(jobs, &job{slot: s})
	}
	for len(jobs) > 0 {
		changes := make([]state.Change, len(jobs))
		for i, j := range jobs {
			changes[i] = state.Change{ID: j.slot.ID, Due: g.agenda.hint(j.slot), Now: now, Rule: g.rule(j, now, func() bool {
				taken := begun
				for _, other := range jobs {
					if other != j && other.run {
						taken++
					}
				}
				return taken < free
			})}
		}
		answers := g.Store.Apply(ctx, changes...)
		var again []*job
		for i, j := range jobs {
			ok, err := g.answered(ctx, j, answers[i], now)
			switch {
			case err != nil:
				g.cannot(ctx, j, err, now)
			case !ok:
				again = append(again, j)
			case j.run:
				begun++
			}
			j.run = false
		}
		jobs = again
	}
	return begun
}

// rule decides about a task and does it.
func (g *engine) rule(j *job, now time.Time, free func() bool) state.Rule {
	return state.InBoot(g.Self.Boot, func(d state.Doc) (after state.Doc, lines []state.Line, err error) {
		j.entry, j.place, j.lines, j.halts, j.run, j.plan = d.Entry(), d.Slot(), nil, false, false, rules.Plan{}
		if j.place.Gone || j.place.Wake().After(now.Add(g.agenda.claimAhead)) {
			return d, nil, errEarly
		}
		if !j.read && g.DayFile != nil && len(rules.DayFiles(d.Task.When)) > 0 {
			return d, nil, errUnread
		}
		if j.sched, err = g.schedule(d.Task); err != nil {
			return d, nil, err
		}
		if err := g.plan(j, now); err != nil {
			return d, nil, err
		}
		steps := j.plan.Steps
		begins := len(steps) > 0 && (steps[0].Kind == rules.StepRun || steps[0].Kind == rules.StepSkip) && !j.entry.Held
		if begins && !j.said && !rules.AsSaid(j.entry, j.sched) {
			return d, nil, errUnsaid
		}
		if j.does(rules.StepRun) && !free() {
			return d, nil, errPlace
		}
		after = d
		for _, s := range steps {
			var more []state.Line
			if after, more, err = g.apply(j, after, s, now); err != nil {
				return d, nil, err
			}
			lines = append(lines, more...)
		}
		if j.plan.Waits && !j.halts {
			return d, nil, errRunning
		}
		j.run = len(after.Open) > len(d.Open)
		return after, lines, nil
	})
}

// plan says what to do about a task as it stands.
func (g *engine) plan(j *job, now time.Time) error {
	e := j.entry
	switch {
	case !e.Held && e.Due.After(now):
		s, ok := g.core.ahead(e, j.sched, now)
		if !ok {
			return errEarly
		}
		j.plan.Add(s)
		return nil
	case !e.Held && e.Task.Type() == state.TypeWait && !j.alone:
		return errAwaited
	}
	j.plan = g.core.decide(e, j.sched, now)
	if len(j.plan.Steps) == 0 && !j.plan.Waits {
		return errEarly
	}
	return nil
}

// apply is a step as a change of the task.
func (g *engine) apply(j *job, d state.Doc, s rules.Step, now time.Time) (state.Doc, []state.Line, error) {
	switch s.Kind {
	case rules.StepRun:
		return state.Claim(s.Due, s.Next, g.Self, now)(d)
	case rules.StepSkip:
		line := *s.Skip
		line.At = now
		if g.Mute {
			line.Inbox = ""
		}
		j.lines = append(j.lines, line)
		return state.Skip(s.Due, s.Next, line)(d)
	case rules.StepResume:
		return state.Resume(now)(d)
	case rules.StepFinish:
		return state.Finish(s.Why, now)(d)
	}
	for _, r := range j.entry.Open { // StepHalt
		if g.runs[claimOf(r)] != nil || r.Halt != "" {
			continue // ours are told, once this is done
		}
		after, _, err := state.Halt(r, s.Why)(d)
		if err != nil {
			return d, nil, err
		}
		d, j.halts = after, true
	}
	return d, nil, nil
}

// answered handles the answer to a job. It is not ok if the job has to be tried again at once,
// because more is known about it now. An error says that the job cannot be done for now.
func (g *engine) answered(ctx context.Context, j *job, answer state.Applied, now time.Time) (ok bool, err error) {
	id := j.slot.ID
	switch err := answer.Err; {
	case err == nil:
		g.agenda.put(answer.Doc.Slot())
		if j.run {
			g.start(answer.Doc, j)
		}
		for _, l := range j.lines {
			g.Ended(state.Record{Task: j.entry.Task, Due: *l.Due}, l)
		}
		if j.plan.Waits {
			g.awaitRuns(j, now)
		}
		if j.does(rules.StepResume) {
			g.Say("task %s goes on", id)
		}
	case errors.Is(err, errRunning):
		g.awaitRuns(j, now)
	case errors.Is(err, errPlace):
		g.agenda.back(id)
	case errors.Is(err, errEarly):
		g.agenda.put(j.place)
		switch due := j.place.Wake(); {
		case j.place.Gone || due.After(now.Add(g.agenda.claimAhead)):
		case due.After(now): // it cannot be claimed before its instant
			g.agenda.at(id, due)
		default:
			g.agenda.at(id, now.Add(againPause))
		}
	case errors.Is(err, errUnread):
		if after, changed := g.reread(ctx, j.entry, now); changed {
			g.agenda.put(after)
			j.slot = after
		}
		j.read = true
		return false, nil
	case errors.Is(err, errUnsaid):
		if err := g.byHand(ctx, j.entry, j.sched, now); err != nil {
			g.agenda.at(id, now.Add(againPause))
			return true, unlessTaken(err)
		}
		j.said = true
		return false, nil
	case errors.Is(err, errAwaited):
		return g.someoneWaits(ctx, j, now)
	case errors.Is(err, state.ErrNotFound):
		g.agenda.put(state.Slot{ID: id, Gone: true})
	case errors.Is(err, state.ErrTaken), errors.Is(err, state.ErrEnded):
		// another runner, or the user, was first
		g.agenda.at(id, now.Add(againPause))
	case ctx.Err() != nil:
		g.agenda.back(id)
	default:
		return true, err
	}
	delete(g.stuck, id)
	return true, nil
}

// start starts what was claimed. The claim is durable.
func (g *engine) start(d state.Doc, j *job) {
	i := slices.IndexFunc(j.plan.Steps, func(s rules.Step) bool { return s.Kind == rules.StepRun })
	r := d.Open[d.Claim(j.plan.Steps[i].Due)].Clone()
	n := &run{r: r, sched: j.sched, last: j.entry.Tally.Last}
	g.runs[claimOf(r)] = n
	g.host.Start(r, n.last)
}

// awaitRuns makes a task wait for the end of its runs, which it ends if that is planned.
func (g *engine) awaitRuns(j *job, now time.Time) {
	id := j.slot.ID
	for _, s := range j.plan.Steps {
		if s.Kind != rules.StepHalt {
			continue
		}
		for _, r := range j.entry.Open {
			if n := g.runs[claimOf(r)]; n != nil {
				g.halt(n, s.Why, now)
			}
		}
	}
	if g.ours(j.entry) {
		g.agenda.hold(id)
	} else {
		g.agenda.at(id, now.Add(againPause))
	}
}

// someoneWaits checks whether a process attends to a due wait, which then tells of it itself.
// Nobody reports that such a process was killed or stopped. If there is none, the runner tells of
// the wait.
func (g *engine) someoneWaits(ctx context.Context, j *job, now time.Time) (ok bool, err error) {
	id := j.slot.ID
	e, err := g.entry(ctx, g.Store.Find, id)
	switch {
	case errors.Is(err, state.ErrNotFound):
		g.agenda.put(state.Slot{ID: id, Gone: true})
		return true, nil
	case err != nil:
		return true, err
	case e.Awaited:
		g.agenda.at(id, now.Add(min(max(now.Sub(e.Due), time.Second), awaitedMost)))
		return true, nil
	}
	j.alone = true
	return false, nil
}

// cannot notes that a due task cannot be run.
func (g *engine) cannot(ctx context.Context, j *job, err error, now time.Time) {
	id := j.slot.ID
	if !g.stuck[id] {
		g.warn("task %s cannot be run now: %v", id, err)
	}
	g.stuck[id] = true
	again := now.Add(stuckPause)
	// its file may be damaged
	if j.entry.Task.ID == "" && !errors.Is(err, state.ErrBusy) && !proc.Short(err) {
		g.quarantine(ctx, now)
		again = later(again, g.quarantineAt)
	}
	g.agenda.at(id, again)
}

// ours reports whether this engine started all that runs of a task.
func (g *engine) ours(e state.Entry) bool {
	return !slices.ContainsFunc(e.Open, func(r state.Record) bool { return g.runs[claimOf(r)] == nil })
}
