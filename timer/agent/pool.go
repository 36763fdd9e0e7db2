package agent

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"

	"github.com/ouro-timer/ouro-timer/timer/clock"
	"github.com/ouro-timer/ouro-timer/timer/proc"
)

const (
	// minRest is the pause before a program that ended without an answer is started again. The
	// pause doubles each time, up to maxRest.
	minRest = time.Second
	maxRest = time.Minute
	// minIdle is how long a process is idle before the pool asks Needed. As long as the answer is
	// yes, it asks less and less often, down to once in maxIdle.
	minIdle = 5 * time.Minute
	maxIdle = time.Hour
)

// Options is what a pool works with. Clock, Awake, Say and Warn are
// required.
type Options struct {
	Clock clock.Clock // tells when something was sent and answered
	Awake clock.Clock // measures time-outs and pauses without the time that the machine sleeps
	// Say writes a line into a log. It may be called from any goroutine.
	Say func(format string, a ...any)
	// Warn does so about something that failed.
	Warn func(format string, a ...any)
	// Needed reports whether an idle program will be told something in the future. nil means no.
	Needed func(ctx context.Context, p Program) bool
	// Ready is closed when processes may be started. nil means at once.
	Ready <-chan struct{}
	// Changed, unless it is nil, is called with all processes after each start and end, one call at
	// a time.
	Changed func([]Alive)
	// Stderr, unless it is nil, also gets what all processes write to their standard error. Each
	// process waits for it.
	Stderr io.Writer
}

// Alive is a process of a pool.
type Alive struct {
	proc.Identity
	Argv []string
}

// Pool keeps the processes of agents. Its methods may be called from any goroutine.
type Pool struct {
	Options
	ctx  context.Context
	quit context.CancelFunc

	reporting sync.Mutex // held while Changed is called; locked before mu

	mu     sync.Mutex
	slots  map[string]*slot
	live   int  // how many processes there are
	closed bool // no more processes are started
	alive  map[*process][]string
	fewer  chan struct{} // receives when a process has ended
}

// slot is the place of a program: at most one process, and one reminder at a time.
type slot struct {
	prog Program
	lock chan struct{} // full while a goroutine tells the program something, or ends it

	// The goroutine that has filled lock uses these.
	cur   *process
	fails int           // processes in a row that ended without an answer
	rest  chan struct{} // closed when it may be started again; nil means at once
}

// NewPool makes a pool without processes.
func NewPool(o Options) *Pool {
	p := &Pool{Options: o, slots: map[string]*slot{}, alive: map[*process][]string{}, fewer: make(chan struct{}, 1)}
	p.ctx, p.quit = context.WithCancel(context.Background())
	return p
}

// Live is how many processes there are.
func (p *Pool) Live() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.live
}

// Fewer receives after the end of a process.
func (p *Pool) Fewer() <-chan struct{} { return p.fewer }

// errClosed is the error of an attempt after Close.
var errClosed = errors.New("no more agents are started")

// slot returns the slot of a program. Slots are never removed: each program that was ever told
// anything has one.
func (p *Pool) slot(prog Program) *slot {
	p.mu.Lock()
	defer p.mu.Unlock()
	key := prog.key()
	s := p.slots[key]
	if s == nil {
		s = &slot{prog: prog, lock: make(chan struct{}, 1)}
		p.slots[key] = s
	}
	return s
}

// Fire makes an attempt to tell a program of a reminder, and returns how it ended. Attempts for one
// program are made one after the other. If ctx ends before the program is told, it is not told, and
// Result.Err is ctx.Err(). Once the program is told, Fire waits for the end of the attempt.
func (p *Pool) Fire(ctx context.Context, c Call) (r Result) {
	s := p.slot(c.Program)
	defer func() { r.Ended = p.Clock.Now() }()
	select {
	case s.lock <- struct{}{}:
		defer func() { <-s.lock }()
	case <-ctx.Done():
		r.Err = ctx.Err()
		return r
	case <-c.Halt:
		r.Halted = true
		return r
	}
	switch err := p.ready(ctx, s, c); {
	case err == nil:
		p.tell(s.cur, c, &r)
	case errors.Is(err, errHalted):
		r.Halted = true
	default:
		r.Err = err
	}
	return r
}

