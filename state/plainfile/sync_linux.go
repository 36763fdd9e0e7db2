package plainfile

import (
	"errors"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// syncData waits until the disk has the data of a file.
func syncData(fd int) error { return syscall.Fdatasync(fd) }

// SyncAround waits until the disks have everything that any process has written to the file systems
// of folders. It returns the folders for which that is sure: a file system on a network may return
// at once. It returns ErrSync if a disk refuses something.
func SyncAround(folders []string) (sure map[string]bool, err error) {
	sure = map[string]bool{}
	synced := map[uint64]bool{} // by device: whether it is sure
	for _, folder := range folders {
		var is syscall.Stat_t
		if _, err := retryInterrupted(func() (int, error) { return 0, syscall.Stat(folder, &is) }); err != nil {
			continue // the caller syncs the files of the folder and reports the error
		}
		dev := uint64(is.Dev)
		all, known := synced[dev]
		if !known {
			if all, err = syncFileSystem(folder); err != nil {
				return nil, err
			}
			synced[dev] = all
		}
		sure[folder] = all
	}
	return sure, nil
}

// syncFileSystem is SyncAround of one folder.
func syncFileSystem(folder string) (sure bool, err error) {
	d, err := Folder(folder)
	if errors.Is(err, os.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer d.Close()
	fd := int(d.Fd())
	var on unix.Statfs_t
	if _, err := retryInterrupted(func() (int, error) { return 0, unix.Fstatfs(fd, &on) }); err != nil {
		return false, &os.PathError{Op: "stat", Path: folder, Err: err}
	}
	switch on.Type {
	case unix.EXT4_SUPER_MAGIC, unix.XFS_SUPER_MAGIC, unix.BTRFS_SUPER_MAGIC:
		_, err := retryInterrupted(func() (int, error) { return 0, unix.Syncfs(fd) })
		return err == nil, refused(err)
	}
	return false, nil
}
