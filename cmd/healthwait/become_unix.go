//go:build unix

package healthwait

import (
	"os/signal"
	"syscall"

	"github.com/ouro-timer/ouro-timer/cmd/cli"
	"github.com/ouro-timer/ouro-timer/timer/problem"
)

// become replaces this process by a program, which gets its streams, terminal, process ID and
// signals. It returns only when that fails.
func become(w cli.World, path string, argv []string) error {
	signal.Reset() // signals that were ignored at the start are ignored again
	if err := syscall.Exec(path, argv, w.Environ()); err != nil {
		p := problem.New(problem.Failed, problem.T("cannot execute %s: %v", cli.Quote(path), err),
			problem.T("a script needs a first line such as #!/bin/sh"))
		p.Exit = 126
		return p
	}
	return nil
}
