//go:build unix

package proc

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"sync"

	"golang.org/x/sys/unix"
)

// detachDescriptors marks every descriptor above 2 of this process close-on-exec, so that no child
// keeps open what our caller opened (a lock on 9, a pipe on 251). Go marks its own descriptors when
// it opens them, so once is enough, and later calls do nothing.
var detachDescriptors = sync.OnceValue(markDescriptors)

func markDescriptors() error {
	// Other systems only list 0 to 2, unless fdescfs is mounted.
	list := map[string]string{"linux": "/proc/self/fd", "darwin": "/dev/fd"}[runtime.GOOS]
	if entries, err := os.ReadDir(list); err == nil {
		for _, e := range entries {
			if fd, err := strconv.Atoi(e.Name()); err == nil && fd > 2 {
				unix.CloseOnExec(fd)
			}
		}
		return nil
	}
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		return fmt.Errorf("cannot tell how many descriptors are open: %w", err)
	}
	for fd := 3; fd < int(min(uint64(limit.Cur), 1<<20)); fd++ {
		unix.CloseOnExec(fd)
	}
	return nil
}
