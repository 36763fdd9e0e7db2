package clock

import (
	"context"
	"errors"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// A timer is armed at most this far ahead, and then again. The kernel's own limit is 292 years;
// staying far below it spares every question about overflow, and one waking a year is not polling.
const longestArm = 365 * 24 * time.Hour

// openTimer makes a timer on a clock of the kernel. A variable so that tests can take timerfd away.
var openTimer = func(clockid int) (int, error) {
	return unix.TimerfdCreate(clockid, unix.TFD_CLOEXEC|unix.TFD_NONBLOCK)
}

// boot reads CLOCK_BOOTTIME.
func boot() time.Duration {
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_BOOTTIME, &ts); err != nil {
		return bootless()
	}
	return time.Duration(ts.Nano())
}

func waitFor(ctx context.Context, d time.Duration) error {
	return untilBoot(ctx, later(boot(), d))
}

func untilWall(ctx context.Context, t time.Time) error {
	left := func() time.Duration { return t.Sub(System.Now()) }
	return armed(ctx, unix.CLOCK_REALTIME, unix.TFD_TIMER_ABSTIME|unix.TFD_TIMER_CANCEL_ON_SET, left,
		func(left time.Duration) unix.Timespec {
			if left > longestArm {
				return unix.NsecToTimespec(System.Now().Add(longestArm).UnixNano())
			}
			return unix.NsecToTimespec(t.UnixNano())
		},
		func() error { return napUntil(ctx, t) })
}

func untilBoot(ctx context.Context, at time.Duration) error {
	left := func() time.Duration { return at - boot() }
	return armed(ctx, unix.CLOCK_BOOTTIME, unix.TFD_TIMER_ABSTIME, left,
		func(left time.Duration) unix.Timespec {
			if left > longestArm {
				return unix.NsecToTimespec(int64(later(boot(), longestArm)))
			}
			return unix.NsecToTimespec(int64(at))
		},
		func() error { return napFor(ctx, left) })
}

// armed waits on one timerfd until left answers 0 or less. target is the instant, on clockid, to
// arm for. ECANCELED, which settime and read both answer after the clock was set, is not a failure:
// look, decide, arm again. Any other failure (no descriptor to be had, a kernel or filter without
// timerfd) hands over to naps, so that nothing but ctx ends the wait too soon.
func armed(ctx context.Context, clockid, flags int, left func() time.Duration,
	target func(left time.Duration) unix.Timespec, naps func() error) error {

	if err := ctx.Err(); err != nil {
		return err
	}
	if left() <= 0 {
		return nil
	}
	fd, err := openTimer(clockid)
	if err != nil {
		return naps()
	}
	// The descriptor is non-blocking, so the file waits in the runtime's poller and holds no
	// thread.
	file := os.NewFile(uintptr(fd), "timerfd")
	defer file.Close()
	stop := context.AfterFunc(ctx, func() { file.SetReadDeadline(time.Unix(1, 0)) })
	defer stop()

	var expirations [8]byte
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		d := left()
		if d <= 0 {
			return nil
		}
		spec := unix.ItimerSpec{Value: target(d)}
		if err := unix.TimerfdSettime(fd, flags, &spec, nil); err != nil {
			if err == unix.ECANCELED || err == unix.EINTR {
				continue
			}
			return naps()
		}
		if _, err := file.Read(expirations[:]); err != nil {
			if errors.Is(err, unix.ECANCELED) || errors.Is(err, os.ErrDeadlineExceeded) {
				continue
			}
			return naps()
		}
	}
}
