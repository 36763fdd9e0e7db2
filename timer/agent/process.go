package agent

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ouro-timer/ouro-timer/timer/proc"
)

const (
	// asksMost is how many requests of a process may wait for an answer. While there are more,
	// nothing more is read from it.
	asksMost = 16
	// writeMost is how long a process may leave a line unread that is written to it.
	writeMost = 30 * time.Second
	// lastWords is how long to wait for the end of a stream after the process has ended, and the
	// other way round. The wait is repeated up to lastRounds times as long as there is output.
	lastWords, lastRounds = time.Second, 30
	// stopGrace is how long a process has between TERM and KILL, and eofGrace between the end of
	// its standard input and TERM.
	stopGrace = 5 * time.Second
	eofGrace  = 5 * time.Second
	// scoldMost is how many invalid lines a process is told of. Two programs that tell each other
	// would never end.
	scoldMost = 100
	// refusedMost is how many requests of a process may be refused within refusedSpan. A process
	// that goes on is broken, and is ended.
	refusedMost = 100
	refusedSpan = time.Minute
	// startMost is how long a new process may be busy with its start before the time-out of its
	// first reminder begins.
	startMost = 10 * time.Second
)

// process is a started agent, with what is needed to talk to it.
type process struct {
	*Options
	ctx   context.Context // of the requests; ends with the pool
	name  string
	child *proc.Process
	in    *os.File // its standard input
	out   *os.File
	open  unended // out
	errs  *os.File
	said  tap // the part of its standard output that is not JSON-RPC
	noise tap // its standard error

	pen    chan struct{} // held by who writes to in
	asks   chan message  // to be answered
	heard  chan struct{} // closed when its standard output has ended
	served chan struct{} // closed when all its requests are answered
	losing chan struct{} // closed when nobody can talk to it any more
	lost   chan struct{} // closed when cause says why
	gone   chan struct{} // closed when it has ended and all its output was read
	cause  string        // set before lost is closed

	mu      sync.Mutex
	why     string  // why nobody can talk to it any more
	asked   bool    // it was told to end
	flight  *flight // what it is being told
	serve   Serve   // of what it was last told of
	owed    int     // notifications that it has not answered
	owes    string  // the occurrence they were of
	acked   bool    // it has answered something
	ignored int     // lines since the last report of their number
	scolded int
	stray   string // an answer that does not fit its reminder
	told    bool   // something
	broken  bool   // it was refused too often: nothing more is read from it
	moves   uint64 // goes up with all it does
}

// flight is the reminder that a process is being told of.
type flight struct {
	id       string
	answered chan message // receives once
}

// start starts a program. The caller has it watched.
func (p *Pool) start(ctx context.Context, prog Program) (_ *process, err error) {
	var ours, theirs [3]*os.File
	defer func() {
		for i := range ours {
			if theirs[i] != nil {
				theirs[i].Close()
			}
			if err != nil && ours[i] != nil {
				ours[i].Close()
			}
		}
	}()
	for i := range ours {
		r, w, err := os.Pipe()
		if err != nil {
			return nil, fmt.Errorf("no pipe can be had: %w", err)
		}
		if ours[i], theirs[i] = r, w; i == 0 {
			ours[i], theirs[i] = w, r
		}
	}
	child, err := proc.StartWhen(ctx, proc.Spec{Argv: prog.Argv, Dir: prog.Dir, Env: slices.Concat(prog.Env, prog.Also), Umask: prog.Umask,
		Stdin: theirs[0], Stdout: theirs[1], Stderr: theirs[2]}, func() error { return nil })
	if err != nil {
		return nil, err
	}
	a := &process{Options: &p.Options, ctx: p.ctx, name: name(prog), child: child, in: ours[0], out: ours[1], errs: ours[2],
		pen: make(chan struct{}, 1), asks: make(chan message, asksMost), heard: make(chan struct{}), served: make(chan struct{}),
		losing: make(chan struct{}), lost: make(chan struct{}), gone: make(chan struct{})}
	a.noise.also, a.open.Reader = p.Stderr, a.out
	go a.listen()
	go a.answer()
	return a, nil
}

// listen reads its standard output to the end.
func (a *process) listen() {
	defer close(a.heard)
	defer close(a.asks)
	from := newLines(&a.open)
	for {
		line, long, err := from.next()
		if err != nil {
			return
		}
		a.hear(line, long)
	}
}

