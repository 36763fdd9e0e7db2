package when

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode"
)

// Parse reads a time expression. It must understand the whole text; every refusal is an *Error. The
// same text with the same Options gives the same answer on any machine that has the same zone
// database.
func Parse(text string, o Options) (*Schedule, error) {
	s, err := parse(text, o, readMode{})
	if err != nil {
		return nil, err.withCandidates(o, false)
	}
	return s, nil
}

// Instant reads one instant for a flag such as --start, --end or --since. It is Parse with
// UntilForm, but the instant may be past: "yesterday at 10am", "2 hours ago".
func Instant(text string, o Options) (time.Time, error) {
	o.Form, o.OnceOnly, o.BareSeconds = UntilForm, true, false
	o.Start, o.End, o.Count = time.Time{}, time.Time{}, 0
	s, err := parse(text, o, readMode{past: true})
	if err != nil {
		return time.Time{}, err.withCandidates(o, true)
	}
	return s.At, nil
}

// readMode says how a text is read, beyond its Options.
type readMode struct {
	// The text is a candidate that another text offers: its refusals need no candidates, and its
	// notes no texts.
	nested bool
	past   bool // an instant need not lie ahead
}

// parser holds one text while it is read. Its last token is of class cEnd.
type parser struct {
	readMode
	opts  *Options
	typed string // as typed, without space around it
	text  string // plain: ASCII letters, digits and punctuation, single spaces
	low   string // the same in lower case
	toks  [maxTokens + 4]token
	n     int

	recurs bool // some word occurs only in recurrences
	timed  bool // the word "time" is there

	g          *compiledGrammar
	memo       []int32
	res        []result
	cache      [maxCached]cachedCandidates
	stack      [maxDepth]match
	depth      int // how many parts of the text are read
	levels     [maxParts]meaning
	nest       int // how many symbols of the grammar are being matched
	work       int
	partSymbol int // the number of PART, the symbol of a part of a text

	readings []meaning
	furthest int      // the furthest token at which a part of the text ended
	clashed  *refusal // why two parts do not go together
	clashEnd int      // where the second of them ends
	notes    []Note   // the notes of the reading that is taken
	others   []otherReading
}

// otherReading is the text of a reading that was not taken, and the note that names it as %q. Both
// are dropped when that text has no instant ahead.
type otherReading struct{ text, note string }

func (p *parser) other(text, note string) { p.others = append(p.others, otherReading{text, note}) }

var parsers = sync.Pool{New: func() any { return new(parser) }}

// parse reads a time expression for Parse, Instant and candidates.
func parse(text string, o Options, how readMode) (*Schedule, *Error) {
	if o.Zone == nil || o.Now.IsZero() {
		return nil, &Error{Code: CodeUsage, Message: "a time expression needs a reference instant and a time zone"}
	}
	o.Now = o.Now.Round(0)
	if y := o.Now.In(o.Zone).Year(); y < 1 || y > lastYear-1 {
		return nil, &Error{Code: CodeUsage, Message: "the reference instant is not in the years 1 to 9998"}
	}
	typed := strings.TrimSpace(text)
	switch o.Form {
	case CronForm, RRuleForm, CalendarForm:
		return parseRule(typed, o)
	case Any, DelayForm, UntilForm, EveryForm:
	default:
		return nil, &Error{Code: CodeUsage, Message: fmt.Sprintf("unknown form %q", string(o.Form))}
	}
	if o.Form == Any && (ruleLike(typed) || looksLikeCalendar(typed)) {
		return parseRule(typed, o)
	}
	p := parsers.Get().(*parser)
	defer p.close()
	p.readMode = how
	if err := p.open(text, &o); err != nil {
		return nil, err
	}
	if p.n == 0 {
		return nil, p.refuse("it is empty", "")
	}
	if s, err := p.repeating(); s != nil || err != nil {
		return s, err
	}
	s, err := p.schedule()
	if err != nil && err.Code == CodeNotUnderstood && !how.nested {
		if e := p.namesTwo(); e != nil {
			return nil, e
		}
		if e := p.twoTasks(); e != nil {
			return nil, e
		}
	}
	if err != nil && err.Code == CodeNotUnderstood && o.Form == Any && looksLikeCron(typed) {
		return parseRule(typed, o)
	}
	if err == nil {
		if once := p.onceBounded(s); once != nil {
			return nil, once
		}
	}
	return s, err
}

