//go:build !unix

package agent

import (
	"io"
	"os"
)

// follow reads a pipe to its end.
func (t *tap) follow(f *os.File) { _, _ = io.Copy(t, f) }

// drain does nothing here: what the process wrote last before its answer may be counted with what follows.
func (t *tap) drain(*os.File) {}
