package rules

import "github.com/ouro-timer/ouro-timer/state"

// Telling returns through which channels a task tells, and when, from its own settings and the
// defaults. Commands use it to say so before the run.
func Telling(t state.Task, standing TellDefaults) (channels []string, on string) {
	return channelsOf(t, standing), NotifyOn(t, standing.On)
}
