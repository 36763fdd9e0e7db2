package proc

import (
	"context"
	"syscall"
	"time"

	"github.com/ouro-timer/ouro-timer/timer/clock"
)

// Adopt watches a process that is not our child like a child, until ctx ends. It is for processes
// that a process of ours started and then died. No system reports how such a process ends, so its
// Result is Unknown, and none keeps its number from being given to another. After the end of ctx,
// Done is not closed any more, and Wait must not be called.
func Adopt(ctx context.Context, id Identity) *Process {
	p := newProcess(ctx)
	p.adopted, p.pid, p.identity = true, id.PID, id
	if id.Alive() {
		p.cgroup = cgroupOf(id.PID)
	}
	go p.watch()
	return p
}

// EndGroup ends a process that is not our child, and the group that it leads, like Process.Stop. It
// returns when they are gone, or with ctx.Err().
func EndGroup(ctx context.Context, id Identity, c clock.Waiter, grace time.Duration) error {
	if !id.Alive() {
		return nil
	}
	return Adopt(ctx, id).Stop(c, grace)
}

// awaitDone waits for Done. It returns an error if the process is no longer watched.
func (p *Process) awaitDone() error {
	select {
	case <-p.done:
		return nil
	case <-p.watched.Done():
		return p.watched.Err()
	}
}

// send sends a signal to the process and its group. The caller holds mu and the process has not
// ended, or the caller is counted in stopping.
//
// The number of an adopted process may belong to another process by now. While a member of its
// group lives, no new process gets the number; if it belongs to a process that started at another
// time, that process gets no signal. The number could still change hands between this look and the
// signal, which no system prevents.
func (p *Process) send(sig syscall.Signal) error {
	if p.adopted {
		now := identify(p.pid)
		if now.Start != 0 && p.identity.Start != 0 && now.Start != p.identity.Start || !p.identity.Here() {
			return nil
		}
	}
	return p.signal(sig)
}
