package when

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ouro-timer/ouro-timer/timer/when/civil"
	"github.com/ouro-timer/ouro-timer/timer/when/fault"
	"github.com/ouro-timer/ouro-timer/timer/when/recur"
)

// outcome is what became of a reading: a schedule, or why it is past.
type outcome struct {
	m   *meaning
	s   *Schedule
	why *refusal
}

// choose returns the schedule of the only reading. It refuses a text with several as ambiguous. A
// text without any is refused for its most likely reason.
func (p *parser) choose() (*Schedule, *fault.Error) {
	const (
		unclear = iota // a reading is ambiguous
		past
		strong  // a reading that contradicts itself
		vague   // a row of the grammar says that the text is ambiguous
		refused // a row of the grammar says that the text is not a time
		reasons
	)
	var list []outcome
	var why [reasons]*refusal
	var failed *fault.Error
	told := false // an ambiguous reading has a text of its own
	for i := range p.readings {
		m := &p.readings[i]
		p.notes, p.others = nil, nil
		s, r := p.finish(m)
		reason := refused
		switch {
		case r != nil && r.made != nil:
			if failed == nil || failed.Code == fault.CodeNotUnderstood {
				failed = r.made
			}
			continue
		case r == nil && !p.hasSame(list, s), r != nil && r.code == fault.CodePast:
			list = append(list, outcome{m, s, r})
			continue
		case r == nil:
			continue
		case r.code == fault.CodeAmbiguous && r == m.err:
			reason = vague
		case r.code == fault.CodeAmbiguous:
			reason, told = unclear, told || len(m.rewrites) > 0
		case r.strong:
			reason = strong
		}
		if w := why[reason]; w == nil || w.readings == nil && (r.readings != nil || w.why == "" && r.why != "") {
			why[reason] = r
		}
	}
	var good []outcome
	// Another reading may be meant, even if it is not a time ahead.
	both := told
	list = slices.DeleteFunc(list, func(o outcome) bool {
		return o.m.day.timeLike && slices.ContainsFunc(list, func(other outcome) bool { return !other.m.day.timeLike })
	})
	for _, o := range p.yearsAndTimes(list) {
		switch {
		case o.s != nil:
			good = append(good, o)
		case why[past] == nil:
			why[past] = o.why
		}
		both = both || o.s == nil && len(o.m.rewrites) > 0
	}
	switch {
	case len(good) == 1 && (p.hasClass(cDay) || !both || len(good[0].m.rewrites) == 0):
		return good[0].s, nil
	case len(good) > 0:
		return nil, p.severalReadings(good)
	}
	for reason, r := range why {
		if reason == strong && failed != nil && failed.Code == fault.CodeNever {
			return nil, failed
		}
		if r != nil && (r.code != "" || r.why != "" || r.hint != "" && failed == nil) {
			return nil, p.errorOf(r)
		}
	}
	switch {
	case failed != nil:
		return nil, failed
	case why[refused] != nil:
		return nil, p.errorOf(why[refused])
	case p.clashed != nil && p.clashEnd > p.furthest:
		return nil, p.errorOf(p.clashed)
	}
	return nil, p.unknownWord()
}

// sameExcluded reports whether two rules leave the same days out.
func sameExcluded(a, b recur.Rule) bool {
	for {
		e, one := a.(recur.Excluding)
		f, both := b.(recur.Excluding)
		if !one || !both {
			return one == both
		}
		if !e.Days.Same(f.Days) {
			return false
		}
		a, b = e.Rule, f.Rule
	}
}

// hasSame reports whether one of the outcomes is the same schedule. It has the same canonical form,
// or its first instants are the same ("every day from friday at 9:00").
func (p *parser) hasSame(list []outcome, s *Schedule) bool {
	return slices.ContainsFunc(list, func(o outcome) bool {
		if o.s == nil || o.s.Kind != s.Kind || !o.s.At.Equal(s.At) || !o.s.end.Equal(s.end) {
			return false
		}
		if !sameExcluded(o.s.rule, s.rule) {
			return false
		}
		if o.s.Canonical == s.Canonical && o.s.start.Equal(s.start) && (s.Kind != RRule || ruleLike(s.Canonical)) {
			return true
		}
		a, b, same := p.opts.Now, p.opts.Now, s.rule != nil
		for i := 0; i < 6 && same; i++ {
			var more bool
			a, more = o.s.Next(a)
			if b, same = s.Next(b); same == more && !more {
				return true
			}
			same = same && more && a.Equal(b)
		}
		return same
	})
}

// hasClass reports whether the text has a word of a class.
func (p *parser) hasClass(c class) bool {
	for i := range p.toks[:p.n] {
		if p.toks[i].is(c) {
			return true
		}
	}
	return false
}