// onceBounded refuses the bounds of a recurrence when the schedule has only one instant.
func (p *parser) onceBounded(s *Schedule) *Error {
	if o := p.opts; s.Kind != Once || o.Start.IsZero() && o.End.IsZero() && o.Count == 0 && o.Except.empty() {
		return nil
	}
	if !p.opts.Except.empty() {
		return &Error{
			Code:    CodeUsage,
			Message: "days are left out of recurrences, and " + quoted(p.typed) + " comes once",
			Hint:    `name a recurrence, as in "every day at 9:00", or leave out`,
			Options: []string{"except"},
		}
	}
	return &Error{
		Code:    CodeUsage,
		Message: "a start, an end and a count bound recurrences, and " + quoted(p.typed) + " comes once",
		Hint:    "leave them out",
	}
}

// repeating reads R/PT1H, a repeating interval of ISO 8601 (section 4.5) without an end. It refuses
// R5/PT1H, because programs differ on whether the first instant counts.
func (p *parser) repeating() (*Schedule, *Error) {
	head, rest, ok := strings.Cut(p.low, "/")
	if count, is := strings.CutPrefix(head, "r"); !ok || !is || strings.Trim(count, "0123456789") != "" || strings.Contains(rest, " ") {
		return nil, nil
	}
	start, length, two := strings.Cut(strings.ToUpper(rest), "/")
	text := "every " + length + " starting " + start
	if !two {
		text = "every " + start
	}
	if head != "r" {
		return nil, p.refuse("repeating intervals of ISO 8601 with a count are not read", `say it as in "every 1h", with a count as in "every 1h, 5 times"`)
	}
	s, err := parse(text, *p.opts, p.readMode)
	if err != nil {
		return nil, p.refuse("it is no repeating interval of ISO 8601", `say it as in "R/PT1H" or "every 1h"`)
	}
	s.Text = p.typed
	return s, nil
}

// namesTwo refuses "at 9am or 10am" when both sides are understood.
func (p *parser) namesTwo() *Error {
	for i := range p.toks[:p.n] {
		if i == 0 || !p.word(i, "or") {
			continue
		}
		left, right := strings.TrimSpace(p.text[:p.toks[i].off]), strings.TrimSpace(p.text[p.toks[i].end:])
		r := refusal{code: CodeAmbiguous, why: "it names two, and which is meant is not said", hint: "name one of the two", end: len(p.text), readings: []string{left, right}}
		if e := p.ambiguous(&r, r.readings); !p.recurs && e.Code == CodeAmbiguous && len(e.Candidates) == 2 {
			return e
		}
		for _, side := range r.readings {
			_, err := parse(side, *p.opts, readMode{nested: true, past: p.past})
			if err != nil && err.Code != CodeAmbiguous && err.Code != CodePast {
				return nil
			}
		}
		e := p.ambiguous(&refusal{code: CodeAmbiguous, why: r.why, hint: r.hint}, nil)
		return e
	}
	return nil
}

// twoTasks refuses "every tuesday at 9am and thursday at 10am" and offers a text for each of the
// two.
func (p *parser) twoTasks() *Error {
	for i := 1; i < p.n && p.recurs; i++ {
		k := i
		for p.toks[k].mark() == ',' || p.word(k, "and", "on", "every") {
			k++
		}
		if t := &p.toks[k]; k == i || k == i+1 && p.word(i, "on") || !t.is(cDay|cDays) {
			continue
		}
		first, second := p.text[:p.toks[i-1].end], p.text[p.toks[k].off:]
		if !p.toks[k].is(cDays) {
			second = "every " + second
		}
		if list := p.understood(first, second); len(list) == 2 {
			return p.refuse("it has several days, each with a time", fmt.Sprintf("make two tasks: %q and %q", first, second))
		}
	}
	return nil
}

