package proc

import (
	"bytes"
	"context"
	"errors"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// stat has the fields of /proc/PID/stat that we need (proc_pid_stat(5)).
type stat struct {
	state   byte
	group   int
	threads int
	start   uint64 // in clock ticks since the machine was started
}

// alive reports whether the process is not a zombie. A zombie with several threads is a program
// whose main thread has ended before the others.
func (s stat) alive() bool {
	return s.state != 'X' && s.state != 'x' && (s.state != 'Z' || s.threads > 1)
}

var errStat = errors.New("unexpected form of /proc/PID/stat")

// procDir is where /proc is mounted. It is a variable so that tests can hide its content.
var procDir = "/proc"

// readStat reads the stat of a process. It returns an error if the process is not visible.
func readStat(pid int) (stat, error) {
	buf := make([]byte, 1024) // the file is never as long
	text, err := readHead(procDir+"/"+strconv.Itoa(pid)+"/stat", buf)
	if err != nil {
		return stat{}, err
	}
	s, err := parseStat(text)
	s.start -= shift()
	return s, err
}

// parseStat counts fields from the last parenthesis, because the name before it may contain spaces
// and parentheses.
func parseStat(text []byte) (stat, error) {
	_, rest, found := bytes.Cut(text[max(bytes.LastIndexByte(text, ')'), 0):], []byte(") "))
	fields := strings.Fields(string(rest))
	if !found || len(fields) < 20 {
		return stat{}, errStat
	}
	var s stat
	var errs [3]error
	s.state = fields[0][0]
	s.group, errs[0] = strconv.Atoi(fields[2])
	s.threads, errs[1] = strconv.Atoi(fields[17])
	s.start, errs[2] = strconv.ParseUint(fields[19], 10, 64)
	if err := errors.Join(errs[:]...); err != nil {
		return stat{}, errStat
	}
	return s, nil
}

// eachProcess calls f for every visible process until f returns false.
func eachProcess(f func(pid int, s stat) bool) {
	dir, err := os.Open(procDir)
	if err != nil {
		return
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(-1) // on an error it returns what it could read
	for _, name := range names {
		pid, err := strconv.Atoi(name)
		if err != nil {
			continue
		}
		if s, err := readStat(pid); err == nil && !f(pid, s) {
			return
		}
	}
}

// here returns this boot and our pid namespace, which do not change while we live.
var here = sync.OnceValues(func() (boot, pidns string) {
	if id, err := readHead("/proc/sys/kernel/random/boot_id", make([]byte, 64)); err == nil {
		boot = strings.TrimSpace(string(id))
	}
	if link, err := os.Readlink("/proc/self/ns/pid"); err == nil {
		pidns = strings.TrimSuffix(strings.TrimPrefix(link, "pid:["), "]")
	}
	return boot, pidns
})

// initialTime is the time namespace of the machine itself, whose number the kernel has fixed.
const initialTime = "time:[4026531834]"

// shift is how many clock ticks our time namespace counts more than the machine since it was
// started, as a two's complement. Another process may be in another one.
var shift = sync.OnceValue(func() uint64 {
	if link, err := os.Readlink("/proc/self/ns/time"); err != nil || link == initialTime {
		return 0
	}
	text, _ := readHead("/proc/self/timens_offsets", make([]byte, 256)) // without it there is none
	return parseShift(text)
})

// parseShift reads what time_namespaces(7) says: for each clock a line with seconds and
// nanoseconds.
func parseShift(text []byte) (ticks uint64) {
	for line := range bytes.Lines(text) {
		fields := strings.Fields(string(line))
		if len(fields) != 3 || fields[0] != "boottime" {
			continue
		}
		seconds, _ := strconv.ParseInt(fields[1], 10, 64)
		nanos, _ := strconv.ParseInt(fields[2], 10, 64)
		ticks = uint64(seconds*userHZ + nanos*userHZ/int64(time.Second))
	}
	return ticks
}

// identify returns the identity of the process with a number. It is certain for a process that
// cannot be replaced at the moment: ourselves, or a child that nobody has waited for yet.
func identify(pid int) Identity {
	id := Identity{PID: pid}
	id.Boot, id.PIDNS = here()
	if s, err := readStat(pid); err == nil {
		id.Start = s.start
	}
	return id
}

// alive assumes that a process lives as long as its number is taken, if /proc does not show more
// (hidepid, or no free descriptors). A command that is wrongly taken for dead would be run again.
func (id Identity) alive() bool {
	s, err := readStat(id.PID)
	if err != nil {
		return unix.Kill(id.PID, 0) != unix.ESRCH
	}
	return s.alive() && (id.Start == 0 || s.start == id.Start)
}

// Suspended reports whether the process is alive, but was stopped by SIGSTOP or a debugger, and so
// does nothing until it is resumed.
func (id Identity) Suspended() bool {
	if id.PID <= 0 || !id.Here() {
		return false
	}
	s, err := readStat(id.PID)
	return err == nil && s.start == id.Start && (s.state == 'T' || s.state == 't')
}

// userHZ is the fraction of a second in which the kernel tells times to programs, on every
// architecture of Go.
const userHZ = 100

// age is how long ago the process started, by a clock that also counts while the machine sleeps.
func (id Identity) age() (time.Duration, bool) {
	var now unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_BOOTTIME, &now); err != nil {
		return 0, false
	}
	return max(time.Duration(now.Nano())-time.Duration(id.Start+shift())*(time.Second/userHZ), 0), true
}

// pidfdOpen is a variable so that tests can take it away (Linux 5.3).
var pidfdOpen = func(pid int) (int, error) { return unix.PidfdOpen(pid, 0) }

// awaitGone is WaitGone by a pidfd. It returns errors.ErrUnsupported if the kernel has none.
func awaitGone(ctx context.Context, id Identity) error {
	pidfd, err := pidfdOpen(id.PID)
	if err == unix.ESRCH {
		return nil
	}
	if err != nil {
		return errors.ErrUnsupported
	}
	// The number may have changed hands before we got the descriptor. It cannot any more.
	if !id.Alive() {
		unix.Close(pidfd)
		return nil
	}
	err = awaitPidfd(ctx, pidfd)
	if errors.Is(err, errNoPidfd) {
		return errors.ErrUnsupported
	}
	return err
}
