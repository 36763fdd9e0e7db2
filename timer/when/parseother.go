package when

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ouro-timer/ouro-timer/timer/when/fault"
)

// onceBounded refuses the bounds of a recurrence when the schedule has only one instant.
func (p *parser) onceBounded(s *Schedule) *fault.Error {
	if o := p.opts; s.Kind != Once || o.Start.IsZero() && o.End.IsZero() && o.Count == 0 && o.Except.Empty() {
		return nil
	}
	if !p.opts.Except.Empty() {
		return &fault.Error{
			Code:    fault.CodeUsage,
			Message: "days are left out of recurrences, and " + fault.Quoted(p.typed) + " comes once",
			Hint:    "give a recurrence, or leave out",
			Options: []string{"except"},
		}
	}
	return &fault.Error{
		Code:    fault.CodeUsage,
		Message: "a start, an end and a count bound recurrences, and " + fault.Quoted(p.typed) + " comes once",
		Hint:    "leave them out",
	}
}

// repeating reads R/PT1H, a repeating interval of ISO 8601 (section 4.5) without an end. It refuses
// R5/PT1H, because programs differ on whether the first instant counts.
func (p *parser) repeating() (*Schedule, *fault.Error) {
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
		return nil, p.refuse("repeating intervals of ISO 8601 with a count are not read", "leave the count out, and say how many times at the end")
	}
	s, err := parse(text, *p.opts, p.readMode)
	if err != nil {
		return nil, p.refuse("it is not a repeating interval of ISO 8601", `say it as in "R/PT1H" or "every 1h"`)
	}
	s.Text = p.typed
	return s, nil
}

// namesTwo refuses "at 9am or 10am". It offers the text once with each of the alternatives: what
// stands beside them belongs to all.
func (p *parser) namesTwo() *fault.Error {
	i := slices.IndexFunc(p.toks[:p.n], func(t token) bool { return p.low[t.off:t.end] == "or" })
	if i <= 0 || i+1 >= p.n {
		return nil
	}
	r := refusal{code: fault.CodeAmbiguous, why: "it names two times and does not say which is meant", hint: "name one of the two"}
	for _, kind := range [...]string{"DAY", "CLOCK", "WEEKDAYLIST", "SPAN", "ZONE", "TIME", "", "MER", "COUNT", "DAYPART", "ADVERB"} {
		var texts []string
		spans := p.alternatives(kind, i)
		for _, s := range spans {
			said := p.text[s.off:s.end]
			if kind == "TIME" { // 12 or 12:30
				exact := slices.ContainsFunc(spans, func(o place) bool { return strings.HasPrefix(p.text[o.off:o.end], said+":") })
				if !exact && !strings.Contains(said, ":") {
					break
				}
				if exact {
					said += ":00"
				}
			}
			texts = append(texts, p.text[:spans[0].off]+said+p.text[spans[len(spans)-1].end:])
		}
		if len(texts) > 1 && len(texts) == len(spans) && p.readable(texts) {
			return p.offerAll(&r, texts)
		}
	}
	sides := []string{strings.TrimSpace(p.text[:p.toks[i].off]), strings.TrimSpace(p.text[p.toks[i].end:])}
	if !p.readable(sides) {
		return nil
	}
	if p.recurs || p.names("CLOCK", 0, i) != p.names("CLOCK", i+1, p.n) || p.names("ZONE", 0, i) != p.names("ZONE", i+1, p.n) {
		sides = nil
	}
	return p.offerAll(&r, sides)
}

// offerAll refuses a text as ambiguous. It offers its readings when each of them that lies ahead is
// clear.
func (p *parser) offerAll(r *refusal, texts []string) *fault.Error {
	for _, text := range texts {
		if _, err := parse(text, *p.opts, readMode{nested: true, past: p.past}); err != nil && err.Code == fault.CodeAmbiguous {
			texts = nil
		}
	}
	return p.ambiguous(r, texts)
}

// readable reports whether some texts are times, even if they are past or ambiguous.
func (p *parser) readable(texts []string) bool {
	for _, text := range texts {
		if _, err := parse(text, *p.opts, readMode{nested: true, past: p.past}); err != nil && err.Code != fault.CodeAmbiguous && err.Code != fault.CodePast {
			return false
		}
	}
	return true
}

// names reports whether a symbol of the grammar matches somewhere between two tokens.
func (p *parser) names(symbol string, from, to int) bool {
	for ; from < to; from++ {
		if r := p.derive(p.g.names[symbol], from); r >= 0 && p.resEnd(r) <= to {
			return true
		}
	}
	return false
}

