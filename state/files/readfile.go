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

// errOdd is one of our files that is not a regular file.
var errOdd = plainfile.ErrOdd

// garbled reports whether an error says that a file cannot be read now or later, because its
// content is not ours.
func garbled(err error) bool { return errors.Is(err, codec.ErrBroken) || errors.Is(err, errOdd) }

// fileError is an error about the file at a path. Its text begins with the path.
type fileError struct {
	path string
	err  error
}

func (e *fileError) Error() string { return e.path + " " + e.err.Error() }

func (e *fileError) Unwrap() error { return e.err }

// reasonOf is an error's text without that path.
func reasonOf(err error) string {
	if named, ok := errors.AsType[*fileError](err); ok {
		err = named.err
	}
	return err.Error()
}

// readFile reads one of our files. It refuses one that is not a regular file or is larger than
// limit, and does not follow links.
func readFile(path string, limit int64) ([]byte, error) {
	data, err := plainfile.Read(path, limit, nil)
	return readError(data, nil, path, limit, err)
}

// pathIn is the path of a file in an open folder. If folder is nil, name is already its path.
func pathIn(folder *os.File, name string) string {
	if folder == nil {
		return name
	}
	return filepath.Join(folder.Name(), name)
}

// readOwn is readFile for a file whose content is executed. It refuses one that others can write or
// that belongs to another user. It reads the file in an open folder, or at its path if folder is
// nil, and into room if that is large enough.
func readOwn(folder *os.File, name string, room []byte, limit int64) ([]byte, error) {
	data, err := plainfile.ReadInto(room, folder, name, limit, func(uid int, mode os.FileMode) error {
		if guard.File(name, uid, mode) == nil {
			return nil
		}
		return guard.File(pathIn(folder, name), uid, mode)
	})
	return readError(data, folder, name, limit, err)
}

// readError adds to an error of reading what is wrong with the file.
func readError(data []byte, folder *os.File, name string, limit int64, err error) ([]byte, error) {
	switch {
	case errors.Is(err, errOdd):
		return nil, &fileError{pathIn(folder, name), errOdd}
	case errors.Is(err, plainfile.ErrLarge):
		return nil, fmt.Errorf("%w: it is larger than %d bytes", codec.ErrBroken, limit)
	}
	return data, err
}
