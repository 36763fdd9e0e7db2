package runner

import (
	"context"
	"errors"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
)

// lockLeftMost is for how long a runner waits for a lock that one before it has left behind.
const lockLeftMost = 30 * time.Second

// takeLead takes the runner lock.
//
// A runner that is killed while it starts a command leaves its lock to that: until it executes its
// program the new process has a copy of all that the runner had open. That takes less than a
// millisecond, but a stopped machine, or a file system that does not answer, can make any time of
// it. So a lock whose owner is gone is waited for.
func takeLead(ctx context.Context, o Options) (state.Lease, error) {
	if o.Standby {
		lease, err := o.Store.Lead(ctx, o.Leader)
		if !errors.Is(err, state.ErrLed) {
			return lease, err
		}
		if o.StandsBy != nil {
			o.StandsBy()
		}
		return o.Store.LeadNext(ctx, o.Leader)
	}
	for tries := 0; ; tries++ {
		lease, err := o.Store.Lead(ctx, o.Leader) // for state.LeadWait
		if !errors.Is(err, state.ErrLed) || tries >= int(lockLeftMost/state.LeadWait) {
			return lease, err
		}
		who, led, e := o.Store.Led(ctx)
		if e != nil || led && !Gone(who.Ident) {
			return lease, err
		}
		if tries == 0 && led {
			o.Say("the runner before (pid %d) is gone, but a process that it was starting still has its lock; waiting for it, at most %v", who.Ident.PID, lockLeftMost)
		}
	}
}

// Led is Store.Led of a runner that is not gone: what one has left behind that was killed while it
// started a command does nothing.
func Led(ctx context.Context, st state.Leases) (leader state.Leader, led bool, err error) {
	leader, led, err = st.Led(ctx)
	if err != nil || !led || Gone(leader.Ident) {
		return state.Leader{}, false, err
	}
	return leader, true, nil
}

// Gone reports whether a process is known to have ended. Of one in another container, and of one
// that has not said who it is, nobody knows.
func Gone(i state.Ident) bool { return i.PID != 0 && identity(i).Here() && !identity(i).Alive() }
