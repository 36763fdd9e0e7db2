package proc

import (
	"sync"

	"golang.org/x/sys/unix"
)

// szomb is SZOMB of sys/proc.h.
const szomb = 5

// here returns the name of this boot. There are no pid namespaces.
var here = sync.OnceValues(func() (boot, pidns string) {
	boot, _ = unix.Sysctl("kern.bootsessionuuid") // on an error it is empty, as on every later call
	return boot, ""
})

// startOf returns the start in microseconds since 1970, and whether the process is not a zombie.
func startOf(info *unix.KinfoProc) (start uint64, alive bool) {
	at := info.Proc.P_starttime
	return uint64(at.Sec)*1e6 + uint64(at.Usec), info.Proc.P_stat != szomb
}

func identify(pid int) Identity {
	id := Identity{PID: pid}
	id.Boot, id.PIDNS = here()
	if info, err := unix.SysctlKinfoProc("kern.proc.pid", pid); err == nil {
		id.Start, _ = startOf(info)
	}
	return id
}

func (id Identity) alive() bool {
	info, err := unix.SysctlKinfoProc("kern.proc.pid", id.PID)
	if err != nil {
		return false
	}
	start, alive := startOf(info)
	return alive && (id.Start == 0 || start == id.Start)
}

// leftBehind reports whether the group of a child that has ended still has a living member.
func (p *Process) leftBehind() bool {
	if p.foreground {
		return false
	}
	members, err := unix.SysctlKinfoProcSlice("kern.proc.pgrp", p.pid)
	if err != nil {
		return false
	}
	for i := range members {
		if _, alive := startOf(&members[i]); alive && int(members[i].Proc.P_pid) != p.pid {
			return true
		}
	}
	return false
}
