package cmd

import (
	"slices"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/timer/problem"
)

// warnMost is how many problems are told at once: where a file was overwritten there may be thousands.
const warnMost = 10

// warnOf tells of state that cannot be read.
func warnOf(s *session, problems []state.Problem) {
	for i, p := range problems {
		if i == warnMost {
			s.warn("warning: and %d more; ouro-timer doctor looks at everything", len(problems)-i)
			return
		}
		s.warn("warning: %s", visible(p.Error()))
		if p.Hint != "" {
			s.talk("hint: %s", visible(p.Hint))
		}
	}
}

// warning is something to know of a task that was scheduled all the same.
type warning struct {
	kind warningKind
	text problem.Text
}

// warningKind is what warnings share that are alike: they differ in which task it is, and what that names.
type warningKind string

// The kinds. Those that are about a channel have its word behind them.
const (
	warnReboot   warningKind = "reboot"
	warnTold     warningKind = "told nobody"
	warnRunner   warningKind = "no runner"
	warnPutOff   warningKind = "put off"
	warnFolder   warningKind = "no folder"
	warnProgram  warningKind = "no program"
	warnGate     warningKind = "no gate"
	warnShell    warningKind = "another shell"
	warnPaused   warningKind = "paused"
	warnLate     warningKind = "too late"
	warnRemote   warningKind = "far away"
	warnUnkept   warningKind = "not kept"
	warnChannels warningKind = "no channel on "
	warnUnready  warningKind = "not ready: "
)

// standing reports whether a warning is of how things are set up, which every call would repeat: --quiet leaves it out. What keeps a task
// from being run or told against what the call says is no such warning.
func (w warning) standing() bool { return w.kind == warnReboot || w.kind == warnTold }

// warningTexts are warnings in the words of the surface that the call came by, for an answer in JSON.
func warningTexts(s *session, list []warning) []string {
	texts := make([]string, len(list))
	for i, w := range list {
		texts[i] = s.says(w.text)
	}
	return texts
}

// warnAll tells warnings at the end of an answer for people.
func warnAll(s *session, warnings []warning) {
	for _, w := range warnings {
		if !s.opt.Bool("quiet") || !w.standing() {
			s.warn("warning: %s", visible(s.says(w.text)))
		}
	}
}

// once adds warnings to a list, of kinds that are not in it.
func once(list []warning, more ...warning) []warning {
	for _, w := range more {
		if !slices.ContainsFunc(list, func(have warning) bool { return have.kind == w.kind }) {
			list = append(list, w)
		}
	}
	return list
}
