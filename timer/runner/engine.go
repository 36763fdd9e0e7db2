package runner

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"sync"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/timer/rules"
	"github.com/ouro-timer/ouro-timer/timer/when"
)

// claimAhead is how long before its instant an occurrence is claimed if nothing prevents it, so
// that the claim's waits for the disk do not make it late. If the runner ends or is killed before
// it has started anything, the claim is given back.
const claimAhead = 50 * time.Millisecond

// engine is the runner without its waiting. It is told the time and what became of what it began;
// it decides (package rules) and writes. It never waits for anything but the store. The loop drives
// it by the real clock and simulations by a simulated one, with the same results.
//
// One goroutine uses it. Only survey, rereadAll and warnOnce may run on others: they use no more
// than its Options and said.
type engine struct {
	Options
	core   core
	host   Host
	queue  state.Queue
	agenda *agenda
	chains chains
	runs   map[claim]*run
	ready  []*run    // runs whose pause is over and that wait for room
	closed bool      // nothing is claimed any more
	looked time.Time // when the last pass was

	shared bool // with runners of other machines
	// this one's place among them for an occurrence; nil: alone
	rank   func(id string, due time.Time) int
	stands string // what the last warning about contact said

	ends    []state.Ending // outcomes that are to be written
	pause   time.Duration  // the last pause after they could not be; 0: they could
	flushAt time.Time      // when to try again; zero: at once

	schedules map[string]cached
	stuck     map[string]bool  // due tasks that cannot be claimed, without a schedule or a disk
	delays    map[string]delay // tasks whose start was put off
	unsettled bool             // an open claim could not be taken over yet
	unheard   bool             // somebody may have asked for an end, but the store did not answer

	quarantineAt    time.Time     // when to look again at what cannot be read
	quarantinePause time.Duration // the pause before that

	telling sync.Mutex
	said    map[string]bool // warnings of warnOnce; telling guards it

	latest      time.Time        // the latest instant that the clock has shown
	shift       state.ClockShift // what is known of a clock that was put back
	shiftNoted  state.ClockShift // what the store has of that
	rewoundAt   time.Duration    // how long it had stayed back at the last rewind; 0: none
	unmoved     map[string]bool  // tasks that rewind could not move, because they run
	rewindAgain bool             // a run of these has ended
}

// run is an open claim of ours.
type run struct {
	r       state.Record
	sched   *when.Schedule
	last    string // the outcome of the task's previous occurrence
	resting bool   // it pauses before an attempt, and takes no place
	keeps   bool   // it takes a place even while it rests
	delayed bool   // it rests before a first attempt that was put off and not noted yet
	// an earlier runner started it: a runner that ends does not wait for it
	adopted bool
	over    bool // it has ended, and its outcome is not written yet
	// while it rests: its outcome if no further attempt is made
	judged state.Line
	halt   string // why its end was asked for: no further attempt is made
}

// cached is a task's schedule, as it was read from its timing.
type cached struct {
	of    state.Timing
	sched *when.Schedule
	err   error
}

func newEngine(o Options, host Host) *engine {
	ahead := claimAhead
	if o.Mode == Once || o.NoClaimAhead {
		ahead = 0
	}
	fleet, shared := state.SharedBy(o.Store)
	var rank func(string, time.Time) int
	if shared && o.Mode != Once { // which has no later
		rank = fleet.Rank
	}
	return &engine{Options: o, core: realCore, host: host, rank: rank, shared: shared, runs: map[claim]*run{}, agenda: newAgenda(ahead), schedules: map[string]cached{},
		said: map[string]bool{}, stuck: map[string]bool{}, unmoved: map[string]bool{}, delays: map[string]delay{}, chains: newChains()}
}

// schedule reads a task's schedule, once for as long as its timing stays as it is.
func (g *engine) schedule(t state.Task) (*when.Schedule, error) {
	if !t.Recurring() {
		return nil, nil
	}
	c, ok := g.schedules[t.ID]
	if !ok || !reflect.DeepEqual(c.of, t.When) {
		sched, err := rules.Schedule(t)
		if len(g.schedules) > 4096 { // bounded: it is a cache
			clear(g.schedules)
		}
		c = cached{t.When, sched, err}
		g.schedules[t.ID] = c
	}
	return c.sched, c.err
}

// busy is how many of the places for commands are taken.
func (g *engine) busy() (n int) {
	agents := 0
	for _, r := range g.runs {
		switch {
		case !g.core.placed(r):
		case r.r.Task.Type() == state.TypeAgent:
			agents++
		default:
			n++
		}
	}
	return n + max(agents-agentsMost, 0)
}