// close makes the parser ready for another text and puts it back into the pool.
func (p *parser) close() {
	clear(p.res)
	clear(p.readings)
	p.readMode, p.opts, p.typed, p.text, p.low = readMode{}, nil, "", "", ""
	p.memo, p.res, p.readings, p.n, p.work, p.depth = p.memo[:0], p.res[:0], p.readings[:0], 0, 0, 0

	p.recurs, p.timed, p.furthest, p.clashed, p.clashEnd, p.notes, p.others = false, false, 0, nil, 0, nil, nil
	parsers.Put(p)
}

// open prepares a text for reading.
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
	if o.Form == EveryForm && !p.saysEvery(string(out)) {
		out = append([]byte("every "), out...)
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
	p.g = grammar()
	p.partSymbol = p.g.names["PART"]
	size := (p.n + 1) * len(p.g.patterns)
	if cap(p.memo) < size {
		p.memo = make([]int32, size)
	}
	p.memo = p.memo[:size]
	for i := range p.memo {
		p.memo[i] = unread
	}
	for i := range p.toks[:p.n] {
		t := &p.toks[i]
		p.recurs = p.recurs || t.is(cAdverb|cDays|cDayParts|cAgain) || t.is(cDay) && p.rangeAt(i+1) || p.rateAt(i)
		p.timed = p.timed || t.is(cTime)
	}
	p.recurs = p.recurs || o.Form == EveryForm
	return nil
}

// saysEvery reports whether a text begins as a recurrence does. Where one is asked for, any other
// text is what follows "every".
func (p *parser) saysEvery(text string) bool {
	first, _, _ := strings.Cut(strings.ToLower(text), " ")
	switch {
	case first == "":
		return true
	case isDigit(first[0]) || first[0] == '.':
		return strings.Trim(text, "0123456789.") == ""
	case !isLetter(first[0]):
		return true
	}
	e := vocabulary()[first]
	switch first {
	case "every", "each", "on", "at", "the", "once", "twice", "thrice", "weekdays", "workdays", "weekends", "biweekly", "bimonthly":
		return true
	}
	return e.is(cAdverb | cDays)
}

// rangeAt reports whether token i and the next are "to" and a weekday, as after the first weekday
// of a range.
func (p *parser) rangeAt(i int) bool {
	if p.toks[i].mark() == '.' {
		i++
	}
	return i+1 < p.n && p.toks[i+1].is(cDay) && (p.toks[i].mark() == '-' || p.word(i, "to", "through", "thru", "til", "till"))
}

// rateAt reports whether token i is the x of a rate: 2x/day, 2x a day.
func (p *parser) rateAt(i int) bool {
	if i == 0 || !p.word(i, "x") || p.toks[i].gap || !p.toks[i-1].is(cNum) {
		return false
	}
	next := &p.toks[i+1]
	return next.mark() == '/' || next.is(cAdverb) || p.word(i+1, "a", "an", "per", "each")
}

// word reports whether a token is one of some words.
func (p *parser) word(pos int, words ...string) bool {
	if pos < 0 || pos >= p.n {
		return false
	}
	t := &p.toks[pos]
	for _, w := range words {
		if p.low[t.off:t.end] == w {
			return true
		}
	}
	return false
}

// schedule reads the tokens in the form that Options ask for.
func (p *parser) schedule() (*Schedule, *Error) {
	o := p.opts
	if a, ok := p.onlyNumber(); ok && !(o.Form == UntilForm || o.Form == Any && !o.BareSeconds) {
		if o.Form == EveryForm {
			return p.everyBare(a)
		}
		return p.bareSeconds(a)
	}
	if o.Form == EveryForm {
		switch t := &p.toks[0]; {
		case o.OnceOnly:
			return nil, p.refuse("a recurrence and one instant are asked for at once", "leave one of the two out")
		case t.mark() == '-' || t.mark() == '+':
			return nil, p.refuse("an interval has no sign", `say it as in "5m"`)
		case t.is(cISO):
			return nil, p.unknownWord()
		}
	}
	start := meaning{}
	p.read(0, &start, false)
	if p.work > maxWork {
		return nil, &Error{Code: CodeLimit, Message: "the time expression has too many words", Hint: tryThese}
	}
	return p.choose()
}

