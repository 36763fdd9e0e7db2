package proc

import (
	"context"
	"syscall"
	"time"
)

// Adopt watches a process that is not our child as if it were one, until ctx ends: it was started by a process of ours that has died.
// What differs is what no system lets us know or do: its Result is Unknown, and its number is not kept from being given away. From
// when ctx has ended Done is not closed any more, and Wait must not be called.
func Adopt(ctx context.Context, id Identity) *Process {
	p := newProcess()
	p.life, p.pid, p.identity = ctx, id.PID, id
	if id.Alive() {
		p.cgroup = cgroupOf(id.PID)
	}
	go p.watch()
	return p
}

// EndGroup ends a process that is not our child, and the group it leads, as Process.Stop does. It returns once they are gone, or
// with ctx.Err().
func EndGroup(ctx context.Context, id Identity, c Waiter, grace time.Duration) error {
	if !id.Alive() {
		return nil
	}
	return Adopt(ctx, id).Stop(c, grace)
}

// watched is the context that ends when the process is watched no more.
func (p *Process) watched() context.Context {
	if p.life == nil {
		return context.Background()
	}
	return p.life
}

// awaitEnd waits for the end of the process; false when it is not watched any more.
func (p *Process) awaitEnd() bool {
	if p.life != nil {
		return WaitGone(p.life, p.identity) == nil
	}
	p.awaitExit()
	return true
}

// await waits for Done.
func (p *Process) await() error {
	select {
	case <-p.done:
		return nil
	case <-p.watched().Done():
		return p.watched().Err()
	}
}

// send sends a signal to the process and its group. The caller holds mu with the process not ended, or has a hold on it. An adopted one
// may have left its number to another in between: as long as one of its group lives no new process gets it, and what has it
// now and began at another time is not touched. Between that look and the signal the number could in theory change hands.
func (p *Process) send(sig syscall.Signal) error {
	if p.life != nil {
		if now := identify(p.pid); now.Start != 0 && p.identity.Start != 0 && now.Start != p.identity.Start || !p.identity.Here() {
			return nil
		}
	}
	return p.signal(sig)
}
