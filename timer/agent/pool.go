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
	// restLeast is the pause before a program is started again that ended without an answer, twice as long after each
	// further time, up to restMost.
	restLeast = time.Second
	restMost  = time.Minute
	// idleLeast is for how long a process has nothing to do before it is asked about whether somebody still needs it; while
	// somebody does it is asked about ever more rarely, down to once in idleMost.
	idleLeast = 5 * time.Minute
	idleMost  = time.Hour
)

// Options is what a pool works with. Clock, Awake and Say are required.
type Options struct {
	Clock clock.Clock // tells when something was sent and answered
	Awake clock.Clock // measures time-outs and pauses: time the machine does not sleep
	// Say takes a line for a log. It may be called from any goroutine.
	Say func(format string, a ...any)
	// Warn takes a line about what could not be done, as Say does; nil: Say takes it.
	Warn func(format string, a ...any)
	// Needed says whether something is still to be told to a program that has nothing to do; nil: nothing is.
	Needed func(ctx context.Context, p Program) bool
	// Ready is closed when processes may be started; nil: at once.
	Ready <-chan struct{}
	// Changed is called with the processes there are, after each start and end, in turn; nil: nobody is told.
	Changed func([]Alive)
	// Stderr gets what all processes write to their standard error, too; nil: nobody. Each is held up by it.
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

// slot is the place of a program: one process at the most, and one reminder at a time.
type slot struct {
	prog Program
	turn chan struct{} // held by who tells it something, or ends it; in order of arrival

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

// errClosed is of an attempt after Close.
var errClosed = errors.New("no more agents are started")

// slot is the program's place. It stays: there are as many as programs were told anything.
func (p *Pool) slot(prog Program) *slot {
	p.mu.Lock()
	defer p.mu.Unlock()
	key := prog.key()
	s := p.slots[key]
	if s == nil {
		s = &slot{prog: prog, turn: make(chan struct{}, 1)}
		p.slots[key] = s
	}
	return s
}

// Fire makes an attempt to tell a program of a reminder, and returns how it ended. Those for one program are told one after the other.
// When ctx ends before it is told, it is not, and Result.Err is ctx.Err(); what was told is waited for.
func (p *Pool) Fire(ctx context.Context, c Call) (r Result) {
	s := p.slot(c.Program)
	defer func() { r.Ended = p.Clock.Now() }()
	select {
	case s.turn <- struct{}{}:
		defer func() { <-s.turn }()
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

// ready sees to it that the program runs and owes no answer that could be taken for another one's.
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

// over takes a process out of its slot that is gone. One that ended by itself without an answer, or is broken, has the next one wait.
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

// changed changes which processes there are, and tells of it.
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
	a.said.turn(c.Stdout)
	a.noise.turn(c.Stderr)
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
		case s.turn <- struct{}{}:
		default:
			continue // it is being told something
		}
		if s.cur == a && a.activity() == seen {
			p.Say("agent %s (pid %d) has nothing more to do", name(s.prog), a.child.PID())
			a.end(eofGrace, nil)
			p.over(s)
		}
		<-s.turn
	}
}

// Close ends all processes and starts no more: their standard input ends, after a while TERM comes, and after another KILL, which comes at
// once when kill is closed. What they ask before their end is done. It returns when all are gone; what was being told has failed.
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
			s.turn <- struct{}{}
			defer func() { <-s.turn }()
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

// name is a program in a sentence.
func name(p Program) string { return fmt.Sprintf("%q", p.Argv[0]) }