// severalReadings returns the error of a text with several readings. It offers a text for each.
func (p *parser) severalReadings(list []outcome) *fault.Error {
	e := &fault.Error{Code: fault.CodeAmbiguous, Message: fmt.Sprintf("the time expression %s is ambiguous: it has several meanings", fault.Quoted(p.typed))}
	if p.nested {
		return e
	}
	if once := p.onceBounded(list[0].s); once != nil {
		return once
	}
	if why := p.dateOrder(list); why != "" {
		e.Message = fmt.Sprintf("the time expression %s is ambiguous: %s", fault.Quoted(p.typed), why)
	}
	for _, o := range list {
		text := p.replace(o.m.rewrites)
		if o.m.boundOff > 0 && len(o.m.rewrites) == 0 {
			text = p.timeFirst(o.m)
		}
		at := o.s.At
		if o.s.rule != nil {
			at, _ = o.s.Next(p.opts.Now)
		}
		was, ok := p.means(text)
		if text == p.text || !ok || !was.Equal(at) {
			text = o.s.Canonical
			_, ok = p.means(text) // after --every a rule is not understood
		}
		if ok {
			e.Candidates = append(e.Candidates, fault.Candidate{Text: text, At: at})
		}
	}
	if e.Hint = p.tryThese(); len(e.Candidates) > 0 {
		e.Hint = sayCandidates(e.Candidates)
	}
	return e
}

// timeFirst returns the text with its time of day before "until": daily at 9am until friday.
// Without one it takes the time of day of now.
func (p *parser) timeFirst(m *meaning) string {
	until := int(m.boundOff)
	if m.has&hasClock == 0 {
		tod := civil.Wall(p.opts.Now, p.opts.Zone).Truncate(time.Minute)
		return p.text[:until] + "at " + tod.Format("15:04") + " " + p.text[until:]
	}
	off, end := int(m.clock.off), int(m.clock.end)
	if off < until || strings.TrimSpace(p.text[end:]) != "" {
		return p.text
	}
	bound := strings.TrimSuffix(strings.TrimSpace(p.text[until:off]), " at")
	return p.text[:until] + "at " + p.text[off:end] + " " + bound
}

// dateOrder returns why a date is ambiguous when only the order of its numbers is.
func (p *parser) dateOrder(list []outcome) string {
	m := list[0].m
	if m.day.kind == noDay || m.day.yearFirst || len(m.rewrites) == 0 || len(list) > 1 && list[1].m.day == m.day {
		return ""
	}
	d := &m.day
	return "the order of day and month in " + p.text[d.off:d.end] + " is not known"
}

// replace returns the text with parts of it rewritten.
func (p *parser) replace(subs []rewrite) string {
	text := p.text
	list := slices.SortedStableFunc(slices.Values(subs), func(a, b rewrite) int { return a.off - b.off })
	for _, s := range slices.Backward(list) {
		text = text[:s.off] + s.text + text[s.end:]
	}
	return text
}

// How far from this year four digits beside a month or a date may be a year. Further ahead they are
// a time of day.
const (
	yearsBack  = 10
	yearsAhead = 50
)

// yearsAndTimes decides what four digits before a month and a day are: at(1) reads a time of day
// there (1745 Nov 24), and a date with the year first has its year there (2018 March 18). They are
// the year when they would be an unusual time, not a multiple of five minutes, and no other year
// follows, and when that year does not have the day. Otherwise the reading that lies ahead holds.
// When both lie ahead, both are returned.
func (p *parser) yearsAndTimes(list []outcome) []outcome {
	i := slices.IndexFunc(p.toks[:p.n], func(t token) bool { return t.is(cHHMM) && t.is(cYear) })
	next := i + 1
	if i >= 0 && p.toks[next].mark() == ',' {
		next++
	}
	for i >= 0 && (p.toks[next].is(cN1|cSuffix|cOrd|cTens) || p.word(next, "of", "-")) {
		next++
	}
	dated := func(o outcome) bool { return o.m.day.yearFirst }
	if i < 0 || !p.toks[next].is(cMonth) && !slices.ContainsFunc(list, dated) {
		return list
	}
	first := &p.toks[i]
	n, near := int(first.n), p.near(first.n)
	var years, times []outcome
	for _, o := range list {
		switch d := &o.m.day; {
		case d.yearFirst:
			years = append(years, o)
		// otherwise a slip, and not a time of day
		case !near || d.kind != onAnnual || int(d.date) <= civil.MonthDays(n, int(d.month)):
			times = append(times, o)
		}
	}
	ahead := func(o outcome) bool { return o.s != nil }
	switch {
	case len(years) == 0 || len(times) == 0:
		return append(years, times...)
	case !near:
		return times
	case n%5 != 0 && times[0].m.day.kind == onAnnual, !slices.ContainsFunc(times, ahead):
		return years
	case !slices.ContainsFunc(years, ahead):
		times = times[slices.IndexFunc(times, ahead):][:1]
		times[0].s.note(recur.NoteReading, "%s is read as the time of day, %02d:%02d, not as a year", p.low[first.off:first.end], n/100, n%100)
		return times
	}
	d := years[0].m.day
	years[0].m.rewrites = []rewrite{{int(d.off), int(d.end), fmt.Sprintf("%d %s %d", d.date, time.Month(d.month), d.year)}}
	times[0].m.rewrites = []rewrite{{int(first.off), int(first.end), fmt.Sprintf("%02d:%02d", n/100, n%100)}}
	return []outcome{years[0], times[0]}
}
