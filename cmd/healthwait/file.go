package healthwait

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
)

// optionFile reads a small file that an option names, within the time of an attempt and of this
// call. It returns when ctx ends, because a pipe that nobody writes to, or a disk that hangs, must
// not stop the wait. A read that hangs is left behind until the process ends.
func (r reader) optionFile(path string, maxBytes int64) (string, error) {
	within := r.options.Attempt
	if bound := r.b.bound(r.s.Clock.Now()); bound > 0 {
		within = min(within, bound)
	}
	type answer struct {
		text string
		err  error
	}
	done := make(chan answer, 1)
	go func() {
		text, err := readAtMost(path, maxBytes)
		done <- answer{text, err}
	}()
	limited, cancel := context.WithCancel(r.ctx)
	defer cancel()
	late := make(chan struct{})
	go func() {
		if r.s.Clock.For(limited, within) == nil {
			close(late)
		}
	}()
	select {
	case a := <-done:
		return a.text, a.err
	case <-r.ctx.Done():
		return "", r.ctx.Err()
	case <-late:
		return "", errors.New("could not be read within " + lasted(within) + "; is it a pipe that nobody writes to?")
	}
}

// readAtMost reads a file of at most maxBytes.
func readAtMost(path string, maxBytes int64) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", plainError(err)
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxBytes+1))
	switch {
	case err != nil:
		return "", plainError(err)
	case int64(len(b)) > maxBytes:
		return "", fmt.Errorf("is larger than %d KiB", maxBytes>>10)
	}
	return string(b), nil
}

// plainError returns the error of a file without the path, which the message already has.
func plainError(err error) error {
	if e, ok := err.(*os.PathError); ok {
		return e.Err
	}
	return err
}
