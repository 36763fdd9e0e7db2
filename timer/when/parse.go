package when

import (
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode"
)

// Parse reads a time expression. The whole of it must be understood; every refusal is an *Error. The same text with the
// same Options gives the same answer on any machine that has the same zone database.
func Parse(text string, o Options) (*Schedule, error) {
	s, err := parse(text, o, reader{})
	if err != nil {
		return nil, err.offering(o, false)
	}
	return s, nil
}

// Instant reads one instant for a flag such as --start, --end or --since. It is Parse with UntilForm, but what is past is
// allowed: "yesterday at 10am", "2 hours ago".
func Instant(text string, o Options) (time.Time, error) {
	o.Form, o.OnceOnly, o.BareSeconds = UntilForm, true, false
	o.Start, o.End, o.Count = time.Time{}, time.Time{}, 0
	s, err := parse(text, o, reader{past: true})
	if err != nil {
		return time.Time{}, err.offering(o, true)
	}
	return s.At, nil
}

// reader is how a text is read beyond its Options.
type reader struct {
	deep    bool // it is a candidate of another text: its own ambiguities need no candidates, its notes no texts
	settled bool // it was made to tell two readings of another text apart, and has none to be told apart itself
	past    bool // an instant need not lie ahead
}

// parse is Parse for all readers.
func parse(text string, o Options, how reader) (*Schedule, *Error) {
	if o.Zone == nil || o.Now.IsZero() {
		return nil, &Error{Code: CodeUsage, Message: "a time expression needs a reference instant and a time zone"}
	}
	o.Now = o.Now.Round(0)
	if y := o.Now.In(o.Zone).Year(); y < 1 || y > lastYear-1 {
		return nil, &Error{Code: CodeUsage, Message: "the reference instant is not in the years 1 to 9998"}
	}
	typed := strings.TrimSpace(text)
	switch o.Form {
	case CronForm, RRuleForm:
		return parseRule(typed, o)
	case Any, DelayForm, UntilForm, EveryForm:
	default:
		return nil, &Error{Code: CodeUsage, Message: fmt.Sprintf("unknown form %q", string(o.Form))}
	}
	if o.Form == Any && ruleLike(typed) {
		return parseRule(typed, o)
	}
	var p parser
	p.reader = how
	if err := p.open(text, &o); err != nil {
		return nil, err
	}
	if p.n == 0 {
		return nil, p.refuse("it is empty", "")
	}
	s, err := p.schedule(o)
	if err != nil && err.Code == CodeNotUnderstood && o.Form == Any && looksLikeCron(typed) {
		return parseRule(typed, o)
	}
	if err == nil && s.Kind == Once && (!o.Start.IsZero() || !o.End.IsZero() || o.Count != 0) {
		return nil, &Error{
			Code:    CodeUsage,
			Message: "a start, an end and a count bound recurrences, and " + quoted(p.typed) + " comes once",
			Hint:    "leave them out",
		}
	}
	return s, err
}

// open makes a text ready to be read.
func (p *parser) open(text string, o *Options) *Error {
	p.opts = o
	p.typed = strings.TrimSpace(text)
	if len(p.typed) > maxText {
		return &Error{
			Code:    CodeLimit,
			Message: fmt.Sprintf("the time expression is longer than %d bytes", maxText),
			Hint:    tryThese,
		}
	}
	var buf [2*maxText + 8]byte
	out, ok := plain(p.typed, buf[:0])
	if !ok {
		hint := ""
		for _, r := range p.typed {
			if _, known := plain(string(r), nil); !known {
				hint = "leave " + strconv.QuoteRune(r) + " out"
				break
			}
		}
		return p.refuse("it has a character that belongs to no time", hint)
	}
	p.text = string(out)
	upper := false
	for i, c := range out {
		if c >= 'A' && c <= 'Z' {
			out[i] = c + 'a' - 'A'
			upper = true
		}
	}
	p.low = p.text
	if upper {
		p.low = string(out)
	}
	if !p.lex() {
		return &Error{Code: CodeLimit, Message: "the time expression has too many words", Hint: tryThese}
	}
	return nil
}

// schedule reads the tokens in the form that is asked for.
func (p *parser) schedule(o Options) (*Schedule, *Error) {
	if o.Form == EveryForm {
		return p.every(o)
	}
	if p.recurs {
		s, err := p.phrase(o)
		switch {
		case err != nil:
			return nil, err
		case o.OnceOnly || o.Form != Any:
			return nil, &Error{
				Code:    CodeUsage,
				Message: quoted(p.typed) + " is a recurrence, and one instant is asked for",
				Hint:    `name one, as in "tomorrow at 9:00"`,
			}
		}
		return s, nil
	}
	if (o.BareSeconds && o.Form == Any) || o.Form == DelayForm {
		if s, ok := p.bareSeconds(o); ok {
			return s, nil
		}
		if p.err != nil {
			return nil, p.err
		}
		p.i = 0
	}
	var m moment
	if !p.instant(&m) {
		if p.err == nil && p.onlyNumber() {
			p.bareNumber()
		}
		return nil, p.stranger()
	}
	switch {
	case o.Form == DelayForm && !m.isSpan || o.Form == DelayForm && m.clock.set:
		return nil, &Error{
			Code:    CodeUsage,
			Message: quoted(p.typed) + " is not a duration",
			Hint:    `give one, as in "90s" or "2 hours", or give the instant with`,
			Options: []string{string(UntilForm)},
		}
	case o.Form == UntilForm && m.isSpan && m.bare && !m.clock.set:
		e := &Error{Code: CodeUsage, Message: quoted(p.typed) + " is a duration, and an instant is asked for", Hint: "give the duration with", Options: []string{string(DelayForm)}}
		if text, ok := p.pasted("in " + p.typed); ok {
			e.Hint, e.instead = fmt.Sprintf("say %q, or ", text)+e.Hint, []string{text}
		}
		return nil, e
	}
	a, ok := p.resolve(&m)
	if !ok {
		return nil, p.stranger()
	}
	return p.once(a, &m), nil
}

