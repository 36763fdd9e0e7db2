// Package cli has what every command needs: the world that it runs in, its settings, the options
// that were given, and where its answer and its problems go.
package cli

import (
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ouro-timer/ouro-timer/timer/clock"
)

// World is what commands use of their process: streams, variables, the folder, the clock. Real is
// that of this process; tests make their own.
type World struct {
	In       io.Reader
	Out, Err io.Writer
	Getenv   func(string) string
	Environ  func() []string
	Getwd    func() (string, error)
	Clock    clock.Clock
	// Raise ends the process with a signal, as a shell expects of an interrupted program.
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

// WithAbsoluteHome makes OURO_HOME absolute, because commands run in other folders than the one in
// which they are scheduled. Home refuses a relative one when the current folder is not known.
func (w World) WithAbsoluteHome() World {
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
