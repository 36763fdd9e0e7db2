//go:build unix

package cli

import (
	"errors"
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// ReaderGone returns a channel that is closed when nobody is left to read what is written to w,
// such as when the other end of a pipe was closed. A program that seldom writes would learn it
// late, and keep a pipeline waiting. Its goroutine lives until the reader is gone.
func ReaderGone(w io.Writer) <-chan struct{} {
	gone := make(chan struct{})
	f, ok := w.(*os.File)
	if !ok {
		return gone
	}
	fd := int32(f.Fd())
	go func() {
		for {
			list := []unix.PollFd{{Fd: fd}} // poll reports errors and the end unasked
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
