package files

import (
	"os"

	"golang.org/x/sys/unix"
)

// writeBehind has the system begin to write a file to the disk, and does not wait for it: of many files, the first sync then waits
// for all and the others find little left to do (sync_file_range(2), which alone promises nothing).
func writeBehind(f *os.File) {
	unix.SyncFileRange(int(f.Fd()), 0, 0, unix.SYNC_FILE_RANGE_WRITE)
}

// syncData waits until the disk has what was written to a file, and what is needed to read it again (fdatasync(2)).
func syncData(f *os.File) error {
	for {
		if err := unix.Fdatasync(int(f.Fd())); err != unix.EINTR {
			return err
		}
	}
}
