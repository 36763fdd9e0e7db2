package when

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ouro-timer/ouro-timer/state/plain"
	"github.com/ouro-timer/ouro-timer/timer/when/fault"
	"github.com/ouro-timer/ouro-timer/timer/when/say"
)

// refusal says why a text that was understood so far is refused. Its error is made only when no
// other reading is right.
type refusal struct {
	code    string // CodeNotUnderstood when empty
	message string // instead of the usual message
	why     string
	hint    string
	option  string // the option that the hint ends with; empty for none
	// The hint for the first of the readings that is understood, with a %q. With "-" the hint stays
	// as it is.
	say string
	at  time.Time // the instant, when it is past
	// The error, when it is made already.
	made *fault.Error
	// The text is understood for certain, so this is a more likely reason than that of a row.
	strong bool

	// readings are texts to type instead of the part of the text from off to end.
	off, end int
	readings []string
}

// either refuses a text as ambiguous. It offers what may be typed instead of the part of the text
// from off to end.
func either(why string, off, end int, readings ...string) *refusal {
	return &refusal{code: fault.CodeAmbiguous, why: why, off: off, end: end, readings: readings}
}

// tryThese is the hint for a text that is not understood at all.
const tryThese = `try "in 10m", "tomorrow at 9:00" or "0 9 * * 1-5"`

// tryThese returns texts to type instead, in the form that Options ask for.
func (p *parser) tryThese() string {
	switch o := p.opts; {
	case o == nil:
	case o.Form == DelayForm || o.Form == EveryForm:
		return `try "90s", "15m" or "2 hours"`
	case o.Form == UntilForm:
		return `try "22:00", "tomorrow at 9:00" or "2031-12-24T18:00"`
	case o.OnceOnly:
		return `try "in 10m", "tomorrow at 9:00" or "2031-12-24T18:00"`
	}
	return tryThese
}

// refuse returns the error of a text that is not understood; why may be empty. The texts that the
// hint offers are given once more as instead.
func (p *parser) refuse(why, hint string, instead ...string) *fault.Error {
	message := "could not understand the time expression " + fault.Quoted(p.typed)
	if why != "" {
		message += ": " + why
	}
	if hint == "" {
		hint = p.tryThese()
	}
	return &fault.Error{Code: fault.CodeNotUnderstood, Message: message, Hint: hint, Instead: instead}
}

// errorOf returns the error of a refusal.
func (p *parser) errorOf(r *refusal) *fault.Error {
	if r.made != nil {
		return r.made
	}
	texts := make([]string, len(r.readings))
	for i, reading := range r.readings {
		texts[i] = p.text[:r.off] + reading + p.text[r.end:]
	}
	switch r.code {
	case fault.CodePast:
		return p.tooLate(r.at)
	case fault.CodeAmbiguous:
		return p.ambiguous(r, texts)
	}
	e := p.refuse(r.why, r.hint)
	if r.message != "" {
		e.Message = r.message
	}
	if r.code != "" {
		e.Code = r.code
	}
	if r.option != "" {
		e.Options = []string{r.option}
	}
	switch list := p.understood(texts...); {
	case r.say == "-":
		e.Instead = texts
	case len(list) == 0:
	case r.say != "":
		e.Hint, e.Options, e.Instead = fmt.Sprintf(r.say, list[0]), nil, list[:1]
	default:
		e.Hint, e.Options, e.Instead = offer(list), nil, list
	}
	return e
}

// withCandidates returns the error with a candidate for each text that its hint offers, if that
// text is understood.
func withCandidates(e *fault.Error, o Options, past bool) *fault.Error {
	for _, text := range e.Instead {
		if at, ok := means(text, o, past); ok {
			e.Candidates = append(e.Candidates, fault.Candidate{Text: text, At: at})
		}
	}
	if e.SayInstead && len(e.Candidates) > 0 {
		e.Hint = sayCandidates(e.Candidates)
	}
	e.Instead = nil
	return e
}

