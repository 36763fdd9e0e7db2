package runner

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/timer/when"
)

// lead is how long before its instant an occurrence is claimed when nothing stands in the way, so that the claim's waits for the
// disk do not make it late. A claim for which nothing was started yet is given back when the runner ends, or is killed.
const lead = 50 * time.Millisecond

// engine is the runner without its waiting. It is told the time and what has become of what it began, decides (core.go),
// and writes; it never waits for anything but the store. One goroutine uses it. The loop drives it by the real clock and
// simulations by a pretended one, with the same results.
type engine struct {
	Options
	core
	host  Host
	runs  map[claim]*run
	ready []*run // whose pause is over and that wait for room
	ends  []state.Ending
	pause time.Duration // before what could not be written is tried again

	schedules  map[string]cached
	asideAt    time.Time     // when what cannot be read is looked at again
	asidePause time.Duration // before that
	unsettled  bool          // a claim that was left open could not be taken over yet
	telling    sync.Mutex
	said       map[string]bool // problems that were told; the survey tells some, too
	stuck      map[string]bool // tasks that are due and cannot be taken, for want of a schedule or of a disk
	held       map[string]bool // tasks that are due and wait for the end of what runs
	latest     time.Time       // the latest instant the clock has shown
	back       state.Setback   // what is known of one that is back
	noted      state.Setback   // of that, what the store has
	tried      time.Duration   // how long it had stayed so when tasks were last moved back; 0: they were not yet
	short      bool            // the last look left something that was due by looked, for want of room
	idle       int             // of the tasks that it read, those about which nothing could be done
	looked     time.Time
	stock      stock            // what it left
	behind     map[string]bool  // tasks that are to be moved back once what runs of them has ended
	catch      bool             // some of that has ended
	delays     map[string]delay // tasks whose start was put off
}

// run is an open claim of ours.
type run struct {
	r       state.Record
	sched   *when.Schedule
	last    string // the outcome before
	resting bool   // between two attempts, or before one that was put off: it takes no room
	keeps   bool   // while it rests it takes room all the same
	delayed bool   // it rests before an attempt that was put off, and not noted yet
	adopted bool   // started by a runner before this one: a runner that ends does not wait for it
	over    bool   // it has ended, and its outcome is not written yet
	halt    string // why its end was asked for: no further attempt is made
	mood    *mood  // its task's, which all our runs of the task share; nil: only the store knows
}

// cached is a task's schedule, as it was read for a revision.
type cached struct {
	text, zone string
	revision   int64
	sched      *when.Schedule
	err        error
}

func newEngine(o Options, host Host) *engine {
	return &engine{Options: o, core: rightly, host: host, runs: map[claim]*run{}, schedules: map[string]cached{}, said: map[string]bool{},
		stuck: map[string]bool{}, held: map[string]bool{}, behind: map[string]bool{}, delays: map[string]delay{}}
}

// schedule reads a task's schedule once for each revision. The words are compared, too: somebody may have edited the file.
func (g *engine) schedule(t state.Task) (*when.Schedule, error) {
	if !t.Recurring() {
		return nil, nil
	}
	c, ok := g.schedules[t.ID]
	if !ok || c.revision != t.Revision || c.text != t.When.Text || c.zone != t.When.Zone {
		sched, err := Schedule(t)
		if len(g.schedules) > 4096 { // bounded: it is a cache
			clear(g.schedules)
		}
		c = cached{t.When.Text, t.When.Zone, t.Revision, sched, err}
		g.schedules[t.ID] = c
	}
	return c.sched, c.err
}

// busy is how many of the places for commands are taken.
func (g *engine) busy() (n int) {
	agents := 0
	for _, r := range g.runs {
		switch {
		case !g.placed(r):
		case r.r.Task.Type() == state.TypeAgent:
			agents++
		default:
			n++
		}
	}
	return n + max(agents-agentsMost, 0)
}