// handle takes in what the host tells. It writes what follows from that, even after ctx has ended.
func (g *engine) handle(ctx context.Context, ev Event, now time.Time) {
	ctx = context.WithoutCancel(ctx)
	n := g.runs[claimOf(ev.Record)]
	if n == nil {
		return
	}
	res := ev.Result
	if res.Unstarted && n.halt != "" { // asked for while it was kept back for another reason
		res.Unstarted, res.Halted = false, n.halt
	}
	if ev.Rested && res.Halted == "" {
		res.Halted = n.halt // asked for at the moment when the pause ended or began
	}
	switch {
	case ev.Rested && res.Halted == "":
		g.ready = append(g.ready, n)
		return
	case ev.Rested: // ended between two attempts
		// its last attempt has an exit code, which is not the outcome
		res.Started, res.Ended, res.Unknown = n.r.Started, now, true
	case g.core.passing(res) && n.halt == "":
		g.postpone(ctx, n, res.Postponed, now)
		return
	case g.core.passing(res): // its end was asked for meanwhile
		res.Halted = n.halt
	case res.Unstarted:
		g.giveBack(ctx, n, now)
		return
	}
	delete(g.delays, n.r.Task.ID)
	if n.r.First.IsZero() {
		n.r.First = res.Started
	}
	l := g.core.judge(n.r, n.sched, res)
	if pause, yes := g.core.again(n.r, n.sched, &l, now); yes && n.halt == "" {
		n.r.Attempt = max(n.r.Attempt, 1)
		n.r.Retry, n.r.Child = now.Add(pause), state.Ident{}
		// if it is ended in the pause, it still has run
		n.r.Started = res.Started
		// the next attempt does not begin before it is noted
		if err := g.Store.Note(ctx, n.r); err != nil {
			g.warn("%s: that it is tried again could not be noted: %v", occurrence(n.r), err)
		}
		g.Say("%s %s; attempt %d in %s", occurrence(n.r), l.Outcome, n.r.Attempt+1, pause)
		n.resting, n.judged = true, l
		g.host.Rest(n.r, pause)
		return
	}
	n.over = true
	g.ends = append(g.ends, state.Ending{Record: n.r, Line: l})
}

// giveBack gives back a claim for which nothing was started, because its instant has receded or the
// runner ends. A claim that has had attempts stays open and rests, and so does one that cannot be
// given back when the runner ends. The next runner goes on with it.
func (g *engine) giveBack(ctx context.Context, n *run, now time.Time) {
	g.dropClaim(n.r)
	if n.r.Attempt > 1 {
		n.r.Attempt, n.r.Retry = n.r.Attempt-1, now
		n.r.Starting, n.r.Started, n.r.Child = time.Time{}, time.Time{}, state.Ident{}
		if err := g.Store.Note(ctx, n.r); err != nil {
			g.warn("%s: that its attempt was not begun could not be noted: %v", occurrence(n.r), err)
		}
		return
	}
	unstarted := n.r
	unstarted.Starting = now // perhaps its start is noted; it is known here that there was none
	switch err := g.Store.Release(ctx, unstarted); {
	case err == nil:
		g.agenda.put(state.Slot{ID: n.r.Task.ID, Due: n.r.Due})
	case errors.Is(err, state.ErrEnded):
	case errors.Is(err, state.ErrTaken) && g.closed: // the task is due at another instant by now
	case errors.Is(err, state.ErrTaken):
		n.over = true
		g.runs[claimOf(n.r)] = n
		g.interrupted(ctx, n.r)
	default:
		g.unsettled = true // it stays open, and is taken over like that of an earlier runner
		g.warn("%s could not be given back: %v", occurrence(n.r), err)
	}
}

// placed reports whether a claim takes a place: something of it runs, whoever started that, or is
// about to run.
func placed(r *run) bool { return !r.resting || r.keeps }

// going is how many commands and messages a runner waits for before it ends: all that go on, except
// those that outlived an earlier runner and that nobody has told to end.
func (g *engine) going() (n int) {
	for _, r := range g.runs {
		if !r.resting && !r.over && (!r.adopted || r.halt != "") {
			n++
		}
	}
	return n
}

// taken is how many places are taken by what has not ended.
func (g *engine) taken() (n int) {
	for _, r := range g.runs {
		if g.core.placed(r) && !r.over {
			n++
		}
	}
	return n
}

// waitedFor is how many claims a runner that only does what is due sees to their end. It leaves
// what outlived an earlier runner to one that stays.
func (g *engine) waitedFor() (n int) {
	for _, r := range g.runs {
		if !r.adopted || r.halt != "" || r.over {
			n++
		}
	}
	return n
}

// finish ends a task whose stop condition is met. If that fails, it happens when the task is next
// due.
func (g *engine) finish(ctx context.Context, id, why string, now time.Time) {
	err := g.Store.Finish(context.WithoutCancel(ctx), id, why, now)
	if err == nil {
		g.agenda.put(state.Slot{ID: id, Gone: true})
	}
	if err != nil && !errors.Is(err, state.ErrEnded) && !errors.Is(err, state.ErrNotFound) {
		g.warn("task %s could not be ended: %v", id, err)
	}
}

// outlook says what a pass leaves to wait for.
type outlook struct {
	wake    time.Time // when to look again; zero: when something happens
	pending bool      // something is in the queue
}

// sooner sets the outlook's wake to t if that is earlier.
func (o *outlook) sooner(t time.Time) {
	if o.wake.IsZero() || t.Before(o.wake) {
		o.wake = t
	}
}

