package runner_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"syscall"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/timer/notifier"
	"github.com/ouro-timer/ouro-timer/timer/rules"
	"github.com/ouro-timer/ouro-timer/timer/runner"
	"github.com/ouro-timer/ouro-timer/timer/runner/sim"
	"github.com/ouro-timer/ouro-timer/timer/when"
)

// play is a script that was played, with all that was seen of it.
type play struct {
	script
	w       *sim.World
	tasks   []*subject
	byID    map[string]*subject
	seen    []sight
	peak    time.Time // the latest instant that the clock has shown when it was put back
	shifts  []shift
	ups     []span  // when a runner began things, in calm worlds
	powers  []int64 // when the power went
	lines   []state.Line
	ended   []ended
	crash   *happening // the one that waits for its call
	noted   map[int]bool
	crashed []string // the calls of the store at which a runner was killed
	shorts  int      // starts that were put off
	spared  bool     // crashes and the like are over
	mail    mail
	stores  map[*sim.Runner]state.Store
}

// sight is something that was seen in a world.
type sight struct {
	what            string
	at, peak        time.Time // what the clock showed, and the most that it had shown before it was put back
	awake           time.Duration
	id              string
	number, attempt int
	due             time.Time
	pid             int
	noted           bool
	runner          *sim.Runner
	channel         string
}

// subject is a task of a play.
type subject struct {
	draft
	id      string
	t       state.Task
	sched   *when.Schedule // nil for a one-shot
	due     time.Time      // the first one
	made    time.Duration
	edited  bool // its schedule changed on the way
	rewound bool
	begins  bool // and by nothing but the clock: it begins earlier than it did
	ops     []op
}

// op is something that the user did.
type op struct {
	at     int64 // on the awake clock
	what   string
	resume time.Time
}

// shift is a step of the clock.
type shift struct{ awake, by int64 }

// ended is a line that was written.
type ended struct {
	awake time.Duration
	line  state.Line
}

// span is a stretch of the awake clock.
type span struct{ from, to int64 }

const never = int64(1) << 62

// hooks are what a planted bug changes.
type hooks struct {
	engine   func(o runner.Options, h runner.Host) *runner.Engine
	notifier func(o notifier.Options) *notifier.Plan
}

// perform plays a script.
func perform(s script, hk hooks) *play {
	p := &play{script: s, w: sim.New(s.start), byID: map[string]*subject{}, stores: map[*sim.Runner]state.Store{}}
	w := p.w
	p.mail = mail{w: w, newPlan: hk.notifier, delivered: p.delivered, of: map[*sim.Runner]*mailer{}}
	w.Worked = p.mail.worked
	w.NoClaimAhead, w.MaxParallel, w.Engine = s.noLead, s.parallel, hk.engine
	w.Fate = func(r state.Record) sim.Fate { return p.byID[r.Task.ID].fate(r.Due, r.Attempt) }
	w.Told = p.told
	p.post()
	luck := rand.New(rand.NewPCG(s.seed, 77))
	var fault func(r *sim.Runner, call string, done bool) error
	w.Disk = func(r *sim.Runner) state.Store {
		p.stores[r] = &disk{Store: w.Store, world: w, run: r, fault: fault, echo: s.echo}
		return p.stores[r]
	}
	if !s.calm {
		fault = func(r *sim.Runner, call string, done bool) error { return p.fault(luck, r, call, done) }
		w.Short = func(state.Record) error { return p.shortage(luck) }
	}
	for i := range s.tasks {
		t := &subject{draft: s.tasks[i]}
		p.tasks = append(p.tasks, t)
		w.After(t.at, func() { p.add(t) })
	}
	for _, e := range s.events {
		w.After(e.at, func() { p.happens(e) })
	}
	w.After(0, func() { w.Up() })
	w.Run(s.length)
	if !s.calm {
		p.settle()
	}
	_, _, _ = w.Store.Log(context.Background(), "", func(l state.Line) bool { p.lines = append(p.lines, l); return true })
	slices.Reverse(p.lines)
	return p
}

// settle lets a world come to rest: no more harm, and time for what was begun.
func (p *play) settle() {
	p.spared = true
	for _, r := range p.w.Runners() {
		if r.Stopping() {
			r.HaltAll()
		}
	}
	p.w.Run(20 * time.Second)
	if len(p.w.Runners()) == 0 {
		p.w.Up()
	}
	p.w.Run(4 * time.Hour)
}

