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

// births tells the start of a child without asking /proc, once that has said the same often enough, and as long as it does: what looks
// like Linux may count from elsewhere, or begin to when its clock is set, and a child that another process takes for dead would be run
// again. Where /proc hides processes it is always asked.
type births struct {
	agreed atomic.Int32  // how often; far below 0 once it has not
	told   atomic.Uint32 // how many were told since
}

const (
	enough = 16 // is often enough: a clock that is a tenth of a tick off agrees as often once in five times
	again  = 64 // one child in so many /proc is asked of all the same
)

// identify is the identity of a child that was not waited for and has started in the tick born, if that is not 0.
func (b *births) identify(pid int, born uint64) Identity {
	if born != 0 && b.agreed.Load() >= enough && b.told.Add(1)%again != 0 {
		id := Identity{PID: pid, Start: born}
		id.Boot, id.PIDNS = here()
		return id
	}
	id := identify(pid)
	switch {
	case born == 0 || b.agreed.Load() < 0:
	case id.Start == born && nothingHidden():
		b.agreed.Add(1)
	default:
		b.agreed.Store(-1 << 30)
	}
	return id
}

// nothingHidden reports whether /proc shows us a process that is not our own.
func nothingHidden() bool {
	_, err := readStat(1)
	return err == nil
}