// handle takes in what the host tells.
func (g *engine) handle(ctx context.Context, ev Event, now time.Time) {
	n := g.runs[claimOf(ev.Record)]
	if n == nil {
		return
	}
	res := ev.Result
	if ev.Rested && res.Halted == "" {
		res.Halted = n.halt // asked for just when the pause was over, or began
	}
	switch {
	case ev.Rested && res.Halted == "":
		g.ready = append(g.ready, n)
		return
	case ev.Rested: // ended between two attempts
		res.Started, res.Ended, res.Unknown = n.r.Started, now, true // its last attempt has an exit code, and is not the outcome
	case res.PutOff != nil && n.halt == "":
		g.putOff(ctx, n, res.PutOff, now)
		return
	case res.PutOff != nil: // its end was asked for meanwhile
		res.Halted = n.halt
	case res.Unstarted:
		delete(g.runs, claimOf(n.r))
		if n.r.Attempt > 1 {
			return // it is left open, with its number of attempts, and the next runner goes on with it
		}
		err := g.Store.Release(ctx, n.r)
		if errors.Is(err, state.ErrTaken) && ctx.Err() == nil { // its instant has receded, and the task is another one by now
			n.over = true
			g.runs[claimOf(n.r)] = n
			g.interrupted(ctx, n.r)
			return
		}
		if err != nil && !errors.Is(err, state.ErrEnded) {
			g.Say("%s could not be given back: %v", occurrence(n.r), err) // it stays open, and the next runner sees to it
		}
		return
	}
	delete(g.delays, n.r.Task.ID)
	if n.r.First.IsZero() {
		n.r.First = res.Started
	}
	l := g.judge(n.r, n.sched, res)
	if pause, yes := g.again(n.r, n.sched, &l, now); yes && !n.adopted && n.halt == "" {
		n.r.Attempt = max(n.r.Attempt, 1)
		n.r.Retry, n.r.Child = now.Add(pause), state.Ident{}
		n.r.Started = res.Started                      // should it be ended in the pause, it has run all the same
		if err := g.Store.Note(ctx, n.r); err != nil { // the next attempt is not begun before it is noted
			g.Say("%s: that it is tried again could not be noted: %v", occurrence(n.r), err)
		}
		g.Say("%s %s; attempt %d in %s", occurrence(n.r), l.Outcome, n.r.Attempt+1, pause)
		n.resting = true
		g.host.Rest(n.r, pause)
		return
	}
	n.over = true
	g.ends = append(g.ends, state.Ending{Record: n.r, Line: l})
}

// placed reports whether a claim takes a place: something of it runs, whoever started that, or is about to.
func placed(r *run) bool { return !r.resting || r.keeps }

// going is how many commands and messages a runner that ends waits for: those that have not come to their end, but for those that have
// outlived a runner before it and that nobody has told to end.
func (g *engine) going() (n int) {
	for _, r := range g.runs {
		if !r.resting && !r.over && (!r.adopted || r.halt != "") {
			n++
		}
	}
	return n
}

// taken is how many places those take that have not come to their end.
func (g *engine) taken() (n int) {
	for _, r := range g.runs {
		if g.placed(r) && !r.over {
			n++
		}
	}
	return n
}

// waitedFor is how many claims a runner that does what is due, and no more, sees to their end: what outlived a runner before it is
// left to one that stays.
func (g *engine) waitedFor() (n int) {
	for _, r := range g.runs {
		if !r.adopted || r.halt != "" || r.over {
			n++
		}
	}
	return n
}

// finish ends a task whose stop condition is met. Should that not succeed, it will when the task is next due.
func (g *engine) finish(ctx context.Context, id, why string, now time.Time) {
	err := g.Store.Finish(context.WithoutCancel(ctx), id, why, now)
	if err != nil && !errors.Is(err, state.ErrEnded) && !errors.Is(err, state.ErrNotFound) {
		g.Say("task %s could not be ended: %v", id, err)
	}
}

// outlook is what a pass leaves to wait for.
type outlook struct {
	wake    time.Time // when to look again; zero: when something happens
	pending bool      // something is in the queue
}

