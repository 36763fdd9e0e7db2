package runner

import (
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/timer/clock"
	"github.com/ouro-timer/ouro-timer/timer/proc"
	"github.com/ouro-timer/ouro-timer/timer/rules"
)

// stopGrace is how long a command that is told to end has before it is killed.
const stopGrace = 10 * time.Second

// gateMost is how long the command of --if may take.
const gateMost = time.Minute

// startsMost is how many commands are started at a time. The system starts them one after the
// other. In a fleet most of the time of a start is the servers'.
const (
	startsMost      = 2
	startsMostFleet = 8
)

// noteAhead is how long before its instant the start of a claim is noted in a fleet, whose servers
// need some milliseconds for it.
const noteAhead = 10 * time.Millisecond

// supervisor sees one claim from its instant to its end, with a command that it starts or that an
// earlier runner has started. One goroutine uses it; end may be called from another.
type supervisor struct {
	*machine
	r state.Record

	halted   context.Context // ends when somebody asks for the claim's end; why says the reason
	killed   context.Context // ends when the claim must end at once
	starting context.Context // ends with halted, and when nothing more is started

	halt    context.CancelCauseFunc
	kill    context.CancelFunc
	release func() // releases the contexts after the claim is over
}

// haltCause is the cause of the end of a claim's contexts when somebody has asked for the claim's
// end: the reason.
type haltCause string

func (h haltCause) Error() string { return "to end: " + string(h) }

// why is the reason why somebody asked for the end of the claim with this context. It is empty if
// nobody did.
func why(ctx context.Context) string {
	h, _ := context.Cause(ctx).(haltCause)
	return string(h)
}

func newSupervisor(m *machine, r state.Record) *supervisor {
	s := &supervisor{machine: m, r: r}
	s.killed, s.kill = context.WithCancel(context.WithoutCancel(m.ctx))
	s.halted, s.halt = context.WithCancelCause(s.killed)
	starting, stop := context.WithCancel(s.halted)
	ended := context.AfterFunc(m.ctx, stop)
	s.starting, s.release = starting, func() { ended(); s.kill() }
	return s
}

// end asks for the end of the claim. With Killed, the claim ends at once.
func (s *supervisor) end(why string) {
	s.halt(haltCause(why))
	if why == rules.Killed {
		s.kill()
	}
}

// unbegun is the result if starting has ended before anything began, or if the instant has receded.
func (s *supervisor) unbegun() rules.Result {
	reason := why(s.starting)
	return rules.Result{Unstarted: reason == "", Halted: reason}
}

// sleep waits for d of the machine's waking time, unless starting ends before.
func (s *supervisor) sleep(d time.Duration) { _ = s.Awake.For(s.starting, d) }

// attempt makes one attempt at the claim, from its instant to its end. last is the outcome of the
// task's previous occurrence.
func (s *supervisor) attempt(last string) rules.Result {
	// a further one does not wait for the instant again, even if the clock was put back
	first := s.r.Attempt < 2
	if first && !s.await(s.notedAt()) {
		return s.unbegun()
	}
	s.r.Starting = s.Clock.Now()
	runs := s.r
	if s.Allow != nil {
		patterns := s.Allow()
		if res, ok := s.allowed(patterns); !ok {
			return res
		}
		runs.Task = confined(s.r.Task, patterns)
	}
	env := environ(runs, last)
	if s.r.Task.Policy.If != "" && first { // an occurrence that has begun is not skipped
		if res, ok := s.gate(env); !ok {
			return res
		}
	}
	switch {
	case s.r.Task.Type() == state.TypeAgent:
		return s.tellAgent()
	case s.r.Task.Told():
		return s.tell()
	}
	return s.run(env)
}

// awaitMost is how long a claim waits for its instant, which is only a moment away. After that, the
// clock was put back.
const awaitMost = claimAhead + time.Second

// notedAt is when the start of a claim may be noted. What is asked first, and an agent, which is
// not noted before it begins, waits for the instant.
func (s *supervisor) notedAt() time.Time {
	_, shared := state.SharedBy(s.Store)
	if !shared || s.r.Task.Policy.If != "" || s.r.Task.Type() == state.TypeAgent {
		return s.r.Due
	}
	return s.r.Due.Add(-noteAhead)
}

// await waits until the clock shows an instant, if the claim was made ahead of its own. It is false
// if the claim must not start: it was halted, nothing more is started, or the clock was put back,
// and the claim is given back so that its task does not wait for as long as that.
func (s *supervisor) await(until time.Time) bool {
	if !s.r.Claimed.Before(s.r.Due) || !until.After(s.Clock.Now()) {
		return true
	}
	ctx, cancel := clock.WithTimeout(s.starting, s.Awake, awaitMost)
	defer cancel()
	_ = s.Clock.Until(ctx, until)
	return s.starting.Err() == nil && !until.After(s.Clock.Now())
}

