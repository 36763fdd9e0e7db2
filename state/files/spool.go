package files

import (
	"context"
	"errors"
	"strings"
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

// Spooled are all texts that are kept so, by their names.
func (s *Store) Spooled(ctx context.Context) (map[string]string, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	names, err := readNames(s.path(runsDir))
	if missing(err) {
		return nil, nil
	}
	all, problems := map[string]string{}, []error{fail("looking for what is kept for the servers", err)}
	for _, file := range names {
		name, ours := strings.CutPrefix(strings.TrimSuffix(file, suffix), spoolPrefix)
		if !ours {
			continue
		}
		var one spooled
		if err := s.load(runsDir+"/"+file, &one); err == nil {
			all[name] = one.Text
		} else if !missing(err) {
			problems = append(problems, fail("reading "+file, err))
		}
	}
	return all, errors.Join(problems...)
}
