package healthwait

import (
	"errors"
	"fmt"
	"os"

	"github.com/ouro-timer/ouro-timer/cmd/cli"
)

// optionFile reads a small file that an option names, within the time of an attempt and of this
// call: a pipe that nobody writes to, or a disk that hangs, must not stop the wait.
func (r reader) optionFile(path string, maxBytes int64) (string, error) {
	within := r.options.Attempt
	if bound := r.b.bound(r.s.Clock.Now()); bound > 0 {
		within = min(within, bound)
	}
	limited, cancel := cli.WithBound(r.ctx, r.s.Clock, within)
	defer cancel()
	b, err := cli.ReadInput(limited, r.s, cli.Absolute(r.s, path), maxBytes)
	var file *os.PathError
	switch {
	case r.ctx.Err() != nil:
		return "", r.ctx.Err()
	case err != nil && limited.Err() != nil:
		return "", errors.New("could not be read within " + lasted(within) + "; is it a pipe that nobody writes to?")
	case errors.As(err, &file): // the message has the path already
		return "", file.Err
	case err == nil && int64(len(b)) > maxBytes:
		err = fmt.Errorf("is larger than %d KiB", maxBytes>>10)
	}
	return string(b), err
}
