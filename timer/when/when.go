// Package when turns the text of a time expression into a Schedule, and a Schedule into instants.
//
// It reads no clock, no file and no environment: the reference instant and the zone are arguments,
// so it can be asked about any night of the year. It is total: no text makes it panic, hang or take
// more than a few milliseconds. A text that it does not wholly understand is refused with a
// *fault.Error that says what to type instead.
//
// A text is read in five steps. The lexer (lex.go) cuts it into tokens. The grammar (table.go,
// compiled by grammar.go) matches its parts, and an action (actions*.go) gives each match a
// meaning. The parser (parse.go) joins the meanings of the parts to readings of the whole text.
// Each reading becomes one instant (instant.go) or a recurrence (build.go).
//
// Package recur has the rules of recurrences, and reads cron lines, RRULEs and calendar events.
// Package civil has the zones, and the instants of their wall times.
package when

import (
	"fmt"
	"time"

	"github.com/ouro-timer/ouro-timer/timer/when/fault"
	"github.com/ouro-timer/ouro-timer/timer/when/recur"
)

// Kind says what kind of schedule a text is.
type Kind string

// The kinds of a Schedule. A calendar phrase such as "every weekday at 9am" is an RRule, because it
// is rewritten to one.
const (
	Once     Kind = "once"
	Interval Kind = "interval"
	Cron     Kind = "cron"
	RRule    Kind = "rrule"
)

// Form says how a text must be read. Each form is a flag of the command line.
type Form string

// The forms. Any is the grammar of a positional WHEN, which recognises every other form.
const (
	Any       Form = ""      // duration, instant or recurrence
	DelayForm Form = "delay" // --delay: a duration; a bare number is seconds
	UntilForm Form = "until" // --until: an instant
	// --every, --interval: a duration with a unit, or what follows "every" in a phrase
	EveryForm Form = "every"
	CronForm  Form = "cron"  // --cron: a cron line
	RRuleForm Form = "rrule" // --rrule: an RFC 5545 recurrence rule
	// CalendarForm is a calendar event of systemd.time(7), in which "weekly" is Monday at 00:00.
	CalendarForm Form = "calendar"
)

// Options is the context in which a text is read. Now and Zone are required.
type Options struct {
	Now  time.Time      // the reference: answers are later than it, except for "now" itself
	Zone *time.Location // the zone of wall times; from civil.LoadZone, time.UTC or a fixed offset
	Form Form

	// BareSeconds reads a number without a unit as seconds, as sleep(1) does. Otherwise four digits
	// are HHMM, as in at(1), and other numbers without a unit are refused with candidates.
	BareSeconds bool
	// OnceOnly refuses recurrences.
	OnceOnly bool
	// DefaultTime is the time of day, counted from 00:00, of a date that has none.
	DefaultTime time.Duration

	// Start anchors a recurrence: it is the phase of an interval, the DTSTART of an RRULE, and the
	// earliest instant of any recurrence. Zero means Now, and occurrences lie after Now. A Start
	// that is given may itself be an occurrence of an RRULE or a cron line.
	Start time.Time
	// End is the last instant a recurrence may have; zero means no end.
	End time.Time
	// Count bounds a recurrence to its first Count scheduled instants, counted from Start; zero
	// means no bound.
	Count int
	// Except are days, on the clocks of the zone of the recurrence, on which it has no instants.
	// They bound only recurrences.
	Except *recur.Days
}

// Schedule is a text that was understood. It is immutable and safe for concurrent use.
type Schedule struct {
	Text string // as typed, without space around it
	Kind Kind
	Zone *time.Location

	// At is the instant of a Once, and zero for recurrences.
	At time.Time
	// Delay is set for a Once that is a length of elapsed time ("90s", "in 2 hours"). A wait for it
	// counts elapsed time, and does not follow the clock. It is zero for calendar units (days and
	// longer).
	Delay time.Duration
	// Fixed says that the text of a Once names an offset from UTC or an epoch second. No change of
	// zone rules moves it; Zone is only where it is shown.
	Fixed bool
	// TimeOnly says that the text of a Once names a time of day and no day, as in 15:00 and in "an
	// hour before noon".
	TimeOnly bool
	// Begin is the instant from which an RRULE counts: its DTSTART, or Options.Start, or what
	// stands in for them. It is zero for other texts.
	Begin time.Time
	// Every is the period of an Interval, and zero for other kinds.
	Every time.Duration
	// Canonical is the plain form of the text: a duration, an instant of RFC 3339, a cron line or
	// an RRULE.
	Canonical string
	// Notes are worth telling a person: the other meaning of "next Friday", how six cron fields
	// were read.
	Notes []recur.Note
	// Others are readings of a Once that were not taken, but may have been meant. The note about
	// such a reading has its text.
	Others []fault.Candidate

	start time.Time  // the earliest instant of a recurrence
	end   time.Time  // inclusive; zero: none
	rule  recur.Rule // nil for Once
}

// Unforced returns the text in words that mean the same without the form: "every 5m" for
// --every 5m, "5s" for --delay 5. It is empty where there may be none.
func (s *Schedule) Unforced(form Form) string {
	switch {
	case form == DelayForm && s.Canonical == instantText(s.At): // it has days or months
		return s.Text
	case form == DelayForm || form == EveryForm && s.Kind == Interval:
		return s.Canonical
	case form == EveryForm && !saysEvery(s.Text):
		return "every " + s.Text
	}
	return ""
}

// note adds a note.
func (s *Schedule) note(kind recur.NoteKind, format string, a ...any) {
	s.Notes = append(s.Notes, recur.Note{Kind: kind, Text: fmt.Sprintf(format, a...)})
}