// allowed checks whether the patterns allow the task. This looks for its programs, perhaps on a
// file system that does not answer.
func (s *supervisor) allowed(patterns []string) (rules.Result, bool) {
	if patterns == nil {
		return rules.Result{}, true
	}
	type answer struct {
		refusal *rules.Refusal
		err     error
	}
	asked := make(chan answer, 1)
	go func() {
		refusal, err := Forbidden(s.starting, s.r.Task, patterns)
		asked <- answer{refusal, err}
	}()
	var got answer
	select {
	case got = <-asked:
	case <-s.starting.Done():
		got.err = s.starting.Err()
	}
	err := got.err
	switch {
	case err != nil && s.starting.Err() != nil:
		return s.unbegun(), false
	case proc.Passing(err):
		return rules.Result{Postponed: err}, false
	case err == nil && got.refusal != nil:
		err = got.refusal
	}
	if err != nil {
		now := s.Clock.Now()
		return rules.Result{Started: now, Ended: now, Err: err}, false
	}
	return rules.Result{}, true
}

// gate runs the command of --if. Nothing of it is kept but its answer.
func (s *supervisor) gate(env []string) (rules.Result, bool) {
	asked := s.r
	asked.Task.Run = gateOf(s.r.Task)
	c, err := s.Commands.Start(s.starting, asked, env, nil, nil, s.starting.Err)
	switch {
	case err != nil && s.starting.Err() != nil:
		return s.unbegun(), false
	case proc.Passing(err):
		return rules.Result{Postponed: err}, false
	case err != nil:
		return rules.Result{Gate: "could not be asked: " + err.Error()}, false
	}
	switch res := s.see(c, gateMost); {
	case res.Halted != "":
		return rules.Result{Halted: res.Halted}, false
	case res.TimedOut:
		return rules.Result{Gate: "no answer within " + gateMost.String()}, false
	case res.Signal != "":
		return rules.Result{Gate: "ended by " + res.Signal}, false
	case res.ExitCode != 0:
		return rules.Result{Gate: "exit " + strconv.Itoa(res.ExitCode)}, false
	}
	return rules.Result{}, true
}

// tell tells the message.
func (s *supervisor) tell() rules.Result {
	if s.noteStart() != nil {
		return s.unbegun()
	}
	<-s.starts
	res := rules.Result{Started: s.Clock.Now()}
	res.Err = s.Deliver(s.r)
	res.Ended = s.Clock.Now()
	return res
}

// run runs the command.
func (s *supervisor) run(env []string) rules.Result {
	stdout, stderr := s.Store.Output(s.r.Task.ID, s.r.Number)
	noted := false
	c, err := s.Commands.Start(s.starting, s.r, env, stdout, stderr, func() error {
		err := s.noteStart()
		noted = err == nil
		return err
	})
	if noted {
		<-s.starts
	}
	now := s.Clock.Now()
	switch {
	case err == nil:
	case errors.Is(err, errUnbegun), s.starting.Err() != nil && (!noted || errors.Is(err, s.starting.Err())):
		if noted {
			s.noteUnstarted()
		}
		return s.unbegun()
	case proc.Passing(err):
		if noted {
			s.noteUnstarted()
		}
		return rules.Result{Postponed: err}
	default:
		return rules.Result{Started: now, Ended: now, Err: err}
	}
	s.r.Child, s.r.Started = ident(c.Identity()), now
	s.r.First = rules.Begun(s.r, now)
	if err := s.Store.Started(context.WithoutCancel(s.ctx), s.r); err != nil {
		s.warn("%s: its process could not be noted: %v", occurrence(s.r), err)
	}
	if s.r.Attempt < 2 && s.Begun != nil && !s.r.Manual {
		s.Begun(s.r)
	}
	if !s.r.Manual { // who fires it by hand sees it
		s.Say("%s started (pid %d): %s", occurrence(s.r), s.r.Child.PID, s.r.Task.Summary())
	}
	return s.supervise(c, rules.Span(s.r.Task.Policy.Timeout))
}