// place is a part of the text.
type place struct{ off, end int }

// alternatives returns the parts of a kind that the "or" at a token joins, and those before and
// after it that a comma or another "or" joins to them: 9, 10 or 11. The kind is a symbol or a class
// of words; numbers, when it is empty. There are none when one side has no such part.
func (p *parser) alternatives(kind string, or int) (list []place) {
	joins := func(i int) bool { return p.toks[i].mark() == ',' || p.word(i, "or") }
	for end := or; end > 0; {
		begin := end - 1
		for begin >= 0 && !p.is(kind, begin, end) {
			begin--
		}
		if begin < 0 {
			break
		}
		list = slices.Insert(list, 0, place{int(p.toks[begin].off), int(p.toks[end-1].end)})
		if end = begin - 1; end < 1 || !joins(end) {
			break
		}
	}
	if list == nil {
		return nil
	}
	for begin := or + 1; begin < p.n; {
		end := begin + 1
		for end <= p.n && !p.is(kind, begin, end) {
			end++
		}
		if end > p.n {
			break
		}
		list = append(list, place{int(p.toks[begin].off), int(p.toks[end-1].end)})
		if begin = end + 1; end >= p.n || !joins(end) {
			break
		}
	}
	return list
}

// is reports whether the tokens from one to another are of a kind, as for alternatives.
func (p *parser) is(kind string, begin, end int) bool {
	symbol, class := p.g.names[kind], classNames[kind]
	if kind == "" {
		class = cNum
	}
	if next, before := &p.toks[end], &p.toks[max(begin-1, 0)]; next.mark() == ':' && !next.gap || before.mark() == ':' && !p.toks[begin].gap {
		return false
	}
	if symbol == 0 {
		return end == begin+1 && p.toks[begin].is(class)
	}
	for r := p.derive(symbol, begin); r >= 0; r = p.res[r].next {
		if p.resEnd(r) == end {
			return true
		}
	}
	return false
}

// severalTasks refuses "every tuesday at 9am and thursday at 10am". It offers a text for each of
// the tasks when nothing else in the text may belong to all of them.
func (p *parser) severalTasks() *fault.Error {
	var begins, ends []int // the first token of each task, and the one behind its last
	timed, clear, hours := false, true, false
	for i := range p.toks[:p.n] {
		t := &p.toks[i]
		day := t.is(cDay|cDays) || p.word(i, "weekday", "weekdays", "workday", "workdays", "weekend", "weekends")
		day = day && !p.word(i-1, "from", "starting", "beginning", "until", "till", "through", "except")
		switch {
		case day && begins == nil:
			begins = []int{i}
		case day && timed:
			end := i
			for p.toks[end-1].mark() == ',' || p.word(end-1, "and", "on", "every", "each", "then") {
				end--
			}
			begins, ends, timed = append(begins, i), append(ends, end), false
		case begins != nil && t.is(cNum) || p.word(i, "noon", "midnight", "midday"):
			timed = begins != nil
			hours = hours || t.is(cH24) && t.n > 12 && !p.toks[i-1].is(cMonth)
		}
		clear = clear && (day || t.mark() != 0 || t.is(cNum|cMer|cLow|cDayPart|cDayParts) || p.word(i, "at", "on", "in", "the", "and", "every", "each", "then", "to", "noon", "midnight", "midday", "o'clock"))
	}
	if !timed || len(begins) < 2 {
		return nil
	}
	ends = append(ends, p.n)
	begins[0] = 0
	var texts []string
	for i, begin := range begins {
		end := ends[i]
		text := p.text[p.toks[begin].off:p.toks[end-1].end]
		if i > 0 && p.recurs && !p.toks[begin].is(cDays) && !strings.HasSuffix(p.low[:p.toks[begin].end], "s") {
			text = "every " + text
		}
		// on the 24-hour clock
		if last := &p.toks[end-1]; hours && last.is(cH24) && p.word(end-2, "at") {
			text += ":00"
		}
		texts = append(texts, text)
	}
	if !p.readable(texts) {
		return nil
	}
	const why = "it has several days, each with a time"
	list := p.understood(texts...)
	switch {
	case !clear || len(list) < len(texts):
		return p.refuse(why, "make a task for each of them")
	case len(list) == 2:
		return p.refuse(why, fmt.Sprintf("make two tasks: %q and %q", list[0], list[1]))
	}
	return p.refuse(why, "make a task for each of them: "+strings.Join(fault.QuotedAll(list), ", "))
}
