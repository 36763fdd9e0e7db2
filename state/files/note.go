package files

import (
	"errors"
	"fmt"
	"strings"

	"github.com/ouro-timer/ouro-timer/state/codec"
)

// A note is a small TOML file that is written as a whole.

// load reads a note into a zero value. os.ErrNotExist: there is none.
func (s *Store) load(place string, v any) error {
	data, err := readFile(s.path(place), noteLimit)
	if err != nil {
		return err
	}
	return codec.Decode(data, v)
}

// loadNote is load of a note that may be missing. It returns the zero value for one that cannot be
// read, too.
func loadNote[T any](s *Store, place string) (v T, err error) {
	err = s.load(place, &v)
	if err == nil || missing(err) {
		return v, nil
	}
	return *new(T), fmt.Errorf("%s: %w", s.path(place), err)
}

// loadAll reads the notes in runs/ whose names begin with prefix, by the rest of the name. One that
// cannot be read is left out and reported by the error.
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

// noteLimit bounds what is read of a note.
const noteLimit = 1 << 16

// note replaces a note. It takes no lock, and does not wait for the disk.
func (s *Store) note(place string, v any) error {
	if err := s.stillLed(); err != nil {
		return err
	}
	data, err := codec.Encode(v)
	if err != nil {
		return err
	}
	return exchange(s.disk, s.path(place), data)
}

// putNote collects a note, or its removal.
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
