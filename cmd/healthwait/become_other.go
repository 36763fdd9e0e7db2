//go:build !unix

package healthwait

import (
	"os"

	"github.com/ouro-timer/ouro-timer/cmd/cli"
	"github.com/ouro-timer/ouro-timer/timer/proc"
)

// become runs a program with the streams of this process, and ends with its exit code.
func become(w cli.World, path string, argv []string) error {
	spec := proc.Spec{Argv: append([]string{path}, argv[1:]...), Env: w.Environ(), Umask: -1, Foreground: true}
	spec.Stdin, _ = w.In.(*os.File)
	spec.Stdout, _ = w.Out.(*os.File)
	spec.Stderr, _ = w.Err.(*os.File)
	child, err := proc.Start(spec)
	if err != nil {
		return notStarted(err)
	}
	if code := child.Wait().ExitCode; code != cli.ExitOK {
		return cli.ExitCode(code)
	}
	return nil
}
