package when

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// tryThese ends the hint of a text of which nothing is understood.
const tryThese = `try "in 10m", "tomorrow at 9:00" or "0 9 * * 1-5"`

// tryThese are texts to type instead, of the form that is read.
func (p *parser) tryThese() string {
	form := Any
	if p.opts != nil {
		form = p.opts.Form
	}
	switch form {
	case DelayForm, EveryForm:
		return `try "90s", "15m" or "2 hours"`
	case UntilForm:
		return `try "22:00", "tomorrow at 9:00" or "2031-12-24T18:00"`
	}
	return tryThese
}

// wrongWeekday is the hint for a weekday that is not that of the date beside it.
const wrongWeekday = "leave the weekday out, or correct one of the two"

// quoted is a text as errors name it: escaped, and cut when it is long.
func quoted(text string) string {
	const most = 80
	if len(text) > most {
		cut := most
		for cut > 0 && text[cut]&0xC0 == 0x80 {
			cut--
		}
		text = text[:cut] + "…"
	}
	return strconv.Quote(text)
}

// refuse makes the error of a text that is not understood; why may be empty. A text that the hint
// says to type is given once more, as instead.
func (p *parser) refuse(why, hint string, instead ...string) *Error {
	message := "could not understand the time expression " + quoted(p.typed)
	if why != "" {
		message += ": " + why
	}
	if hint == "" {
		hint = p.tryThese()
	}
	return &Error{Code: CodeNotUnderstood, Message: message, Hint: hint, instead: instead}
}

// offering is the error with a candidate for each text that its hint says to type, as far as those
// are understood.
func (e *Error) offering(o Options, past bool) *Error {
	for _, text := range e.instead {
		if at, ok := means(text, o, past); ok {
			e.Candidates = append(e.Candidates, Candidate{text, at})
		}
	}
	e.instead = nil
	return e
}

// say is the hint that offers some texts.
func say(texts []string) string { return "say " + quotedOr(texts) }

// quotedOr is a list of texts to choose from.
func quotedOr(texts []string) string {
	list := make([]string, len(texts))
	for i, text := range texts {
		list[i] = strconv.Quote(text)
	}
	return strings.Join(list, " or ")
}

// fail notes why the text is refused and reports false, for the parser that met the reason.
func (p *parser) fail(why, hint string, instead ...string) bool {
	if p.err == nil {
		p.err = p.refuse(why, hint, instead...)
	}
	return false
}

// failGiving is fail with a hint that ends with options.
func (p *parser) failGiving(why, hint string, options ...string) bool {
	if p.err == nil {
		p.fail(why, hint)
		p.err.Options = options
	}
	return false
}

// stranger is the error of a text with a word that belongs to no time; it names the first such word.
func (p *parser) stranger() *Error {
	if p.err != nil {
		return p.err
	}
	p.i = min(p.far, p.n)
	t := p.at(0)
	if t.kind == tEnd {
		return p.refuse("", "the text ends too early; "+p.tryThese())
	}
	if p.far == 0 && p.n == 1 {
		return p.refuse("", "")
	}
	end := int(t.end)
	for end < len(p.text) && p.text[end] != ' ' {
		end++
	}
	// A word is named whole, "5x" and not its "x", and an article with what it belongs to.
	begin := strings.LastIndexByte(p.text[:t.off], ' ') + 1
	if word := p.low[begin:end]; (word == "a" || word == "an") && end < len(p.text) {
		for end++; end < len(p.text) && p.text[end] != ' '; end++ {
		}
	}
	if texts := p.inPlace(); texts != nil {
		return p.refuse("", say(texts)+" for the clocks there", texts...)
	}
	hint := quoted(p.text[begin:end]) + " is not understood here"
	if t.kind == tWord && begin == int(t.off) && t.entry == (entry{}) { // a word of the grammar would change what is meant
		without := strings.TrimSpace(strings.TrimSpace(p.text[:t.off]) + p.text[end:])
		if _, ok := p.pasted(without); ok {
			return p.refuse("", fmt.Sprintf("%s; %q is", hint, without), without)
		}
	}
	if t.kind == tNum { // daily 9
		if text, ok := p.pasted(p.text[:begin]+"at "+p.text[begin:], p.text[:begin]+"at "+p.text[begin:end]+":00"+p.text[end:]); ok {
			return p.refuse("", fmt.Sprintf("%s; say %q", hint, text), text)
		}
	}
	return p.refuse("", hint+"; "+p.tryThese())
}

