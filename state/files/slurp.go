package files

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

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
func readFile(path string, limit int64) ([]byte, error) {
	data, err := plainfile.Read(path, limit, nil)
	return slurped(data, path, limit, err)
}

// readOwn is readFile of a file whose content is executed: it refuses one that others can write or that is another user's.
func readOwn(path string, limit int64) ([]byte, error) {
	data, err := plainfile.Read(path, limit, func(uid int, mode os.FileMode) error { return guard.File(path, uid, mode) })
	return slurped(data, path, limit, err)
}

// pathIn is the path of a file in an open folder; of one that is named by its path the folder is nil.
func pathIn(folder *os.File, name string) string {
	if folder == nil {
		return name
	}
	return filepath.Join(folder.Name(), name)
}

// readOwnIn is readOwn of a file in an open folder, into the room there is, if it is enough.
func readOwnIn(folder *os.File, name string, room []byte, limit int64) ([]byte, error) {
	data, err := plainfile.ReadInto(room, folder, name, limit, func(uid int, mode os.FileMode) error {
		if guard.File(name, uid, mode) == nil {
			return nil
		}
		return guard.File(pathIn(folder, name), uid, mode)
	})
	if err != nil {
		return slurped(data, pathIn(folder, name), limit, err)
	}
	return data, nil
}

func slurped(data []byte, path string, limit int64, err error) ([]byte, error) {
	switch {
	case errors.Is(err, errOdd):
		return nil, &fileError{path, errOdd}
	case errors.Is(err, plainfile.ErrLarge):
		return nil, fmt.Errorf("%w: it is larger than %d bytes", codec.ErrBroken, limit)
	}
	return data, err
}
