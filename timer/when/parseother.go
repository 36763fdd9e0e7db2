package when

import (
	"fmt"
	"strings"
)

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
		return nil, p.refuse("it is not a repeating interval of ISO 8601", `say it as in "R/PT1H" or "every 1h"`)
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
		r := refusal{code: CodeAmbiguous, why: "it names two times and does not say which is meant", hint: "name one of the two", end: len(p.text), readings: []string{left, right}}
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
