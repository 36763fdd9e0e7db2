package plainfile

import (
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

func syncData(fd int) error { return syscall.Fdatasync(fd) }

// WriteBehind has the system begin to write a file to the disk, and does not wait for it: of many
// files, the first sync then waits for all and the others find little left to do
// (sync_file_range(2), which alone promises nothing).
func WriteBehind(f *os.File) {
	unix.SyncFileRange(int(f.Fd()), 0, 0, unix.SYNC_FILE_RANGE_WRITE)
}
