// Package when turns the text of a time expression into a Schedule, and a Schedule into instants.
//
// It reads no clock, no file and no environment: the reference instant and the zone are arguments, so that it can be
// asked about any night of the year. It is total: no text panics, hangs or takes more than a few milliseconds, and what
// is not wholly understood is refused with an *Error that says what to type instead.
package when

import (
	"fmt"
	"time"
)

// Kind says what a text turned out to be.
type Kind string

// The kinds of a Schedule. Calendar phrases such as "every weekday at 9am" are RRule: they are rewritten to one.
const (
	Once     Kind = "once"
	Interval Kind = "interval"
	Cron     Kind = "cron"
	RRule    Kind = "rrule"
)

// Form forces how a text is read; each is a flag of the command line.
type Form string

// The forms. Any is the grammar of a positional WHEN, in which every other form is recognised.
const (
	Any       Form = ""      // duration, instant or recurrence
	DelayForm Form = "delay" // --delay: a duration; a bare number is seconds
	UntilForm Form = "until" // --until: an instant
	EveryForm Form = "every" // --every, --interval: a duration with a unit, or what follows "every" in a phrase
	CronForm  Form = "cron"  // --cron: a cron line
	RRuleForm Form = "rrule" // --rrule: an RFC 5545 recurrence rule
	// CalendarForm is a calendar event of systemd.time(7), in which "weekly" is Monday at 00:00.
	CalendarForm Form = "calendar"
)

// Options is what a text is read against. Now and Zone are required.
type Options struct {
	Now  time.Time      // the reference: answers are strictly later, but for "now" itself
	Zone *time.Location // where wall-clock readings are meant; from LoadZone, time.UTC or a fixed offset
	Form Form

	// BareSeconds makes a bare number a duration in seconds, as in sleep(1). Otherwise four digits are HHMM as in
	// at(1) and other bare numbers are refused with candidates.
	BareSeconds bool
	// OnceOnly refuses recurrences.
	OnceOnly bool
	// DefaultTime is the time of day, since 00:00 on the wall, of a date without a time.
	DefaultTime time.Duration

	// Start anchors a recurrence: an interval's phase, an RRULE's DTSTART, the earliest instant of any. Zero means Now,
	// and an occurrence then lies strictly after Now; an explicit Start may itself be an occurrence of an RRULE or cron.
	Start time.Time
	// End is the last instant a recurrence may have; zero means no end.
	End time.Time
	// Count bounds a recurrence to its first Count scheduled instants, counted from Start; zero means no bound.
	Count int
	// Except are days, on the clocks of the recurrence's zone, on which nothing is scheduled. They bound recurrences alone.
	Except *Days
}

// Error is a refusal. Code is part of the command line's contract.
type Error struct {
	Code       string   // one of the Code constants
	Message    string   // what happened, one line, lower case, no full stop
	Hint       string   // what to type instead, one line; may be empty
	Options    []string // the options, by their names, that the hint ends with: whoever shows it writes them as they are given there
	Candidates []Candidate

	instead []string // texts that the hint has, as typed in the place of this one; Parse makes candidates of them
}

func (e *Error) Error() string { return e.Message }

// Candidate is a reading that can be pasted back in place of a text, and its instant.
type Candidate struct {
	Text string
	At   time.Time
}

// The codes of an Error.
const (
	CodeNotUnderstood = "time_not_understood"
	CodePast          = "time_in_past"
	CodeAmbiguous     = "time_ambiguous"
	CodeNever         = "time_never"
	CodeZone          = "zone_unknown"
	CodeUsage         = "usage"
	CodeLimit         = "limit" // understood so far, but longer or more than is read
)

// Schedule is a text that was understood. It is immutable and safe for concurrent use.
type Schedule struct {
	Text string // as typed, outer space removed
	Kind Kind
	Zone *time.Location

	// At is the instant of a Once; zero for recurrences.
	At time.Time
	// Delay is set for a Once that was a pure elapsed duration ("90s", "in 2 hours"): a wait for it counts time, not the
	// wall clock. Calendar units (days and more) leave it zero.
	Delay time.Duration
	// Fixed says that the text of a Once named an offset from UTC or an epoch second: no change of a zone's rules moves it,
	// though Zone is still where it is shown.
	Fixed bool
	// Begin is where an RRULE given as such counts from: its DTSTART, Options.Start, or what stands in for them. It is zero
	// for other texts.
	Begin time.Time
	// Every is the period of an Interval; zero for other kinds.
	Every time.Duration
	// Canonical is the plain form the text was rewritten to: a duration, an RFC 3339 instant, a cron line, an RRULE.
	Canonical string
	// Notes are readings worth telling a person: the other meaning of "next Friday", how six cron fields were read.
	Notes []Note
	// Others are the readings of a Once that were not taken, where a person may have meant one: each note about such a
	// reading has its text.
	Others []Candidate

	start time.Time // strictly-after floor for Next is the caller's argument; start is where the recurrence begins
	end   time.Time // inclusive; zero: none
	rule  rule      // nil for Once
}

// Note is something worth telling a person about how a text was read.
type Note struct {
	Kind NoteKind
	Text string
}

// NoteKind says what a note is about.
type NoteKind int

// The kinds of notes.
const (
	NoteReading NoteKind = iota // how the text was read, and perhaps what else it may mean
	NoteClocks                  // what a change of the clocks, or the clocks of another place, do to it
	NoteStart                   // what it has of the moment that it starts from
	NoteMonths                  // months that do not have the day
	NoteLeap                    // 29 February
)

// note adds a note.
func (s *Schedule) note(kind NoteKind, format string, a ...any) {
	s.Notes = append(s.Notes, Note{kind, fmt.Sprintf(format, a...)})
}

// rule is what each kind of recurrence implements: the first instant strictly after t, or false for never.
// It terminates quickly for every rule that a parser lets through, and is safe for concurrent use.
type rule interface {
	next(t time.Time) (time.Time, bool)
}
