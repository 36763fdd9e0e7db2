package files

import (
	"os"

	"github.com/ouro-timer/ouro-timer/state/plainfile"
)

// Scratch returns a new file with the text in it, to read from its beginning. It is on the disk of
// the state, which every runner can write to. The file has no name and is gone when nobody has it
// open. If a process is killed before it has removed the name, or at any time on systems where
// files need a name, the next runner removes the file.
func (s *Store) Scratch(text string) (*os.File, error) {
	if err := s.ready(); err != nil {
		return nil, err
	}
	path := fresh(s.path(runsDir))
	f, err := plainfile.OpenIn(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, fail("writing a file", err)
	}
	if err := plainfile.Unname(f, text); err != nil {
		return nil, fail("writing a file", err)
	}
	return f, nil
}