// hear takes in a line.
func (a *process) hear(line []byte, long bool) {
	m := message{kind: garbage}
	if !long {
		m = parse(line)
	} else if meant(line) {
		m = message{kind: invalid, id: []byte("null"), err: &Error{Code: CodeRequest, Message: "the line is longer than 1 MiB"}}
	}
	a.mu.Lock()
	if a.broken {
		a.mu.Unlock()
		return
	}
	a.moves++
	scold := false
	switch m.kind {
	case blank:
	case garbage, invalid:
		if a.ignored++; m.kind == invalid && a.scolded < scoldMost {
			a.scolded++
			scold = true
		}
	case response: // an answer that nobody waits for comes too late
		if m.answers("") {
			a.owed = max(a.owed-1, 0)
		}
		if f := a.flight; f != nil && m.answers(f.id) {
			a.flight, a.acked = nil, true
			f.answered <- m
		} else if f != nil {
			a.stray = m.strayFrom(f.id)
		}
	}
	a.mu.Unlock()
	switch {
	case m.kind == garbage || m.kind == invalid:
		if len(line) > headMost {
			line = line[:headMost]
		}
		_, _ = a.said.Write(append(line[:len(line):len(line)], '\n'))
		if !scold {
			return
		}
	case m.kind != request:
		return
	}
	// While it has too many requests, nothing more is read from it, and it has to wait. If it is
	// lost meanwhile, its requests are still done.
	a.asks <- m
}

// answer answers its requests, one after the other, until its standard output has ended.
func (a *process) answer() {
	defer close(a.served)
	var refusals int
	var since time.Time
	for m := range a.asks {
		a.mu.Lock()
		serve, broken := a.serve, a.broken
		a.mu.Unlock()
		if broken {
			continue
		}
		var result any
		failed := m.err
		if m.kind == request {
			failed = &Error{Code: CodeMethod, Message: "there is no method " + m.method}
			if serve != nil && a.ctx.Err() == nil {
				var err error
				result, err = serve(a.ctx, m.method, m.params)
				if failed = nil; err != nil && !errors.As(err, &failed) {
					failed = &Error{Code: CodeInternal, Message: err.Error()}
				}
			}
		}
		if failed != nil {
			a.refused(m, failed)
			if now := a.Clock.Now(); since.IsZero() || now.Sub(since).Abs() >= refusedSpan {
				refusals, since = 0, now
			}
			if refusals++; refusals > refusedMost {
				a.breakOff()
				continue
			}
		}
		if m.silent() {
			continue
		}
		if err := a.write(answerLine(m.id, result, failed)); err != nil {
			a.lose(brokenPipe(err))
		}
	}
}

// refusalMost is the most characters of a refusal that are noted.
const refusalMost = 300

// refused notes a request that was not done, because many agents read no answers. The note is in
// the log of the runner, and in the standard error of the last reminder.
func (a *process) refused(m message, failed *Error) {
	what := "what it asked"
	if m.kind == request {
		what = m.method
	}
	text := []rune(strings.Join(strings.Fields(what+" is refused: "+failed.Error()), " "))
	if len(text) > refusalMost {
		text = append(text[:refusalMost-1], '…')
	}
	a.Say("agent %s (pid %d): %s", a.name, a.child.PID(), string(text))
	_, _ = a.noise.Write([]byte("[ouro-timer: " + string(text) + "]\n"))
}

// breakOff ends a process that keeps asking for what is refused.
func (a *process) breakOff() {
	a.mu.Lock()
	a.broken = true
	a.mu.Unlock()
	a.lose(fmt.Sprintf("it asked more than %d times within a minute for what is refused", refusedMost))
}

// nearly describes what came instead of an answer. It is empty if nothing came.
func (a *process) nearly() string {
	a.mu.Lock()
	defer a.mu.Unlock()
	text := a.stray
	if n := a.open.n.Load(); n > 0 {
		if text != "" {
			text += ", and "
		}
		text += fmt.Sprintf("it wrote %d bytes without a line feed", n)
	}
	return text
}

// begun returns when the process has begun to read the line, after startMost, or when ctx ends.
// sent is closed after the line was written. The process cannot have begun to answer before.
func (a *process) begun(ctx context.Context, sent <-chan struct{}, line int) {
	const look = 20 * time.Millisecond
	for range startMost / look {
		if isClosed(sent) && unread(a.in) < line || a.Awake.For(ctx, look) != nil {
			return
		}
	}
}

