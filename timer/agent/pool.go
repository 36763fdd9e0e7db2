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
	// restLeast is the pause before a program that ended without an answer is started again. Each
	// further time it is twice as long, up to restMost.
	restLeast = time.Second
	restMost  = time.Minute
	// idleLeast is how long a process is idle before the pool asks whether somebody still needs it.
	// As long as somebody does, it asks less and less often, down to once in idleMost.
	idleLeast = 5 * time.Minute
	idleMost  = time.Hour
)

// Options is what a pool works with. Clock, Awake and Say are required.
type Options struct {
	Clock clock.Clock // tells when something was sent and answered
	Awake clock.Clock // measures time-outs and pauses without the time that the machine sleeps
	// Say writes a line into a log. It may be called from any goroutine.
	Say func(format string, a ...any)
	// Warn writes a line about what could not be done; nil: Say does.
	Warn func(format string, a ...any)
	// Needed reports whether an idle program will be told something in the future; nil: it will
	// not.
	Needed func(ctx context.Context, p Program) bool
	// Ready is closed when processes may be started; nil: at once.
	Ready <-chan struct{}
	// Changed is called with all processes after each start and end, one call at a time; nil:
	// nobody is told.
	Changed func([]Alive)
	// Stderr also gets what all processes write to their standard error; nil: nobody does. Each
	// process waits for it.
	Stderr io.Writer
}

// warn says what could not be done.
func (o Options) warn(format string, a ...any) {
	if o.Warn == nil {
		o.Warn = o.Say
	}
	o.Warn(format, a...)
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

	telling sync.Mutex // held while Changed is called; taken before mu

	mu     sync.Mutex
	slots  map[string]*slot
	live   int  // processes
	closed bool // no more are started
	alive  map[*process][]string
	fewer  chan struct{} // receives when there is one process less
}

