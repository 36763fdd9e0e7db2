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
	if m, ok := statusField(threadStatus, "Umask", 8); ok { // since Linux 4.7
		return int(m)
	}
	umaskLock.Lock()
	defer umaskLock.Unlock()
	// The strictest one, so that files created in between are closed to others rather than open.
	m := unix.Umask(0o077)
	unix.Umask(m)
	return m
}

// statusField reads a number from a status file of /proc (proc_pid_status(5)). It returns false if
// the system has no such file, or no such line there.
func statusField(path, name string, base int) (uint64, bool) {
	status, err := readHead(path, make([]byte, 4<<10))
	if err != nil {
		return 0, false
	}
	_, rest, _ := bytes.Cut(status, []byte("\n"+name+":\t"))
	digits, _, _ := bytes.Cut(rest, []byte("\n"))
	n, err := strconv.ParseUint(string(digits), base, 64)
	return n, err == nil
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

// sysForkExec is a variable so that tests can take pidfds away.
var sysForkExec = syscall.ForkExec

// forkExec forks and executes. The files of attr are open.
func forkExec(path string, argv []string, attr *syscall.ProcAttr) forked {
	pid, err := sysForkExec(path, argv, attr)
	if err == syscall.EINVAL && withoutPidfd(attr.Sys) {
		pid, err = sysForkExec(path, argv, attr)
	}
	if err == syscall.EBADF {
		// The child first moves its files to numbers above the highest of them. dup3(2) returns
		// this error if the limit on open files allows no such number.
		err = syscall.EMFILE
	}
	return forked{pid, err}
}