// tooLate is the error of an instant that is not ahead.
func (p *parser) tooLate(t time.Time) *Error {
	hint := "give a time after " + toSecond(p.opts.Now.In(t.Location()))
	return &Error{
		Code:    CodePast,
		Message: "the specified time (" + toSecond(t) + ") is in the past",
		Hint:    hint,
	}
}

// toSecond is Stamp as errors have it: without a fraction, which nobody typed.
func toSecond(t time.Time) string { return Stamp(t.Truncate(time.Second)) }

// means is the instant of another text, read as this one is; the first one of a recurrence.
func (p *parser) means(text string) (time.Time, bool) { return means(text, *p.opts, p.past) }

// means is the instant of a text; the first one of a recurrence.
func means(text string, o Options, past bool) (time.Time, bool) {
	s, err := parse(text, o, reader{deep: true, settled: true, past: past})
	if err != nil {
		return time.Time{}, false
	}
	if s.rule != nil {
		return s.Next(o.Now)
	}
	return s.At, true
}

// pasted is the first of some texts that is understood, for a hint.
func (p *parser) pasted(texts ...string) (string, bool) {
	if list := p.understood(texts...); list != nil {
		return list[0], true
	}
	return "", false
}

// understood are those of some texts that are understood, for a hint.
func (p *parser) understood(texts ...string) []string {
	var list []string
	for _, text := range texts {
		if p.deep {
			break
		}
		if _, ok := p.means(text); ok {
			list = append(list, text)
		}
	}
	return list
}

// failFor refuses a text in favour of the first of some others that is understood, which the hint
// has for its %q; otherwise is the hint when none is.
func (p *parser) failFor(why, hint, otherwise string, texts ...string) bool {
	if text, ok := p.pasted(texts...); ok {
		return p.fail(why, fmt.Sprintf(hint, text), text)
	}
	return p.fail(why, otherwise)
}

// twoDays refuses a text that names several days where one is asked for.
func (p *parser) twoDays() bool {
	return p.failFor("it names two days", "say %q for all of them", "leave one of the two out", "every "+p.text)
}

// settle picks the one of several readings that can be a time ahead, where the part of the text from off to end may be
// written as each of them; -1 when that is not one.
func (p *parser) settle(off, end int, readings ...string) int {
	if p.settled {
		return -1
	}
	only := -1
	for i, reading := range readings {
		_, err := parse(p.text[:off]+reading+p.text[end:], *p.opts, reader{deep: true, settled: true, past: p.past})
		if err == nil || err.Code == CodeAmbiguous { // what is unclear besides is told of the reading
			if only >= 0 {
				return -1
			}
			only = i
		}
	}
	return only
}

// unclear notes that the text has several readings, as ambiguous writes them, and reports false.
func (p *parser) unclear(why string, off, end int, readings ...string) bool {
	if p.err == nil {
		p.err = p.ambiguous(why, off, end, readings...)
	}
	return false
}

// ambiguous is the error of a text with several readings: each is the text with the part from off to end replaced. Those
// that are no time ahead are left out.
func (p *parser) ambiguous(why string, off, end int, readings ...string) *Error {
	e := &Error{Code: CodeAmbiguous, Message: fmt.Sprintf("the time expression %s is ambiguous: %s", quoted(p.typed), why)}
	if p.deep {
		return e
	}
	var past, first *Error
	for _, reading := range readings {
		text := p.text[:off] + reading + p.text[end:]
		s, err := parse(text, *p.opts, reader{deep: true, settled: p.settled, past: p.past})
		if err != nil && err.Code == CodePast {
			past = err
		}
		if first == nil {
			first = err
		}
		if err == nil {
			at := s.At
			if s.rule != nil {
				at, _ = s.Next(p.opts.Now)
			}
			e.Candidates = append(e.Candidates, Candidate{text, at})
		}
	}
	switch {
	case len(e.Candidates) == 0 && past != nil:
		return past
	case len(e.Candidates) == 0 && first != nil && first.Code == CodeUsage: // bounds of a recurrence, of which it is none in any reading
		return first
	case len(e.Candidates) == 0:
		hint := ""
		if first != nil && first.Hint == wrongWeekday {
			hint = wrongWeekday
		}
		return p.refuse(why, hint)
	}
	texts := make([]string, len(e.Candidates))
	for i, c := range e.Candidates {
		texts[i] = c.Text
	}
	e.Hint = say(texts)
	return e
}
