package clock

import (
	"context"
	"errors"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// sets waits on a timer that is never due: the kernel cancels it when the clock is set.
func sets(ctx context.Context, f func()) {
	fd, err := openTimer(unix.CLOCK_REALTIME)
	if err != nil {
		napSets(ctx, ahead, sleep, f)
		return
	}
	file := os.NewFile(uintptr(fd), "timerfd")
	defer file.Close()
	stop := context.AfterFunc(ctx, func() { file.SetReadDeadline(time.Unix(1, 0)) })
	defer stop()
	var expirations [8]byte
	for ctx.Err() == nil {
		spec := unix.ItimerSpec{Value: unix.NsecToTimespec(System.Now().Add(longestArm).UnixNano())}
		err := unix.TimerfdSettime(fd, unix.TFD_TIMER_ABSTIME|unix.TFD_TIMER_CANCEL_ON_SET, &spec, nil)
		if err == nil {
			_, err = file.Read(expirations[:])
		}
		switch {
		case errors.Is(err, unix.ECANCELED):
			f()
		case err == nil, errors.Is(err, unix.EINTR), errors.Is(err, os.ErrDeadlineExceeded):
		default:
			napSets(ctx, ahead, sleep, f)
			return
		}
	}
}
