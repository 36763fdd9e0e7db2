package handover

import (
	"testing"

	"github.com/ouro-timer/ouro-timer/cmd/cli"
	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/timer/problem"
)

// TestWarningKinds tells warnings apart by their kinds: what is of all tasks alike is said once of
// many, and channels are told apart.
func TestWarningKinds(t *testing.T) {
	other := nobodyTold()
	other.Text = problem.T("in other words")
	silent := state.Task{Text: "x", Run: state.Job{Argv: []string{"true"}}, Policy: state.Policy{NotifyOn: state.NotifyFailure}}
	failure := Recipients{On: state.NotifyFailure}.Warnings(silent)
	silent.Policy.NotifyOn = state.NotifyAlways
	always := Recipients{On: state.NotifyAlways}.Warnings(silent)
	list := cli.AppendNewKinds(nil, rebootWarning(), nobodyTold(), other)
	list = cli.AppendNewKinds(list, append(failure, always...)...)
	list = cli.AppendNewKinds(list, failure...)
	var standing int
	for _, w := range list {
		if w.OfSetup() {
			standing++
		}
	}
	if len(list) != 4 || standing != 2 {
		t.Errorf("of %d warnings %d are standing: %v", len(list), standing, list)
	}
}