// once makes the schedule of one instant.
func (p *parser) once(a answer, m *moment) *Schedule {
	s := &Schedule{Text: p.typed, Kind: Once, Zone: a.zone, Notes: m.notes}
	if p.deep {
		m.others = nil
	}
	if first, second := &p.toks[0], &p.toks[1]; p.n == 2 && first.digits == 4 && second.unit == uHour && onClock(first) {
		m.other(fmt.Sprintf("%02d:%02d", first.n/100, first.n%100), p.text+" is a length of time; for the time of day say %q")
	}
	for _, o := range m.others {
		if at, ok := p.means(o.text); ok && !at.Equal(a.at) {
			s.Others = append(s.Others, Candidate{o.text, at})
			s.Notes = append(s.Notes, fmt.Sprintf(o.note, o.text))
		}
	}
	s.At, s.Delay, s.Fixed = a.at.In(a.zone), a.delay, a.fixed
	if m.placed && m.adds == 0 && !a.fixed {
		s.clockChange(m.tod)
	}
	if a.delay > 0 || a.zero {
		s.Canonical = shortDuration(a.delay)
	} else {
		s.Canonical = instantText(s.At)
	}
	return s
}

// instantText is an instant in RFC 3339, in UTC where the offset has seconds, as local mean times had.
func instantText(t time.Time) string {
	if _, offset := t.Zone(); offset%60 != 0 {
		t = t.UTC()
	}
	return t.Format(time.RFC3339Nano)
}

// bareSeconds reads a number alone as seconds, as sleep(1) does.
func (p *parser) bareSeconds(o Options) (*Schedule, bool) {
	sign := p.isMark(0, '-') || p.isMark(0, '+')
	if sign {
		p.i++
		if p.at(0).gap {
			return nil, false
		}
	}
	q, ok := p.decimal()
	if !ok || p.at(0).kind != tEnd {
		return nil, false
	}
	var m moment
	if !p.add(&m.length, q, uSecond) {
		return nil, false
	}
	if p.isMark(-p.i, '-') {
		m.length = m.length.negated()
	}
	m.isSpan = true
	a, ok := p.resolve(&m)
	if !ok {
		return nil, false
	}
	return p.once(a, &m), true
}

// ruleLike finds the texts that can only be a cron line or an RRULE, before any word is looked at.
func ruleLike(text string) bool {
	return strings.IndexByte(text, '*') >= 0 && looksLikeCron(text) || looksLikeRRule(text) ||
		len(text) > 1 && text[0] == '@' && isLetter(text[1]|0x20) && looksLikeCron(text)
}

// parseRule reads a cron line or an RRULE.
func parseRule(typed string, o Options) (*Schedule, *Error) {
	if len(typed) > maxRuleText {
		return nil, &Error{
			Code:    CodeLimit,
			Message: fmt.Sprintf("the rule is longer than %d bytes", maxRuleText),
			Hint:    "make it shorter",
		}
	}
	s := &Schedule{Text: typed, Zone: o.Zone}
	var err error
	if o.Form == RRuleForm || o.Form == Any && looksLikeRRule(typed) {
		start := o.Start
		if start.IsZero() {
			start = o.Now
		}
		s.Kind = RRule
		s.rule, s.Begin, s.Canonical, s.Notes, err = readRRule(typed, start, o.Zone, o.Start.IsZero())
	} else {
		s.Kind = Cron
		s.rule, s.Canonical, s.Notes, err = parseCron(typed, o.Zone)
	}
	if err != nil {
		return nil, asError(err)
	}
	if o.OnceOnly {
		return nil, &Error{
			Code:    CodeUsage,
			Message: quoted(typed) + " is a recurrence, and one instant is asked for",
			Hint:    `name one, as in "tomorrow at 9:00"`,
		}
	}
	return s.bounded(o)
}

// bounded sets the bounds of a recurrence.
func (s *Schedule) bounded(o Options) (*Schedule, *Error) {
	if err := s.bound(o); err != nil {
		return nil, asError(err)
	}
	return s, nil
}

// asError is the *Error that every error of this package is, its texts fit for a terminal.
func asError(err error) *Error {
	e, ok := err.(*Error)
	if !ok {
		e = &Error{Code: CodeNotUnderstood, Message: err.Error(), Hint: tryThese}
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
