package runner

import (
	"testing"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/timer/rules"
)

// What is told of a claim beforehand is what a runner then decides.
func TestProspects(t *testing.T) {
	self, err := Self()
	if err != nil {
		t.Fatal(err)
	}
	then := at(t, "2026-11-23 09:00")
	gone := self
	gone.PID, gone.Start = 1<<22+1, 1
	other := gone
	other.Boot = "another"
	command := state.Task{ID: "k7m2", Run: state.Job{Argv: []string{"true"}}}
	reruns, message := command, state.Task{ID: "k7m2", Text: "tea"}
	reruns.Policy.Rerun = true
	for _, c := range []struct {
		name string
		r    state.Record
		want rules.Settlement
	}{
		{"its command was running", state.Record{Task: command, Runner: gone, Started: then, Child: gone}, rules.ToEnd},
		{"its command runs", state.Record{Task: command, Runner: gone, Started: then, Child: self}, rules.ToAdopt},
		{"nothing was started", state.Record{Task: command, Runner: gone}, rules.ToRelease},
		{"nothing was noted, and the machine has been off", state.Record{Task: command, Runner: other}, rules.ToEnd},
		{"it rests", state.Record{Task: command, Runner: gone, Attempt: 1, Started: then, Retry: then}, rules.ToRest},
		{"it rests, and its end was asked for", state.Record{Task: command, Runner: gone, Attempt: 1, Retry: then, Halt: rules.Stopped}, rules.ToEnd},
		{"it rests, and was fired by hand", state.Record{Task: command, Runner: gone, Attempt: 1, Retry: then, Manual: true}, rules.ToEnd},
		{"it is to be run again", state.Record{Task: reruns, Runner: gone, Started: then}, rules.ToRerun},
		{"it was run again as often as that goes", state.Record{Task: reruns, Runner: gone, Started: then, Attempt: 4}, rules.ToEnd},
		{"a message", state.Record{Task: message, Runner: gone, Starting: then}, rules.ToTell},
	} {
		c.r.Number, c.r.Due = 1, then
		if got := ProspectOf(c.r, self); got != c.want {
			t.Errorf("%s: %d, want %d", c.name, got, c.want)
		}
	}
}
