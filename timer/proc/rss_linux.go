package proc

import "golang.org/x/sys/unix"

// countedIn is up to which size, in bytes, the kernel may have counted our own memory as that of a child that was started just now: at the
// execve of a child it takes what was held before, which is what we hold, for what the child has held. The sums that it takes are not exact:
// an eighth and a MiB more are doubtful, too.
func countedIn() int64 {
	var own unix.Rusage
	if unix.Getrusage(unix.RUSAGE_SELF, &own) != nil {
		return 1 << 62
	}
	most := int64(own.Maxrss) * rssUnit
	return most + most/8 + 1<<20
}