// read puts the parts of the text together from a token on; comma says that a comma stands before
// it. Each way to do so for the whole text is a reading.
func (p *parser) read(pos int, m *meaning, comma bool) {
	if p.work++; p.work > maxWork {
		return
	}
	p.furthest = max(p.furthest, pos)
	t := &p.toks[pos]
	switch {
	case t.is(cEnd):
		if !comma && len(p.readings) < maxReadingsOf {
			p.readings = append(p.readings, *m)
		}
		return
	case t.mark() == ',' && pos > 0 && !comma:
		p.read(pos+1, m, true)
		return
	case t.mark() == '.' && pos > 0 && pos == p.n-1 && !t.gap && !comma:
		p.read(pos+1, m, false)
		return
	}
	if p.depth+1 == len(p.levels) {
		return
	}
	p.depth++
	next := &p.levels[p.depth]
	join := func(x *meaning, end int) {
		if *next = *m; next.merge(x, p, pos) {
			p.read(end, next, false)
		} else if p.clashed != nil {
			p.clashEnd = max(p.clashEnd, end)
		}
	}
	sign := t.mark() == '+' || t.mark() == '-'
	for r := p.derive(p.partSymbol, pos); r >= 0 && !(comma && sign); r = p.res[r].next {
		join(&p.res[r].m, int(p.res[r].end))
	}
	if p.timed || p.word(pos, "in") {
		if end, x, ok := p.readPlace(pos, m.has&(hasClock|hasWindow) != 0); ok {
			join(&x, end)
		}
	}
	p.depth--
	if n := p.longName(pos); n > 0 && m.has&hasZone != 0 && m.zone.fixed {
		p.read(pos+n, m, false)
	}
}

// maxParts is how many parts a text may have.
const maxParts = 32

// maxReadingsOf is how many readings of a text are considered.
const maxReadingsOf = 64

// clash notes why two parts of the text do not go together.
func (p *parser) clash(why, hint string) {
	if p.clashed == nil {
		p.clashed = &refusal{why: why, hint: hint}
	}
}

// outcome is what became of a reading: a schedule, or why it is past.
type outcome struct {
	m   *meaning
	s   *Schedule
	why *refusal
}

