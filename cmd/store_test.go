package cmd

import (
	"bufio"
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/ouro-timer/ouro-timer/cmd/cli"
	"github.com/ouro-timer/ouro-timer/cmd/clitest"
	"github.com/ouro-timer/ouro-timer/cmd/handover"
	"github.com/ouro-timer/ouro-timer/cmd/schedule"
	"github.com/ouro-timer/ouro-timer/state/files"
	"github.com/ouro-timer/ouro-timer/state/guard"
	"github.com/ouro-timer/ouro-timer/timer/clock/clocktest"
	"github.com/ouro-timer/ouro-timer/timer/when"
)

// TestFar: those who schedule and run are warned of a network file system, others are not, and nobody of what is not known.
func TestFar(t *testing.T) {
	for _, c := range []struct {
		cmd    string
		volume guard.Volume
		err    error
		warns  bool
	}{
		{"at", guard.Volume{Kind: "nfs", Network: true}, nil, true},
		{"run", guard.Volume{Kind: "fuse.sshfs", Network: true}, nil, true},
		{"ls", guard.Volume{Kind: "nfs", Network: true}, nil, false},
		{"at", guard.Volume{Kind: "ext4"}, nil, false},
		{"at", guard.Volume{Network: true}, errors.New("no such call"), false},
	} {
		st, err := files.Open(t.TempDir(), files.Options{})
		if err != nil {
			t.Fatal(err)
		}
		var said bytes.Buffer
		s := &cli.Call{World: cli.World{Err: &said}, Cmd: &cli.Command{Name: c.cmd}, Store: st}
		looked := 0
		cli.Far(s, st.Dir(), func() (guard.Volume, error) { looked++; return c.volume, c.err })
		if got := strings.Contains(said.String(), "network file system ("+c.volume.Kind+")"); got != c.warns || looked > 1 {
			t.Errorf("%+v: after %d looks %q", c, looked, said.String())
		}
	}

	// In JSON it is for the answer.
	st, err := files.Open(t.TempDir(), files.Options{})
	if err != nil {
		t.Fatal(err)
	}
	w, told, said := clitest.World(t, clocktest.NewManual(clitest.Noon))
	s := &cli.Call{World: w, Cmd: &cli.Command{Name: "at"}, Store: st, InJSON: true, Stdout: bufio.NewWriter(told)}
	cli.Far(s, st.Dir(), func() (guard.Volume, error) { return guard.Volume{Kind: "nfs", Network: true}, nil })
	in := schedule.Stdin{Call: s, Asked: map[string]bool{}}
	in.Answer(1, schedule.Scheduled{AtOptions: schedule.AtOptions{Sched: &when.Schedule{}}, Created: true}, handover.Hands{Runner: handover.RunnerAlive})
	s.Stdout.Flush()
	if said.Len() > 0 || !strings.Contains(told.String(), `,"`+st.Dir()+" is on a network file system (nfs)") {
		t.Errorf("said %q, answered %s", said.String(), told.String())
	}
}