// sooner makes the outlook's wake t if that is before it.
func (o *outlook) sooner(t time.Time) {
	if o.wake.IsZero() || t.Before(o.wake) {
		o.wake = t
	}
}

// pass does what is due at now.
func (g *engine) pass(ctx context.Context, now time.Time) (o outlook, err error) {
	g.flush(ctx, now)
	again := g.lookAtClock(ctx, now)
	defer func() {
		if again > 0 && o.pending {
			o.sooner(now.Add(again))
		}
	}()
	g.retry(ctx)
	if len(g.ends) > 0 {
		o.sooner(now.Add(g.pause))
	}
	ahead := lead
	if g.Mode == Once || g.NoLead {
		ahead = 0
	}
	if g.short && g.busy() >= g.MaxParallel && g.lasts(now) {
		o.pending = true
		o.sooner(g.stock.read.Add(stockMost))
		return o, nil
	}
	for more := true; more && ctx.Err() == nil; {
		if more, err = g.look(ctx, now, ahead, &o); err != nil {
			return o, err
		}
	}
	next, pending, err := g.Store.Next(ctx, now)
	if err != nil {
		return o, err
	}
	o.pending = o.pending || pending
	if pending {
		if early := next.Add(-ahead); early.After(now) {
			next = early
		}
		o.sooner(next)
	}
	return o, nil
}

// spare is how many more tasks are read than there is room for.
const spare = 16

// window is how many tasks are read for so many free places. Those about which nothing can be done, because they are held or stuck, stay at the
// front of the queue and must take no place of the others: idle is how many the last look found. They count twice, so that a queue that begins
// with thousands of them is read in a few looks, each of which sees more than the one before.
func window(free, idle int) int { return max(free, 0) + spare + 2*idle }

// look reads some of what is due and does it; more says that there may be more to do at once.
func (g *engine) look(ctx context.Context, now time.Time, ahead time.Duration, o *outlook) (more bool, err error) {
	free := g.MaxParallel - g.busy()
	before := g.idle
	limit := g.window(free, before)
	entries, problems, err := g.Store.DueBy(ctx, now.Add(ahead), limit)
	if err != nil {
		return false, err
	}
	if len(problems) > 0 {
		o.sooner(g.setAside(ctx, now))
	}
	g.short, g.looked, g.stock, g.idle = false, now, stock{}, 0
	var jobs []job
	var rest []state.Entry // that find no room
	moved, others := false, len(problems) > 0
	for _, e := range entries {
		if ctx.Err() != nil {
			return false, nil
		}
		if d := g.delays[e.Task.ID]; d.waits(now) {
			g.idle++
			others, o.pending = true, true
			o.sooner(d.until)
			continue
		}
		if !plain(e, now) {
			others = true
		} else if len(jobs) >= free {
			o.pending, g.short = true, true // the next end of a run makes room
			rest = append(rest, e)
			continue
		}
		sched, err := g.schedule(e.Task)
		if err != nil {
			g.idle++
			g.cannot(e, err, now, o)
			continue
		}
		j, acted, err := g.prepare(ctx, e, sched, now, o)
		if err != nil {
			g.idle++
			g.cannot(e, err, now, o)
			continue
		}
		moved = moved || acted
		if !j.run {
			if !acted {
				g.idle++
			}
			continue
		}
		if len(jobs) >= free {
			o.pending, g.short = true, true // likewise
			continue
		}
		jobs = append(jobs, j)
	}
	if !others {
		g.stock = stock{rest, now}
	}
	g.claim(ctx, jobs, now, o)
	for id := range g.held {
		if !stillDue(entries, id) {
			delete(g.held, id)
		}
	}
	return len(entries) == limit && (moved || len(jobs) > 0 || g.idle > before) && g.MaxParallel > g.busy(), nil
}