func (p *play) add(t *subject) {
	now := p.w.Now()
	task, sched, due, err := t.task(now)
	if err != nil {
		return // a schedule with nothing in its bounds: the command line refuses it
	}
	e, err := p.w.Store.Add(context.Background(), task, due)
	if err != nil {
		panic(err)
	}
	t.id, t.t, t.sched, t.due, t.made = e.Task.ID, e.Task, sched, due, p.w.Awake()
	p.byID[t.id] = t
	p.w.Changed()
}

func (p *play) told(h sim.Happening) {
	now := int64(p.w.Awake())
	switch h.What {
	case sim.Up:
		p.mail.up(h.Runner, p.stores[h.Runner])
		p.ups = append(p.ups, span{now, never})
	case sim.Stops, sim.Down:
		p.mail.pass(p.mail.of[h.Runner])
		if n := len(p.ups) - 1; n >= 0 && p.ups[n].to == never {
			p.ups[n].to = now
		}
	case sim.Outcome:
		p.ended = append(p.ended, ended{h.Awake, *h.Line})
		return
	}
	x := sight{runner: h.Runner, what: h.What, at: h.At, awake: h.Awake, peak: p.peak, pid: h.PID, noted: h.Noted}
	if h.Record != nil {
		x.id, x.number, x.due, x.attempt = h.Record.Task.ID, h.Record.Number, h.Record.Due, max(h.Record.Attempt, 1)
	}
	p.seen = append(p.seen, x)
}

// delivered is what is seen when a notice is delivered.
const delivered = "delivered"

func (p *play) delivered(r *sim.Runner, n state.Notice) {
	p.seen = append(p.seen, sight{runner: r, what: delivered, at: p.w.Now(), awake: p.w.Awake(), peak: p.peak,
		id: n.Line.TaskID, number: n.Line.Number, channel: n.Channel})
}

// fault is what may befall a call of the store.
func (p *play) fault(luck *rand.Rand, r *sim.Runner, call string, done bool) error {
	if p.spared {
		return nil
	}
	if e := p.crash; e != nil && (e.n%2 == 1) == done {
		if e.n -= 2; e.n < 0 {
			p.crash = nil
			p.crashed = append(p.crashed, call)
			switch e.task % 3 {
			case 0:
				r.Kill()
			case 1:
				r.KillAll()
			default:
				p.power()
			}
			p.w.After(e.d, p.up)
			return nil
		}
	}
	if !done && p.failing > 0 && luck.IntN(1000) < p.failing {
		return errors.New("the disk is full")
	}
	if p.slow > 0 {
		p.w.Run(time.Duration(luck.Int64N(int64(p.slow))))
	}
	return nil
}

// shortage is why a command cannot be started yet.
func (p *play) shortage(luck *rand.Rand) error {
	if p.spared || luck.IntN(1000) >= p.short {
		return nil
	}
	p.shorts++
	if luck.IntN(2) == 0 {
		return syscall.EMFILE // of all
	}
	return syscall.ETXTBSY // of this one
}

// power takes the power away; what was no more than a hint may be lost with it.
func (p *play) power() {
	open, _, _ := p.w.Store.Open(context.Background())
	p.powers = append(p.powers, int64(p.w.Awake()))
	p.w.Power()
	for i, r := range open {
		if !p.calm && (p.seed+uint64(i))%2 == 0 && r.Retry.IsZero() && r.Attempt == 0 {
			r.Starting, r.Started, r.Child = time.Time{}, time.Time{}, state.Ident{}
			_ = p.w.Store.Started(context.Background(), r)
		}
	}
}

// up brings a runner up when there is none, and else when the one that ends has ended.
func (p *play) up() {
	list := p.w.Runners()
	switch {
	case len(list) == 0:
		p.w.Up()
	case list[0].Stopping():
		p.w.After(time.Second+1, p.up)
	}
}

// begun reports whether a claim waits for its instant: in a calm world nothing happens then.
func (p *play) begun() bool {
	open, _, _ := p.w.Store.Open(context.Background())
	return slices.ContainsFunc(open, func(r state.Record) bool { return r.Due.After(p.w.Now()) })
}

