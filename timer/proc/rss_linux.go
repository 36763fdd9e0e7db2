package proc

import "golang.org/x/sys/unix"

// rssFloor returns the size, in bytes, up to which the kernel's count of a new child may be our own
// memory: at the execve of a child, the kernel counts the memory that it held before, which is
// ours. Its sums are not exact, so an eighth and a MiB are added.
func rssFloor() int64 {
	var own unix.Rusage
	if unix.Getrusage(unix.RUSAGE_SELF, &own) != nil {
		return 1 << 62
	}
	size := int64(own.Maxrss) * rssUnit
	return size + size/8 + 1<<20
}
