package healthwait

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
)

// flagFile reads a small file that an option names, within the time of an attempt and of this call.
// It returns when ctx ends, because a pipe that nobody writes to, or a disk that hangs, must not
// stop the wait. The read is left to the end of the process.
func (r reader) flagFile(path string, most int64) (string, error) {
	within := r.asked.Attempt
	if bound := r.b.bound(r.s.Clock.Now()); bound > 0 {
		within = min(within, bound)
	}
	type answer struct {
		text string
		err  error
	}
	done := make(chan answer, 1)
	go func() {
		text, err := readAtMost(path, most)
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

// readAtMost reads a file of at most so many bytes.
func readAtMost(path string, most int64) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", plainError(err)
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, most+1))
	switch {
	case err != nil:
		return "", plainError(err)
	case int64(len(b)) > most:
		return "", fmt.Errorf("is larger than %d KiB", most>>10)
	}
	return string(b), nil
}

// plainError returns the error of a file without its path, which the message has.
func plainError(err error) error {
	if e, ok := err.(*os.PathError); ok {
		return e.Err
	}
	return err
}