// happens lets something happen.
func (p *play) happens(e happening) {
	w, ctx := p.w, context.Background()
	if p.spared {
		return
	}
	var t *subject
	id := ""
	if e.task < len(p.tasks) {
		t = p.tasks[e.task]
		id = t.id
	}
	running := w.Runners()
	switch e.what {
	case "stop":
		for _, r := range running {
			r.Stop()
		}
		w.After(e.d, p.up)
	case "synced":
		w.Synced = true
	case "suspend", "forward", "back":
		if p.calm && p.begun() {
			w.After(60*time.Millisecond+1, func() { p.happens(e) })
			return
		}
		if e.what == "back" {
			e.d = -e.d
			if now := w.Now(); now.After(p.peak) {
				p.peak = now
			}
		}
		p.shifts = append(p.shifts, shift{int64(w.Awake()), int64(e.d)})
		if e.what == "suspend" {
			w.Suspend(e.d)
			return
		}
		w.Synced = false
		w.Step(e.d)
	case "power":
		p.power()
		w.After(e.d, p.up)
	case "kill", "killall":
		for _, r := range running {
			if e.what == "kill" {
				r.Kill()
			} else {
				r.KillAll()
			}
		}
		w.After(e.d, p.up)
	case "haltall":
		for _, r := range running {
			r.Stop()
			if !r.Dead() {
				r.HaltAll()
			}
		}
		w.After(e.d, p.up)
	case "crash":
		p.crash = &e
	case "second":
		r := w.Up()
		w.After(e.d, func() { r.Kill(); p.up() })
	default:
		if id != "" {
			p.user(ctx, e, t)
			w.Changed()
		}
	}
}

// user is what the user does to a task.
func (p *play) user(ctx context.Context, e happening, t *subject) {
	now := p.w.Now()
	found, err := p.w.Store.Find(ctx, t.id)
	if err != nil {
		panic(err)
	}
	entry := found[0]
	sched, err := rules.Schedule(entry.Task) // as it is by now: a clock that was put back may have changed it
	if err != nil {
		panic(err)
	}
	o := op{at: int64(p.w.Awake()), what: e.what}
	switch e.what {
	case "pause":
		if e.d > 0 {
			o.resume = now.Add(e.d)
		}
		_, err = p.w.Store.Pause(ctx, t.id, o.resume, now)
	case "resume":
		if !entry.Held {
			return
		}
		line, next, over := rules.Resume(entry, sched, now)
		if line != nil {
			line.At = now
			err = p.w.Store.Skip(ctx, t.id, entry.Due, next, *line)
		}
		if !over && err == nil {
			_, err = p.w.Store.Resume(ctx, t.id, now)
		}
	case "rm":
		_, err = p.w.Store.Remove(ctx, t.id, now)
	case "restore":
		due, ok := entry.Due, true
		if sched != nil {
			due, ok = sched.Next(now)
		}
		if ok {
			_, err = p.w.Store.Restore(ctx, t.id, due, now)
		}
		t.edited = true
	case "edit":
		d := t.draft
		d.text, d.begin, d.end, d.count = "every 13m", 0, 0, 0
		task, sched, due, _ := d.task(now)
		task.ID, task.Revision = t.id, entry.Task.Revision
		if _, err = p.w.Store.Update(ctx, task, due, now, nil); err == nil {
			t.edited, t.sched = true, sched
		}
	case "fire":
		self, end := p.w.Process()
		r, ferr := p.w.Store.Fire(ctx, t.id, self, now)
		if ferr != nil {
			end()
			return
		}
		p.w.After(e.d, func() {
			end()
			if e.d%2 == 0 { // not killed before
				started := r.Claimed
				ended := p.w.Now()
				_ = p.w.Store.End(ctx, r, state.Line{At: ended, Outcome: state.OK, Started: &started, Ended: &ended})
			}
			p.w.Changed()
		})
	case "halt":
		for _, r := range entry.Open {
			_ = p.w.Store.Halt(ctx, r, "stopped")
		}
	}
	if err == nil {
		t.ops = append(t.ops, o)
	}
}

func (p *play) id(t *subject) string {
	for i, other := range p.tasks {
		if other == t {
			return fmt.Sprintf("task %d (%s)", i, t.id)
		}
	}
	return t.id
}
