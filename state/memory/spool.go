package memory

import (
	"context"
	"errors"
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

// Spooled gives a reader all texts that Spool keeps, with their names. It drops those that the
// reader refuses.
func (s *Store) Spooled(ctx context.Context, read func(name, text string) error) error {
	var all map[string]string
	err := s.do(ctx, func() { all = maps.Clone(s.spool) })
	for name, text := range all {
		if read(name, text) != nil {
			err = errors.Join(err, s.Spool(ctx, name, ""))
		}
	}
	return err
}
