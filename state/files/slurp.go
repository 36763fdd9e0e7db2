package files

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

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
	if named := (*fileError)(nil); errors.As(err, &named) {
		err = named.err
	}
	return err.Error()
}

// openFile opens one of our files. errOdd: it is not a regular file.
func openFile(path string, flags int, mode os.FileMode) (*os.File, error) {
	return plainfile.OpenFile(path, flags, mode)
}

// readFile reads one of our files. It refuses one that is not a regular file or is larger than
// limit, and does not follow links.
func readFile(path string, limit int64) ([]byte, error) {
	data, err := plainfile.Read(path, limit, nil)
	return slurped(data, nil, path, limit, err)
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
	return slurped(data, folder, name, limit, err)
}

// load reads one of our small TOML files into a zero value. os.ErrNotExist: there is no such file.
func (s *Store) load(place string, v any) error {
	data, err := readFile(s.path(place), noteLimit)
	if err != nil {
		return err
	}
	return codec.Decode(data, v)
}

// loadNote is load of a file that may be missing. It returns the zero value for one that cannot be
// read.
func loadNote[T any](s *Store, place string) (v T, err error) {
	err = s.load(place, &v)
	if err == nil || missing(err) {
		return v, nil
	}
	return *new(T), fmt.Errorf("%s: %w", s.path(place), err)
}

// loadAll reads those of them in runs/ whose names begin with prefix, by the rest of the name. One
// that cannot be read is left out and reported by the error.
func loadAll[T any](s *Store, prefix string) (map[string]T, error) {
	files, err := readNames(s.path(runsDir))
	all, problems := map[string]T{}, []error{err}
	for _, file := range files {
		name, ours := strings.CutPrefix(file, prefix)
		name, whole := strings.CutSuffix(name, suffix)
		if !ours || !whole {
			continue
		}
		var one T
		switch err := s.load(runsDir+"/"+file, &one); {
		case missing(err): // it was removed since
		case err != nil:
			problems = append(problems, fmt.Errorf("%s: %w", s.path(runsDir+"/"+file), err))
		default:
			all[name] = one
		}
	}
	return all, errors.Join(problems...)
}

// noteLimit bounds what is read of a small file.
const noteLimit = 1 << 16

// note replaces such a file, and does not wait for the disk.
func (s *Store) note(place string, v any) error {
	data, err := codec.Encode(v)
	if err != nil {
		return err
	}
	return exchange(s.disk, s.path(place), data)
}

// putNote collects such a file, or its removal.
func (t *tx) putNote(place string, v any, keep bool) error {
	if !keep {
		t.drop(place)
		return nil
	}
	data, err := codec.Encode(v)
	if err != nil {
		return err
	}
	old, err := readFile(t.path(place), noteLimit)
	if err != nil && !missing(err) && !garbled(err) {
		return fail("reading "+place, err)
	}
	t.put(place, data, old)
	return nil
}

func slurped(data []byte, folder *os.File, name string, limit int64, err error) ([]byte, error) {
	switch {
	case errors.Is(err, errOdd):
		return nil, &fileError{pathIn(folder, name), errOdd}
	case errors.Is(err, plainfile.ErrLarge):
		return nil, fmt.Errorf("%w: it is larger than %d bytes", codec.ErrBroken, limit)
	}
	return data, err
}
