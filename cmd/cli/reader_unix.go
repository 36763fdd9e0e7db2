//go:build unix

package cli

import (
	"errors"
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// ReaderGone returns a channel that is closed when nobody can read any more what is written to w,
// as when a pipe's other end was closed: a program that only writes now and then would learn it
// with its next word, and keep a pipeline waiting for that. The system tells; a goroutine stays
// behind until it does.
func ReaderGone(w io.Writer) <-chan struct{} {
	gone := make(chan struct{})
	f, ok := w.(*os.File)
	if !ok {
		return gone
	}
	fd := int32(f.Fd())
	go func() {
		for {
			list := []unix.PollFd{{Fd: fd}} // asked for nothing, it tells of errors and the end
			switch _, err := unix.Poll(list, -1); {
			case errors.Is(err, unix.EINTR):
				continue
			case err == nil && list[0].Revents&(unix.POLLERR|unix.POLLHUP) != 0:
				close(gone)
			}
			return
		}
	}()
	return gone
}
