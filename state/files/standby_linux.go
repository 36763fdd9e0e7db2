package files

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
)

// Standby are the processes that wait for the runner lock, as the kernel knows them; it tells of those in our pid namespace.
func (s *Store) Standby() []int {
	var st syscall.Stat_t
	if syscall.Lstat(s.path(leadFile), &st) != nil {
		return nil
	}
	table, err := os.ReadFile("/proc/locks")
	if err != nil {
		return nil
	}
	return waitersIn(string(table), fmt.Sprintf(":%d", st.Ino))
}

// waitersIn looks for those that wait for a lock on the inode: "1: -> FLOCK ADVISORY WRITE 1234 fd:00:5678 0 EOF".
func waitersIn(table, inode string) (pids []int) {
	for line := range strings.Lines(table) {
		f := strings.Fields(line)
		if len(f) < 7 || f[1] != "->" || f[2] != "FLOCK" || !strings.HasSuffix(f[6], inode) {
			continue
		}
		if pid, err := strconv.Atoi(f[5]); err == nil && pid > 0 {
			pids = append(pids, pid)
		}
	}
	return pids
}