// slot is the place of a program: at most one process, and one reminder at a time.
type slot struct {
	prog Program
	lock chan struct{} // held by whoever tells it something, or ends it; in order of arrival

	// Of who has the turn.
	cur   *process
	fails int           // processes in a row that ended without an answer
	rest  chan struct{} // closed when it may be started again; nil: at once
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

// slot is the program's place. It stays: there is one for each program that was told anything.
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
// Result.Err is ctx.Err(). Fire waits for the end of what was told.
func (p *Pool) Fire(ctx context.Context, c Call) (r Result) {
	s := p.slot(c.Program)
	defer func() { r.Ended = p.Clock.Now() }()
	select {
	case s.lock <- struct{}{}:
		defer func() { <-s.lock }()
	case <-ctx.Done():
		r.Err = ctx.Err()
		return r
	case r.Halted = <-c.Halt:
		return r
	}
	if r.Err = p.ready(ctx, s, c, &r.Halted); r.Err == nil && r.Halted == "" {
		p.tell(s.cur, c, &r)
	}
	return r
}

// ready makes sure that the program runs and owes no answer that could be mistaken for this one.
func (p *Pool) ready(ctx context.Context, s *slot, c Call, halted *string) error {
	if a := s.cur; a != nil {
		a.mu.Lock()
		owes := a.owed > 0 && a.owes != c.Reminder.Occurrence
		a.mu.Unlock()
		select {
		case <-a.losing:
			<-a.gone
		default:
			if owes {
				p.Say("the agent %s (pid %d) has not answered what it was told before, and is started anew", name(s.prog), a.child.PID())
				a.end(eofGrace, nil)
			}
		}
		if isClosed(a.losing) {
			p.over(s)
		}
	}
	if s.cur != nil {
		return nil
	}
	prog := s.prog // others look at that of the slot
	prog.Also = c.Program.Also
	if s.rest != nil {
		select {
		case <-s.rest:
		case <-ctx.Done():
			return ctx.Err()
		case *halted = <-c.Halt:
			return nil
		}
	}
	if p.Ready != nil {
		select {
		case <-p.Ready:
		case <-ctx.Done():
			return ctx.Err()
		case *halted = <-c.Halt:
			return nil
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
		p.dead()
		return err
	}
	s.cur = a
	p.changed(func() { p.alive[a] = s.prog.Argv })
	p.Say("agent %s started (pid %d)", name(s.prog), a.child.PID())
	go a.watch(func() {
		p.Say("agent %s (pid %d) is gone: %s", name(s.prog), a.child.PID(), a.cause)
		p.changed(func() { delete(p.alive, a) })
		p.dead()
	})
	go p.idle(s, a)
	return nil
}

// over takes a process that is gone out of its slot. If it is broken, or ended by itself without an
// answer, the next one has to wait.
func (p *Pool) over(s *slot) {
	a := s.cur
	s.cur, s.rest = nil, nil
	a.mu.Lock()
	well := (a.acked || a.asked) && !a.broken
	a.mu.Unlock()
	if well {
		s.fails = 0
		return
	}
	pause := restMost
	if s.fails < 6 {
		pause = min(restLeast<<s.fails, restMost)
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

// changed changes the set of processes and tells of it.
func (p *Pool) changed(do func()) {
	p.telling.Lock()
	defer p.telling.Unlock()
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

// dead counts the end of a process.
func (p *Pool) dead() {
	p.mu.Lock()
	p.live--
	p.mu.Unlock()
	select {
	case p.fewer <- struct{}{}:
	default:
	}
}

// tell tells a process and waits for its answer.
func (p *Pool) tell(a *process, c Call, r *Result) {
	line, err := fireLine(c.Reminder, c.ID)
	if err != nil {
		r.Err = err
		return
	}
	f := &flight{id: c.ID, answered: make(chan message, 1)}
	a.said.rotate(c.Stdout)
	a.noise.rotate(c.Stderr)
	a.mu.Lock()
	fresh := !a.told
	a.flight, a.serve, a.stray, a.told = f, c.Serve, "", true
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
				a.begun(ctx, sent, len(line))
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
	select {
	case m := <-f.answered:
		r.take(m)
	case <-a.lost:
		select {
		case m := <-f.answered: // its last words
			r.take(m)
		default:
			r.Err, r.Nearly = errors.New(a.cause), a.nearly()
		}
	case <-over:
		r.TimedOut, r.Nearly = true, a.nearly()
	case r.Halted = <-c.Halt:
		grace := stopGrace
		if c.Grace != nil {
			grace = c.Grace(r.Halted)
		}
		a.stop(grace)
		for gone := false; !gone; {
			select {
			case <-a.gone:
				gone = true
			case <-c.Halt:
				a.stop(0)
			}
		}
	}
	a.noise.drain(a.errs)
	a.mu.Lock()
	a.flight = nil
	a.moves++
	r.Ignored, a.ignored = a.ignored, 0
	a.mu.Unlock()
	r.Stdout, r.Stderr = a.said.settle(), a.noise.settle()
}

// take takes in an answer.
func (r *Result) take(m message) { r.Answered, r.Refused = true, m.err }

// idle ends a process that nobody needs any more.
func (p *Pool) idle(s *slot, a *process) {
	ctx, stop := context.WithCancel(p.ctx)
	defer stop()
	go func() { <-a.gone; stop() }()
	for span := idleLeast; ; {
		seen := a.activity()
		if p.Awake.For(ctx, span) != nil {
			return
		}
		if a.activity() != seen {
			span = idleLeast
			continue
		}
		if p.Needed != nil && p.Needed(ctx, s.prog) {
			span = min(2*span, idleMost)
			continue
		}
		select {
		case s.lock <- struct{}{}:
		default:
			continue // it is being told something
		}
		if s.cur == a && a.activity() == seen {
			p.Say("agent %s (pid %d) has nothing more to do", name(s.prog), a.child.PID())
			a.end(eofGrace, nil)
			p.over(s)
		}
		<-s.lock
	}
}

// Close ends all processes and starts no more. Their standard input ends, after a while they get
// TERM, and after another KILL. KILL comes at once when kill is closed. Their requests before their
// end are still done. Close returns when all are gone; reminders that were being told have failed.
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
				p.over(s)
			}
		})
	}
	all.Wait()
	p.quit()
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// name is a program's name for sentences.
func name(p Program) string { return fmt.Sprintf("%q", p.Argv[0]) }
