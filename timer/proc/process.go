package proc

import (
	"context"
	"sync"
	"syscall"
	"time"

	"github.com/ouro-timer/ouro-timer/timer/clock"
)

// Result is how a child ended.
type Result struct {
	ExitCode int    // -1 if a signal ended it
	Signal   string // "SIGTERM"; empty if it exited

	// Unknown says that nobody saw how it ended, because it was not our child (Adopt). ExitCode and
	// the fields below then say nothing.
	Unknown bool

	// Started and Ended have a monotonic part: Ended.Sub(Started) is right even if the clock was
	// set in between.
	Started, Ended time.Time

	// User and System are the processor time of the child and of those of its own children that it
	// waited for.
	User, System time.Duration

	// OutOfMemory says that the system killed processes of the child because it had used up its
	// memory limit.
	OutOfMemory bool

	// MaxRSS is the largest resident size of any one of these processes, in bytes, or 0 if the
	// system does not tell. Linux does not tell it of a child that held less than our own process
	// did at the start, because the kernel counts our memory as the child's.
	MaxRSS int64
}

// Process is a child that was started, or a process that was adopted. Its methods may be called
// from any goroutine, and after its end.
type Process struct {
	watched    context.Context // an adopted process is watched until this ends
	adopted    bool
	pid        int
	started    time.Time
	identity   Identity
	rssFloor   int64 // a MaxRSS of at most this may be our own memory
	foreground bool
	child      child // what the system needs to watch and signal it
	cgroup     cgroup

	mu       sync.Mutex
	unheld   sync.Cond     // stopping has become 0
	stopping int           // calls of Stop under way; the pid is kept for them, and so its group's
	exited   chan struct{} // closed when the child has ended; its pid may still be ours
	reaped   bool          // the pid is given back: no signal may be sent any more
	done     chan struct{} // closed when result is set
	result   Result
}

func newProcess(watched context.Context) *Process {
	p := &Process{watched: watched, exited: make(chan struct{}), done: make(chan struct{})}
	p.unheld.L = &p.mu
	return p
}

// watch waits for the end of the child and gives its pid back, but not while a Stop is under way.
func (p *Process) watch() {
	if !p.adopted {
		p.awaitExit()
	} else if WaitGone(p.watched, p.identity) != nil {
		return // it is no longer watched
	}
	ended := time.Now()
	p.mu.Lock()
	close(p.exited)
	for p.stopping > 0 {
		p.unheld.Wait()
	}
	r := Result{ExitCode: -1, Unknown: true}
	if !p.adopted {
		r = p.reap()
	}
	r.OutOfMemory = p.cgroup.remove()
	p.reaped = true
	p.mu.Unlock()
	r.Started, r.Ended = p.started, ended
	p.result = r
	close(p.done)
}

// PID is the child's process id, and its group's unless it is in the foreground.
func (p *Process) PID() int { return p.pid }

// Identity is what recognises the child later, from another process, too.
func (p *Process) Identity() Identity { return p.identity }

// Done is closed when the child has ended and, if it was stopped, its group, too.
func (p *Process) Done() <-chan struct{} { return p.done }

// Wait blocks until Done and returns how the child ended. It may be called any number of times.
func (p *Process) Wait() Result {
	<-p.done
	return p.result
}

// SignalGroup sends a signal to the child and everything in its group, or only to the child if it
// is in the foreground, because its group is ours. It does nothing after the child's end, because
// the number may belong to another process by then.
func (p *Process) SignalGroup(sig syscall.Signal) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	select {
	case <-p.exited:
		return nil
	default:
		return p.send(sig)
	}
}

// Stop ends the child and its group: it sends TERM, and KILL when grace is over. Processes that the
// child leaves behind in its group have the rest of the grace to end by themselves. A grace of 0 is
// KILL at once. Descendants with a group or session of their own are reached if the child has a
// cgroup.
//
// Stop returns when Done is closed. It returns an error if the system does not deliver the signal
// (to a program that has become another user), or if an adopted process is not watched any more.
// Several Stops may run at once; the shortest grace counts.
func (p *Process) Stop(c clock.Waiter, grace time.Duration) error {
	p.mu.Lock()
	if p.reaped {
		p.mu.Unlock()
		return p.awaitDone()
	}
	p.stopping++
	p.mu.Unlock()
	err := p.end(c, grace)
	p.mu.Lock()
	p.stopping--
	p.unheld.Broadcast()
	p.mu.Unlock()
	if err != nil {
		return err
	}
	return p.awaitDone()
}

// end sends the signals of Stop. The caller has counted itself in stopping, so a child's number and
// its group's stay ours throughout.
func (p *Process) end(c clock.Waiter, grace time.Duration) error {
	if grace > 0 {
		if err := p.send(syscall.SIGTERM); err != nil {
			return err
		}
		p.cgroup.send(syscall.SIGTERM, p.pid)
		p.wake()
		if err := p.awaitGroup(c, grace); err != nil {
			return err
		}
	}
	err := p.send(syscall.SIGKILL)
	p.cgroup.send(syscall.SIGKILL, p.pid)
	return err
}

// awaitGroup returns nil when the child and all of its group have ended, or grace is over.
func (p *Process) awaitGroup(c clock.Waiter, grace time.Duration) error {
	over, cancel := clock.WithTimeout(p.watched, c, grace)
	defer cancel()
	select {
	case <-over.Done():
		return p.watched.Err()
	case <-p.exited:
	}
	// No system reports when a group becomes empty, so this polls. It does so only while a stopped
	// child has left something behind.
	poll := time.NewTicker(20 * time.Millisecond)
	defer poll.Stop()
	for p.leftBehind() || p.cgroup.occupied(p.pid) {
		select {
		case <-over.Done():
			return p.watched.Err()
		case <-poll.C:
		}
	}
	return nil
}
