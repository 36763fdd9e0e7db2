package proc

import "golang.org/x/sys/windows"

// stillActive is STILL_ACTIVE, the exit code of a running process.
const stillActive = 259

func here() (boot, pidns string) { return "", "" }

// startOf returns the start of a process in units of 100 ns since 1601, or 0 if the system does not
// show it, and whether the process runs. No two processes with one number have the same start.
func startOf(pid int) (start uint64, alive bool) {
	h, err := windows.OpenProcess(windows.PROCESS_QUERY_LIMITED_INFORMATION, false, uint32(pid))
	if err != nil {
		return 0, err == windows.ERROR_ACCESS_DENIED // then the process exists
	}
	defer windows.CloseHandle(h)
	var code uint32
	if err := windows.GetExitCodeProcess(h, &code); err != nil {
		return 0, false
	}
	var created, ended, kernel, user windows.Filetime
	if err := windows.GetProcessTimes(h, &created, &ended, &kernel, &user); err != nil {
		return 0, code == stillActive
	}
	return uint64(created.HighDateTime)<<32 | uint64(created.LowDateTime), code == stillActive
}

func identify(pid int) Identity {
	start, _ := startOf(pid)
	return Identity{PID: pid, Start: start}
}

func (id Identity) alive() bool {
	start, alive := startOf(id.PID)
	return alive && (id.Start == 0 || start == id.Start)
}
