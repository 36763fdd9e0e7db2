package proc

import "golang.org/x/sys/unix"

// countedIn is the size, in bytes, up to which the kernel may have counted our own memory as that
// of a child that just started: at the execve of a child, it counts the memory held before, which
// is ours, as the child's. Its sums are not exact, so an eighth and a MiB more are in doubt, too.
func countedIn() int64 {
	var own unix.Rusage
	if unix.Getrusage(unix.RUSAGE_SELF, &own) != nil {
		return 1 << 62
	}
	most := int64(own.Maxrss) * rssUnit
	return most + most/8 + 1<<20
}