// setAside moves what cannot be read out of the way, and says when to try again. That reads every task, so where
// nothing moves, as with a file of a newer version, the tries become rare.
func (g *engine) setAside(ctx context.Context, now time.Time) time.Time {
	if now.Before(g.asideAt) && g.asideAt.Sub(now) <= asideMost {
		return g.asideAt
	}
	moved, err := g.Store.SetAside(ctx, settle)
	if err == nil {
		g.problems(moved)
	}
	if len(moved) > 0 {
		g.asidePause = 0
	}
	g.asidePause = min(max(2*g.asidePause, settle), asideMost)
	g.asideAt = now.Add(g.asidePause)
	return g.asideAt
}

// asideMost is the longest pause between two tries to set aside what cannot be read.
const asideMost = time.Minute

func stillDue(entries []state.Entry, id string) bool {
	for _, e := range entries {
		if e.Task.ID == id {
			return true
		}
	}
	return false
}

// cannot notes that a task that is due cannot be taken.
func (g *engine) cannot(e state.Entry, err error, now time.Time, o *outlook) {
	if !g.stuck[e.Task.ID] {
		g.Say("task %s cannot be run now: %v", e.Task.ID, err)
	}
	g.stuck[e.Task.ID] = true
	o.pending = true
	o.sooner(now.Add(5 * time.Second))
}

// job is an occurrence to be claimed, and what is to be done for its task after that.
type job struct {
	run   bool
	entry state.Entry
	sched *when.Schedule
	step  step
	rest  []step
}

// prepare does what a plan begins with, up to the instant to be run, which it returns.
func (g *engine) prepare(ctx context.Context, e state.Entry, sched *when.Schedule, now time.Time, o *outlook) (j job, acted bool, err error) {
	id := e.Task.ID
	if e.Due.After(now) && !e.Held {
		if s, ok := g.ahead(e, sched, now); ok {
			if err := g.byHand(ctx, e, sched, now); err != nil {
				return job{}, false, unlessTaken(err)
			}
			return job{true, e, sched, s, nil}, false, nil
		}
		return job{}, false, nil
	}
	p := g.decide(e, sched, now)
	if p.held {
		g.held[id] = true
		o.pending = true
		switch {
		case e.Attended: // its end is told of; that its waiter was killed, or stopped, is not
			o.sooner(now.Add(min(max(now.Sub(e.Due), time.Second), attendedMost)))
		case !g.ours(e):
			o.sooner(now.Add(time.Second)) // nobody tells of the end of another's run
		}
	}
	if begins := len(p.steps) > 0 && (p.steps[0].kind == stepRun || p.steps[0].kind == stepSkip); begins && !e.Held {
		if err := g.byHand(ctx, e, sched, now); err != nil {
			return job{}, false, unlessTaken(err)
		}
	}
	for i, s := range p.steps {
		if s.kind == stepRun {
			return job{true, e, sched, s, p.steps[i+1:]}, acted, nil
		}
		err := g.do(ctx, e, s, now)
		if errors.Is(err, state.ErrTaken) || errors.Is(err, state.ErrEnded) || errors.Is(err, state.ErrNotFound) {
			return job{}, acted, nil // another runner, or the user, came first
		}
		if err != nil {
			return job{}, acted, err
		}
		acted = acted || s.kind != stepHalt
	}
	delete(g.stuck, id)
	return job{}, acted, nil
}

// attendedMost is the longest pause between two looks at a wait that is due and that somebody attends to: each pause is as long as it
// is late by then.
const attendedMost = 30 * time.Second

// ours reports whether all that runs of a task was begun by this engine.
func (g *engine) ours(e state.Entry) bool {
	for _, r := range e.Open {
		if g.runs[claimOf(r)] == nil {
			return false
		}
	}
	return true
}

// do does a step that starts nothing.
func (g *engine) do(ctx context.Context, e state.Entry, s step, now time.Time) error {
	id := e.Task.ID
	switch s.kind {
	case stepSkip:
		s.skip.At = now
		if g.Mute {
			s.skip.Inbox = ""
		}
		err := g.Store.Skip(ctx, id, s.due, s.next, *s.skip)
		if err == nil {
			g.Ended(state.Record{Task: e.Task, Due: s.due}, *s.skip)
		}
		return err
	case stepHalt:
		for _, r := range e.Open {
			if n := g.runs[claimOf(r)]; n != nil {
				g.halt(n, s.why, now)
			} else if r.Halt == "" { // another process runs it
				if err := g.Store.Halt(ctx, r, s.why); err != nil && !errors.Is(err, state.ErrEnded) {
					return err
				}
			}
		}
	case stepResume:
		if _, err := g.Store.Resume(ctx, id, now); err != nil {
			return err
		}
		g.Say("task %s goes on", id)
	case stepFinish:
		return g.Store.Finish(ctx, id, s.why, now)
	}
	return nil
}

