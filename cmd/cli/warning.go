package cli

import (
	"slices"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/timer/problem"
)

// warnMost is how many problems are told at once: where a file was overwritten there may be
// thousands.
const warnMost = 10

// WarnOf tells of state that cannot be read.
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

// Warning is something to know of a task that was scheduled all the same.
type Warning struct {
	Kind WarningKind
	Text problem.Text
}

// WarningKind is what warnings share that are alike: they differ in which task it is, and what that
// names.
type WarningKind string

// The kinds. Those that are about a channel have its word behind them.
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

// OfSetup reports whether a warning is of how things are set up, which every call would repeat:
// --quiet leaves it out. What keeps a task from being run or told against what the call says is no
// such warning.
func (w Warning) OfSetup() bool { return w.Kind == WarnReboot || w.Kind == WarnTold }

// WarningTexts are warnings in the words of the surface that the call came by, for an answer in
// JSON.
func (w *Words) WarningTexts(list []Warning) []string {
	texts := make([]string, len(list))
	for i, warning := range list {
		texts[i] = w.Says(warning.Text)
	}
	return texts
}

// WarnAll tells warnings at the end of an answer for people.
func (o *Speech) WarnAll(warnings []Warning) {
	for _, w := range warnings {
		if !o.Quiet || !w.OfSetup() {
			o.Warn("warning: %s", Visible(o.Says(w.Text)))
		}
	}
}

// Once adds warnings to a list, of kinds that are not in it.
func Once(list []Warning, more ...Warning) []Warning {
	for _, w := range more {
		if !slices.ContainsFunc(list, func(have Warning) bool { return have.Kind == w.Kind }) {
			list = append(list, w)
		}
	}
	return list
}
