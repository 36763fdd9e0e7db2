package plainfile

import (
	"errors"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

func syncData(fd int) error { return syscall.Fdatasync(fd) }

// SyncAround waits until the disk has everything that was written to the file systems that folders
// are on, whoever wrote it, and says of which folders that can be relied on: a file system over the
// network may answer at once. ErrSync when the disk did not take something.
func SyncAround(folders []string) (sure map[string]bool, err error) {
	sure = map[string]bool{}
	asked := map[uint64]bool{} // by device
	for _, folder := range folders {
		var is syscall.Stat_t
		if _, err := again(func() (int, error) { return 0, syscall.Stat(folder, &is) }); err != nil {
			continue // who syncs what is in it says why
		}
		dev := uint64(is.Dev)
		all, known := asked[dev]
		if !known {
			if all, err = syncFileSystem(folder); err != nil {
				return nil, err
			}
			asked[dev] = all
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
	if _, err := again(func() (int, error) { return 0, unix.Fstatfs(fd, &on) }); err != nil {
		return false, &os.PathError{Op: "stat", Path: folder, Err: err}
	}
	switch on.Type {
	case unix.EXT4_SUPER_MAGIC, unix.XFS_SUPER_MAGIC, unix.BTRFS_SUPER_MAGIC:
		_, err := again(func() (int, error) { return 0, unix.Syncfs(fd) })
		return err == nil, refused(err)
	}
	return false, nil
}
