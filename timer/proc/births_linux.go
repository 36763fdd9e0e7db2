package proc

import (
	"sync/atomic"

	"golang.org/x/sys/unix"
)

// tick is the unit of the start time in /proc/PID/stat: every Linux shows 100 a second there (USER_HZ), whatever it counts with.
const tick = 1e9 / 100

// ticks is the clock by which the kernel notes when a process starts, in the units and in the time namespace that /proc shows it to
// us; 0 where it cannot be told.
func ticks() uint64 {
	var now unix.Timespec
	if unix.ClockGettime(unix.CLOCK_BOOTTIME, &now) != nil {
		return 0
	}
	return uint64(now.Nano()) / tick
}

// births tells the start of a child without asking /proc, once that has said the same often enough: what looks like Linux may count
// from elsewhere, and a child that another process takes for dead would be run again.
type births struct {
	agreed atomic.Int32 // how often; far below 0 once it has not
}

// enough is often enough: a clock that is a tenth of a tick off agrees as often once in five times.
const enough = 16

// identify is the identity of a child that was not waited for and has started in the tick born, if that is not 0.
func (b *births) identify(pid int, born uint64) Identity {
	if born != 0 && b.agreed.Load() >= enough {
		id := Identity{PID: pid, Start: born}
		id.Boot, id.PIDNS = here()
		return id
	}
	id := identify(pid)
	switch {
	case born == 0 || id.Start == 0:
	case id.Start == born:
		b.agreed.Add(1)
	default:
		b.agreed.Store(-1 << 30)
	}
	return id
}
