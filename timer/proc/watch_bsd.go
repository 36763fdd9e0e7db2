//go:build darwin || dragonfly || freebsd || netbsd || openbsd

package proc

import (
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// child is empty: the number is enough to watch and signal it.
type child struct{}

func (*child) prepare(*syscall.ProcAttr, cgroup) (release func(), err error) { return func() {}, nil }

func withoutPidfd(*syscall.SysProcAttr) bool { return false }

// awaitExit returns when the child has ended, and does not reap it. If no kqueue can be opened,
// because descriptors have run out, it tries again.
func (p *Process) awaitExit() {
	kq, err := unix.Kqueue()
	for err != nil {
		time.Sleep(200 * time.Millisecond)
		kq, err = unix.Kqueue()
	}
	defer unix.Close(kq)
	unix.CloseOnExec(kq)
	var change unix.Kevent_t
	unix.SetKevent(&change, p.pid, unix.EVFILT_PROC, unix.EV_ADD|unix.EV_ONESHOT)
	change.Fflags = unix.NOTE_EXIT
	changes, events := []unix.Kevent_t{change}, make([]unix.Kevent_t, 1)
	for {
		_, err := unix.Kevent(kq, changes, events, nil)
		if err != unix.EINTR {
			return // the child has ended; ESRCH: before we asked
		}
	}
}
