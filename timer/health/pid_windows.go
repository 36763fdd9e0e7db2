package health

import "golang.org/x/sys/windows"

// startOf is when a process started, as proc.Identity has it: in units of 100 ns since 1601; 0 when it cannot be told.
func startOf(pid int) uint64 {
	h, err := windows.OpenProcess(windows.PROCESS_QUERY_LIMITED_INFORMATION, false, uint32(pid))
	if err != nil {
		return 0
	}
	defer windows.CloseHandle(h)
	var created, ended, kernel, user windows.Filetime
	if windows.GetProcessTimes(h, &created, &ended, &kernel, &user) != nil {
		return 0
	}
	return uint64(created.HighDateTime)<<32 | uint64(created.LowDateTime)
}