// brokenPipe says why a line could not be written.
func brokenPipe(err error) string {
	if errors.Is(err, os.ErrClosed) || errors.Is(err, errLost) {
		return ""
	}
	if isBrokenPipe(err) {
		return "broken pipe"
	}
	return "it cannot be written to: " + err.Error()
}

// errLost is the error of a process that nobody can talk to any more.
var errLost = errors.New("the process is gone")

// write writes a line. A process that does not read it in time is lost.
func (a *process) write(line []byte) error {
	select {
	case a.pen <- struct{}{}:
		defer func() { <-a.pen }()
	case <-a.losing:
		return errLost
	}
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	go func() {
		if a.Awake.For(ctx, writeMost) == nil && ctx.Err() == nil {
			a.lose("it does not read its standard input")
		}
	}()
	_, err := a.in.Write(line)
	return err
}

// lose records that nobody can talk to the process any more, and why. The first reason counts.
func (a *process) lose(why string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	select {
	case <-a.losing:
	default:
		a.why = why
		close(a.losing)
	}
}

// watch sees the process to its end, and finds out why it ended. over is called before it counts as
// gone.
func (a *process) watch(over func()) {
	noisy := make(chan struct{})
	go func() { defer close(noisy); a.noise.follow(a.errs) }()
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	// soon waits for what should follow at once, and does follow unless another process holds a
	// stream open. It waits as long as there is output.
	soon := func(c <-chan struct{}) bool {
		for range lastRounds {
			before := a.activity()
			over := make(chan struct{})
			go func() {
				defer close(over)
				_ = a.Awake.For(ctx, lastWords) // an error is the end, and nobody listens any more
			}()
			select {
			case <-c:
				return true
			case <-over:
			}
			if a.activity() == before {
				break
			}
		}
		return false
	}
	select {
	case <-a.child.Done():
		a.lose("")
		soon(a.heard)
	case <-a.heard:
		if !soon(a.child.Done()) {
			a.lose("it has closed its standard output")
		}
	case <-a.losing:
		soon(a.child.Done())
	}
	a.lose("")
	a.mu.Lock()
	a.cause = a.why
	a.mu.Unlock()
	select {
	case <-a.child.Done():
		how := "it has ended (" + ending(a.child.Wait()) + ")"
		if a.cause != "" {
			how = a.cause + ": " + how
		}
		a.cause = how
	default:
	}
	if a.cause == "" {
		a.cause = "it was ended"
	}
	close(a.lost)
	a.in.Close()
	if err := a.child.Stop(a.Awake, stopGrace); err != nil {
		a.warn("the agent with pid %d cannot be ended: %v", a.child.PID(), err)
	} else {
		<-a.child.Done()
		soon(a.heard)
	}
	a.out.Close()
	<-a.heard
	<-a.served
	soon(noisy)
	a.errs.Close()
	<-noisy
	a.said.end()
	a.noise.end()
	over()
	close(a.gone)
}

// activity is a number that changes with each thing that the process does.
func (a *process) activity() uint64 {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.moves
}

// ending says how a process ended.
func ending(r proc.Result) string {
	if r.Signal != "" {
		return r.Signal
	}
	return fmt.Sprintf("exit code %d", r.ExitCode)
}

// end ends it: its standard input ends, after a while it gets TERM, and after another KILL. It gets
// KILL at once when kill is closed. end returns when it is gone. Only the goroutine whose turn it
// is calls it, unless the pool closes.
func (a *process) end(grace time.Duration, kill <-chan struct{}) {
	a.mu.Lock()
	a.asked = true
	a.mu.Unlock()
	if grace > 0 {
		go func() {
			a.pen <- struct{}{} // not in the middle of a line
			a.in.Close()
			<-a.pen
		}()
		ctx, stop := context.WithCancel(context.Background())
		defer stop()
		over := make(chan struct{})
		go func() {
			if a.Awake.For(ctx, grace) == nil {
				close(over)
			}
		}()
		select {
		case <-a.gone:
			return
		case <-over:
		case <-kill:
			go a.child.Stop(a.Awake, 0)
		}
	}
	a.lose("")
	select {
	case <-a.gone:
	case <-kill:
		go a.child.Stop(a.Awake, 0)
		<-a.gone
	}
}

// stop ends what it is doing: with TERM, and with KILL after the grace.
func (a *process) stop(grace time.Duration) {
	a.mu.Lock()
	a.asked = true
	a.mu.Unlock()
	a.lose("")
	go a.child.Stop(a.Awake, grace)
}
