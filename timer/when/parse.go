package when

import (
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/ouro-timer/ouro-timer/state/plain"
	"github.com/ouro-timer/ouro-timer/timer/when/civil"
	"github.com/ouro-timer/ouro-timer/timer/when/fault"
	"github.com/ouro-timer/ouro-timer/timer/when/recur"
)

// Parse reads a time expression. It must understand the whole text; every refusal is a
// *fault.Error. The same text with the same Options gives the same answer on any machine that has
// the same zone database.
func Parse(text string, o Options) (*Schedule, error) {
	s, err := parse(text, o, readMode{})
	if err != nil {
		return nil, withCandidates(err, o, false)
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
		return time.Time{}, withCandidates(err, o, true)
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
	ahead [maxTokens + 4]first // what the tokens from each on are together

	recurs bool // some word occurs only in recurrences
	timed  bool // the word "time" is there

	g          *compiledGrammar
	memo       []int32
	res        []result
	stack      [maxDepth]match
	depth      int // how many parts of the text are read
	levels     [maxParts]meaning
	nest       int // how many symbols of the grammar are being matched
	work       int
	partSymbol int // the number of PART, the symbol of a part of a text

	readings []meaning
	furthest int          // the furthest token at which a part of the text ended
	clashed  *refusal     // why two parts do not go together
	clashEnd int          // where the second of them ends
	notes    []recur.Note // the notes of the reading that is taken
	others   []otherReading
}

// otherReading is the text of a reading that was not taken, and the note that names it as %q. Both
// are dropped when that text has no instant ahead.
type otherReading struct{ text, note string }

func (p *parser) other(text, note string) { p.others = append(p.others, otherReading{text, note}) }

var parsers = sync.Pool{New: func() any { return new(parser) }}

// parse reads a time expression for Parse, Instant and candidates.
func parse(text string, o Options, how readMode) (*Schedule, *fault.Error) {
	if o.Zone == nil || o.Now.IsZero() {
		return nil, &fault.Error{Code: fault.CodeUsage, Message: "a time expression needs a reference instant and a time zone"}
	}
	o.Now = o.Now.Round(0)
	if y := o.Now.In(o.Zone).Year(); y < 1 || y > civil.LastYear-1 {
		return nil, &fault.Error{Code: fault.CodeUsage, Message: "the reference instant is not in the years 1 to 9998"}
	}
	typed := strings.TrimSpace(text)
	switch o.Form {
	case CronForm, RRuleForm, CalendarForm:
		return parseRule(typed, o)
	case Any, DelayForm, UntilForm, EveryForm:
	default:
		return nil, &fault.Error{Code: fault.CodeUsage, Message: fmt.Sprintf("unknown form %q", string(o.Form))}
	}
	if o.Form == Any && (ruleLike(typed) || recur.LooksLikeCalendar(typed)) {
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
	if err != nil && err.Code == fault.CodeNotUnderstood && !how.nested {
		if e := p.namesTwo(); e != nil {
			return nil, e
		}
		if e := p.severalTasks(); e != nil {
			return nil, e
		}
	}
	if err != nil && err.Code == fault.CodeNotUnderstood && o.Form == Any && recur.LooksLikeCron(typed) {
		return parseRule(typed, o)
	}
	if err != nil && (err.Code == fault.CodeNotUnderstood || err.Code == fault.CodeAmbiguous) && o.Form == Any && !how.nested {
		if e := p.calendarToo(err); e != nil {
			return nil, e
		}
	}
	if err == nil {
		if once := p.onceBounded(s); once != nil {
			return nil, once
		}
	}
	return s, err
}

// close makes the parser ready for another text and puts it back into the pool.
func (p *parser) close() {
	clear(p.readings)
	p.readMode, p.opts, p.typed, p.text, p.low = readMode{}, nil, "", "", ""
	p.memo, p.res, p.readings, p.n, p.work, p.depth = p.memo[:0], p.res[:0], p.readings[:0], 0, 0, 0

	p.recurs, p.timed, p.furthest, p.clashed, p.clashEnd, p.notes, p.others = false, false, 0, nil, 0, nil, nil
	parsers.Put(p)
}

// open prepares a text for reading.
func (p *parser) open(text string, o *Options) *fault.Error {
	p.opts = o
	p.typed = strings.TrimSpace(text)
	if len(p.typed) > maxText {
		return &fault.Error{
			Code:    fault.CodeLimit,
			Message: fmt.Sprintf("the time expression is longer than %d bytes", maxText),
			Hint:    p.tryThese(),
		}
	}
	var buf [2*maxText + 8]byte
	out, ok := plain.ASCII(p.typed, buf[:0])
	if !ok {
		hint := ""
		for _, r := range p.typed {
			if _, known := plain.ASCII(string(r), nil); !known {
				hint = "leave " + strconv.QuoteRune(r) + " out"
				break
			}
		}
		return p.refuse("it has a character that no time expression has", hint)
	}
	if o.Form == EveryForm && !saysEvery(string(out)) {
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
		return &fault.Error{Code: fault.CodeLimit, Message: "the time expression has too many words", Hint: p.tryThese()}
	}
	p.g = grammar()
	p.partSymbol = p.g.names["PART"]
	size := (p.n + 1) * len(p.g.patterns)
	if cap(p.memo) < size {
		p.memo = make([]int32, size)
	}
	p.memo, p.res = p.memo[:size], append(p.res, result{})
	clear(p.memo)
	var all first
	for i := p.n; i >= 0; i-- {
		t := &p.toks[i]
		all.set |= t.set
		if t.lit != 0 {
			all.bits |= 1 << (t.lit & 63)
		}
		p.ahead[i] = all
	}
	for i := range p.toks[:p.n] {
		t := &p.toks[i]
		p.recurs = p.recurs || t.is(cAdverb|cDays|cDayParts|cAgain) || t.is(cDay) && p.rangeAt(i+1) || p.rateAt(i)
		p.timed = p.timed || t.is(cTime)
	}
	p.recurs = p.recurs || o.Form == EveryForm
	return p.wordTwice()
}

// wordTwice refuses a word that stands twice: at at 5pm. "Ten ten", "every second second" and "next
// next friday" are left to the grammar.
func (p *parser) wordTwice() *fault.Error {
	for i := range p.toks[:max(p.n-1, 0)] {
		a, b := &p.toks[i], &p.toks[i+1]
		word := p.low[a.off:a.end]
		if b.gap && word == p.low[b.off:b.end] && isLetter(word[0]) && !a.is(cNew|cLow|cTens|cOrd) && word != "next" {
			return p.refuse(fault.Quoted(p.text[b.off:b.end])+" stands twice", "leave one of the two out")
		}
	}
	return nil
}

// saysEvery reports whether a text begins as a recurrence does. Where one is asked for, any other
// text is what follows "every".
func saysEvery(text string) bool {
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
func (p *parser) schedule() (*Schedule, *fault.Error) {
	o := p.opts
	if o.Form == EveryForm {
		switch t := &p.toks[0]; {
		case o.OnceOnly:
			return nil, p.refuse("a recurrence and one instant are asked for at once",
				"leave one of the two out")
		case t.mark() == '-' || t.mark() == '+':
			return nil, p.refuse("an interval has no sign", "leave the sign out")
		case t.is(cISO):
			return nil, p.unknownWord()
		}
	}
	if a, ok := p.onlyNumber(); ok && !(o.Form == UntilForm || o.Form == Any && !o.BareSeconds) {
		if o.Form == EveryForm {
			return nil, p.everyBare(a)
		}
		return p.bareSeconds(a)
	}
	start := meaning{}
	p.read(0, &start, false)
	if p.work > maxWork {
		return nil, &fault.Error{Code: fault.CodeLimit, Message: "the time expression has too many words", Hint: p.tryThese()}
	}
	s, err := p.choose()
	if err == nil && s.Kind == Once && o.Form == EveryForm {
		return nil, &fault.Error{Code: fault.CodeUsage, Message: fault.Quoted(p.typed) + " comes once, and a recurrence is asked for", Hint: `say how often, as in "monday at 9am"`}
	}
	return s, err
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
	case t.mark() == '.' && pos > 0 && pos == p.n-1 && !t.gap && !comma && p.toks[pos-1].mark() != '.':
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
	if n := p.longName(pos); n > 0 && m.has&hasZone != 0 && m.zone.fixed && p.derive(p.partSymbol, pos) < 0 {
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
