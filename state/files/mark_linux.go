package files

import (
	"syscall"
	"time"
)

// mark is how a plain file looks to the system. Two that are equal are of the same file with the same content, owner and permissions, once the
// time of change is past.
type mark struct {
	dev, ino     uint64
	size         int64
	mtime, ctime syscall.Timespec
}

// markOf looks at a file; false for what is no plain file.
func markOf(path string) (m mark, ok bool) {
	var is syscall.Stat_t
	if _, err := again(func() (int, error) { return 0, syscall.Lstat(path, &is) }); err != nil || is.Mode&syscall.S_IFMT != syscall.S_IFREG {
		return m, false
	}
	return mark{uint64(is.Dev), is.Ino, is.Size, is.Mtim, is.Ctim}, true
}

// changed is when the file, or its name, last changed.
func (m mark) changed() time.Time { return time.Unix(m.ctime.Unix()) }
