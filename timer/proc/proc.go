// Package proc starts, ends and identifies one child process.
//
// A child gets exactly the argument list, environment, folder, umask and three files it is given: no descriptor, signal
// disposition, signal mask or variable of ours reaches it. Its output goes to files and never to pipes of ours, so it
// outlives us and never blocks on us. It leads a process group of its own, unless it is to stay with the terminal.
//
// The package writes nothing that outlasts the child but the files it was given, and decides nothing: when to start, how
// long to wait and what an exit code means is the caller's business.
package proc

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"time"
)

// Spec is what to start. Its files stay the caller's to close, at once after Start if it likes.
type Spec struct {
	Argv []string // Argv[0] is looked up in the PATH of Env unless it has a slash
	Dir  string   // absolute; empty means our own
	Env  []string // exactly this, each KEY=VALUE; nothing of ours is added

	// Umask of the child, whatever ours is; -1 leaves it as ours. No other thread of ours sees a change. It has no
	// meaning on Windows.
	Umask int

	Stdin  *os.File // nil is the null device
	Stdout *os.File // nil is the null device; a file, not a pipe, for a child that must outlive us
	Stderr *os.File // as Stdout; may be the same file

	// Limits are what the child may use of the machine. With Cgroups, which may be nil, it gets a
	// cgroup of its own, in which Stop reaches all that comes of it. Unit is what that is called.
	Limits  Limits
	Cgroups *Cgroups
	Unit    string

	// Foreground keeps the child in our process group, with our terminal, our ignored signals and the descriptors our
	// own caller opened for it, as env(1) or timeout --foreground would.
	Foreground bool
}

// StartError says why nothing was started.
type StartError struct {
	Op   string // "find", "chdir", "open" or "start"
	Path string // the program, the folder or the file
	Err  error
}

func (e *StartError) Error() string {
	switch {
	case e.Op == "find" && e.Path == shell && errors.Is(e.Err, fs.ErrNotExist):
		return "there is no " + shell + " here: give the command behind --, so that no shell is needed, or name another one with --shell"
	case e.Op == "find" && errors.Is(e.Err, fs.ErrNotExist):
		return fmt.Sprintf("program %q not found", e.Path)
	case e.Op == "find":
		return fmt.Sprintf("program %q cannot be executed: %v", e.Path, e.Err)
	case e.Op == "chdir" && errors.Is(e.Err, fs.ErrNotExist):
		return fmt.Sprintf("folder %q does not exist any more", e.Path)
	case errors.As(e.Err, new(lackingInterpreter)):
		return fmt.Sprintf("program %q cannot be executed: %v", e.Path, e.Err)
	case e.Op == "chdir":
		return fmt.Sprintf("folder %q cannot be entered: %v", e.Path, e.Err)
	default:
		return fmt.Sprintf("%s %q: %v", e.Op, e.Path, e.Err)
	}
}

func (e *StartError) Unwrap() error { return e.Err }

// ExitCode is what a shell would answer: 127 for a program that is not there, 126 for everything else that kept it from
// running.
func (e *StartError) ExitCode() int {
	if (e.Op == "find" || e.Op == "start") && errors.Is(e.Err, fs.ErrNotExist) {
		return 127
	}
	return 126
}

// Result is how a child ended.
type Result struct {
	ExitCode int    // -1 when a signal ended it
	Signal   string // "SIGTERM"; empty when it exited

	// Unknown says that nobody saw how it ended: it was not our child (Adopt). ExitCode and what follows say nothing then.
	Unknown bool

	Started, Ended time.Time // with a monotonic part: Ended.Sub(Started) is right although the clock was set

	// User and System are the processor time of the child and of those of its own children it waited for.
	User, System time.Duration

	// OutOfMemory says that the system has ended processes of the child, which had used up its limit.
	OutOfMemory bool

	// MaxRSS is the largest resident size of any one of them, in bytes; 0 where the system does not tell. On Linux that is so of a child
	// that held less than our own process did when it started it, as the kernel counts that in.
	MaxRSS int64
}

