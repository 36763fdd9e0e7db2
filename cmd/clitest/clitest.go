// Package clitest has what the tests of the rooms share: a fixed present, a world that touches
// nothing, and a call in it.
package clitest

import (
	"bytes"
	"context"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/ouro-timer/ouro-timer/cmd/cli"
	"github.com/ouro-timer/ouro-timer/timer/clock"
)

// Noon is the present of tests: a Saturday in Warsaw.
var Noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.FixedZone("CET", 3600))

// World returns a world with the clock c and a home that does not exist, and the buffers of its
// standard output and standard error. No runner is started: it would be the test binary, and begin
// the tests once more.
func World(t testing.TB, c clock.Clock) (w cli.World, out, errs *bytes.Buffer) {
	out, errs = new(bytes.Buffer), new(bytes.Buffer)
	home := t.TempDir() + "/home"
	return cli.World{
		In: strings.NewReader(""), Out: out, Err: errs, Clock: c,
		Getenv: func(name string) string {
			return map[string]string{"OURO_HOME": home, "OURO_AUTOSTART": "0", "TZ": "Europe/Warsaw"}[name]
		},
		Getwd: os.Getwd,
		Raise: func(os.Signal) {},
	}, out, errs
}

// Perform runs the command in the call with the words after its name.
func Perform(ctx context.Context, s *cli.Call, c cli.Command, words ...string) error {
	s.Cmd = &c
	line, err := c.Syntax().Words(words)
	if err != nil {
		return err
	}
	return cli.Perform(ctx, s, line)
}
