// Package cli has what every command needs: the world it runs in, its settings, what was said, and
// where its answer and its problems go.
package cli

import (
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ouro-timer/ouro-timer/timer/clock"
)

// World is the outside as the commands see it. Real is this process's; tests make their own.
type World struct {
	In       io.Reader
	Out, Err io.Writer
	Getenv   func(string) string
	Environ  func() []string
	Getwd    func() (string, error)
	Clock    clock.Clock
	// Raise ends the process by the signal, as a shell expects of a program that was interrupted.
	Raise func(os.Signal)
}

// Real is the world of this process.
func Real() World {
	return World{
		In: os.Stdin, Out: os.Stdout, Err: os.Stderr,
		Getenv: os.Getenv, Environ: os.Environ, Getwd: os.Getwd,
		Clock: clock.System,
		Raise: raise,
	}
}

// Settled is the world with an OURO_HOME that names the same folder from everywhere: commands are
// run in other folders than the one that they are scheduled in. A relative one counts from the
// present folder; where that cannot be told, home refuses it.
func (w World) Settled() World {
	const name = "OURO_HOME"
	dir := w.Getenv(name)
	if dir == "" || filepath.IsAbs(dir) {
		return w
	}
	wd, err := w.Getwd()
	if err != nil {
		return w
	}
	dir = filepath.Join(wd, dir)
	getenv, environ := w.Getenv, w.Environ
	w.Getenv = func(asked string) string {
		if asked == name {
			return dir
		}
		return getenv(asked)
	}
	w.Environ = func() []string {
		list := slices.Clone(environ())
		for i, pair := range list {
			if strings.HasPrefix(pair, name+"=") {
				list[i] = name + "=" + dir
			}
		}
		return list
	}
	return w
}