// Waiter is the part of a clock.Clock that Stop needs.
type Waiter interface {
	For(ctx context.Context, d time.Duration) error
}

// Process is a child that was started, or a process that was adopted. Its methods may be called from any goroutine, and after its end.
type Process struct {
	life       context.Context // of one that was adopted: it is watched until this ends; nil for a child
	pid        int
	started    time.Time
	identity   Identity
	countedIn  int64 // up to which size what it holds cannot be told from what we do
	foreground bool
	child      child // what the system needs to watch and signal it
	cgroup     cgroup

	mu     sync.Mutex
	freed  sync.Cond     // holds has become 0
	holds  int           // Stops under way: while there is one the pid is not given back, so that its group keeps its number
	exited chan struct{} // closed when the child has ended; its pid may still be ours
	reaped bool          // the pid is given back: no signal may be sent any more
	done   chan struct{} // closed when result is set
	result Result
}

// Start starts a child. The error is a *StartError, and then nothing was started.
func Start(spec Spec) (*Process, error) {
	return StartWhen(context.Background(), spec, func() error { return nil })
}

// StartWhen is Start, and calls begin when there is nothing left to do that may take long: file
// systems on the way to the folder and the program were asked, each in a bounded time, beyond which
// the error is ErrNoAnswer; a deadline of ctx that comes sooner is that bound. When ctx is cancelled
// before begin is called nothing is started, and the error is ctx.Err(). An error of begin is returned as it is, and then nothing was started, either.
func StartWhen(ctx context.Context, spec Spec, begin func() error) (*Process, error) {
	if len(spec.Argv) == 0 || spec.Argv[0] == "" {
		return nil, &StartError{"find", "", fs.ErrNotExist}
	}
	point, _ := spec.silentPoint()
	path := ""
	if point == "" {
		err := begin()
		if err == nil {
			path, err = spec.find()
		}
		if err != nil {
			return nil, err
		}
	}
	null, err := openFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return nil, &StartError{"open", os.DevNull, err}
	}
	defer null.Close()
	files := [3]*os.File{spec.Stdin, spec.Stdout, spec.Stderr}
	for i, f := range files {
		if f == nil {
			files[i] = null
		}
	}
	if !spec.Foreground {
		ResetSignals()
		if err := DetachDescriptors(); err != nil {
			return nil, &StartError{"start", path, err}
		}
	}
	p := newProcess()
	p.foreground = spec.Foreground
	if p.cgroup, err = spec.confine(); err != nil {
		return nil, err
	}
	p.started = time.Now()
	if point != "" {
		err = p.startSlowly(ctx, spec, point, files, func() error { p.started = time.Now(); return begin() })
	} else if err = p.start(path, spec, files); err != nil {
		err = spec.why(path, err)
	}
	if err != nil {
		p.cgroup.leave()
		return nil, err
	}
	go p.watch()
	return p, nil
}

// errProbed is of a start that was only to be looked into.
var errProbed = errors.New("only probed")

// Probe reports why a child could not be started, as far as can be told without starting it; nil
// when it could. Of a Spec that may hang only: others are quickly asked.
func Probe(ctx context.Context, spec Spec) error {
	if !spec.MayHang() {
		return nil
	}
	_, err := StartWhen(ctx, spec, func() error { return errProbed })
	if errors.Is(err, errProbed) {
		return nil
	}
	return err
}

func newProcess() *Process {
	p := &Process{exited: make(chan struct{}), done: make(chan struct{})}
	p.freed.L = &p.mu
	return p
}

