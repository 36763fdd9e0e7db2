package files

import (
	"fmt"
	"os"
	"strings"
	"syscall"
)

// lockHolder names a process that holds a lock on the file, as the kernel knows it; empty when it does not say.
func lockHolder(path string) string {
	var st syscall.Stat_t
	if syscall.Lstat(path, &st) != nil {
		return ""
	}
	table, err := os.ReadFile("/proc/locks")
	if err != nil {
		return ""
	}
	return holderIn(string(table), fmt.Sprintf(":%d", st.Ino))
}

// holderIn looks the inode up in the kernel's table: "1: FLOCK ADVISORY WRITE 1234 fd:00:5678 0 EOF".
func holderIn(table, inode string) string {
	for line := range strings.Lines(table) {
		f := strings.Fields(line)
		if len(f) < 6 || f[1] != "FLOCK" || !strings.HasSuffix(f[5], inode) || f[4] == "0" || f[4] == "-1" {
			continue
		}
		if comm, err := os.ReadFile("/proc/" + f[4] + "/comm"); err == nil {
			return fmt.Sprintf("process %s (%s)", f[4], strings.TrimSpace(string(comm)))
		}
		return "process " + f[4]
	}
	return ""
}
