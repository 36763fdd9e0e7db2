package output

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"

	"github.com/ouro-timer/ouro-timer/state/plainfile"
)

// ownFile is the file that says how many bytes of p are ouro-timer's own: a number on a line for
// each process that wrote some. It is there only when there are any.
func (p File) ownFile() string { return string(p) + ".own" }

// Own adds a line to that file. Lines of processes that end at once do not mix: each is one
// write to the end.
func (p File) Own(_ context.Context, f *os.File, n int64) (bool, error) {
	theirs, err := f.Stat()
	if err != nil {
		return false, err
	}
	ours, err := os.Lstat(string(p))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil || !os.SameFile(ours, theirs) {
		return false, err
	}
	to, err := plainfile.OpenIn(p.ownFile(), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return false, err
	}
	_, err = fmt.Fprintf(to, "%d\n", n)
	err = errors.Join(err, to.Close())
	return err == nil, err
}

// owned is how many bytes are ouro-timer's own. What cannot be read counts as nothing: then what a
// run wrote is told.
func (p File) owned() (n int64) {
	f, err := plainfile.OpenIn(p.ownFile(), os.O_RDONLY, 0)
	if err != nil {
		return 0
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		some, err := strconv.ParseUint(lines.Text(), 10, 62)
		if err != nil {
			return 0
		}
		n += int64(some)
	}
	return n
}

// disown removes that file, if it is there.
func (p File) disown() error {
	_, err := os.Lstat(p.ownFile()) // to remove what is not there takes two calls
	if err == nil {
		err = os.Remove(p.ownFile())
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
