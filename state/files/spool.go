package files

import "context"

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
	notes, err := loadAll[spooled](s, spoolPrefix)
	all := map[string]string{}
	for name, one := range notes {
		all[name] = one.Text
	}
	return all, fail("reading what is kept for the servers", err)
}
