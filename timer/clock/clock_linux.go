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
	return armed(ctx, unix.CLOCK_REALTIME, wall, func(now time.Duration) time.Duration { return t.Sub(time.Unix(0, int64(now))) })
}

func untilBoot(ctx context.Context, at time.Duration) error {
	return armed(ctx, unix.CLOCK_BOOTTIME, boot, func(now time.Duration) time.Duration { return at - now })
}

// armed waits on one timer until 0 or less is left. now reads the clock clockid. When there is no
// timer to be had (no descriptor, a kernel or filter without timerfd), it naps, so that nothing but
// ctx ends the wait too soon.
func armed(ctx context.Context, clockid int, now func() time.Duration, left func(now time.Duration) time.Duration) error {
	if err := ctx.Err(); err != nil || left(now()) <= 0 {
		return err
	}
	naps := func() error { return napFor(ctx, func() time.Duration { return left(now()) }) }
	t, err := newTimer(ctx, clockid)
	if err != nil {
		return naps()
	}
	defer t.close()
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		from := now()
		d := left(from)
		if d <= 0 {
			return nil
		}
		if err := t.wait(from + min(d, longestArm)); err != nil && err != errSet {
			return naps()
		}
	}
}

// timer is a timerfd. It is non-blocking, so that a wait is in the runtime's poller and holds no
// thread.
type timer struct {
	fd    int
	flags int
	file  *os.File
	stop  func() bool // stops waiting for the end of the context
}

// newTimer makes a timer on a clock of the kernel. The end of ctx ends its waits.
func newTimer(ctx context.Context, clockid int) (*timer, error) {
	fd, err := openTimer(clockid)
	if err != nil {
		return nil, err
	}
	t := &timer{fd: fd, flags: unix.TFD_TIMER_ABSTIME, file: os.NewFile(uintptr(fd), "timerfd")}
	if clockid == unix.CLOCK_REALTIME {
		t.flags |= unix.TFD_TIMER_CANCEL_ON_SET
	}
	t.stop = context.AfterFunc(ctx, func() { t.file.SetReadDeadline(time.Unix(1, 0)) })
	return t, nil
}

func (t *timer) close() {
	t.stop()
	t.file.Close()
}

// errSet is the error of a wait during which, or before which, somebody set the clock.
var errSet = errors.New("the clock was set")

// wait returns when the clock reads at, or sooner, for the caller to look at the clock and at its
// context. Errors other than errSet say that the timer is of no use.
func (t *timer) wait(at time.Duration) error {
	var expirations [8]byte
	spec := unix.ItimerSpec{Value: unix.NsecToTimespec(int64(at))}
	err := unix.TimerfdSettime(t.fd, t.flags, &spec, nil)
	if err == nil {
		_, err = t.file.Read(expirations[:])
	}
	switch {
	case errors.Is(err, unix.ECANCELED): // both may answer it
		return errSet
	case errors.Is(err, unix.EINTR), errors.Is(err, os.ErrDeadlineExceeded):
		return nil
	}
	return err
}
