//go:build unix

package proc

import (
	"bytes"
	"strconv"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// umaskLock guards the umask of the process while it is changed.
var umaskLock sync.Mutex

// threadStatus is the status file of the calling thread, whose umask is that of all threads but the
// spawner. It is a variable so that tests can take it away.
var threadStatus = "/proc/thread-self/status"

// Umask is the umask of this process. On Linux, reading it changes nothing. On other systems it is
// set and restored at once, which affects a file that another thread creates in between.
func Umask() int {
	if m, ok := umaskOf(threadStatus); ok {
		return m
	}
	umaskLock.Lock()
	defer umaskLock.Unlock()
	// The strictest one, so that files created in between are closed to others rather than open.
	m := unix.Umask(0o077)
	unix.Umask(m)
	return m
}

// umaskOf reads the Umask line of a status file of /proc (since Linux 4.7).
func umaskOf(path string) (int, bool) {
	status, err := readHead(path, make([]byte, 4<<10)) // the line is the second one
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

// spawnLocked changes the umask of the whole process, if it is not right already, while it forks.
// This affects files that other threads create meanwhile, so it is used only if there is no
// spawner.
func spawnLocked(path string, argv []string, attr *syscall.ProcAttr, umask int) forked {
	if umask >= 0 && umask != Umask() {
		umaskLock.Lock()
		defer umaskLock.Unlock()
		defer unix.Umask(unix.Umask(umask))
	}
	return forkExec(path, argv, attr)
}

// forked is a child, or the reason why there is none.
type forked struct {
	pid int
	err error
}

// forkExec forks and executes. The files of attr are open.
func forkExec(path string, argv []string, attr *syscall.ProcAttr) forked {
	pid, err := syscall.ForkExec(path, argv, attr)
	if err == syscall.EBADF {
		// The child first moves its files to numbers above the highest of them. dup3(2) returns
		// this error if the limit on open files allows no such number.
		err = syscall.EMFILE
	}
	return forked{pid, err}
}
