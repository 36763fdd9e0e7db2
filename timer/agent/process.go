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

	"github.com/ouro-timer/ouro-timer/state/plain"
	"github.com/ouro-timer/ouro-timer/timer/proc"
)

const (
	// maxRequests is how many requests of a process may wait for an answer. If there are more,
	// nothing is read from it meanwhile.
	maxRequests = 16
	// writeTimeout is how long a process may leave a line unread that is written to it.
	writeTimeout = 30 * time.Second
	// endWait is how long to wait for the end of a stream after the process has ended, and the
	// other way round. The wait is repeated, at most maxEndWaits times, while there is output.
	endWait, maxEndWaits = time.Second, 30
	// stopGrace is how long a process has between TERM and KILL, and eofGrace between the end of
	// its standard input and TERM.
	stopGrace = 5 * time.Second
	eofGrace  = 5 * time.Second
	// maxComplaints is how many invalid lines of a process are answered. A process that answers
	// errors with invalid lines would otherwise never end.
	maxComplaints = 100
	// maxRefused is how many requests of a process may be refused within refusedPeriod. With more,
	// it counts as broken and is ended.
	maxRefused    = 100
	refusedPeriod = time.Minute
	// maxStart is how long a new process may start before the time-out of its first reminder
	// begins.
	maxStart = 10 * time.Second
)

// process is a started agent, with what is needed to talk to it.
type process struct {
	*Options
	ctx    context.Context // of the requests; ends with the pool
	name   string
	child  *proc.Process
	in     *os.File    // the pipe to its standard input
	out    *os.File    // the pipe from its standard output
	lines  lineCounter // reads out
	errs   *os.File    // the pipe from its standard error
	stdout recorder    // keeps the part of its standard output that is not JSON-RPC
	stderr recorder    // keeps its standard error

	writing  chan struct{} // full while a goroutine writes to in
	requests chan message  // requests to be answered
	read     chan struct{} // closed when its standard output has ended
	served   chan struct{} // closed when all its requests are answered
	losing   chan struct{} // closed when it cannot be talked to any more
	lost     chan struct{} // closed when cause is set
	gone     chan struct{} // closed when it has ended and all its output was read
	cause    string        // why it cannot be talked to any more

	mu         sync.Mutex
	why        string    // what cause will be, without how it ended
	asked      bool      // it was told to end
	current    *delivery // the reminder that it is being told of
	serve      Serve     // of the last reminder
	owed       int       // notifications that it has not answered
	owes       string    // the occurrence of these notifications
	acked      bool      // it has answered something
	ignored    int       // lines since the last attempt that are not JSON-RPC
	complaints int       // how many invalid lines were answered
	mismatch   string    // describes an answer that does not belong to the current reminder
	told       bool      // it was told of a reminder
	broken     bool      // too many requests were refused: nothing more is read from it
	moves      uint64    // grows with everything that it does
}

// delivery is a reminder that a process is being told of.
type delivery struct {
	id       string
	answered chan message // receives once
}

// start starts a program. The caller calls watch.
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
			return nil, fmt.Errorf("no pipe can be made: %w", err)
		}
		if ours[i], theirs[i] = r, w; i == 0 {
			ours[i], theirs[i] = w, r
		}
	}
	child, err := proc.StartWhen(ctx, proc.Spec{
		Argv: prog.Argv, Dir: prog.Dir, Env: slices.Concat(prog.Env, prog.Also), Umask: prog.Umask,
		Stdin: theirs[0], Stdout: theirs[1], Stderr: theirs[2],
	}, func() error { return nil })
	if err != nil {
		return nil, err
	}
	a := &process{
		Options: &p.Options, ctx: p.ctx, name: name(prog), child: child, in: ours[0], out: ours[1], errs: ours[2],
		writing: make(chan struct{}, 1), requests: make(chan message, maxRequests), read: make(chan struct{}),
		served: make(chan struct{}), losing: make(chan struct{}), lost: make(chan struct{}), gone: make(chan struct{}),
	}
	a.stderr.also, a.lines.Reader = p.Stderr, a.out
	go a.listen()
	go a.answer()
	return a, nil
}

