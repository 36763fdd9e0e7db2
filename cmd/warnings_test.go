package cmd

import (
	"testing"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/timer/problem"
)

// TestWarningKinds tells warnings apart by their kinds: what is of all tasks alike is said once of many, and channels are told apart.
func TestWarningKinds(t *testing.T) {
	other := toldNobody
	other.text = problem.T("in other words")
	silent := state.Task{Text: "x", Run: state.Job{Argv: []string{"true"}}, Policy: state.Policy{NotifyOn: state.NotifyFailure}}
	failure := audience{on: state.NotifyFailure}.warnings(silent)
	silent.Policy.NotifyOn = state.NotifyAlways
	always := audience{on: state.NotifyAlways}.warnings(silent)
	list := once(nil, rebootWarning, toldNobody, other)
	list = once(list, append(failure, always...)...)
	list = once(list, failure...)
	var standing int
	for _, w := range list {
		if w.standing() {
			standing++
		}
	}
	if len(list) != 4 || standing != 2 {
		t.Errorf("of %d warnings %d are standing: %v", len(list), standing, list)
	}
}
