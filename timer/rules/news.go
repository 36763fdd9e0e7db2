package rules

import (
	"slices"

	"github.com/ouro-timer/ouro-timer/state"
)

// TellDefaults say who is told, and when, about tasks that do not say it themselves.
type TellDefaults struct {
	Channels []string // the channels of a line
	On       string   // when commands tell: state.NotifyAlways, …; empty for output
	// put before the title for an agent and before the subject for others
	Prefix string
	Manual bool // also tell about runs by hand
	// channels that are heartbeats: they tell nobody, but are pinged for each run
	Beats []string
}

// Inform sets in the line of a run that has ended what it is in the inbox, who is told of it, and
// why. was is the tally of the task before that end: whether its last run had failed, and the
// output of its last ok. The result depends only on the arguments; docs/semantics.md explains the
// rules to users.
//
// A run by hand is not reported, unless that was asked for: whoever started it saw it.
func Inform(r state.Record, was state.Tally, standing TellDefaults, l *state.Line) {
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

// BeatsOf returns the heartbeats that a task names.
func BeatsOf(t state.Task, standing TellDefaults) (list []string) {
	for _, name := range t.Policy.Notify {
		if slices.Contains(standing.Beats, name) && !slices.Contains(list, name) {
			list = append(list, name)
		}
	}
	return list
}

// inboxOf returns what the line of a run is in the inbox, or "" for nothing.
func inboxOf(t state.Task, l state.Line) string {
	switch {
	case Failure(l.Outcome):
		return state.ItemFailure
	case l.Outcome != state.OK:
		return "" // somebody cancelled it, or its gate stopped it
	case t.Type() == state.TypeWait:
		return state.ItemWait
	case t.Told():
		return state.ItemMessage
	case t.Type() == state.TypeAgent:
		return "" // the agent has it
	case wrote(l):
		return state.ItemResult
	}
	return ""
}

// newsOf returns why somebody is told about the line of a run, or "" when nobody is.
func newsOf(t state.Task, was state.Tally, on string, l state.Line) string {
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
		return "" // one of several in a row, of which the first was reported
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

// NotifyOn returns when a task tells; standing is the default for commands.
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
		// the recipients beside the agent get what it gets
		return state.NotifyAlways
	case t.Type() == state.TypeAgent:
		return state.NotifyFailure
	}
	return state.NotifyOutput
}

// channelsOf returns the channels through which a task tells, each once. A heartbeat does not
// count: beside it alone, the channels for all tasks stay.
func channelsOf(t state.Task, standing TellDefaults) (list []string) {
	names := slices.DeleteFunc(slices.Clone(t.Policy.Notify), func(name string) bool { return slices.Contains(standing.Beats, name) })
	if len(names) == 0 {
		names = standing.Channels
	}
	if len(names) == 0 && t.Told() && t.Terminal != "" {
		names = []string{"terminal:" + t.Terminal} // the terminal on which it was made
	}
	for _, name := range names {
		if name != "" && !slices.Contains(list, name) {
			list = append(list, name)
		}
	}
	return list
}

// Telling returns through which channels a task tells, and when, from its own settings and the
// defaults. Commands use it to say so before the run.
func Telling(t state.Task, standing TellDefaults) (channels []string, on string) {
	return channelsOf(t, standing), NotifyOn(t, standing.On)
}

func Failure(o state.Outcome) bool {
	return o == state.Failed || o == state.TimedOut || o == state.Interrupted
}

// wrote reports whether a run has written something that is to be told.
func wrote(l state.Line) bool { return l.Stdout.Told() || l.Stderr.Told() }

// inboxOfSkip returns what a line without a run is in the inbox: what the user must know because it
// will not come. That a later instant stood for it, or that the task was busy, is what the user
// asked for.
func inboxOfSkip(once bool, reason string) string {
	if reason == reasonWindow || reason == reasonPaused && once {
		return state.ItemMissed
	}
	return ""
}
