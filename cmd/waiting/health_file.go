package waiting

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/ouro-timer/ouro-timer/cmd/cli"
	"github.com/ouro-timer/ouro-timer/timer/clock"
)

// flagFile reads a small file that an option names, within the time of an attempt and of this call. The end of ctx ends it, too: a pipe
// that nobody writes to, or a disk that hangs, must not hold the wait. What is then stuck is left to the end of the process.
func (o *healthOptions) flagFile(ctx context.Context, s *cli.Call, path string, most int64) (string, error) {
	within := o.wait.Attempt
	if bound := o.bound(s.Clock.Now()); bound > 0 {
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
	limited, cancel := context.WithCancel(ctx)
	defer cancel()
	late := make(chan struct{})
	go func() {
		if s.Clock.For(limited, within) == nil {
			close(late)
		}
	}()
	select {
	case a := <-done:
		return a.text, a.err
	case <-ctx.Done():
		return "", ctx.Err()
	case <-late:
		return "", errors.New("could not be read within " + lasted(within) + "; is it a pipe that nobody writes to?")
	}
}

// readAtMost reads a file that is no larger than that.
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

// plainError is what went wrong with a file whose path is told beside it.
func plainError(err error) error {
	if e, ok := err.(*os.PathError); ok {
		return e.Err
	}
	return err
}

// since is how much time has passed on the clock that nobody sets, where there is one.
func (m moment) since(c clock.Clock) time.Duration {
	if steady, ok := c.(clock.Steady); ok {
		return steady.Boot() - m.boot
	}
	return c.Now().Sub(m.wall)
}
