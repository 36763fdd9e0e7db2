package cmd

import (
	"slices"

	"github.com/ouro-timer/ouro-timer/state/guard"
)

// far warns that the state is on a file system that other machines share, of the commands that schedule and run: once a
// call, for the price of one system call. It is not known everywhere, and no reason to refuse anything. With --json it
// is left for the answer of those that schedule.
func (s *session) far(volume func() (guard.Volume, error)) {
	if !slices.Contains([]string{"at", "edit", "restore", "run"}, s.cmd.name) {
		return
	}
	if v, err := volume(); err == nil && v.Network {
		text := v.Warning(s.store.Dir()) + "; set OURO_HOME to a folder on a disk of this machine"
		if s.remote = nil; s.json {
			s.remote = []string{text}
		}
		s.warn("warning: %s", visible(text))
	}
}
