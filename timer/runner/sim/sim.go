// Package sim pretends a machine, or several that share a store, on which the runner's own engine works: its clock, its processes, its disk and all that can befall
// them. Nothing waits: years pass in as long as their events take to compute. The same world, told the same things, goes the
// same way each time.
//
// It touches no file, clock or process, and starts no goroutine.
package sim

import (
	"context"
	"fmt"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/state/memory"
	"github.com/ouro-timer/ouro-timer/timer/notifier"
	"github.com/ouro-timer/ouro-timer/timer/rules"
	"github.com/ouro-timer/ouro-timer/timer/runner"
)

// World is a machine, or several of them (UpOn) whose clocks show the same. Its fields are set before the first runner comes up.
type World struct {
	Store state.Store // one in memory, unless it is replaced
	// Fate says what becomes of an attempt at a claim (Record.Attempt; 0 is the first) when nobody interferes.
	Fate func(r state.Record) Fate
	// Short, when set, is asked before each start of a command; an error is why it is put off.
	Short func(r state.Record) error
	// Told, when set, is told what happens.
	Told func(Happening)
	// Said, when set, gets what runners say in their log.
	Said func(text string)
	// Disk, when set, is what a runner has in the place of the store. A call of it may let time pass (Run), and it ends with a panic of Killed{} when
	// the runner was killed.
	Disk func(r *Runner) state.Store
	// Engine makes the engine of a runner; nil is runner.NewEngine.
	Engine func(o runner.Options, h runner.Host) *runner.Engine
	// Send says what becomes of an attempt to deliver a notice when nobody interferes; nil: no line says that anybody is told. Standing
	// says who is told of tasks that do not say.
	Send     func(n state.Notice) Sending
	Standing func() rules.TellDefaults
	// Notifier makes the plan of a runner's notifier; nil is notifier.NewPlan.
	Notifier func(o notifier.Options) *notifier.Plan
	// MaxParallel bounds the commands of a runner; 0 is 64.
	MaxParallel int
	// NoLead lets runners claim nothing before its instant.
	NoLead bool

	// Synced says that something keeps the machine's clock right.
	Synced bool

	awake, wall   int64 // nanoseconds for which the machine was awake; what its clock shows, since 1970
	slept, booted int64 // for how long it slept; how long it had been awake or slept when it was booted
	seq           uint64
	byAwake       heap
	byWall        heap
	pid           int
	boots         map[string]int   // by node: how often it was booted
	leases        map[string]int64 // by node: until when the lease of its last runner counts, on the awake clock
	runners       []*Runner
	postman       *Runner // the one with the lock: it alone delivers
	children      map[int]*child
	others        map[int]bool // processes of ours that are no runners
	spins, spunAt int64
}

// Fate is what becomes of an attempt.
type Fate struct {
	Gate      string        // why the gate keeps it back; asked only when the task has one
	GateTakes time.Duration // how long the gate takes to answer
	Takes     time.Duration // how long the command runs
	ExitCode  int
	Matched   bool          // its output has what the task waits for
	Err       error         // it cannot be started
	Stubborn  time.Duration // how long it takes to end when it is told to; 10 s at most

	Stdout, Stderr int64  // bytes of its output
	Sum            string // of its standard output
}

// Sending is what becomes of an attempt to deliver a notice. Whoever is told has it at once; the answer comes later.
type Sending struct {
	Takes time.Duration
	Err   error
}

// What happens in a world.
const (
	Starts  = "starts"  // a process of a command
	Ends    = "ends"    // such a process
	Tells   = "tells"   // a message is delivered
	Outcome = "outcome" // a line is in the ledger
	Up      = "up"      // a runner
	Stops   = "stops"   // a runner was told to end: it begins nothing any more
	Down    = "down"    // a runner
	Told    = "told"    // somebody, by a channel
)

