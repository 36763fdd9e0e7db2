// Package recur has the rules by which an instant recurs: intervals, cron lines, recurrence rules
// of RFC 5545, calendar events of systemd, and the days that are left out. Each kind is read from
// its text, and gives the first instant after another.
//
// It reads no clock. A text that it does not wholly understand is refused with a *fault.Error.
package recur

import "time"

// Rule is what each kind of recurrence implements: the first instant after t, or false when there
// is none. It terminates quickly for every rule that a parser accepts, and is safe for concurrent
// use.
type Rule interface {
	Next(t time.Time) (time.Time, bool)
}

// Recurrence is a text that was read: its rule, and its plain form, which means the same.
type Recurrence struct {
	Rule
	Canonical string
	Notes     []Note
	// Begin is the instant from which an RRULE counts. It is zero for other texts.
	Begin time.Time
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
	// What a change of the clocks, or the clocks of another place, do to it.
	NoteClocks
	NoteStart  // what it takes from the moment that it starts from
	NoteMonths // months that do not have the day
	NoteLeap   // 29 February
)

// Delayed is a rule whose instants come later.
type Delayed struct {
	Rule
	By time.Duration
}

func (r Delayed) Next(t time.Time) (time.Time, bool) {
	next, ok := r.Rule.Next(t.Add(-r.By))
	return next.Add(r.By), ok
}

// AnyOf has the instants of several rules.
type AnyOf []Rule

func (a AnyOf) Next(t time.Time) (time.Time, bool) {
	best, found := time.Time{}, false
	for _, r := range a {
		if next, ok := r.Next(t); ok && (!found || next.Before(best)) {
			best, found = next, true
		}
	}
	return best, found
}