// errHalted says that the caller has ended an attempt that had not begun.
var errHalted = errors.New("halted")

// ready makes sure that the program runs, and that no late answer of it could be taken for the
// answer to c. It returns errHalted if the caller ends the attempt meanwhile.
func (p *Pool) ready(ctx context.Context, s *slot, c Call) error {
	if a := s.cur; a != nil {
		a.mu.Lock()
		owes := a.owed > 0 && a.owes != c.Reminder.Occurrence
		a.mu.Unlock()
		if owes && !isClosed(a.losing) {
			p.Say("the agent %s (pid %d) has not answered what it was told before, and is started anew", name(s.prog), a.child.PID())
			a.end(eofGrace, nil)
		}
		if isClosed(a.losing) {
			<-a.gone // two of one program would both be told
			p.vacate(s)
		}
	}
	if s.cur != nil {
		return nil
	}
	prog := s.prog // a copy, because other goroutines read the one of the slot
	prog.Also = c.Program.Also
	for _, until := range []<-chan struct{}{s.rest, p.Ready} {
		if until == nil {
			continue
		}
		select {
		case <-until:
		case <-ctx.Done():
			return ctx.Err()
		case <-c.Halt:
			return errHalted
		}
	}
	p.mu.Lock()
	if p.closed {
		p.mu.Unlock()
		return errClosed
	}
	p.live++
	p.mu.Unlock()
	a, err := p.start(ctx, prog)
	if err != nil {
		p.ended()
		return err
	}
	s.cur = a
	p.changed(func() { p.alive[a] = s.prog.Argv })
	p.Say("agent %s started (pid %d)", name(s.prog), a.child.PID())
	go a.watch(func() {
		p.Say("agent %s (pid %d) is gone: %s", name(s.prog), a.child.PID(), a.cause)
		p.changed(func() { delete(p.alive, a) })
		p.ended()
	})
	go p.idle(s, a)
	return nil
}

// vacate removes a process that is gone from its slot. If it is broken, or ended by itself without
// an answer, the next one has to wait.
func (p *Pool) vacate(s *slot) {
	a := s.cur
	s.cur, s.rest = nil, nil
	a.mu.Lock()
	well := (a.acked || a.asked) && !a.broken
	a.mu.Unlock()
	if well {
		s.fails = 0
		return
	}
	pause := maxRest
	if s.fails < 6 {
		pause = min(minRest<<s.fails, maxRest)
	}
	s.fails++
	rest := make(chan struct{})
	s.rest = rest
	go func() {
		if p.Awake.For(p.ctx, pause) == nil {
			close(rest)
		}
	}()
}

// changed calls do, which changes the set of processes, and then Changed.
func (p *Pool) changed(do func()) {
	p.reporting.Lock()
	defer p.reporting.Unlock()
	p.mu.Lock()
	do()
	list := make([]Alive, 0, len(p.alive))
	for a, argv := range p.alive {
		list = append(list, Alive{a.child.Identity(), argv})
	}
	p.mu.Unlock()
	slices.SortFunc(list, func(a, b Alive) int { return a.PID - b.PID })
	if p.Changed != nil {
		p.Changed(list)
	}
}

// ended counts the end of a process.
func (p *Pool) ended() {
	p.mu.Lock()
	p.live--
	p.mu.Unlock()
	select {
	case p.fewer <- struct{}{}:
	default:
	}
}