// claim claims occurrences and lets them go. Claims are durable before anything runs.
func (g *engine) claim(ctx context.Context, jobs []job, now time.Time, o *outlook) {
	if len(jobs) == 0 {
		return
	}
	wants := make([]state.Want, len(jobs))
	for i, j := range jobs {
		wants[i] = state.Want{ID: j.entry.Task.ID, Due: j.step.due, Next: j.step.next}
	}
	for i, got := range g.Store.ClaimAll(ctx, wants, g.Self, now) {
		j := jobs[i]
		switch {
		case errors.Is(got.Err, state.ErrTaken):
			continue // another runner, or the user, came first
		case got.Err != nil:
			g.cannot(j.entry, got.Err, now, o)
			continue
		}
		delete(g.stuck, j.entry.Task.ID)
		n := &run{r: got.Record, sched: j.sched, last: j.entry.Tally.Last, mood: g.mood(j.entry)}
		g.runs[claimOf(n.r)] = n
		g.host.Start(n.r, n.last)
		for _, s := range j.rest {
			if err := g.do(ctx, j.entry, s, now); err != nil && !errors.Is(err, state.ErrTaken) {
				g.Say("task %s: %v", j.entry.Task.ID, err)
				break
			}
		}
	}
}

// retry begins the attempts whose pause is over, as far as there is room. That an attempt was begun is durable before it is.
func (g *engine) retry(ctx context.Context) {
	before := len(g.ends)
	defer func() {
		if len(g.ends) > before { // what was changed meanwhile is not tried again, and has ended
			g.flush(ctx, g.Clock.Now())
		}
	}()
	for ctx.Err() == nil {
		i := slices.IndexFunc(g.ready, func(n *run) bool { return n.keeps })
		if i < 0 {
			if i = 0; len(g.ready) == 0 || g.busy() >= g.MaxParallel {
				return
			}
		}
		n := g.ready[i]
		g.ready = slices.Delete(g.ready, i, i+1)
		if n.delayed {
			g.startDelayed(ctx, n, g.Clock.Now())
			continue
		}
		changed, err := g.changed(ctx, n.r)
		if changed {
			l := g.judge(n.r, n.sched, Result{Started: n.r.Started, Ended: g.Clock.Now(), Unknown: true})
			l.Outcome, l.Reason = state.Cancelled, reasonChanged
			n.over = true
			g.ends = append(g.ends, state.Ending{Record: n.r, Line: l})
			continue
		}
		next := n.r
		next.Attempt, next.Retry = next.Attempt+1, time.Time{}
		next.Starting, next.Started, next.Child = time.Time{}, time.Time{}, state.Ident{}
		if err == nil {
			err = g.Store.Note(ctx, next)
		}
		if err != nil {
			if errors.Is(err, state.ErrEnded) {
				delete(g.runs, claimOf(n.r))
				continue
			}
			g.Say("%s cannot be tried again now: %v", occurrence(n.r), err)
			g.ready = append(g.ready, n)
			return
		}
		n.r, n.resting, n.keeps = next, false, false
		g.host.Start(n.r, n.last)
	}
}

// problems tells each piece of state that cannot be read, once.
func (g *engine) problems(list []state.Problem) {
	for _, p := range list {
		g.sayOnce(p.Error())
	}
}

// sayOnce says what was not said yet.
func (g *engine) sayOnce(text string) {
	g.telling.Lock()
	defer g.telling.Unlock()
	if !g.said[text] {
		g.said[text] = true
		g.Say("%s", text)
	}
}