// choose returns the schedule of the only reading. It refuses a text with several as ambiguous. A
// text without any is refused for its most likely reason.
func (p *parser) choose() (*Schedule, *Error) {
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
	var failed *Error
	told := false // an ambiguous reading has a text of its own
	for i := range p.readings {
		m := &p.readings[i]
		p.notes, p.others = nil, nil
		s, r, err := p.finish(m)
		reason := refused
		switch {
		case err != nil:
			if failed == nil || failed.Code == CodeNotUnderstood {
				failed = err
			}
			continue
		case r == nil && !p.hasSame(list, s), r != nil && r.code == CodePast:
			list = append(list, outcome{m, s, r})
			continue
		case r == nil:
			continue
		case r.code == CodeAmbiguous && r == m.err:
			reason = vague
		case r.code == CodeAmbiguous:
			reason, told = unclear, told || len(m.rewrites) > 0
		case r.strong:
			reason = strong
		}
		if why[reason] == nil {
			why[reason] = r
		}
	}
	var good []outcome
	// Another reading may be meant, even if it is not a time ahead.
	both := told
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
	for _, r := range why {
		if r != nil && (r.code != "" || r.why != "" || r.hint != "") {
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

// hasSame reports whether one of the outcomes is the same schedule. It has the same canonical form,
// or its first instants are the same ("every day from friday at 9:00").
func (p *parser) hasSame(list []outcome, s *Schedule) bool {
	return slices.ContainsFunc(list, func(o outcome) bool {
		if o.s == nil || o.s.Kind != s.Kind || !o.s.At.Equal(s.At) || !o.s.end.Equal(s.end) {
			return false
		}
		if o.s.Canonical == s.Canonical && o.s.start.Equal(s.start) {
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
func (p *parser) severalReadings(list []outcome) *Error {
	e := &Error{Code: CodeAmbiguous, Message: fmt.Sprintf("the time expression %s is ambiguous: it has several meanings", quoted(p.typed))}
	if p.nested {
		return e
	}
	if once := p.onceBounded(list[0].s); once != nil {
		return once
	}
	if why := p.dateOrder(list); why != "" {
		e.Message = fmt.Sprintf("the time expression %s is ambiguous: %s", quoted(p.typed), why)
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
		if was, ok := p.means(text); text == p.text || !ok || !was.Equal(at) {
			text = o.s.Canonical
		}
		// After --every a rule is not understood.
		if _, ok := p.means(text); ok {
			e.Candidates = append(e.Candidates, Candidate{text, at})
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
		tod := wallTime(p.opts.Now, p.opts.Zone).Truncate(time.Minute)
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
	if m.day.kind == noDay || len(m.rewrites) == 0 || len(list) > 1 && list[1].m.day == m.day {
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

// How far from this year four digits before a month may be a year. Further away they are a time of
// day.
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
	if i < 0 || !p.toks[i+1].is(cMonth) {
		return list
	}
	first, now := &p.toks[i], p.opts.Now.Year()
	n := int(first.n)
	near := n >= now-yearsBack && n <= now+yearsAhead
	var years, times []outcome
	for _, o := range list {
		switch d := &o.m.day; {
		case d.yearFirst:
			years = append(years, o)
		// otherwise a slip, and not a time of day
		case !near || d.kind != onAnnual || int(d.date) <= monthDays(n, int(d.month)):
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
		times[0].s.note(NoteReading, "%s is read as the time of day, %02d:%02d, not as a year", p.low[first.off:first.end], n/100, n%100)
		return times
	}
	d := years[0].m.day
	years[0].m.rewrites = []rewrite{{int(d.off), int(d.end), fmt.Sprintf("%d %s %d", d.date, time.Month(d.month), d.year)}}
	times[0].m.rewrites = []rewrite{{int(first.off), int(first.end), fmt.Sprintf("%02d:%02d", n/100, n%100)}}
	return []outcome{years[0], times[0]}
}

// ruleLike reports whether a text can only be a cron line or an RRULE. It does not need the
// grammar.
func ruleLike(text string) bool {
	return strings.IndexByte(text, '*') >= 0 && looksLikeCron(text) || looksLikeRRule(text) ||
		len(text) > 1 && text[0] == '@' && isLetter(text[1]|0x20) && looksLikeCron(text)
}

// parseRule reads a cron line, an RRULE or a calendar event.
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
	start := o.Start
	if start.IsZero() {
		start = o.Now
	}
	if o.Form == RRuleForm || o.Form == Any && looksLikeRRule(typed) {
		s.Kind = RRule
		s.rule, s.Begin, s.Canonical, s.Notes, err = readRRule(typed, start, o.Zone, o.Start.IsZero())
	} else if o.Form == CalendarForm || o.Form == Any && looksLikeCalendar(typed) && !looksLikeCron(typed) {
		s.Kind = RRule
		s.rule, s.Canonical, s.Notes, err = parseCalendar(typed, start, o.Zone)
	} else {
		s.Kind = Cron
		s.rule, s.Canonical, s.Notes, err = parseCron(typed, o.Zone)
	}
	if err != nil {
		return nil, asError(err)
	}
	if o.OnceOnly {
		return nil, notOnce(typed)
	}
	s.except(o.Except)
	return s.bounded(o)
}

// notOnce refuses a recurrence where one instant is asked for.
func notOnce(typed string) *Error {
	return &Error{
		Code:    CodeUsage,
		Message: quoted(typed) + " is a recurrence, and one instant is asked for",
		Hint:    `name one, as in "tomorrow at 9:00"`,
	}
}

// bounded sets the bounds of a recurrence.
func (s *Schedule) bounded(o Options) (*Schedule, *Error) {
	if err := s.bound(o); err != nil {
		return nil, asError(err)
	}
	return s, nil
}

// asError returns an error of this package as an *Error whose texts are fit for a terminal.
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
