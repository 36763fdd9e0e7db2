package cmd

import "github.com/ouro-timer/ouro-timer/state/files"

// far warns that the state is on a file system that other machines share, of the commands that schedule and run: once a
// call, for the price of one system call. It is not known everywhere, and no reason to refuse anything.
func (s *session) far(volume func() (files.Volume, error)) {
	if s.cmd.name != "at" && s.cmd.name != "run" {
		return
	}
	if v, err := volume(); err == nil && v.Network {
		s.warn("warning: %s; set OURO_HOME to a folder on a disk of this machine", visible(files.NetworkWarning(s.store.Dir(), v)))
	}
}
