package files

import (
	"errors"
	"fmt"
	"os"

	"github.com/ouro-timer/ouro-timer/state/codec"
	"github.com/ouro-timer/ouro-timer/state/guard"
	"github.com/ouro-timer/ouro-timer/state/plainfile"
)

// errOdd is a file of ours that is not a plain file.
var errOdd = plainfile.ErrOdd

// garbled reports whether an error says that a file has nothing that could be read, now or later: what is there is not ours.
func garbled(err error) bool { return errors.Is(err, codec.ErrBroken) || errors.Is(err, errOdd) }

// fileError is what is wrong with the file at a path, which its text begins with.
type fileError struct {
	path string
	err  error
}

func (e *fileError) Error() string { return e.path + " " + e.err.Error() }

func (e *fileError) Unwrap() error { return e.err }

// reasonOf is an error without the path that it begins with.
func reasonOf(err error) string {
	if named := (*fileError)(nil); errors.As(err, &named) {
		err = named.err
	}
	return err.Error()
}

// openFile opens a file of ours, which is a plain file, else errOdd.
func openFile(path string, flags int, mode os.FileMode) (*os.File, error) {
	return plainfile.OpenFile(path, flags, mode)
}

// readFile reads a file of ours: a plain file, and not larger than limit, else an error. Links are not followed.
func readFile(path string, limit int64) ([]byte, error) { return slurp(nil, path, limit, nil) }

// readOwn is readFile of a file whose content is executed: it refuses one that others can write or that is another user's. It reads into the room
// there is, if it is enough.
func readOwn(room []byte, path string, limit int64) ([]byte, error) {
	return slurp(room, path, limit, func(uid int, mode os.FileMode) error { return guard.File(path, uid, mode) })
}

func slurp(room []byte, path string, limit int64, check func(int, os.FileMode) error) ([]byte, error) {
	data, err := plainfile.ReadInto(room, path, limit, check)
	switch {
	case errors.Is(err, errOdd):
		return nil, &fileError{path, errOdd}
	case errors.Is(err, plainfile.ErrLarge):
		return nil, fmt.Errorf("%w: it is larger than %d bytes", codec.ErrBroken, limit)
	}
	return data, err
}
