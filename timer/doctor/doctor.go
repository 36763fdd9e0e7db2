// Package doctor says what needs doing: a table of checks over the store, the tasks, the runner,
// the mail, the clock and the settings, each of which tells its findings as values. It reads
// through the functions through which all read, changes nothing, and knows no command line.
package doctor

import (
	"context"
	"slices"
	"strconv"
	"time"

	"github.com/ouro-timer/ouro-timer/notify"
	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/state/settings"
	"github.com/ouro-timer/ouro-timer/timer/needs"
)

// Doctor is what is looked at, and what that takes of the world. It is for one examination.
type Doctor struct {
	Store   state.Examiner // nil: there is none
	Home    string         // the folder of the state and of config.toml; empty: there is none
	Environ []string
	Now     time.Time
	Zone    *time.Location // which times are shown in
	ZoneErr error          // why that is UTC for want of another
	Version string         // of this program
	Program string         // what a call of it begins with, where one is named

	Programs  *needs.Finder
	Parallel  int // how many commands run at once when no setting says so
	Channels  notify.Env
	Settings  []string            // variables OURO_* that are settings
	Given     func() error        // what is wrong with the variables that the command line reads
	Near      func(string) string // the one of Settings that a word is close to, or nothing
	Survives  func() bool         // whether a runner comes back by itself after a reboot
	Explain   func(error) (text, hint string)
	ChannelOf func(word string) string // a channel as it is shown

	config    settings.Reading
	configErr error

	leader    state.Leader
	led       bool
	leaderErr error

	tasks survey
}

// Inspections are all checks, in the order in which they are told.
func (d *Doctor) Inspections() (list []state.Inspection) {
	if d.Home != "" {
		d.config, d.configErr = settings.Read(d.Home)
	}
	if d.Store != nil {
		list = slices.Concat(d.Store.Inspections(), []state.Inspection{
			{Name: "tasks", Look: d.lookAtTasks},
			{Name: "schedules", Look: d.toldOf("schedules")},
			{Name: "commands", Look: d.toldOf("commands")},
			{Name: "allow", Look: d.toldOf("allow")},
			{Name: "overdue", Look: d.lookAtOverdue},
			{Name: "starts", Look: d.toldOf("starts")},
			{Name: "claims", Look: d.lookAtClaims},
			{Name: "runner", Look: d.lookAtRunner},
			{Name: "inbox", Look: d.lookAtInbox},
			{Name: "outbox", Look: d.lookAtOutbox},
		})
	}
	return append(list, []state.Inspection{
		{Name: "clock", Look: d.lookAtClock},
		{Name: "zone", Look: d.lookAtZone},
		{Name: "config", Look: d.lookAtConfig},
		{Name: "channels", Look: d.lookAtChannels},
		{Name: "environment", Look: d.lookAtEnvironment},
	}...)
}

// Config is config.toml as it was read.
func (d *Doctor) Config() settings.Reading { return d.config }

// tell takes a finding.
type tell = func(state.Finding)

// look is what a check does, as state.Inspection has it.
type look = func(ctx context.Context, tell tell) (fine string)

func wrong(reason state.Reason, subject, text, hint string) state.Finding {
	return state.Finding{Level: state.Wrong, Reason: reason, Subject: subject, Text: text, Hint: hint}
}

func odd(reason state.Reason, subject, text, hint string) state.Finding {
	f := wrong(reason, subject, text, hint)
	f.Level = state.Odd
	return f
}

// failed is a look that an error has ended.
func (d *Doctor) failed(err error) state.Finding {
	text, hint := d.Explain(err)
	return wrong(LookFailed, "", text, hint)
}

// quoted is a word as it is pasted into a shell.
func quoted(word string) string { return state.ShellLine([]string{word}) }

// plural is "1 task", "2 tasks".
func plural(n int, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return strconv.Itoa(n) + " " + word + "s"
}

// fit cuts a text to so many letters.
func fit(text string, most int) string {
	if letters := []rune(text); len(letters) > most {
		return string(letters[:most-1]) + "…"
	}
	return text
}
