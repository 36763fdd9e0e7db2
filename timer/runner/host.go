package runner

import (
	"context"
	"errors"
	"strconv"
	"sync"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/timer/agent"
	"github.com/ouro-timer/ouro-timer/timer/proc"
)

// Host is the world as the engine sees it: what runs commands and tells messages. Each method returns at once; what comes of
// it is one Event for the claim, later.
type Host interface {
	// Start makes an attempt at the claim, not before its due instant: the gate is asked, the attempt is noted, the command
	// is run to its end or the message is told. last is the outcome of the task's occurrence before.
	Start(r state.Record, last string)
	// Adopt waits for the end of a command that a runner before this one started.
	Adopt(r state.Record)
	// Rest lets a pause pass.
	Rest(r state.Record, pause time.Duration)
	// Halt ends what Start began, with TERM and after a while KILL, or the pause of Rest. For what runs already, the event says
	// why. When it is called again with Killed, KILL comes at once.
	Halt(r state.Record, why string)
	// Alive reports whether a process runs: here, or on another machine whose runner has a lease.
	Alive(i state.Ident) bool
}

// Event is what became of a claim that the host was given.
type Event struct {
	Record state.Record
	Rested bool // the pause is over
	Result Result
}

// Result is how an attempt ended.
type Result struct {
	Started, Ended time.Time // zero: it was not started, nobody saw its end
	ExitCode       int
	Signal         string
	User, System   time.Duration
	MaxRSS         int64
	Stdout, Stderr state.Output
	Sum            string // of its standard output, where it is compared with the next run's

	Unstarted bool   // its instant had not come when it was told to end, or has receded
	Gate      string // why the gate kept it back; empty: it did not
	TimedOut  bool
	Nearly    string // of an agent: what there was in place of an answer
	Halted    string // why it was ended from outside
	Matched   bool   // its standard output has what the task waits for
	Unknown   bool   // nobody saw its exit code
	Ignored   int    // of an agent: lines that were no JSON-RPC
	Err       error  // why it could not be started, or the message not be told
	PutOff    error  // why it could not be started yet, of what passes by itself: nothing has begun
}

// stopGrace is how long a command that is told to end has before it is killed.
const stopGrace = 10 * time.Second

// gateMost bounds the command of --if.
const gateMost = time.Minute

// startsMost is how many commands are started at a time. The system starts them one after the other.
const startsMost = 2

// machine is the real host.
type machine struct {
	Options
	ctx    context.Context // ends when nothing more is to be started
	life   context.Context // ends when nobody waits for events any more
	agents *agent.Pool
	events chan<- Event

	outputs outputs               // of what runs
	halts   map[claim]chan string // of what was begun; used by the engine's goroutine alone
	starts  chan struct{}         // has what is being started
}

// begin makes the channel by which a claim is halted.
func (m *machine) begin(r state.Record) chan string {
	c := make(chan string, 1)
	m.halts[claimOf(r)] = c
	return c
}

// done forgets a claim after its event.
func (m *machine) done(r state.Record) { delete(m.halts, claimOf(r)) }

func (m *machine) Halt(r state.Record, why string) {
	select {
	case m.halts[claimOf(r)] <- why:
	default: // it was told already, or is not ours
	}
}

func (m *machine) Alive(i state.Ident) bool {
	return AliveFor(m.Self, i, Alive, func(node string) bool {
		leased, err := m.Store.Leased(m.life, node)
		return leased || err != nil // what may live is not ended
	})
}

func (m *machine) Start(r state.Record, last string) {
	halt := m.begin(r)
	go func() { m.events <- Event{Record: r, Result: m.attempt(r, last, halt)} }()
}

func (m *machine) Rest(r state.Record, pause time.Duration) {
	halt := m.begin(r)
	go func() {
		why := m.sleep(m.ctx, pause, halt)
		m.events <- Event{Record: r, Rested: true, Result: Result{Halted: why}}
	}()
}

