package files

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// lockHolder is a process that holds a lock on the file, as the kernel knows it; nobody when it does not say.
func lockHolder(path string) holder {
	var st syscall.Stat_t
	if syscall.Lstat(path, &st) != nil {
		return holder{}
	}
	table, err := os.ReadFile("/proc/locks")
	if err != nil {
		return holder{}
	}
	device := fmt.Sprintf("%02x:%02x", unix.Major(uint64(st.Dev)), unix.Minor(uint64(st.Dev)))
	return holderIn(string(table), device, strconv.FormatUint(st.Ino, 10))
}

// holderIn looks a file up in the kernel's table: "1: FLOCK  ADVISORY  WRITE 1234 fd:00:5678 0 EOF". Some file systems (btrfs,
// overlays) tell stat(2) of another device than stands there; the inode alone has to do then.
func holderIn(table, device, inode string) (guess holder) {
	for line := range strings.Lines(table) {
		f := strings.Fields(line)
		if len(f) < 6 || f[1] != "FLOCK" {
			continue
		}
		pid, err := strconv.Atoi(f[4])
		if err != nil || pid <= 0 { // one of another pid namespace
			continue
		}
		switch on, ino := deviceAndInode(f[5]); {
		case ino != inode:
		case on == device:
			return holderOf(pid)
		case guess.pid == 0:
			guess = holderOf(pid)
		}
	}
	return guess
}

// deviceAndInode parts "fd:00:5678" into device and inode.
func deviceAndInode(s string) (device, inode string) {
	i := strings.LastIndexByte(s, ':')
	return s[:max(i, 0)], s[i+1:]
}

// holderOf names a process; nobody when it has ended and left the lock to a child.
func holderOf(pid int) holder {
	comm, err := os.ReadFile(fmt.Sprintf("/proc/%d/comm", pid))
	if err != nil {
		return holder{}
	}
	return holder{pid, strings.TrimSpace(string(comm)), stopped(pid)}
}

// stopped reports whether a process has been stopped, by a signal or by who traces it: "1234 (comm) T 1 …".
func stopped(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return false
	}
	_, rest, _ := strings.Cut(string(stat[bytes.LastIndexByte(stat, ')')+1:]), " ")
	return strings.HasPrefix(rest, "T") || strings.HasPrefix(rest, "t")
}