// offer returns a hint that offers some texts.
func offer(texts []string) string { return "say " + fault.QuotedOr(texts) }

func sayCandidates(list []fault.Candidate) string {
	texts := make([]string, len(list))
	for i, c := range list {
		texts[i] = c.Text
	}
	return offer(texts)
}

// ambiguous returns the error of a text with several readings. Readings without an instant ahead
// are left out.
func (p *parser) ambiguous(r *refusal, texts []string) *fault.Error {
	e := &fault.Error{Code: fault.CodeAmbiguous, Message: fmt.Sprintf("the time expression %s is ambiguous: %s", fault.Quoted(p.typed), r.why), Hint: r.hint}
	if p.nested {
		return e
	}
	var past, first *fault.Error
	var known []*Schedule
	for _, text := range texts {
		s, err := parse(text, *p.opts, readMode{nested: true, past: p.past})
		switch {
		case err == nil:
			at := s.At
			if s.rule != nil {
				at, _ = s.Next(p.opts.Now)
			}
			same := func(o *Schedule) bool { return o.At.Equal(s.At) && o.Zone.String() == s.Zone.String() }
			if s.rule != nil || !slices.ContainsFunc(known, same) {
				e.Candidates, known = append(e.Candidates, fault.Candidate{Text: text, At: at}), append(known, s)
			}
			continue
		case err.Code == fault.CodePast:
			past = err
		}
		if first == nil {
			first = err
		}
	}
	switch {
	case len(e.Candidates) > 0:
		e.Hint = sayCandidates(e.Candidates)
	case past != nil:
		return past
	// The text has bounds of a recurrence, and no reading is one.
	case first != nil && first.Code == fault.CodeUsage:
		return first
	case first != nil && first.Code == fault.CodeNotUnderstood:
		return p.refuse(r.why, "")
	case e.Hint == "":
		e.Hint = p.tryThese()
	}
	return e
}

// tooLate returns the error of an instant that is not ahead.
func (p *parser) tooLate(t time.Time) *fault.Error {
	return &fault.Error{
		Code:    fault.CodePast,
		Message: "the specified time (" + toSecond(t) + ") is in the past",
		Hint:    "give a time after " + toSecond(p.opts.Now.In(t.Location())),
	}
}

// toSecond is Stamp without a fraction of a second, because nobody typed one.
func toSecond(t time.Time) string { return say.Stamp(t.Truncate(time.Second)) }

// means returns the instant of another text that is read as this one is: the first one of a
// recurrence.
func (p *parser) means(text string) (time.Time, bool) { return means(text, *p.opts, p.past) }

// means returns the instant of a text: the first one of a recurrence.
func means(text string, o Options, past bool) (time.Time, bool) {
	s, err := parse(text, o, readMode{nested: true, past: past})
	if err != nil {
		return time.Time{}, false
	}
	if s.rule != nil {
		return s.Next(o.Now)
	}
	return s.At, true
}

// understood returns the texts that are understood, for a hint.
func (p *parser) understood(texts ...string) []string {
	var list []string
	for _, text := range texts {
		if p.nested {
			break
		}
		if _, ok := p.means(text); ok {
			list = append(list, text)
		}
	}
	return list
}