// noteStart notes that the claim is about to start, and returns at its instant. A claim that cannot
// be noted is not started: if this runner were killed, the next one would take the claim for
// untouched, and start it again. A further attempt was noted before.
//
// noteStart also takes a place in starts. So only a few of a crowd are noted and not yet started at
// any moment, and only those are in doubt after the runner is killed. errUnbegun: the claim must
// not start any more. That also is so if noting took so long that the rules would decide otherwise.
func (s *supervisor) noteStart() error {
	for pause, failed := 100*time.Millisecond, false; ; pause, failed = min(2*pause, 10*time.Second), true {
		select {
		case <-s.starting.Done():
			return errUnbegun
		case s.starts <- struct{}{}:
		}
		if s.starting.Err() != nil {
			<-s.starts
			return errUnbegun
		}
		err := s.Store.Started(context.WithoutCancel(s.ctx), s.r)
		switch {
		case (err == nil || s.r.Attempt > 1) && s.Store.Contact().Silent > state.CutOff,
			err == nil && failed && s.r.Attempt < 2 && !s.r.Manual && rules.Stale(s.r, s.Clock.Now()):
			// this program was stopped, or the machine slept, or the store did not answer
			<-s.starts
			s.noteUnstarted()
			return errUnbegun
		case s.r.Attempt > 1:
			return nil
		case err == nil && s.await(s.r.Due):
			return nil
		case err == nil: // it is taken back while it was to wait
			<-s.starts
			s.noteUnstarted()
			return errUnbegun
		}
		<-s.starts
		if errors.Is(err, state.ErrEnded) { // another process, which took us for dead, has ended it
			return errUnbegun
		}
		s.warn("%s: its start could not be noted, and is put off: %v", occurrence(s.r), err)
		s.sleep(pause)
	}
}

var errUnbegun = errors.New("it is not to be started any more")

// noteUnstarted takes back what noteStart has noted. If this runner is killed now, the next one
// knows that nothing was started. If this note is lost, it takes the claim for interrupted.
func (s *supervisor) noteUnstarted() {
	r := s.r
	r.Starting, r.Started, r.Child = time.Time{}, time.Time{}, state.Ident{}
	if err := s.Store.Started(context.WithoutCancel(s.ctx), r); err != nil {
		s.warn("%s: that its start is put off could not be noted: %v", occurrence(r), err)
	}
}

// adopt waits for the end of the command that an earlier runner has started.
func (s *supervisor) adopt() rules.Result {
	c := adopted{command{proc.Adopt(s.life, identity(s.r.Child))}, s.r.Started}
	timeout := rules.Span(s.r.Task.Policy.Timeout)
	if timeout > 0 {
		timeout = max(timeout-s.age(), 1)
	}
	return s.supervise(c, timeout)
}

// age is how long the command has run. Nobody knows how much the machine slept before this runner
// began.
func (s *supervisor) age() time.Duration {
	if age, ok := identity(s.r.Child).Age(); ok {
		return age
	}
	return max(s.Clock.Now().Sub(s.r.Started), 0)
}

// supervise sees a command to its end, whoever started it. It keeps the output small while it runs,
// ends it when its time is up (0: no bound) or when it is halted, and trims what it has written.
func (s *supervisor) supervise(c Command, timeout time.Duration) rules.Result {
	stdout, stderr := s.Store.Output(s.r.Task.ID, s.r.Number)
	_, late := c.(adopted)
	watching, seen := context.WithCancel(s.killed)
	s.endWhenCutOff(watching)
	defer seen()
	enough := s.outputs.bound(s.Awake, s.copyOutput(s.r, late, stdout, stderr), stdout, stderr)
	res := s.see(c, timeout)
	enough()
	if res.Unknown && s.life.Err() != nil && Alive(s.r.Child) {
		return res // only the watch has ended, and nobody is told; the command goes on writing
	}
	working := context.WithoutCancel(s.ctx)
	res.Matched = matches(working, stdout, s.r.Task.Policy.UntilOutput)
	res.Stdout, res.Stderr = trim(working, stdout), trim(working, stderr)
	if rules.NotifyOn(s.r.Task, s.standing().On) == state.NotifyChange {
		res.Sum = sumOf(working, stdout)
	}
	return res
}

// see waits for the end of a command, and ends it when its time is up or the claim is halted.
func (s *supervisor) see(c Command, timeout time.Duration) rules.Result {
	var over <-chan struct{}
	if timeout > 0 {
		ctx, cancel := clock.WithTimeout(context.Background(), s.Awake, timeout)
		defer cancel()
		over = ctx.Done()
	}
	var res rules.Result
	select {
	case <-c.Done():
	case <-over:
		res.TimedOut = true
	case <-s.halted.Done():
		res.Halted = why(s.halted)
	}
	select {
	case <-c.Done(): // by itself, just now
		res.TimedOut, res.Halted = false, ""
	default:
	}
	if res.TimedOut || res.Halted != "" {
		go c.Stop(graceFor(res.Halted))
		select {
		case <-c.Done():
		case <-s.killed.Done():
			go c.Stop(0)
		}
	}
	got := c.Wait()
	res.Started, res.Ended = got.Started, s.Clock.Now()
	res.ExitCode, res.Signal, res.Unknown = got.ExitCode, got.Signal, got.Unknown
	res.Memory = got.OutOfMemory
	res.User, res.System, res.MaxRSS = got.User, got.System, got.MaxRSS
	return res
}

// graceFor is how long a command that is ended for this reason has before it is killed.
func graceFor(why string) time.Duration {
	if why == rules.Killed {
		return 0
	}
	return stopGrace
}
