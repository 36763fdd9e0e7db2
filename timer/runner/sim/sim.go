// Package sim simulates a machine, or several that share a store, on which the runner's own engine
// works: the clock, the processes, the disk, and failures of them. It never waits: years take as
// long as it takes to compute their events. The same calls have the same results each time.
//
// It uses no file, clock or process, and starts no goroutine.
package sim

import (
	"container/heap"
	"context"
	"fmt"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/state/memory"
	"github.com/ouro-timer/ouro-timer/timer/rules"
	"github.com/ouro-timer/ouro-timer/timer/runner"
)

// World is a machine, or several (UpOn) whose clocks show the same time. Its fields are set before
// the first runner starts.
type World struct {
	Store state.Store // a memory.Store, unless it is replaced
	// Fate says how an attempt at a claim goes (Record.Attempt; 0 is the first) if it is not
	// stopped.
	Fate func(r state.Record) Fate
	// Short, unless it is nil, is called before each start of a command. Its error postpones the
	// start.
	Short func(r state.Record) error
	// Told, unless it is nil, is called with all that happens.
	Told func(Happening)
	// Said, unless it is nil, is called with each line of the runners' logs.
	Said func(text string)
	// Disk, unless it is nil, returns what a runner uses instead of Store. A call of it may let
	// time pass (Run). It panics with Killed{} if the runner was killed meanwhile.
	Disk func(r *Runner) state.Store
	// Engine makes the engine of a runner. nil means runner.NewEngine.
	Engine func(o runner.Options, h runner.Host) *runner.Engine
	// Standing says who is told of tasks that do not say it. If it is nil, no line says who is
	// told. Nobody delivers notices.
	Standing func() rules.TellDefaults
	// Worked, unless it is nil, is called after a runner has done what was due.
	Worked func(*Runner)
	// MaxParallel bounds how many commands of a runner run at once. 0 means 64.
	MaxParallel int
	// NoClaimAhead makes runners claim nothing before its instant.
	NoClaimAhead bool
	// OneMachine makes all nodes processes of one machine, which see each other's.
	OneMachine bool

	// Synced says that the clock of the machine is synchronised.
	Synced bool

	// In nanoseconds:
	awake  int64 // how long the machine was awake
	wall   int64 // what its clock shows, since 1970
	slept  int64 // how long it slept
	booted int64 // awake plus slept when it was booted

	seq      uint64
	byAwake  events           // by awake
	byWall   events           // by wall
	pid      int              // the newest process
	boots    map[string]int   // by node: how often it was booted
	leases   map[string]int64 // by node: until when, by awake, the lease of its last runner lives
	runners  []*Runner
	children map[int]*child
	others   map[int]bool // further processes (Process)

	spins, spunAt int64 // how many events there were at spunAt, by awake
}

// Fate is how an attempt goes.
type Fate struct {
	Gate      string        // why the gate refuses it; only for a task with a gate
	GateTakes time.Duration // how long the gate takes to answer
	Takes     time.Duration // how long the command runs
	ExitCode  int
	Matched   bool          // its output has the text that the task waits for
	Err       error         // why it cannot be started
	Stubborn  time.Duration // how long it takes to end after it is told to; at most 10 s

	Stdout, Stderr int64  // bytes of its output
	Sum            string // the checksum of its standard output
}

// What happens in a world.
const (
	Starts  = "starts"  // the process of a command starts
	Ends    = "ends"    // the process of a command ends
	Tells   = "tells"   // an attempt delivers a message or tells an agent
	Outcome = "outcome" // a line is written to the ledger
	Up      = "up"      // a runner starts
	Stops   = "stops"   // a runner is told to end
	Down    = "down"    // a runner ends
)

// Happening is something that happens.
type Happening struct {
	What   string
	At     time.Time     // what the clock showed
	Awake  time.Duration // how long the machine has been awake
	Runner *Runner
	Record *state.Record // of a process, a delivery or an outcome; only valid during the call
	PID    int
	Noted  bool        // of the end of a process: the store knew it
	Line   *state.Line // of an outcome
}

// New returns a machine whose clock shows at.
func New(at time.Time) *World {
	return &World{
		Store: memory.New(), wall: at.UnixNano(), pid: 100,
		boots: map[string]int{}, leases: map[string]int64{}, children: map[int]*child{}, others: map[int]bool{},
	}
}

// Put adds a task as it is to the store, which must be a memory.Store.
func (w *World) Put(e state.Entry) { w.Store.(*memory.Store).Put(e) }

// Now is what the clock shows.
func (w *World) Now() time.Time { return time.Unix(0, w.wall).UTC() }

// Awake is how long the machine has been awake.
func (w *World) Awake() time.Duration { return time.Duration(w.awake) }

// Suspend lets the machine sleep for d.
func (w *World) Suspend(d time.Duration) {
	w.slept += int64(d)
	w.Step(d)
}

// Step changes the clock by d, and wakes all runners.
func (w *World) Step(d time.Duration) {
	w.wall += int64(d)
	for _, r := range w.runners {
		w.after(0, r.work)
	}
}

// After calls f when the machine was awake for another d.
func (w *World) After(d time.Duration, f func()) { w.after(d, f) }

// When calls f when the clock shows at or later.
func (w *World) When(at time.Time, f func()) { w.when(at, f) }

// after is After. It returns the event, which can be called off.
func (w *World) after(d time.Duration, f func()) *event {
	return w.byAwake.push(w.awake+int64(max(d, 0)), w.next(), f)
}