// unknownWord returns the error of a text with a word that does not belong to a time. It names the
// first such word.
func (p *parser) unknownWord() *fault.Error {
	if _, ok := p.onlyNumber(); ok {
		return p.errorOf(p.bareNumber())
	}
	pos := min(p.furthest, p.n)
	if pos == 0 && p.opts.Form == EveryForm && !strings.HasPrefix(strings.ToLower(p.typed), "every") {
		pos++ // open put "every" there
	}
	if p.word(pos, "at", "on", "in", "the") && pos+1 < p.n {
		pos++
	}
	for i := range p.toks[:p.n] {
		if p.toks[i].is(cNew) || p.word(i, "x") {
			if pos = i; i >= p.furthest {
				break
			}
		}
	}
	t := &p.toks[pos]
	if t.is(cEnd) {
		return p.refuse("", "the text ends too early; "+p.tryThese())
	}
	if p.n == 1 && t.is(cNew) {
		if right, ok := p.correctedWord(pos); ok {
			return p.refuse("", "say "+strconv.Quote(right), right)
		}
		return p.refuse("", "")
	}
	end := int(t.end)
	for end < len(p.text) && p.text[end] != ' ' {
		end++
	}
	// A word is named whole: "5x" and not its "x". An article is named with its word.
	begin := strings.LastIndexByte(p.text[:t.off], ' ') + 1
	if pos > 0 && p.word(pos-1, "a", "an") {
		begin = int(p.toks[pos-1].off)
	}
	if word := p.low[begin:end]; (word == "a" || word == "an") && end < len(p.text) {
		for end++; end < len(p.text) && p.text[end] != ' '; end++ {
		}
	}
	hint := fault.Quoted(p.text[begin:end]) + " is not understood here"
	if p.nested {
		return p.refuse("", hint)
	}
	for i := min(p.furthest, pos); i <= pos; i++ {
		if texts := p.withZones(i); texts != nil {
			return p.refuse("", offer(texts)+" for the clocks there", texts...)
		}
	}
	if right, ok := p.correctedWord(pos); ok {
		return p.refuse("", hint+"; say "+strconv.Quote(right), right)
	}
	return p.refuse("", hint+"; "+p.tryThese())
}

// correctedWord returns the text with the word at a token spelt correctly. It reports false unless
// one known word is near it and makes the text understood.
func (p *parser) correctedWord(pos int) (string, bool) {
	t := &p.toks[pos]
	word := p.low[t.off:t.end]
	if !t.is(cNew) || len(word) < 3 || p.nested {
		return "", false
	}
	var near [3][]string // by their distance
	for known, e := range vocabulary() {
		if len(known) < 3 || e.is(cAbbr) || e.set&^(cAgain|cTime) == 0 && !p.common(known) {
			continue
		}
		first := known[0] == word[0]
		switch far := plain.Distance(word, known, 2); {
		case first && doubled(word, known) && len(known) > 3:
			near[0] = append(near[0], known)
		case first && min(len(known), len(word)) == 3 && !swapped(word, known) && !doubled(word, known), !first && len(word) < 4:
		case far == 1, far == 2 && first && len(word) >= 7:
			near[far] = append(near[far], known)
		}
	}
	for _, list := range near {
		var right []outcome
		text := ""
		for _, known := range list {
			s, err := parse(p.text[:t.off]+known+p.text[t.end:], *p.opts, readMode{nested: true, past: p.past})
			switch {
			case err != nil:
				continue
			// Two that mean the same count as one: minute and minutes.
			case right != nil && !p.hasSame(right, s):
				return "", false
			}
			right, text = []outcome{{s: s}}, max(text, s.Text)
		}
		if right != nil {
			return text, true
		}
	}
	return "", false
}

// common reports whether a word of the patterns is one that people often misspell.
func (p *parser) common(word string) bool {
	switch word {
	case "now", "the", "this", "tomorrow", "today", "tonight", "midnight", "noon", "every", "next", "weekdays", "weekday", "weekend", "weekends", "yesterday", "between", "until", "before", "after", "other", "except", "starting", "christmas", "biweekly", "bimonthly":
		return true
	}
	return false
}

// doubled reports whether a word is another one with a letter typed twice.
func doubled(word, known string) bool {
	for i := 1; i < len(word); i++ {
		if word[i] == word[i-1] && word[:i]+word[i+1:] == known {
			return true
		}
	}
	return false
}

// swapped reports whether two words differ only in the order of two letters.
func swapped(a, b string) bool {
	for i := 0; len(a) == len(b) && i+1 < len(a); i++ {
		if a[i] == b[i+1] && a[i+1] == b[i] && a[:i] == b[:i] && a[i+2:] == b[i+2:] {
			return a[i] != a[i+1]
		}
	}
	return false
}
