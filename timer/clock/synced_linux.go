package clock

import "golang.org/x/sys/unix"

// syncedError is the error that the kernel puts down for a clock of which nobody has told it
// otherwise for long, or that was just set: NTP_PHASE_LIMIT, in microseconds.
const syncedError = 16_000_000

// synced goes by the error, as systemd does: not everything that keeps a clock right tells the
// kernel that it does (STA_UNSYNC), as that has the kernel write the hardware clock. Whoever sets
// the clock makes the error what it is for one that nobody keeps.
func synced() bool {
	var t unix.Timex
	_, err := unix.Adjtimex(&t)
	return err == nil && t.Maxerror < syncedError
}
