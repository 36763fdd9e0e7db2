package runner

import (
	"context"
	"errors"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
)

// lockLeftMost is how long a runner waits for a lock that an earlier one has left behind.
const lockLeftMost = 30 * time.Second

// takeLead takes the runner lock.
//
// A runner that is killed while it starts a command leaves its lock to that command: until the new
// process executes its program, it has a copy of all open files. This takes less than a
// millisecond, but much longer if the machine stops or a file system does not answer. So takeLead
// waits for a lock whose owner is gone.
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
		if e != nil || led && !HasEnded(who.Ident) {
			return lease, err
		}
		if tries == 0 && led {
			o.Say("the runner before (pid %d) is gone, but a process that it was starting still has its lock; waiting for it, at most %v", who.Ident.PID, lockLeftMost)
		}
	}
}

// Led is Store.Led without leaders that are gone. The lock that such a runner left to a command
// that it was starting means nothing.
func Led(ctx context.Context, st state.Leases) (leader state.Leader, led bool, err error) {
	leader, led, err = st.Led(ctx)
	if err != nil || !led || HasEnded(leader.Ident) {
		return state.Leader{}, false, err
	}
	return leader, true, nil
}

// HasEnded reports whether a process is known to have ended. Nobody knows that of a process in
// another container, or of one that has not said who it is.
func HasEnded(i state.Ident) bool { return i.PID != 0 && identity(i).Here() && !identity(i).Alive() }