// sleep lets d of the machine's waking time pass; it ends early with the reason when it is halted.
func (m *machine) sleep(ctx context.Context, d time.Duration, halt <-chan string) (why string) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	over := make(chan struct{})
	go func() {
		defer close(over)
		_ = m.Awake.For(ctx, d) // an error means that ctx ended, and then nobody listens
	}()
	select {
	case why = <-halt:
	case <-over:
	}
	return why
}

// attempt is one attempt at a claim, from its instant to its end.
func (m *machine) attempt(r state.Record, last string, halt <-chan string) Result {
	first := r.Attempt < 2 // a further one does not wait for the instant again, should the clock have been put back
	if first {
		if why, ok := m.await(r.Due, halt); !ok {
			return Result{Unstarted: why == "", Halted: why}
		}
	}
	r.Starting = m.Clock.Now()
	runs := r
	if m.Allow != nil {
		patterns := m.Allow()
		if res, ok := m.allowed(r, patterns, halt); !ok {
			return res
		}
		runs.Task = confined(r.Task, patterns)
	}
	env := environ(runs, last)
	if r.Task.Policy.If != "" && first { // an occurrence that was begun is not skipped
		if res, ok := m.gate(r, env, halt); !ok {
			return res
		}
	}
	if r.Task.Type() == state.TypeAgent {
		return m.tellAgent(r, halt)
	}
	if r.Task.Told() {
		if res, ok := m.noteStart(r, halt); !ok {
			return res
		}
		<-m.starts
		res := Result{Started: m.Clock.Now()}
		res.Err = m.Deliver(r)
		res.Ended = m.Clock.Now()
		return res
	}
	stdout, stderr := m.Store.Output(r.Task.ID, r.Number)
	noted := false
	c, res, ok := m.start(r, env, stdout, stderr, halt, func() (res Result, ok bool) {
		res, noted = m.noteStart(r, halt)
		return res, noted
	})
	if noted {
		<-m.starts
	}
	switch {
	case res.PutOff != nil && noted:
		m.noteUnstarted(r)
		return res
	case res.Err != nil:
		res.Started = m.Clock.Now()
		res.Ended = res.Started
		return res
	case !ok:
		return res
	}
	r.Child, r.Started = ident(c.Identity()), m.Clock.Now()
	r.First = begun(r, r.Started)
	if err := m.Store.Started(context.WithoutCancel(m.ctx), r); err != nil {
		m.Say("%s: its process could not be noted: %v", occurrence(r), err)
	}
	if !r.Manual { // who fires it by hand sees it
		m.Say("%s started (pid %d): %s", occurrence(r), r.Child.PID, r.Task.Summary())
	}
	return m.supervise(r, c, span(r.Task.Policy.Timeout), halt)
}

// allowed asks whether the patterns allow the task. That looks for its programs, which may be where
// nobody answers.
func (m *machine) allowed(r state.Record, patterns []string, halt <-chan string) (Result, bool) {
	if patterns == nil {
		return Result{}, true
	}
	ctx, heard := m.untilHalted(halt)
	var refusal *Refusal
	var err error
	asked := make(chan func(), 1)
	go func() {
		r, e := Forbidden(ctx, r.Task, patterns)
		asked <- func() { refusal, err = r, e }
	}()
	select {
	case answer := <-asked:
		answer()
	case <-ctx.Done():
		err = ctx.Err()
	}
	switch why := heard(); {
	case why != "":
		return Result{Halted: why}, false
	case m.ctx.Err() != nil && err != nil:
		return Result{Unstarted: true}, false
	case proc.Passing(err):
		return Result{PutOff: err}, false
	case refusal != nil:
		now := m.Clock.Now()
		return Result{Started: now, Ended: now, Err: refusal}, false
	}
	return Result{}, true
}

// errKept is of a start that the callback of start has kept back.
var errKept = errors.New("kept back")

