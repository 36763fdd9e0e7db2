package health

import "golang.org/x/sys/unix"

// startOf is when a process started, as proc.Identity has it: in microseconds since 1970; 0 when it cannot be told.
func startOf(pid int) uint64 {
	info, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if err != nil {
		return 0
	}
	at := info.Proc.P_starttime
	return uint64(at.Sec)*1e6 + uint64(at.Usec)
}