// tell tells a process of a reminder and waits for the answer.
func (p *Pool) tell(a *process, c Call, r *Result) {
	line, err := fireLine(c.Reminder, c.ID)
	if err != nil {
		r.Err = err
		return
	}
	f := &delivery{id: c.ID, answered: make(chan message, 1)}
	a.stdout.rotate(c.Stdout)
	a.stderr.rotate(c.Stderr)
	a.mu.Lock()
	fresh := !a.told
	a.current, a.serve, a.mismatch, a.told = f, c.Serve, "", true
	a.moves++
	if c.ID == "" {
		a.owed, a.owes = a.owed+1, c.Reminder.Occurrence
	}
	a.mu.Unlock()
	if c.Started != nil {
		c.Started(a.child.Identity())
	}
	r.Sent = p.Clock.Now()
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	sent := make(chan struct{})
	var over chan struct{}
	if c.Timeout > 0 {
		over = make(chan struct{})
		go func() {
			if fresh {
				a.awaitRead(ctx, sent, len(line))
			}
			if p.Awake.For(ctx, c.Timeout) == nil {
				close(over)
			}
		}()
	}
	go func() {
		if err := a.write(line); err != nil {
			a.lose(brokenPipe(err))
		}
		close(sent)
	}()
	a.awaitAnswer(f, c, over, r)
	a.stderr.drain(a.errs)
	a.mu.Lock()
	a.current = nil
	a.moves++
	r.Ignored, a.ignored = a.ignored, 0
	a.mu.Unlock()
	r.Stdout, r.Stderr = a.stdout.flush(), a.stderr.flush()
}

// awaitAnswer waits for the answer to a delivery, for the end of the process, for over, or until
// somebody asks for the end of the delivery, and puts into r which of them came.
func (a *process) awaitAnswer(f *delivery, c Call, over <-chan struct{}, r *Result) {
	select {
	case m := <-f.answered:
		r.take(m)
	case <-a.lost:
		select {
		case m := <-f.answered: // it answered just before its end
			r.take(m)
		default:
			r.Err, r.Nearly = errors.New(a.cause), a.nearly()
		}
	case <-over:
		r.TimedOut, r.Nearly = true, a.nearly()
	case <-c.Halt:
		r.Halted = true
		if !isClosed(c.Kill) {
			a.stop(c.Grace)
		}
		select {
		case <-a.gone:
		case <-c.Kill:
			a.stop(0)
			<-a.gone
		}
	}
}

// take notes the answer.
func (r *Result) take(m message) { r.Answered, r.Refused = true, m.err }

// idle ends the process when it is no longer needed.
func (p *Pool) idle(s *slot, a *process) {
	ctx, stop := context.WithCancel(p.ctx)
	defer stop()
	go func() { <-a.gone; stop() }()
	for pause := minIdle; ; {
		before := a.activity()
		if p.Awake.For(ctx, pause) != nil {
			return
		}
		if a.activity() != before {
			pause = minIdle
			continue
		}
		if p.Needed != nil && p.Needed(ctx, s.prog) {
			pause = min(2*pause, maxIdle)
			continue
		}
		select {
		case s.lock <- struct{}{}:
		default:
			continue // another goroutine tells it something
		}
		if s.cur == a && a.activity() == before {
			p.Say("agent %s (pid %d) has nothing more to do", name(s.prog), a.child.PID())
			a.end(eofGrace, nil)
			p.vacate(s)
		}
		<-s.lock
	}
}

// Close ends all processes and starts no more. It closes their standard input, and sends TERM after
// eofGrace and KILL after stopGrace, or KILL at once when kill is closed. It still answers requests
// that they write before their end. It returns when all are gone. Attempts under way come to their
// end before.
func (p *Pool) Close(kill <-chan struct{}) {
	p.mu.Lock()
	p.closed = true
	slots := make([]*slot, 0, len(p.slots))
	for _, s := range p.slots {
		slots = append(slots, s)
	}
	p.mu.Unlock()
	var all sync.WaitGroup
	for _, s := range slots {
		all.Go(func() {
			s.lock <- struct{}{}
			defer func() { <-s.lock }()
			if s.cur != nil {
				s.cur.end(eofGrace, kill)
				p.vacate(s)
			}
		})
	}
	all.Wait()
	p.quit()
}

// isClosed reports whether a channel is closed.
func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// name returns the name of a program for messages.
func name(p Program) string { return fmt.Sprintf("%q", p.Argv[0]) }
