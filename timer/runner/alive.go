package runner

import (
	"context"
	"errors"
	"os"
	"syscall"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/timer/clock"
	"github.com/ouro-timer/ouro-timer/timer/proc"
)

// Alive reports whether the process still runs here.
func Alive(i state.Ident) bool { return identity(i).Alive() }

// AliveFor reports whether a process lives, as far as self can tell. A process that self would see
// lives if here says so. One of another machine, or of another container on this one, lives as long
// as a runner there has a lease. A process of an earlier boot does not live.
func AliveFor(self, i state.Ident, here func(state.Ident) bool, leased func(node string) bool) bool {
	switch {
	case visible(self, i):
		return here(i)
	case onOtherNode(self, i):
		return leased(i.Node)
	}
	return false
}

// visible reports whether self would see a process if it lives: it has the same kernel and the same
// pid namespace.
func visible(self, i state.Ident) bool { return i.Boot == self.Boot && i.NS == self.NS }

// onOtherNode reports whether a process is one of another machine, or of another container on this
// one that is a node of its own.
func onOtherNode(self, i state.Ident) bool {
	return !visible(self, i) && i.Node != "" && i.Node != self.Node
}

// InOtherContainer reports whether a process may live where it cannot be seen from here: in another
// container on this machine.
func InOtherContainer(i state.Ident) bool {
	self, err := Self()
	return err == nil && i.Boot == self.Boot && i.NS != self.NS
}

// Distant reports whether a claim of a fleet is one of a process that cannot be seen from here: of
// another machine, or of another container. Its heartbeats tell the other runners whether it lives.
func Distant(r state.Record) bool { return r.Node != "" && !r.Past && !identity(r.Runner).Here() }

// Suspended reports whether a process is alive and stopped (SIGSTOP). Only Linux knows.
func Suspended(i state.Ident) bool { return identity(i).Suspended() }

// Signal sends a signal to a runner, or to another identified process, if it still runs.
func Signal(i state.Ident, sig syscall.Signal) error {
	if !Alive(i) {
		return os.ErrProcessDone
	}
	p, err := os.FindProcess(i.PID)
	if err != nil {
		return err
	}
	defer p.Release()
	return p.Signal(sig)
}

// errStays says that a process did not end in time.
var errStays = errors.New("it goes on")

// AwaitEnd returns nil after the process has ended. It returns an error if the process goes on for
// longer than patience, or if ctx ends.
func AwaitEnd(ctx context.Context, c clock.Clock, i state.Ident, patience time.Duration) error {
	waiting, stop := clock.WithTimeout(ctx, c, patience)
	defer stop()
	if proc.WaitGone(waiting, identity(i)) != nil {
		return errStays
	}
	return nil
}
