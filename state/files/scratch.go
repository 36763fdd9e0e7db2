package files

import (
	"os"

	"github.com/ouro-timer/ouro-timer/state/plainfile"
)

// Scratch is a new file with the text in it, to be read from its beginning. It is on the disk of
// the state, which whoever runs tasks can write to, and has no name: it goes when nobody has it
// open any more. What a process leaves that is killed before it has taken the name away (or, on a
// system without files that have none, after that) the next runner removes.
func (s *Store) Scratch(text string) (*os.File, error) {
	if err := s.lately(&s.furnished, s.furnish); err != nil {
		return nil, err
	}
	path := fresh(s.path(runsDir))
	f, err := plainfile.OpenIn(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, fail("writing a file", err)
	}
	os.Remove(path) // also where a runner that has just begun came first
	if _, err = f.WriteString(text); err == nil {
		_, err = f.Seek(0, 0)
	}
	if err != nil {
		f.Close()
		return nil, fail("writing a file", err)
	}
	return f, nil
}
