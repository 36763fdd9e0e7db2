package files

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/ouro-timer/ouro-timer/state"
)

// spoolPrefix is what the names of texts begin with that are kept for others who do not answer.
const spoolPrefix = "spool-"

// spooled is such a file.
type spooled struct {
	Text string `toml:"text"`
}

// Spool keeps a text by a name; an empty one is dropped.
func (s *Store) Spool(ctx context.Context, name, text string) error {
	return s.transact(ctx, func(t *tx) error {
		return t.putNote(runsDir+"/"+spoolPrefix+name+suffix, spooled{text}, text != "")
	})
}

// Spooled gives a reader all texts that are kept so, with their names. A file that is damaged, or
// that the reader refuses, is set aside, and one that cannot be read stays: nobody else suffers for
// it. Both are reported.
func (s *Store) Spooled(ctx context.Context, read func(name, text string) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	files, err := readNames(s.path(runsDir))
	if err != nil {
		return fail("reading what is kept for the servers", err)
	}
	slices.Sort(files)
	for _, file := range files {
		name, ours := strings.CutPrefix(file, spoolPrefix)
		name, whole := strings.CutSuffix(name, suffix)
		if !ours || !whole {
			continue
		}
		place := runsDir + "/" + file
		var one spooled
		err := s.load(place, &one)
		readable := err == nil
		if readable {
			err = read(name, one.Text)
		}
		switch {
		case err == nil, missing(err): // it was removed since
		case readable, garbled(err):
			s.report(s.spoolAside(ctx, place, err))
		default:
			err = fmt.Errorf("an outcome for the servers cannot be read: %w", err)
			s.report(state.Problem{Path: s.path(place), Err: err, Hint: "the next runner tries again"})
		}
	}
	return nil
}

// spoolAside moves such a file to those that were set aside, and returns what was wrong with it.
func (s *Store) spoolAside(ctx context.Context, place string, why error) state.Problem {
	to := ""
	err := s.transact(ctx, func(t *tx) error {
		to = t.asidePlace(path.Base(place))
		t.move(place, to, nil)
		return nil
	})
	if err != nil {
		return state.Problem{Path: s.path(place), Err: fmt.Errorf("an outcome for the servers is damaged, and stays: %w; %w", why, err)}
	}
	return state.Problem{Path: s.path(to), Err: fmt.Errorf("an outcome for the servers was set aside: %w", why),
		Hint: "mend it and move it back to " + s.path(place)}
}