// listen reads the standard output to its end.
func (a *process) listen() {
	defer close(a.read)
	defer close(a.requests)
	from := NewLines(&a.lines)
	for {
		line, long, err := from.Next()
		if err != nil {
			return
		}
		a.receive(line, long)
	}
}

// receive handles a line. long says that the line is only the beginning of one.
func (a *process) receive(line []byte, long bool) {
	m := message{kind: garbage}
	if !long {
		m = parse(line)
	} else if meantAsRPC(line) {
		m = tooLong
	}
	a.mu.Lock()
	if a.broken {
		a.mu.Unlock()
		return
	}
	a.moves++
	complain := false
	switch m.kind {
	case blank:
	case garbage, invalid:
		if a.ignored++; m.kind == invalid && a.complaints < maxComplaints {
			a.complaints++
			complain = true
		}
	case response: // if it answers nothing, it came too late
		if m.answers("") {
			a.owed = max(a.owed-1, 0)
		}
		if f := a.current; f != nil && m.answers(f.id) {
			a.current, a.acked = nil, true
			f.answered <- m
		} else if f != nil {
			a.mismatch = m.mismatch(f.id)
		}
	}
	a.mu.Unlock()
	switch {
	case m.kind == garbage || m.kind == invalid:
		if len(line) > maxHead {
			line = line[:maxHead]
		}
		_, _ = a.stdout.Write(append(line[:len(line):len(line)], '\n'))
		if !complain {
			return
		}
	case m.kind != request:
		return
	}
	// This blocks while the process has too many requests. They are answered even if the process is
	// lost meanwhile.
	a.requests <- m
}

// answer answers the requests, one after the other, until the standard output has ended.
func (a *process) answer() {
	defer close(a.served)
	var refusals int
	var since time.Time
	for m := range a.requests {
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
			if now := a.Clock.Now(); since.IsZero() || now.Sub(since).Abs() >= refusedPeriod {
				refusals, since = 0, now
			}
			if refusals++; refusals > maxRefused {
				a.breakOff()
				continue
			}
		}
		if m.notification() {
			continue
		}
		if err := a.write(answerLine(m.id, result, failed)); err != nil {
			a.lose(brokenPipe(err))
		}
	}
}

// maxRefusal is how many characters of a refusal are noted.
const maxRefusal = 300

// refused writes a request that was not done to the log of the runner and the standard error of the
// last reminder, because many agents do not read answers.
func (a *process) refused(m message, failed *Error) {
	what := "what it asked"
	if m.kind == request {
		what = m.method
	}
	text := plain.Cut(strings.Join(strings.Fields(what+" is refused: "+failed.Error()), " "), maxRefusal)
	a.Say("agent %s (pid %d): %s", a.name, a.child.PID(), text)
	_, _ = a.stderr.Write([]byte("[ouro-timer: " + text + "]\n"))
}

// breakOff ends a process that has made too many requests that were refused.
func (a *process) breakOff() {
	a.mu.Lock()
	a.broken = true
	a.mu.Unlock()
	a.lose(fmt.Sprintf("it asked more than %d times within a minute for what is refused", maxRefused))
}

// nearly describes what came instead of an answer. It is empty if nothing came.
func (a *process) nearly() string {
	a.mu.Lock()
	defer a.mu.Unlock()
	text := a.mismatch
	if n := a.lines.n.Load(); n > 0 {
		if text != "" {
			text += ", and "
		}
		text += fmt.Sprintf("it wrote %d bytes without a line feed", n)
	}
	return text
}

// awaitRead returns when the process has begun to read a line of that many bytes, after maxStart,
// or when ctx ends. sent is closed after the line was written.
func (a *process) awaitRead(ctx context.Context, sent <-chan struct{}, line int) {
	const poll = 20 * time.Millisecond
	for range maxStart / poll {
		if isClosed(sent) && unread(a.in) < line || a.Awake.For(ctx, poll) != nil {
			return
		}
	}
}
