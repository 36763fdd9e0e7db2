package when

import (
	"fmt"
	"strconv"
	"time"
)

// tryThese ends the hint of a text of which nothing is understood.
const tryThese = `try "in 10m", "tomorrow at 9:00" or "0 9 * * 1-5"`

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

// refuse makes the error of a text that is not understood; why may be empty.
func (p *parser) refuse(why, hint string) *Error {
	message := "could not understand the time expression " + quoted(p.typed)
	if why != "" {
		message += ": " + why
	}
	if hint == "" {
		hint = tryThese
	}
	return &Error{Code: CodeNotUnderstood, Message: message, Hint: hint}
}

// fail notes why the text is refused and reports false, for the parser that met the reason.
func (p *parser) fail(why, hint string) bool {
	if p.err == nil {
		p.err = p.refuse(why, hint)
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
		return p.refuse("", "the text ends too early; "+tryThese)
	}
	if p.far == 0 && p.n == 1 {
		return p.refuse("", "")
	}
	end := int(t.end)
	for end < len(p.text) && p.text[end] != ' ' {
		end++
	}
	return p.refuse("", fmt.Sprintf("%s is not understood here; %s", quoted(p.text[t.off:end]), tryThese))
}

// tooLate is the error of an instant that is not ahead.
func (p *parser) tooLate(t time.Time) *Error {
	hint := "give a time after " + Stamp(p.opts.Now.In(t.Location()))
	return &Error{
		Code:    CodePast,
		Message: "the specified time (" + Stamp(t) + ") is in the past",
		Hint:    hint,
	}
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
	var past *Error
	for _, reading := range readings {
		text := p.text[:off] + reading + p.text[end:]
		s, err := parse(text, *p.opts, reader{deep: true, past: p.reader.past})
		if err != nil && err.Code == CodePast {
			past = err
		}
		if err == nil {
			at := s.At
			if s.rule != nil {
				at, _ = s.Next(p.opts.Now)
			}
			e.Candidates = append(e.Candidates, Candidate{text, at})
		}
	}
	switch n := len(e.Candidates); {
	case n == 0 && past != nil:
		return past
	case n == 0:
		return p.refuse(why, "")
	case n == 1:
		e.Hint = "say " + strconv.Quote(e.Candidates[0].Text)
	default:
		e.Hint = "say "
		for i, c := range e.Candidates {
			if i > 0 {
				e.Hint += " or "
			}
			e.Hint += strconv.Quote(c.Text)
		}
	}
	return e
}