// find is what is to be executed. What the system says anyhow when it is not to be is not asked beforehand.
func (s Spec) find() (string, error) {
	if filepath.IsAbs(s.Argv[0]) && (s.Dir == "" || filepath.IsAbs(s.Dir)) && runtime.GOOS != "windows" {
		return s.Argv[0], nil
	}
	way := strings.Join([]string{s.Argv[0], s.Dir, pathOf(s.Env)}, "\x00")
	if path, ok := found(way); ok {
		return path, nil
	}
	if err := enterable(s.Dir); err != nil {
		return "", &StartError{"chdir", s.Dir, err}
	}
	path, err := LookPath(s.Argv[0], pathOf(s.Env), s.Dir)
	if err == nil {
		lately.note(way, path)
	}
	return path, err
}

// why says in our words why a start has failed with err: the folder, the program, or else what the system says.
func (s Spec) why(path string, err error) error {
	if gone := enterable(s.Dir); gone != nil {
		return &StartError{"chdir", s.Dir, gone}
	}
	if _, gone := LookPath(s.Argv[0], pathOf(s.Env), s.Dir); gone != nil {
		return gone
	}
	return &StartError{"start", path, lacking(path, err)}
}

// watch waits for the end of the child and gives its pid back, but not while a Stop is under way.
func (p *Process) watch() {
	if !p.awaitEnd() {
		return
	}
	ended := time.Now()
	p.mu.Lock()
	close(p.exited)
	for p.holds > 0 {
		p.freed.Wait()
	}
	r := Result{ExitCode: -1, Unknown: true}
	if p.life == nil {
		r = p.reap()
	}
	r.OutOfMemory = p.cgroup.leave()
	p.reaped = true
	p.mu.Unlock()
	r.Started, r.Ended = p.started, ended
	p.result = r
	close(p.done)
}

// PID is the child's process id, and its group's unless it is in the foreground.
func (p *Process) PID() int { return p.pid }

// Identity is what recognises the child later, from another process too.
func (p *Process) Identity() Identity { return p.identity }

// Done is closed when the child has ended and, if it was stopped, its group with it.
func (p *Process) Done() <-chan struct{} { return p.done }

// Wait blocks until Done and says how the child ended. It may be called any number of times.
func (p *Process) Wait() Result {
	<-p.done
	return p.result
}

// SignalGroup sends a signal to the child and everything in its group; to the child alone when it is in the foreground,
// since its group is ours. After the child's end it does nothing: a number that may belong to somebody else by now is
// never signalled.
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

// Stop ends the child and its group: TERM, and KILL when grace is over. What the child leaves behind in its group has
// the rest of the grace to end by itself. A grace of 0 is KILL at once. Stop returns when Done is closed, or with an
// error when the system would not deliver the signal (a program that has become another user), or an adopted process is not
// watched any more. Several Stops may run at once; the shortest grace counts. Descendants that made a group or session of
// their own are reached where the child has a cgroup.
func (p *Process) Stop(c Waiter, grace time.Duration) error {
	p.mu.Lock()
	if p.reaped {
		p.mu.Unlock()
		return p.await()
	}
	p.holds++
	p.mu.Unlock()
	err := p.end(c, grace)
	p.mu.Lock()
	p.holds--
	p.freed.Broadcast()
	p.mu.Unlock()
	if err != nil {
		return err
	}
	return p.await()
}

// end sends the signals of Stop. The caller holds the pid, so a child's number and its group's are ours throughout.
func (p *Process) end(c Waiter, grace time.Duration) error {
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
func (p *Process) awaitGroup(c Waiter, grace time.Duration) error {
	ctx, cancel := context.WithCancel(p.watched())
	defer cancel()
	over := make(chan struct{})
	go func() {
		defer close(over)
		// An error means that ctx ended, and then nobody listens, or looks at why.
		_ = c.For(ctx, grace)
	}()
	select {
	case <-over:
		return p.watched().Err()
	case <-p.exited:
	}
	// No system tells when a group becomes empty. This looks only while a stopped child has left something behind.
	look := time.NewTicker(20 * time.Millisecond)
	defer look.Stop()
	for p.leftBehind() || p.cgroup.occupied(p.pid) {
		select {
		case <-over:
			return p.watched().Err()
		case <-look.C:
		}
	}
	return nil
}
