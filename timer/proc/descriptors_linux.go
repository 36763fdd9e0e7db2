package proc

import (
	"math"

	"golang.org/x/sys/unix"
)

// closeRange marks descriptors from first on close-on-exec in one call (Linux 5.11). It is a
// variable so that tests can take it away.
var closeRange = func(first uint) error {
	return unix.CloseRange(first, math.MaxUint32, unix.CLOSE_RANGE_CLOEXEC)
}
