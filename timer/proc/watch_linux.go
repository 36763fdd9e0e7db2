package proc

import (
	"context"
	"errors"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// child is the pidfd of a child, or -1 if the kernel has none (before 5.2).
type child struct{ pidfd int }

// prepare makes attr start the child in its cgroup and return its pidfd. The caller calls release
// after the start.
func (c *child) prepare(attr *syscall.ProcAttr, g cgroup) (release func(), err error) {
	c.pidfd = -1
	attr.Sys.PidFD = &c.pidfd
	folder, err := g.open()
	if err != nil || folder < 0 {
		return func() {}, err
	}
	attr.Sys.UseCgroupFD, attr.Sys.CgroupFD = true, folder
	return func() { unix.Close(folder) }, nil
}

// withoutPidfd asks for no pidfd, and reports whether one was asked for. QEMU's emulation of single
// programs (docker run --platform) refuses to fork with one (EINVAL).
func withoutPidfd(attr *syscall.SysProcAttr) bool {
	asked := attr.PidFD != nil
	attr.PidFD = nil
	return asked
}

// awaitExit returns when the child has ended, and does not reap it.
func (p *Process) awaitExit() {
	if p.child.pidfd >= 0 && awaitPidfd(context.Background(), p.child.pidfd) == nil {
		return
	}
	for {
		err := unix.Waitid(unix.P_PID, p.pid, nil, unix.WEXITED|unix.WNOWAIT, nil)
		if err != unix.EINTR {
			return
		}
	}
}

// errNoPidfd says that the kernel does not report the end of a process by its pidfd.
var errNoPidfd = errors.New("pidfd cannot be polled")

// awaitPidfd returns nil when the process of pidfd has ended, reaped or not. It always closes
// pidfd. It waits in the runtime's poller, so it needs no thread.
func awaitPidfd(ctx context.Context, pidfd int) error {
	if err := unix.SetNonblock(pidfd, true); err != nil {
		unix.Close(pidfd)
		return errNoPidfd
	}
	file := os.NewFile(uintptr(pidfd), "pidfd")
	defer file.Close()
	stop := context.AfterFunc(ctx, func() { file.SetReadDeadline(time.Unix(1, 0)) })
	defer stop()
	raw, err := file.SyscallConn()
	if err != nil {
		return errNoPidfd
	}
	over := false
	err = raw.Read(func(fd uintptr) bool {
		poll := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
		n, err := unix.Poll(poll, 0)
		over = err == nil && n > 0
		return over
	})
	switch {
	case over:
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	default:
		return errors.Join(errNoPidfd, err)
	}
}

// leftBehind reports whether the group of a child that has ended still has a living member.
func (p *Process) leftBehind() bool {
	if p.foreground {
		return false
	}
	found := false
	eachProcess(func(pid int, s stat) bool {
		found = s.group == p.pid && pid != p.pid && s.alive()
		return !found
	})
	return found
}