// start starts a command, and calls begin just before, when there is nothing left to do that may
// take long. Not ok: nothing was started, and the result says why. It is what begin returned, if
// that was not ok.
func (m *machine) start(r state.Record, env []string, stdout, stderr state.Stream, halt <-chan string, begin func() (Result, bool)) (c Command, res Result, ok bool) {
	ctx, heard := m.untilHalted(halt)
	kept := false
	c, err := m.Commands.Start(ctx, r, env, stdout, stderr, func() error {
		if why := heard(); why != "" {
			res = Result{Halted: why}
		} else if got, ok := begin(); ok {
			return nil
		} else {
			res = got
		}
		kept = true
		return errKept
	})
	why := heard()
	switch {
	case kept:
		return nil, res, false
	case err == nil:
		return c, Result{}, true
	case why != "":
		return nil, Result{Halted: why}, false
	case m.ctx.Err() != nil && errors.Is(err, m.ctx.Err()):
		return nil, Result{Unstarted: true}, false
	case proc.Passing(err):
		return nil, Result{PutOff: err}, false
	}
	return nil, Result{Err: err}, false
}

// untilHalted is a context that ends when the claim is halted, or nothing more is to be started,
// until heard is called. That says why it was halted, if it was; from then on nobody but the caller
// hears it.
func (m *machine) untilHalted(halt <-chan string) (ctx context.Context, heard func() (why string)) {
	ctx, stop := context.WithCancel(m.ctx)
	enough, told := make(chan struct{}), make(chan string, 1)
	go func() {
		why := ""
		select {
		case why = <-halt:
			stop()
		case <-enough:
		}
		told <- why
	}()
	return ctx, sync.OnceValue(func() string {
		close(enough)
		defer stop()
		return <-told
	})
}

// supervise sees a command to its end, whoever started it: its output is kept small while it runs, it is ended when its time, 0 for no
// bound, is up, or when it is halted, and what it has written is trimmed.
func (m *machine) supervise(r state.Record, c Command, timeout time.Duration, halt <-chan string) Result {
	stdout, stderr := m.Store.Output(r.Task.ID, r.Number)
	_, late := c.(adopted)
	enough := m.outputs.bound(m.Awake, m.copied(r, late, stdout, stderr), stdout, stderr)
	res := m.see(c, timeout, halt)
	enough()
	working := context.WithoutCancel(m.ctx)
	res.Matched = matches(working, stdout, r.Task.Policy.UntilOutput)
	res.Stdout, res.Stderr = kept(working, stdout), kept(working, stderr)
	if notifyOn(r.Task, m.standing().On) == state.NotifyChange {
		res.Sum = sumOf(working, stdout)
	}
	return res
}

// noteStart notes that the claim is about to be started. What cannot be noted is not started: were this runner killed, the next
// one would take the claim for untouched, and start it again. A further attempt was noted before. Where it is noted, a place in starts is
// taken: of a crowd few are noted and not yet started at any moment, and these alone a killed runner leaves in doubt.
func (m *machine) noteStart(r state.Record, halt <-chan string) (Result, bool) {
	for pause := 100 * time.Millisecond; ; pause = min(2*pause, 10*time.Second) {
		m.starts <- struct{}{}
		err := m.Store.Started(context.WithoutCancel(m.ctx), r)
		if err == nil || r.Attempt > 1 {
			return Result{}, true
		}
		<-m.starts
		m.Say("%s: its start could not be noted, and is put off: %v", occurrence(r), err)
		if why := m.sleep(m.ctx, pause, halt); why != "" {
			return Result{Halted: why}, false
		}
		if m.ctx.Err() != nil {
			return Result{Unstarted: true}, false
		}
	}
}

// noteUnstarted takes back what noteStart has noted: were this runner killed now, the next one
// knows that nothing was started. Should the note not be had, it takes the claim for interrupted.
func (m *machine) noteUnstarted(r state.Record) {
	r.Starting, r.Started, r.Child = time.Time{}, time.Time{}, state.Ident{}
	if err := m.Store.Started(context.WithoutCancel(m.ctx), r); err != nil {
		m.Say("%s: that its start is put off could not be noted: %v", occurrence(r), err)
	}
}

