package rules

import "github.com/ouro-timer/ouro-timer/state"

// Telling is by which channels a task tells, and when: what its own words and the standing ones
// come to. It is the runner's own rule, for who tells of it beforehand.
func Telling(t state.Task, standing TellDefaults) (channels []string, on string) {
	return channelsOf(t, standing), NotifyOn(t, standing.On)
}
