//go:build unix

package proc

import (
	"bytes"
	"strconv"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// umaskLock guards the umask of the process while it is not its own.
var umaskLock sync.Mutex

// threadStatus is the status file of the calling thread, which shares its umask with all others but the spawner. A
// variable so that tests can take it away.
var threadStatus = "/proc/thread-self/status"

// Umask is the umask of this process. On Linux reading it changes nothing; elsewhere it is set and put back at once,
// which a file made in between by another thread would notice.
func Umask() int {
	if m, ok := umaskOf(threadStatus); ok {
		return m
	}
	umaskLock.Lock()
	defer umaskLock.Unlock()
	// The strictest, so that what is made in between is closed to others rather than open.
	m := unix.Umask(0o077)
	unix.Umask(m)
	return m
}

// umaskOf reads the Umask line of a status file of /proc (since Linux 4.7).
func umaskOf(path string) (int, bool) {
	status, err := beginning(path, make([]byte, 4<<10)) // the line is the second one
	if err != nil {
		return 0, false
	}
	_, rest, found := bytes.Cut(status, []byte("\nUmask:\t"))
	if !found {
		return 0, false
	}
	digits, _, _ := bytes.Cut(rest, []byte("\n"))
	m, err := strconv.ParseUint(string(digits), 8, 16)
	return int(m), err == nil
}

// spawnLocked forks with the umask of the whole process changed for the time it takes. What other threads create
// meanwhile is affected, hence only where nothing better is to be had, and not when the umask is right already.
func spawnLocked(path string, argv []string, attr *syscall.ProcAttr, umask int) forked {
	if umask >= 0 && umask != Umask() {
		umaskLock.Lock()
		defer umaskLock.Unlock()
		defer unix.Umask(unix.Umask(umask))
	}
	return forkExec(path, argv, attr)
}

// forked is a child, or why there is none.
type forked struct {
	pid int
	err error
}

// forkExec forks and executes. The files of attr are open.
func forkExec(path string, argv []string, attr *syscall.ProcAttr) forked {
	pid, err := syscall.ForkExec(path, argv, attr)
	if err == syscall.EBADF {
		// The child has them in other places for a moment, beyond the highest of them, and dup3(2) has this error where the limit on
		// open files allows no such place.
		err = syscall.EMFILE
	}
	return forked{pid, err}
}