// pass does what is due at now.
func (g *engine) pass(ctx context.Context, now time.Time) (o outlook, err error) {
	g.flush(ctx, now)
	again := g.lookAtClock(ctx, now)
	heard := g.listen(ctx, now)
	if !g.retry(ctx) || !heard {
		o.sooner(now.Add(againPause))
	}
	slots, whole, err := g.queue.Take(ctx)
	if err != nil {
		return o, err
	}
	g.agenda.take(g.chains.watch(slots), whole)
	if g.followUp(ctx, now) {
		o.sooner(now.Add(againPause))
	}
	if now.Before(g.looked.Add(-time.Second)) {
		g.agenda.rearm()
	}
	g.looked = now
	may := g.mayClaim(g.Store.Contact())
	if may {
		g.fill(ctx, now, g.MaxParallel()-g.busy())
	} else {
		o.sooner(now.Add(contactStep))
	}
	o.pending = g.agenda.pending()
	if again > 0 && o.pending {
		o.sooner(now.Add(again))
	}
	if len(g.ends) > 0 {
		o.sooner(later(now, g.flushAt))
	}
	if next := g.agenda.next(); !next.IsZero() && may {
		o.sooner(next)
	}
	return o, nil
}

// settle writes the outcomes of what has ended. First it gives the free places to what waits for
// them, so that a place is not empty while the disk writes the outcome. All else is for the next
// pass, which follows.
func (g *engine) settle(ctx context.Context, now time.Time) {
	if free := g.MaxParallel() - g.taken(); g.short() && free > 0 && g.pause == 0 && !g.closed && g.mayClaim(g.Store.Contact()) {
		due := now
		if g.Mode == Once {
			due = g.looked
		}
		g.fill(ctx, due, free)
	}
	g.flush(ctx, now)
}

// short reports whether something that is due waits for a place.
func (g *engine) short() bool { return len(g.agenda.due.list) > 0 }

// dropClaim takes in that a claim is no longer ours.
func (g *engine) dropClaim(r state.Record) {
	delete(g.runs, claimOf(r))
	g.core.ended(g.agenda, r.Task.ID)
}

// quarantine sets aside what cannot be read. That reads every task, so the tries become rare if
// nothing can be moved, as with a file of a newer version.
func (g *engine) quarantine(ctx context.Context, now time.Time) {
	if tooEarly(now, g.quarantineAt, quarantineMost) {
		return
	}
	moved, err := g.Store.Quarantine(ctx, quarantineAge)
	if err == nil {
		g.problems(moved)
	}
	if len(moved) > 0 {
		g.quarantinePause = 0
	}
	g.quarantinePause = min(max(2*g.quarantinePause, quarantineAge), quarantineMost)
	g.quarantineAt = now.Add(g.quarantinePause)
}

// quarantineMost is the longest pause between two tries to set aside what cannot be read.
const quarantineMost = time.Minute

// retry starts the attempts whose pause is over, as far as there is room. Each is durably noted
// before it starts. It is not ok if the store does not answer for now.
func (g *engine) retry(ctx context.Context) (ok bool) {
	before := len(g.ends)
	defer func() {
		if len(g.ends) > before { // it was changed meanwhile, is not tried again, and has ended
			g.flush(ctx, g.Clock.Now())
		}
	}()
	for ctx.Err() == nil {
		i := slices.IndexFunc(g.ready, func(n *run) bool { return n.keeps })
		if i < 0 {
			if i = 0; len(g.ready) == 0 || g.busy() >= g.MaxParallel() {
				return true
			}
		}
		n := g.ready[i]
		g.ready = slices.Delete(g.ready, i, i+1)
		if n.delayed {
			g.startDelayed(ctx, n, g.Clock.Now())
			continue
		}
		changed, err := g.taskChanged(ctx, n.r)
		if changed {
			n.over = true
			g.ends = append(g.ends, state.Ending{Record: n.r, Line: rules.Abandoned(n.judged)})
			continue
		}
		next := n.r
		next.Attempt, next.Retry = next.Attempt+1, time.Time{}
		next.Starting, next.Started, next.Child = time.Time{}, time.Time{}, state.Ident{}
		if err == nil {
			err = g.Store.Note(ctx, next)
		}
		if err != nil {
			// another process, which took us for dead, has it
			if errors.Is(err, state.ErrEnded) || errors.Is(err, state.ErrTaken) {
				g.dropClaim(n.r)
				continue
			}
			g.warn("%s cannot be tried again now: %v", occurrence(n.r), err)
			g.ready = append(g.ready, n)
			return false
		}
		n.r, n.resting, n.keeps, n.adopted = next, false, false, false
		g.host.Start(n.r, n.last)
	}
	return true
}

// problems tells each piece of state that cannot be read, once.
func (g *engine) problems(list []state.Problem) {
	for _, p := range list {
		g.warnOnce("%v", p)
	}
}

// warnOnce warns unless the same was said before.
func (g *engine) warnOnce(format string, a ...any) {
	g.telling.Lock()
	defer g.telling.Unlock()
	if text := fmt.Sprintf(format, a...); !g.said[text] {
		g.said[text] = true
		g.warn(format, a...)
	}
}
