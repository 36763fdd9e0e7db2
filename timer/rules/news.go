package rules

import (
	"slices"

	"github.com/ouro-timer/ouro-timer/state"
)

// TellDefaults says who is told, and when, of tasks that do not say.
type TellDefaults struct {
	Channels []string // as in a line's Tell
	On       string   // of commands: state.NotifyAlways, …; empty: output
	// before the title that an agent is told, as before the subject of what others are
	Prefix string
	Manual bool // also of what was fired by hand
	// the channels that are heartbeats: they tell nobody, and are pinged for each run
	Beats []string
}

// AlertState is what of a task's past its next news depends on.
type AlertState struct {
	Failing bool   // its last run has failed
	Output  string // the sum of what its last ok wrote; empty: not known
}

func AlertOf(t state.Tally) AlertState { return AlertState{t.Failing, t.Output} }

// Count brings it up to date after a run, as the store does the task's tally.
func (a *AlertState) Count(l state.Line) {
	t := state.Tally{Failing: a.Failing, Output: a.Output}
	t.Count(l)
	*a = AlertOf(t)
}

// Inform says in a line, of a run that has ended, what it is in the inbox, and who is told of it
// and why. was is the task's alert state before it. It is a function of its arguments alone;
// docs/semantics.md tells the rules to users.
//
// Of what was fired by hand nothing is said, unless that was asked for: whoever did it saw it.
func Inform(r state.Record, was AlertState, standing TellDefaults, l *state.Line) {
	if r.Manual && !standing.Manual {
		return
	}
	l.Inbox = inboxOf(r.Task, *l)
	if l.News = newsOf(r.Task, was, standing.On, *l); l.News != "" {
		if l.Tell = channelsOf(r.Task, standing); len(l.Tell) == 0 {
			l.News = ""
		}
	}
	if l.Outcome.Ran() || l.Started != nil {
		l.Tell = append(l.Tell, BeatsOf(r.Task, standing)...)
	}
}

// BeatsOf are the heartbeats that a task names.
func BeatsOf(t state.Task, standing TellDefaults) (list []string) {
	for _, name := range t.Policy.Notify {
		if slices.Contains(standing.Beats, name) && !slices.Contains(list, name) {
			list = append(list, name)
		}
	}
	return list
}

// inboxOf is what the line of a run is in the inbox; empty: nothing.
func inboxOf(t state.Task, l state.Line) string {
	switch {
	case Failure(l.Outcome):
		return state.ItemFailure
	case l.Outcome != state.OK:
		return "" // somebody cancelled it, or its gate did not let it run
	case t.Type() == state.TypeWait:
		return state.ItemWait
	case t.Told():
		return state.ItemMessage
	case t.Type() == state.TypeAgent:
		return "" // it was for the agent, which has it
	case wrote(l):
		return state.ItemResult
	}
	return ""
}

// newsOf is why somebody is to be told of the line of a run; empty: nobody is.
func newsOf(t state.Task, was AlertState, on string, l state.Line) string {
	on = NotifyOn(t, on)
	if !l.Outcome.Ran() || on == state.NotifyNever {
		return ""
	}
	if t.Told() && l.Outcome == state.OK {
		if on == state.NotifyFailure || on == state.NotifyRecovery {
			return ""
		}
		return state.NewsMessage
	}
	failed := Failure(l.Outcome)
	switch {
	case !failed && was.Failing:
		return state.NewsRecovery
	case on == state.NotifyRecovery:
		return ""
	case failed && !was.Failing:
		return state.NewsFailure
	case failed && on == state.NotifyAlways:
		return state.NewsOutcome
	case failed:
		return "" // one of a row, of which the first was told
	case on == state.NotifyAlways && t.Type() == state.TypeAgent:
		return state.NewsMessage
	case on == state.NotifyAlways:
		return state.NewsOutcome
	case on == state.NotifyOutput && wrote(l):
		return state.NewsOutput
	case on == state.NotifyChange && was.Output != "" && l.StdoutSum != was.Output:
		return state.NewsChange
	}
	return ""
}

// NotifyOn is when a task tells; standing is the word for commands that have none of their own.
func NotifyOn(t state.Task, standing string) string {
	on := t.Policy.NotifyOn
	if on == "" && t.Type() == state.TypeCommand {
		on = standing
	}
	switch on {
	case state.NotifyAlways, state.NotifyFailure, state.NotifyOutput, state.NotifyChange, state.NotifyRecovery, state.NotifyNever:
		return on
	}
	switch {
	case t.Told(), t.Type() == state.TypeAgent && len(t.Policy.Notify) > 0:
		// who is named beside the agent is to know what it knows
		return state.NotifyAlways
	case t.Type() == state.TypeAgent:
		return state.NotifyFailure
	}
	return state.NotifyOutput
}

// channelsOf are the channels by which a task tells, each once. A heartbeat is none: beside it
// alone those stand that tell of all tasks.
func channelsOf(t state.Task, standing TellDefaults) (list []string) {
	names := slices.DeleteFunc(slices.Clone(t.Policy.Notify), func(name string) bool { return slices.Contains(standing.Beats, name) })
	if len(names) == 0 {
		names = standing.Channels
	}
	if len(names) == 0 && t.Told() && t.Terminal != "" {
		names = []string{"terminal:" + t.Terminal} // where it was set
	}
	for _, name := range names {
		if name != "" && !slices.Contains(list, name) {
			list = append(list, name)
		}
	}
	return list
}

// TellsByHistory reports whether what is told of a task depends on what was before.
func TellsByHistory(t state.Task, standing TellDefaults) bool {
	on := NotifyOn(t, standing.On)
	return on != state.NotifyNever && !t.Told() && len(channelsOf(t, standing)) > 0
}

func Failure(o state.Outcome) bool {
	return o == state.Failed || o == state.TimedOut || o == state.Interrupted
}

// wrote reports whether a run has written what is to be told.
func wrote(l state.Line) bool { return l.Stdout.Told() || l.Stderr.Told() }

// inboxOfSkip is what a line without a run is in the inbox: what the user has to know of since it
// will not come. That an instant was stood for by a later one, or came while the task was busy, is
// what the user asked for.
func inboxOfSkip(once bool, reason string) string {
	if reason == reasonWindow || reason == reasonPaused && once {
		return state.ItemMissed
	}
	return ""
}
