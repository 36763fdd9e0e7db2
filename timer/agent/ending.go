package agent

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"
	"time"

	"github.com/ouro-timer/ouro-timer/timer/clock"
	"github.com/ouro-timer/ouro-timer/timer/proc"
)

// brokenPipe returns why a line could not be written, or the empty string if the process is gone.
func brokenPipe(err error) string {
	if errors.Is(err, os.ErrClosed) || errors.Is(err, errLost) {
		return ""
	}
	if errors.Is(err, syscall.EPIPE) || errors.Is(err, io.ErrClosedPipe) {
		return "broken pipe"
	}
	return "it cannot be written to: " + err.Error()
}

// errLost is the error of a write to a process that is gone.
var errLost = errors.New("the process is gone")

// write writes a line to the process. If the process does not read it in time, it is lost.
func (a *process) write(line []byte) error {
	select {
	case a.writing <- struct{}{}:
		defer func() { <-a.writing }()
	case <-a.losing:
		return errLost
	}
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	go func() {
		if a.Awake.For(ctx, writeTimeout) == nil && ctx.Err() == nil {
			a.lose("it does not read its standard input")
		}
	}()
	_, err := a.in.Write(line)
	return err
}

// lose records that the process cannot be talked to any more, and why. The first reason counts.
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

// watch waits until the process is gone, and finds out why it ended. It calls before just before
// gone is closed.
func (a *process) watch(before func()) {
	drained := make(chan struct{}) // closed when its standard error has ended
	go func() { defer close(drained); a.stderr.follow(a.errs) }()
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	select {
	case <-a.child.Done():
		a.lose("")
		a.awaitEnd(ctx, a.read)
	case <-a.read:
		if !a.awaitEnd(ctx, a.child.Done()) {
			a.lose("it has closed its standard output")
		}
	case <-a.losing:
		a.awaitEnd(ctx, a.child.Done())
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
		a.Warn("the agent with pid %d cannot be ended: %v", a.child.PID(), err)
	} else {
		<-a.child.Done()
		a.awaitEnd(ctx, a.read)
	}
	a.out.Close()
	<-a.read
	<-a.served
	a.awaitEnd(ctx, drained)
	a.errs.Close()
	<-drained
	a.stdout.end()
	a.stderr.end()
	before()
	close(a.gone)
}

// awaitEnd waits until c is closed, which comes at once after another end unless another process
// keeps a stream open. It waits for endWait, and longer while there is output. It reports whether c
// was closed. Its timer ends with ctx.
func (a *process) awaitEnd(ctx context.Context, c <-chan struct{}) bool {
	for range maxEndWaits {
		before := a.activity()
		over, stop := clock.WithTimeout(ctx, a.Awake, endWait)
		select {
		case <-c:
			stop()
			return true
		case <-over.Done():
		}
		if a.activity() == before {
			break
		}
	}
	return false
}

// activity is a number that changes with each thing that the process does.
func (a *process) activity() uint64 {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.moves
}

// ending describes how a process ended.
func ending(r proc.Result) string {
	if r.Signal != "" {
		return r.Signal
	}
	return fmt.Sprintf("exit code %d", r.ExitCode)
}

// end closes the standard input of the process, sends TERM after grace, and KILL after stopGrace.
// It sends KILL at once when kill is closed. It returns when the process is gone. Only the
// goroutine that has filled the lock of the slot calls it.
func (a *process) end(grace time.Duration, kill <-chan struct{}) {
	a.mu.Lock()
	a.asked = true
	a.mu.Unlock()
	if grace > 0 {
		go func() {
			a.writing <- struct{}{} // not in the middle of a line
			a.in.Close()
			<-a.writing
		}()
		over, stop := clock.WithTimeout(context.Background(), a.Awake, grace)
		defer stop()
		select {
		case <-a.gone:
			return
		case <-over.Done():
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

// stop sends TERM to the process, and KILL after grace. It does not wait for the end.
func (a *process) stop(grace time.Duration) {
	a.mu.Lock()
	a.asked = true
	a.mu.Unlock()
	a.lose("")
	go a.child.Stop(a.Awake, grace)
}
