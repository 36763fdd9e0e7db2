package memory

import (
	"context"
	"maps"
)

// Spool keeps a text under a name. An empty text removes the name.
func (s *Store) Spool(ctx context.Context, name, text string) error {
	return s.do(ctx, func() {
		if s.spool[name] = text; text == "" {
			delete(s.spool, name)
		}
	})
}

// Spooled returns all texts that Spool keeps, by their names.
func (s *Store) Spooled(ctx context.Context) (all map[string]string, err error) {
	err = s.do(ctx, func() { all = maps.Clone(s.spool) })
	return all, err
}
