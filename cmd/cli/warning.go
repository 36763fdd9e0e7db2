package cli

import (
	"slices"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/timer/problem"
)

// warnMost is how many problems are written. When a file was overwritten there may be thousands.
const warnMost = 10

// WarnOf warns about parts of the state that cannot be read.
func (o *Speech) WarnOf(problems []state.Problem) {
	for i, p := range problems {
		if i == warnMost {
			o.Warn("warning: and %d more; %s doctor looks at everything", len(problems)-i, o.Program())
			return
		}
		o.Warn("warning: %s", Visible(p.Error()))
		if p.Hint != "" {
			o.Hint("%s", Visible(p.Hint))
		}
	}
}

// Warning is something to know about a task that was scheduled all the same.
type Warning struct {
	Kind WarningKind
	Text problem.Text
}

// WarningKind is the kind of a warning. Warnings of one kind differ only in the task and what it
// names.
type WarningKind string

// These are the kinds. The word of the channel follows those that are about a channel.
const (
	WarnReboot    WarningKind = "reboot"
	WarnTold      WarningKind = "told nobody"
	WarnRunner    WarningKind = "no runner"
	WarnPostponed WarningKind = "put off"
	WarnFolder    WarningKind = "no folder"
	WarnProgram   WarningKind = "no program"
	WarnGate      WarningKind = "no gate"
	WarnShell     WarningKind = "another shell"
	WarnLimits    WarningKind = "limits"
	WarnPaused    WarningKind = "paused"
	WarnLate      WarningKind = "too late"
	warnRemote    WarningKind = "far away"
	WarnUnkept    WarningKind = "not kept"
	WarnChannels  WarningKind = "no channel on "
	WarnUnready   WarningKind = "not ready: "
)

// OfSetup reports whether a warning is about the setup of the machine, so that every call would
// repeat it. --quiet leaves it out. A warning that the task will not run or be told as the call
// says is not one.
func (w Warning) OfSetup() bool { return w.Kind == WarnReboot || w.Kind == WarnTold }

// WarningTexts are warnings in the words of the surface of the call, for an answer in JSON.
func (w *Words) WarningTexts(list []Warning) []string {
	texts := make([]string, len(list))
	for i, warning := range list {
		texts[i] = w.Says(warning.Text)
	}
	return texts
}

// WarnAll writes warnings after an answer for people.
func (o *Speech) WarnAll(warnings []Warning) {
	for _, w := range warnings {
		if !o.Quiet || !w.OfSetup() {
			o.Warn("warning: %s", Visible(o.Says(w.Text)))
		}
	}
}

// Once adds warnings to a list that does not have their kinds.
func Once(list []Warning, more ...Warning) []Warning {
	for _, w := range more {
		if !slices.ContainsFunc(list, func(have Warning) bool { return have.Kind == w.Kind }) {
			list = append(list, w)
		}
	}
	return list
}