// Happening is something that happens.
type Happening struct {
	What   string
	At     time.Time     // what the clock showed
	Awake  time.Duration // how long the machine has been awake
	Runner *Runner
	Record *state.Record // of a process, a delivery or an outcome; it is the world's, and not to be kept
	PID    int
	Noted  bool        // of an end: the store knew the process
	Line   *state.Line // of an outcome
	Notice *state.Notice
}

// New is a machine whose clock shows at.
func New(at time.Time) *World {
	return &World{Store: memory.New(), wall: at.UnixNano(), pid: 100, boots: map[string]int{}, leases: map[string]int64{}, children: map[int]*child{}, others: map[int]bool{}}
}

// Put places a task as it is in the store in memory.
func (w *World) Put(e state.Entry) { w.Store.(*memory.Store).Put(e) }

// Now is what the clock shows.
func (w *World) Now() time.Time { return time.Unix(0, w.wall).UTC() }

// Awake is how long the machine has been awake.
func (w *World) Awake() time.Duration { return time.Duration(w.awake) }

// Suspend has the machine sleep for d.
func (w *World) Suspend(d time.Duration) {
	w.slept += int64(d)
	w.Step(d)
}

// Step puts the clock by d, and everybody who waits for an instant looks at it.
func (w *World) Step(d time.Duration) {
	w.wall += int64(d)
	for _, r := range w.runners {
		w.after(0, r.work)
	}
}

// After calls f when the machine has been awake for d more.
func (w *World) After(d time.Duration, f func()) { w.after(d, f) }

// When calls f when the clock shows at or more.
func (w *World) When(at time.Time, f func()) { w.when(at, f) }

func (w *World) after(d time.Duration, f func()) *event {
	return w.byAwake.push(w.awake+int64(max(d, 0)), w.next(), f)
}

func (w *World) when(at time.Time, f func()) *event {
	return w.byWall.push(at.UnixNano(), w.next(), f)
}

func (w *World) next() uint64 { w.seq++; return w.seq }

// spinMost is how many things may happen at one instant before that is taken for a runner that goes round in circles.
const spinMost = 200_000

// once does what happens next, unless that is later than limit on the awake clock.
func (w *World) once(limit int64) bool {
	a, b := w.byAwake.top(), w.byWall.top()
	if a == nil && b == nil {
		return false
	}
	take, left := &w.byAwake, int64(0)
	if a != nil {
		left = max(a.at-w.awake, 0)
	}
	if b != nil {
		if d := max(b.at-w.wall, 0); a == nil || d < left || d == left && b.seq < a.seq {
			take, left = &w.byWall, d
		}
	}
	if left > limit-w.awake {
		return false
	}
	e := take.pop()
	w.awake += left
	w.wall += left
	if w.awake != w.spunAt {
		w.spunAt, w.spins = w.awake, 0
	}
	if w.spins++; w.spins > spinMost {
		panic("sim: the runner goes round in circles at " + w.Now().Format(time.RFC3339Nano))
	}
	e.do()
	return true
}

// Run lets the machine be awake for d. It may be called from a Disk: a runner that waits for its disk does not hold the
// others up.
func (w *World) Run(d time.Duration) {
	end := w.awake + int64(d)
	for w.once(end) {
	}
	if end > w.awake {
		w.wall += end - w.awake
		w.awake = end
	}
}

// RunTo lets the machine be awake until its clock shows at or more.
func (w *World) RunTo(at time.Time) {
	over := false
	w.when(at, func() { over = true })
	for !over && w.once(1<<62) {
	}
}

// Changed lets all runners know that somebody changed a task.
func (w *World) Changed() {
	for _, r := range w.runners {
		r.Changed()
	}
}

// Power takes the machine's power away: all that runs ends, and the boot is another one from then on.
func (w *World) Power() {
	w.PowerOf("")
	clear(w.others)
	w.booted = w.awake + w.slept
}

