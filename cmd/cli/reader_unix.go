//go:build unix

package cli

import (
	"errors"
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// ReaderGone returns a channel that is closed when nobody can read what is written to w, such as
// when the other end of a pipe was closed. Otherwise a program that seldom writes would learn it
// late and keep a pipeline waiting. A goroutine stays until the system tells.
func ReaderGone(w io.Writer) <-chan struct{} {
	gone := make(chan struct{})
	f, ok := w.(*os.File)
	if !ok {
		return gone
	}
	fd := int32(f.Fd())
	go func() {
		for {
			list := []unix.PollFd{{Fd: fd}} // without events it still reports errors and the end
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
