//go:build unix

package healthwait

import (
	"os/signal"
	"syscall"

	"github.com/ouro-timer/ouro-timer/cmd/cli"
	"github.com/ouro-timer/ouro-timer/timer/problem"
)

// become puts a program in the place of this process: streams, terminal, process id, signals and
// exit code are its own from here on. It returns only when that fails.
func become(w cli.World, path string, argv []string) error {
	signal.Reset() // what was ignored when we were started is to be ignored again
	if err := syscall.Exec(path, argv, w.Environ()); err != nil {
		p := problem.New(problem.Failed, problem.T("cannot execute %s: %v", cli.Quote(path), err),
			problem.T("a script needs a first line such as #!/bin/sh"))
		p.Exit = 126
		return p
	}
	return nil
}
