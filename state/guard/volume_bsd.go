//go:build darwin || freebsd

package guard

import (
	"os"
	"slices"

	"golang.org/x/sys/unix"
)

func statVolume(dir string) (Volume, error) {
	var st unix.Statfs_t
	for {
		err := unix.Statfs(dir, &st)
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			return Volume{}, &os.PathError{Op: "statfs", Path: dir, Err: err}
		}
		break
	}
	kind := unix.ByteSliceToString(st.Fstypename[:])
	return Volume{Kind: kind, Network: slices.Contains(networkKinds, kind), Free: counted(uint64(max(int64(st.Bavail), 0)) * uint64(st.Bsize)),
		Inodes: max(int64(st.Ffree), 0)}, nil
}
