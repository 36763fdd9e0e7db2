package proc

import (
	"context"
	"encoding/gob"
	"errors"
	"io"
	"os"
	"strconv"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// A file system on another machine, or of a process that hangs, may never answer. A process that
// enters a folder there, or looks for a program, is then stopped inside the kernel, and not even
// KILL ends it. If that were a child between fork and exec, it would stop us, too: the thread that
// forks waits for the child in a call that the runtime does not know of, so the next garbage
// collection waits for that thread, and everything else for the collection. If it were a thread of
// ours, our process could not end or give up its locks.
//
// Therefore another process asks such a file system: the starter. It is this very program, executed
// from a file system that answers, and it is the child in which the command is to run. It enters
// the folder, looks for the program and reports that it is ready. Only when it is told to, it
// executes the program in its own place. Until then the command has not begun, whatever becomes of
// the starter.

// answerTimeout is how long a file system has to answer. It is a variable for tests.
var answerTimeout = 10 * time.Second

// These bound how many starters wait for file systems that do not answer. Beyond them, a start
// fails at once.
const (
	maxStuckPerMount = 2
	maxStuck         = 16
)

// errStarterDied is the error of a starter that was killed. It counts as a passing one, because
// memory may have run out.
var errStarterDied = &StartError{"start", starterName, syscall.EAGAIN}

// stuckStarters are the starters that got no answer in time. They keep waiting, because another one
// would get no answer, either. When one gets its answer, it ends, because it is not told to execute
// the program.
type stuckStarters struct {
	mu    sync.Mutex
	mount map[*Process]string // for which mount point each of them waits
}

var stuck = stuckStarters{mount: map[*Process]string{}}

// full reports whether no more starters may wait for a mount point.
func (s *stuckStarters) full(mount string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := 0
	for _, of := range s.mount {
		if of == mount {
			n++
		}
	}
	return n >= maxStuckPerMount || len(s.mount) >= maxStuck
}

// wait counts p as stuck until it gets an answer, and then waits for its end.
func (s *stuckStarters) wait(p *Process, conn *os.File, reports *gob.Decoder, mount string) {
	s.mu.Lock()
	s.mount[p] = mount
	s.mu.Unlock()
	go func() {
		conn.SetDeadline(time.Time{})
		_, _ = awaitReady(reports) // any answer will do
		s.mu.Lock()
		delete(s.mount, p)
		s.mu.Unlock()
		conn.Close()
		p.reapStarter()
	}()
}

// AbandonStarts kills the starters whose answers are not needed any more. The program calls it at
// its end.
func AbandonStarts() {
	stuck.mu.Lock()
	defer stuck.mu.Unlock()
	for p := range stuck.mount {
		_ = p.signal(syscall.SIGKILL) // the kernel acts on it when the file system answers
	}
}

// noAnswer is the error of a start whose starter got no answer in a phase.
func (s Spec) noAnswer(p phase) error {
	if p == phaseFolder && s.Dir != "" {
		return &StartError{"chdir", s.Dir, ErrNoAnswer}
	}
	return &StartError{"find", s.Argv[0], ErrNoAnswer}
}

// startByStarter starts the command by way of a starter. It calls begin when the file system at
// mount need not be asked anything more.
func (p *Process) startByStarter(ctx context.Context, spec Spec, mount string, files [3]*os.File, begin func() error) error {
	if stuck.full(mount) {
		if at, _ := newPathChecker().riskyMount(spec.Dir); at == mount {
			return spec.noAnswer(phaseFolder)
		}
		return spec.noAnswer(phaseProgram)
	}
	conn, err := p.launchStarter(spec, files)
	if err != nil {
		return &StartError{"start", spec.Argv[0], err}
	}
	deadline := time.Now().Add(answerTimeout)
	if sooner, ok := ctx.Deadline(); ok && sooner.Before(deadline) {
		deadline = sooner
	}
	conn.SetDeadline(deadline)
	interrupt := func() { conn.SetDeadline(time.Unix(1, 0)) }
	if ctx.Err() != nil {
		interrupt() // at once: AfterFunc does it in a goroutine
	}
	detach := context.AfterFunc(ctx, interrupt)
	defer detach()
	asked := startRequest{Argv: spec.Argv, Dir: spec.Dir, Env: spec.Env}
	if _, argv, err := spec.withLimits(spec.Argv[0]); err == nil {
		asked.Argv = argv
	}
	phase, reports := phaseFolder, gob.NewDecoder(conn)
	if err = gob.NewEncoder(conn).Encode(asked); err == nil {
		phase, err = awaitReady(reports)
	}
	switch {
	case err == nil:
	case errors.Is(ctx.Err(), context.Canceled):
		_ = p.signal(syscall.SIGKILL) // it is our child, and was not waited for
		p.dropStarter(conn)
		return ctx.Err()
	case errors.Is(err, os.ErrDeadlineExceeded):
		stuck.wait(p, conn, reports, mount)
		return spec.noAnswer(phase)
	default:
		p.dropStarter(conn)
		return err
	}
	if err := begin(); err != nil {
		p.dropStarter(conn)
		return err
	}
	// From here on the command counts as started, even if ctx ends. If the file system stops
	// answering just now, the command has begun and does not end.
	detach()
	conn.SetDeadline(time.Now().Add(answerTimeout))
	if _, err = conn.Write([]byte{0}); err == nil {
		_, err = awaitReady(reports)
	}
	if se, ok := errors.AsType[*StartError](err); ok && se != errStarterDied {
		p.dropStarter(conn)
		return se
	}
	conn.Close()
	return nil
}

// launchStarter starts a starter. It returns our end of the connection with it.
func (p *Process) launchStarter(spec Spec, files [3]*os.File) (conn *os.File, err error) {
	exe, err := Executable()
	if err != nil {
		return nil, err
	}
	ends, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	defer unix.Close(ends[1])
	if err := unix.SetNonblock(ends[0], true); err != nil {
		unix.Close(ends[0])
		return nil, err
	}
	conn = os.NewFile(uintptr(ends[0]), "starter")
	attr := &syscall.ProcAttr{
		Dir:   "/",
		Env:   []string{},
		Files: []uintptr{files[0].Fd(), files[1].Fd(), files[2].Fd(), uintptr(ends[1])},
		Sys:   &syscall.SysProcAttr{Setpgid: true},
	}
	release, err := p.child.prepare(attr, p.cgroup)
	if err != nil {
		conn.Close()
		return nil, err
	}
	defer release()
	f := spawn(exe, []string{starterName}, attr, spec.Umask)
	move := errors.Is(f.err, syscall.ENOSYS) && attr.Sys.UseCgroupFD
	if move {
		attr.Sys.UseCgroupFD = false
		f = spawn(exe, []string{starterName}, attr, spec.Umask)
	}
	if f.err != nil {
		conn.Close()
		return nil, f.err
	}
	p.setPID(f.pid)
	if move {
		if err := writeCgroup(p.cgroup.path, "cgroup.procs", strconv.Itoa(f.pid)); err != nil {
			p.dropStarter(conn)
			return nil, err
		}
	}
	return conn, nil
}

// awaitReady returns when the starter waits for us or has executed the program. It returns the last
// phase, and an error if the starter has failed or died, or the deadline of its connection has
// passed. After the program was executed, which closes the connection, the error is errStarterDied.
func awaitReady(reports *gob.Decoder) (last phase, err error) {
	for last != phaseReady {
		var next report
		switch err := reports.Decode(&next); {
		case errors.Is(err, io.EOF):
			return last, errStarterDied
		case err != nil:
			return last, err
		case next.Phase == phaseFailed:
			return last, next.failure()
		}
		last = next.Phase
	}
	return last, nil
}

// dropStarter lets go of a starter that is not to execute its program. It waits for its end in the
// background.
func (p *Process) dropStarter(conn *os.File) {
	conn.Close() // the starter ends when it finds the connection closed
	go p.reapStarter()
}

// reapStarter waits for the end of a starter that executed nothing.
func (p *Process) reapStarter() {
	p.awaitExit() // which also closes the descriptor of the child
	reapUnseen(p.pid)
}
