package health

import (
	"bytes"
	"os"
	"strconv"
)

// startOf is when a process started, as proc.Identity has it (field 22 of proc_pid_stat(5)); 0 when it cannot be told.
// Fields are counted from the last parenthesis, as the name before it may contain spaces and parentheses.
func startOf(pid int) uint64 {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return 0
	}
	fields := bytes.Fields(text[bytes.LastIndexByte(text, ')')+1:])
	if len(fields) < 20 {
		return 0
	}
	start, _ := strconv.ParseUint(string(fields[19]), 10, 64)
	return start
}
