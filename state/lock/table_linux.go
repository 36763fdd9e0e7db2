package lock

import (
	"bytes"
	"fmt"
	"iter"
	"os"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// HolderOf is a process that holds a lock on the file, as the kernel knows it; nobody when it does
// not say.
func HolderOf(path string) Holder {
	table, device, inode := lookUp(path)
	return holderIn(table, device, inode)
}

// Waiters are the processes that wait inside the kernel for a lock on the file; it tells of those
// in our pid namespace.
func Waiters(path string) []int {
	table, _, inode := lookUp(path)
	return waitersIn(table, inode)
}

// lookUp returns the kernel's table of locks, and how it names the file. The table is empty where
// there is none, or no file.
func lookUp(path string) (table, device, inode string) {
	var st syscall.Stat_t
	if syscall.Lstat(path, &st) != nil {
		return "", "", ""
	}
	data, err := os.ReadFile("/proc/locks")
	if err != nil {
		return "", "", ""
	}
	return string(data), fmt.Sprintf("%02x:%02x", unix.Major(uint64(st.Dev)), unix.Minor(uint64(st.Dev))), strconv.FormatUint(st.Ino, 10)
}

// row is a line of the table about a process that has, or waits for, a lock of flock(2).
type row struct {
	waits         bool
	pid           int
	device, inode string
}

// rows are those of the table: "1: FLOCK  ADVISORY  WRITE 1234 fd:00:5678 0 EOF" of who has a lock,
// "1: -> FLOCK …" of who waits for it. Those of other pid namespaces are left out.
func rows(table string) iter.Seq[row] {
	return func(yield func(row) bool) {
		for line := range strings.Lines(table) {
			var r row
			f := strings.Fields(line)
			if len(f) > 1 && f[1] == "->" {
				r.waits, f = true, f[1:]
			}
			if len(f) < 6 || f[1] != "FLOCK" {
				continue
			}
			i := strings.LastIndexByte(f[5], ':')
			r.device, r.inode = f[5][:max(i, 0)], f[5][i+1:]
			if r.pid, _ = strconv.Atoi(f[4]); r.pid > 0 && !yield(r) {
				return
			}
		}
	}
}

// holderIn looks a file up in the table. Some file systems (btrfs, overlays) tell stat(2) of
// another device than stands there; the inode alone has to do then.
func holderIn(table, device, inode string) (guess Holder) {
	for r := range rows(table) {
		switch {
		case r.waits || r.inode != inode:
		case r.device == device:
			return process(r.pid)
		case guess.PID == 0:
			guess = process(r.pid)
		}
	}
	return guess
}

// waitersIn looks for those that wait for a lock on the inode.
func waitersIn(table, inode string) (pids []int) {
	for r := range rows(table) {
		if r.waits && r.inode == inode {
			pids = append(pids, r.pid)
		}
	}
	return pids
}

// process names a process; nobody when it has ended and left the lock to a child.
func process(pid int) Holder {
	comm, err := os.ReadFile(fmt.Sprintf("/proc/%d/comm", pid))
	if err != nil {
		return Holder{}
	}
	return Holder{pid, strings.TrimSpace(string(comm)), stopped(pid)}
}

// stopped reports whether a process has been stopped, by a signal or by who traces it: "1234 (comm)
// T 1 …".
func stopped(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return false
	}
	_, rest, _ := strings.Cut(string(stat[bytes.LastIndexByte(stat, ')')+1:]), " ")
	return strings.HasPrefix(rest, "T") || strings.HasPrefix(rest, "t")
}