// awaitMost is how long a claim waits for its instant, for which it was made a moment before: by
// then the clock was put back.
const awaitMost = lead + time.Second

// await waits for the instant; false when it is not to be started, and why. A claim whose instant
// does not come is given back: the task must not wait with it for as long as the clock was put
// back.
func (m *machine) await(due time.Time, halt <-chan string) (why string, ok bool) {
	if !due.After(m.Clock.Now()) {
		return "", true
	}
	ctx, cancel := context.WithCancel(m.ctx)
	defer cancel()
	came := make(chan error, 2)
	go func() { came <- m.Clock.Until(ctx, due) }()
	go func() { came <- m.Awake.For(ctx, awaitMost) }()
	select {
	case err := <-came:
		return "", err == nil && !due.After(m.Clock.Now())
	case why = <-halt:
		return why, false
	}
}

// see waits for the end of a command, and ends it when its time is up or it is halted.
func (m *machine) see(c Command, timeout time.Duration, halt <-chan string) Result {
	var over chan struct{}
	if timeout > 0 {
		over = make(chan struct{})
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		go func() {
			if m.Awake.For(ctx, timeout) == nil {
				close(over)
			}
		}()
	}
	var res Result
	select {
	case <-c.Done():
	case <-over:
		res.TimedOut = true
	case res.Halted = <-halt:
	}
	if res.TimedOut || res.Halted != "" {
		go c.Stop(graceFor(res.Halted))
		for over := false; !over; {
			select {
			case <-c.Done():
				over = true
			case why := <-halt:
				if why == Killed {
					go c.Stop(0)
				}
			}
		}
	}
	got := c.Wait()
	res.Started, res.Ended = got.Started, m.Clock.Now()
	res.ExitCode, res.Signal, res.Unknown = got.ExitCode, got.Signal, got.Unknown
	res.User, res.System, res.MaxRSS = got.User, got.System, got.MaxRSS
	return res
}

// graceFor is how long a command that is ended for a reason has before it is killed.
func graceFor(why string) time.Duration {
	if why == Killed {
		return 0
	}
	return stopGrace
}

// gate asks the command of --if. It is cheap and quiet: nothing of it is kept but its answer.
func (m *machine) gate(r state.Record, env []string, halt <-chan string) (Result, bool) {
	asked := r
	asked.Task.Run = gateOf(r.Task)
	c, res, ok := m.start(asked, env, nil, nil, halt, func() (Result, bool) { return Result{}, true })
	switch {
	case res.Err != nil:
		return Result{Gate: "could not be asked: " + res.Err.Error()}, false
	case !ok:
		return res, false
	}
	switch res := m.see(c, gateMost, halt); {
	case res.Halted != "":
		return Result{Halted: res.Halted}, false
	case res.TimedOut:
		return Result{Gate: "no answer within " + gateMost.String()}, false
	case res.Signal != "":
		return Result{Gate: "ended by " + res.Signal}, false
	case res.ExitCode != 0:
		return Result{Gate: "exit " + strconv.Itoa(res.ExitCode)}, false
	}
	return Result{}, true
}

func (m *machine) Adopt(r state.Record) {
	halt := m.begin(r)
	go func() {
		c := adopted{command{proc.Adopt(m.life, identity(r.Child))}, r.Started}
		timeout := span(r.Task.Policy.Timeout)
		if timeout > 0 {
			timeout = max(timeout-m.age(r), 1)
		}
		m.events <- Event{Record: r, Result: m.supervise(r, c, timeout, halt)}
	}()
}

// age is for how long the command of a claim has run. Of the time before this runner nobody knows how much the machine slept.
func (m *machine) age(r state.Record) time.Duration {
	if age, ok := identity(r.Child).Age(); ok {
		return age
	}
	return max(m.Clock.Now().Sub(r.Started), 0)
}

// claimOf names an open claim.
func claimOf(r state.Record) claim { return claim{r.Task.ID, r.Number} }

// claim names an open claim. A number is given once.
type claim struct {
	id     string
	number int
}
