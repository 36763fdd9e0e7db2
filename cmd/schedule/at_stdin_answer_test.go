package schedule

import (
	"strings"
	"testing"

	"github.com/ouro-timer/ouro-timer/cmd/cli"
	"github.com/ouro-timer/ouro-timer/cmd/clitest"
	"github.com/ouro-timer/ouro-timer/cmd/handover"
	"github.com/ouro-timer/ouro-timer/timer/clock/clocktest"
	"github.com/ouro-timer/ouro-timer/timer/problem"
	"github.com/ouro-timer/ouro-timer/timer/tasks"
	"github.com/ouro-timer/ouro-timer/timer/when"
)

// TestRemoteIsAnswered: what is to be warned of for the whole call stands in each answer in JSON.
func TestRemoteIsAnswered(t *testing.T) {
	w, told, said := clitest.World(t, clocktest.NewManual(clitest.Noon))
	s := cli.NewCall(w)
	s.Cmd, s.InJSON = &cli.Command{Name: "at"}, true
	s.NetworkWarnings = []cli.Warning{{Kind: "remote", Text: problem.T("/x is on a network file system (nfs)")}}
	in := stdin{Lines: Lines{Call: s}, checked: map[string]bool{}}
	in.answer(1, &scheduled{Done: tasks.Done{Change: &tasks.Change{Sched: &when.Schedule{}}, Created: true}}, handover.RunnerState{Runner: handover.RunnerAlive})
	s.Stdout.Flush()
	if said.Len() > 0 || !strings.Contains(told.String(), `,"/x is on a network file system (nfs)"`) {
		t.Errorf("said %q, answered %s", said.String(), told.String())
	}
}