// PowerOf is Power of the machine of that name.
func (w *World) PowerOf(node string) {
	for _, r := range w.Runners() {
		if r.Self.Node == node {
			r.gone()
		}
	}
	for pid := 0; pid <= w.pid; pid++ {
		if c := w.children[pid]; c != nil && c.ident.Node == node {
			c.ends(0, "KILL")
		}
	}
	w.boots[node]++
}

// Process is a process of this user's that is no runner, alive until the answer is called.
func (w *World) Process() (id state.Ident, end func()) {
	id = w.ident("")
	w.others[id.PID] = true
	return id, func() {
		delete(w.others, id.PID)
		w.ended()
	}
}

// ended lets the runners know that another process has ended, which may have left something open.
func (w *World) ended() {
	for _, r := range w.runners {
		r.orphans = true
		w.after(0, r.work)
	}
}

// Runners are those that are up.
func (w *World) Runners() []*Runner { return append([]*Runner(nil), w.runners...) }

func (w *World) ident(node string) state.Ident {
	w.pid++
	return state.Ident{Node: node, Boot: fmt.Sprintf("boot-%s-%d", node, w.boots[node]), NS: "1", PID: w.pid, Start: uint64(w.awake / 1e7)}
}

// LeaseMost is for how long the lease of a runner that has ended counts. One that comes up on its node meanwhile has it again.
const LeaseMost = 30 * time.Second

// leased reports whether a runner on the node has a lease; a shorter one for claims of which nothing was begun.
func (w *World) leased(node string, begun bool) bool {
	for _, r := range w.runners {
		if r.Self.Node == node {
			return true
		}
	}
	until := w.leases[node]
	if !begun {
		until -= int64(LeaseMost / 2)
	}
	return until > w.awake
}

func (w *World) tell(h Happening) {
	if w.Told != nil {
		h.At, h.Awake = w.Now(), w.Awake()
		w.Told(h)
	}
}

// Up starts a runner. That another is up already does not keep it from coming up: so much is the lock's to see to.
func (w *World) Up() *Runner { return w.UpOn("") }

// UpOn is Up on the machine of that name.
func (w *World) UpOn(node string) *Runner {
	ctx, cancel := context.WithCancel(context.Background())
	r := &Runner{w: w, Self: w.ident(node), store: w.Store, ctx: ctx, cancel: cancel, attempts: map[*attempt]bool{}}
	if w.Disk != nil {
		r.store = w.Disk(r)
	}
	most := w.MaxParallel
	if most == 0 {
		most = 64
	}
	o := runner.Options{
		Store: r.store, Clock: clocks{w}, Self: r.Self, MaxParallel: runner.AtMost(most), NoLead: w.NoLead, Mute: w.Send == nil, Standing: w.Standing,
		Say: func(format string, a ...any) { r.say(format, a...) },
		Ended: func(rec state.Record, l state.Line) {
			w.tell(Happening{What: Outcome, Runner: r, Record: &rec, Line: &l})
		},
	}
	make := w.Engine
	if make == nil {
		make = runner.NewEngine
	}
	r.engine = make(o, r)
	w.runners = append(w.runners, r)
	if w.Send != nil {
		plan := w.Notifier
		if plan == nil {
			plan = notifier.NewPlan
		}
		r.notifier = plan(notifier.Options{Store: o.Store, Say: o.Say})
		w.relieve(nil)
	}
	w.tell(Happening{What: Up, Runner: r})
	r.begins = true
	r.work()
	return r
}

// Runs reports whether a command of the claim goes on.
func (w *World) Runs(r state.Record) bool {
	for _, c := range w.children {
		if c.r.Task.ID == r.Task.ID && c.r.Number == r.Number {
			return true
		}
	}
	return false
}

// Noted are the processes of commands that go on and that the store knows.
func (w *World) Noted() (pids []int) {
	for pid, c := range w.children {
		if c.noted {
			pids = append(pids, pid)
		}
	}
	return pids
}
