package when

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/ouro-timer/ouro-timer/timer/when/fault"
	"github.com/ouro-timer/ouro-timer/timer/when/recur"
)

// ruleLike reports whether a text can only be a cron line or an RRULE. It does not need the
// grammar.
func ruleLike(text string) bool {
	return strings.IndexByte(text, '*') >= 0 && recur.LooksLikeCron(text) || recur.LooksLikeRRule(text) ||
		len(text) > 1 && text[0] == '@' && isLetter(text[1]|0x20) && recur.LooksLikeCron(text)
}

// parseRule reads a cron line, an RRULE or a calendar event.
func parseRule(typed string, o Options) (*Schedule, *fault.Error) {
	if len(typed) > maxRuleText {
		return nil, &fault.Error{
			Code:    fault.CodeLimit,
			Message: fmt.Sprintf("the rule is longer than %d bytes", maxRuleText),
			Hint:    "make it shorter",
		}
	}
	s := &Schedule{Text: typed, Zone: o.Zone}
	start := o.Start
	if start.IsZero() {
		start = o.Now
	}
	var read recur.Recurrence
	var err error
	if o.Form == RRuleForm || o.Form == Any && recur.LooksLikeRRule(typed) {
		s.Kind = RRule
		read, err = recur.ReadRRule(typed, start, o.Zone, o.Start.IsZero())
	} else if o.Form == CalendarForm || o.Form == Any && recur.LooksLikeCalendar(typed) && !recur.LooksLikeCron(typed) {
		s.Kind = RRule
		read, err = recur.ReadCalendar(typed, start, o.Zone)
	} else {
		s.Kind = Cron
		read, err = recur.ReadCron(typed, o.Zone)
	}
	if err != nil {
		return nil, asError(err)
	}
	if o.OnceOnly {
		return nil, notOnce(typed)
	}
	s.rule, s.Canonical, s.Notes, s.Begin = read.Rule, read.Canonical, read.Notes, read.Begin
	s.except(o.Except)
	return s.bounded(o)
}

// notOnce refuses a recurrence where one instant is asked for.
func notOnce(typed string) *fault.Error {
	return &fault.Error{
		Code:    fault.CodeUsage,
		Message: fault.Quoted(typed) + " is a recurrence, and one instant is asked for",
		Hint:    `name one, as in "tomorrow at 9:00"`,
	}
}

// bounded sets the bounds of a recurrence.
func (s *Schedule) bounded(o Options) (*Schedule, *fault.Error) {
	if err := s.bound(o); err != nil {
		return nil, asError(err)
	}
	return s, nil
}

// asError returns an error as a *fault.Error whose texts are fit for a terminal.
func asError(err error) *fault.Error {
	e, ok := err.(*fault.Error)
	if !ok {
		e = &fault.Error{Code: fault.CodeNotUnderstood, Message: err.Error(), Hint: tryThese}
	}
	visible := func(r rune) rune {
		if !unicode.IsPrint(r) {
			return '?'
		}
		return r
	}
	shown := *e
	shown.Message, shown.Hint = strings.Map(visible, e.Message), strings.Map(visible, e.Hint)
	return &shown
}
