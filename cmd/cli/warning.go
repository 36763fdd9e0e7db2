package cli

import (
	"slices"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/timer/problem"
)

// warnMost is how many problems are written. There may be thousands when a file was overwritten.
const warnMost = 10

// WarnUnreadable warns of parts of the state that cannot be read.
func (o *Messages) WarnUnreadable(problems []state.Problem) {
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

// WarningKind is the kind of a warning. Warnings of one kind differ only in what they name.
type WarningKind string

// These are the kinds. Those that end in a space are prefixes: the channel follows.
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
	warnNetwork   WarningKind = "network file system"
	WarnUnkept    WarningKind = "not kept"
	WarnChannels  WarningKind = "no channel on "
	WarnUnready   WarningKind = "not ready: "
)

// OfSetup reports whether a warning is about the setup of the machine, so that every call would
// repeat it. --quiet leaves it out. A warning that this task will not run, or that nobody will be
// notified as the call asks, is not about the setup.
func (w Warning) OfSetup() bool { return w.Kind == WarnReboot || w.Kind == WarnTold }

// WarningTexts are warnings in the words of the call's surface, for an answer in JSON.
func (w *Wording) WarningTexts(list []Warning) []string {
	texts := make([]string, len(list))
	for i, warning := range list {
		texts[i] = w.Render(warning.Text)
	}
	return texts
}

// WarnAll writes warnings to standard error, but not with --json. With --quiet it leaves out those
// of the setup.
func (o *Messages) WarnAll(warnings []Warning) {
	for _, w := range warnings {
		if !o.Quiet || !w.OfSetup() {
			o.Warn("warning: %s", Visible(o.Render(w.Text)))
		}
	}
}

// AppendNewKinds adds those warnings to a list whose kinds it does not have yet.
func AppendNewKinds(list []Warning, more ...Warning) []Warning {
	for _, w := range more {
		if !slices.ContainsFunc(list, func(have Warning) bool { return have.Kind == w.Kind }) {
			list = append(list, w)
		}
	}
	return list
}
