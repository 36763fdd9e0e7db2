package plainfile

import (
	"syscall"
	"time"
)

// Mark is how a plain file looks to the system. Two that are equal are of the same file with the
// same content, owner and permissions, once the time of change is past.
type Mark struct {
	dev, ino     uint64
	size         int64
	mtime, ctime syscall.Timespec
}

// MarkOf looks at a file; false for what is no plain file, and where nothing can be kept by a mark.
func MarkOf(path string) (m Mark, ok bool) {
	var is syscall.Stat_t
	if _, err := again(func() (int, error) { return 0, syscall.Lstat(path, &is) }); err != nil || is.Mode&syscall.S_IFMT != syscall.S_IFREG {
		return m, false
	}
	return Mark{uint64(is.Dev), is.Ino, is.Size, is.Mtim, is.Ctim}, true
}

// Changed is when the file, or its name, last changed.
func (m Mark) Changed() time.Time { return time.Unix(m.ctime.Unix()) }