// when is When. It returns the event, which can be called off.
func (w *World) when(at time.Time, f func()) *event {
	return w.byWall.push(at.UnixNano(), w.next(), f)
}

// next returns a number that is higher than all before.
func (w *World) next() uint64 { w.seq++; return w.seq }

// maxSpins is how many events there may be at one instant. More mean that a runner loops.
const maxSpins = 200_000

// once does the next event. It returns false if there is none, or if it comes after limit, by
// awake.
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
	e := heap.Pop(take).(*event)
	w.awake += left
	w.wall += left
	if w.awake != w.spunAt {
		w.spunAt, w.spins = w.awake, 0
	}
	if w.spins++; w.spins > maxSpins {
		panic("sim: the runner loops at " + w.Now().Format(time.RFC3339Nano))
	}
	e.do()
	return true
}

// Run lets the machine be awake for d. A Disk may call it: while one runner waits for its disk, the
// others go on.
func (w *World) Run(d time.Duration) {
	end := w.awake + int64(d)
	for w.once(end) {
	}
	if end > w.awake {
		w.wall += end - w.awake
		w.awake = end
	}
}

// RunTo lets the machine be awake until its clock shows at or later.
func (w *World) RunTo(at time.Time) {
	over := false
	w.when(at, func() { over = true })
	for !over && w.once(1<<62) {
	}
}

// Changed tells all runners that a task was changed.
func (w *World) Changed() {
	for _, r := range w.runners {
		r.Changed()
	}
}

// Power cuts the power of the machine: all processes end, and another boot begins.
func (w *World) Power() {
	w.PowerOf("")
	clear(w.others)
	w.booted = w.awake + w.slept
}

// PowerOf is Power of the node with that name.
func (w *World) PowerOf(node string) {
	for _, r := range w.Runners() {
		if r.Self.Node == node {
			r.end()
		}
	}
	for pid := 0; pid <= w.pid; pid++ {
		if c := w.children[pid]; c != nil && c.ident.Node == node {
			c.ends(0, "KILL")
		}
	}
	w.boots[node]++
}

// Process starts a process that is not a runner. It lives until end is called.
func (w *World) Process() (id state.Ident, end func()) {
	id = w.ident("")
	w.others[id.PID] = true
	return id, func() {
		delete(w.others, id.PID)
		w.ended()
	}
}

// ended tells the runners that another process has ended, which may have left something open.
func (w *World) ended() {
	for _, r := range w.runners {
		r.orphans = true
		w.after(0, r.work)
	}
}

// Runners returns the runners that have not ended.
func (w *World) Runners() []*Runner { return append([]*Runner(nil), w.runners...) }

// ident returns a new process of the node.
func (w *World) ident(node string) state.Ident {
	w.pid++
	machine := node
	if w.OneMachine {
		machine = ""
	}
	return state.Ident{Node: node, Boot: fmt.Sprintf("boot-%s-%d", machine, w.boots[machine]), NS: "1", PID: w.pid, Start: uint64(w.awake / 1e7)}
}

// LeaseTime is how long the lease of a runner that has ended lives on. A runner that starts on its
// node in that time gets the lease.
const LeaseTime = 30 * time.Second

// leased reports whether the lease of a node lives. For a claim that has not begun, it ends
// earlier.
func (w *World) leased(node string, begun bool) bool {
	for _, r := range w.runners {
		if r.Self.Node == node {
			return true
		}
	}
	until := w.leases[node]
	if !begun {
		until -= int64(LeaseTime / 2)
	}
	return until > w.awake
}

// tell calls Told.
func (w *World) tell(h Happening) {
	if w.Told != nil {
		h.At, h.Awake = w.Now(), w.Awake()
		w.Told(h)
	}
}

// Up starts a runner, even if another one runs already: in the real program the lock prevents that.
func (w *World) Up() *Runner { return w.UpOn("") }

// UpOn is Up on the node with that name.
func (w *World) UpOn(node string) *Runner {
	ctx, cancel := context.WithCancel(context.Background())
	r := &Runner{w: w, Self: w.ident(node), store: w.Store, ctx: ctx, cancel: cancel, attempts: map[*attempt]bool{}}
	if w.Disk != nil {
		r.store = w.Disk(r)
	}
	parallel := w.MaxParallel
	if parallel == 0 {
		parallel = 64
	}
	o := runner.Options{
		Store: r.store, Clock: clocks{w}, Self: r.Self, MaxParallel: runner.AtMost(parallel),
		NoClaimAhead: w.NoClaimAhead, Mute: w.Standing == nil, Standing: w.Standing,
		Say: func(format string, a ...any) { r.say(format, a...) },
		Ended: func(rec state.Record, l state.Line) {
			w.tell(Happening{What: Outcome, Runner: r, Record: &rec, Line: &l})
		},
	}
	newEngine := w.Engine
	if newEngine == nil {
		newEngine = runner.NewEngine
	}
	r.engine = newEngine(o, r)
	w.runners = append(w.runners, r)
	w.tell(Happening{What: Up, Runner: r})
	r.begins = true
	r.work()
	return r
}

// Runs reports whether a command of the claim runs.
func (w *World) Runs(r state.Record) bool {
	for _, c := range w.children {
		if c.r.Task.ID == r.Task.ID && c.r.Number == r.Number {
			return true
		}
	}
	return false
}

// Noted returns the processes of running commands that the store knows.
func (w *World) Noted() (pids []int) {
	for pid, c := range w.children {
		if c.noted {
			pids = append(pids, pid)
		}
	}
	return pids
}
