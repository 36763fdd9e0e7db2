// Package doctor finds what needs attention. It is a table of checks of the store, the tasks, the
// runner, the inbox and outbox, the clock and the settings. Each check reports its findings as
// values. It reads through the same functions as everything else, changes nothing, and does not
// know the command line.
package doctor

import (
	"context"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/ouro-timer/ouro-timer/notify"
	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/state/settings"
	"github.com/ouro-timer/ouro-timer/timer/needs"
)

// Doctor is what is checked, and what the checks need. It is for one examination.
type Doctor struct {
	Store   state.Examiner // nil when there is none
	Home    string         // the folder of the state and of config.toml; empty when there is none
	Environ []string
	Now     time.Time
	Zone    *time.Location // the zone in which times are shown
	ZoneErr error          // why Zone is UTC instead of the zone that was meant
	Version string         // of this program
	Program string         // how a call of it begins when one is shown

	Programs  *needs.Finder
	Parallel  int // how many commands run at once when the settings do not say
	Channels  notify.Env
	Settings  []string            // the variables OURO_* that are settings
	Given     func() error        // what is wrong with the variables that the command line reads
	Near      func(string) string // the one of Settings that is similar to a word, or ""
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

// Inspections returns all checks, in the order in which they are reported.
func (d *Doctor) Inspections() (list []state.Inspection) {
	if d.Home != "" {
		d.config, d.configErr = settings.Read(d.Home)
	}
	if d.Store != nil {
		list = slices.Concat(d.Store.Inspections(), []state.Inspection{
			{Name: "tasks", Look: d.checkTasks},
			{Name: "schedules", Look: d.findingsOf("schedules")},
			{Name: "commands", Look: d.findingsOf("commands")},
			{Name: "allow", Look: d.findingsOf("allow")},
			{Name: "overdue", Look: d.checkOverdue},
			{Name: "starts", Look: d.findingsOf("starts")},
			{Name: "claims", Look: d.checkClaims},
			{Name: "runner", Look: d.checkRunner},
			{Name: "inbox", Look: d.checkInbox},
			{Name: "outbox", Look: d.checkOutbox},
		})
	}
	return append(list, []state.Inspection{
		{Name: "clock", Look: d.checkClock},
		{Name: "zone", Look: d.checkZone},
		{Name: "config", Look: d.checkConfig},
		{Name: "channels", Look: d.checkChannels},
		{Name: "environment", Look: d.checkEnvironment},
	}...)
}

// Config returns config.toml as it was read.
func (d *Doctor) Config() settings.Reading { return d.config }

// report reports a finding.
type report = func(state.Finding)

// check makes a check, as in state.Inspection.
type check = func(ctx context.Context, tell report) (fine string)

func wrong(reason state.Reason, subject, text, hint string) state.Finding {
	return state.Finding{Level: state.Wrong, Reason: reason, Subject: subject, Text: text, Hint: hint}
}

func odd(reason state.Reason, subject, text, hint string) state.Finding {
	f := wrong(reason, subject, text, hint)
	f.Level = state.Odd
	return f
}

// Failed returns the finding of a check that an error has ended.
func (d *Doctor) Failed(err error) state.Finding {
	text, hint := d.Explain(err)
	return wrong(LookFailed, "", text, hint)
}

// chmod changes the mode of a file, as chmod(1) does with how.
func chmod(path, how string, changed func(os.FileMode) os.FileMode) func(context.Context) (string, error) {
	return func(context.Context) (string, error) {
		info, err := os.Stat(path)
		if err != nil {
			return "", err
		}
		return "chmod " + how + " " + quoted(path), os.Chmod(path, changed(info.Mode()))
	}
}

// both joins two hints.
func both(one, other string) string {
	if strings.HasSuffix(one, "?") {
		return one + " " + other
	}
	return one + "; " + other
}

// quoted writes a word for a shell.
func quoted(word string) string { return state.ShellLine([]string{word}) }
