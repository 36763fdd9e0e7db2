//go:build unix

package cmd

import (
	"os/signal"
	"syscall"

	"github.com/ouro-timer/ouro-timer/timer/problem"
)

// become puts a program in the place of this process: streams, terminal, process id, signals and exit code are its own
// from here on. It returns only when that fails.
func become(w World, path string, argv []string) error {
	signal.Reset() // what was ignored when we were started is to be ignored again
	if err := syscall.Exec(path, argv, w.Environ()); err != nil {
		return &problem.Problem{Exit: 126, Code: problem.Failed, Message: problem.T("cannot execute " + quote(path) + ": " + err.Error()),
			Hint: problem.T("a script needs a first line such as #!/bin/sh")}
	}
	return nil
}
