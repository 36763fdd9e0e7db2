package when

import (
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/ouro-timer/ouro-timer/timer/when/fault"
)

// Duration reads a length of elapsed time for a flag such as --timeout or --interval: "90s",
// "1.5h", "2 hours 30 min", "PT15M". A day is 24 hours and a week is seven days. Months, years, a
// number without a unit and a sign are refused. Zero is allowed.
func Duration(text string) (time.Duration, error) {
	p := parsers.Get().(*parser)
	defer p.close()
	none := Options{Now: time.Unix(0, 0), Zone: time.UTC}
	if err := p.open(text, &none); err != nil {
		return 0, err
	}
	refused := func(why, hint string) (time.Duration, error) {
		message := "could not understand the duration " + fault.Quoted(p.typed)
		if why != "" {
			message += ": " + why
		}
		return 0, &fault.Error{Code: fault.CodeUsage, Message: message, Hint: hint}
	}
	const such = `give a number and a unit, such as "90s", "15m" or "1d"`
	if p.n == 0 {
		return refused("it is empty", such)
	}
	if a, ok := p.onlyNumber(); ok {
		if p.toks[0].mark() == '-' {
			return refused("it is negative", such)
		}
		return refused("the unit is missing", offer(p.withUnit(a)))
	}
	if p.toks[0].mark() == '-' {
		return refused("it is negative", such)
	}
	for r := p.derive(p.g.names["SPAN"], 0); r >= 0; r = p.res[r].next {
		m := &p.res[r].m
		const day = int64(24 * time.Hour)
		s := m.span
		switch {
		case int(p.res[r].end) != p.n:
		case m.err != nil:
			return refused(m.err.why, m.err.hint)
		case s.open:
			return refused("M is minutes or months", such)
		case s.months != 0:
			return refused("months and years have no fixed length", "give days or weeks")
		case s.days > (math.MaxInt64-int64(s.elapsed))/day:
			return refused("it is too long", such)
		default:
			return time.Duration(s.days*day) + s.elapsed, nil
		}
	}
	return refused("", such)
}

// withUnit returns a text that is only a number, with each unit that is usually meant.
func (p *parser) withUnit(a quantity) []string {
	texts := []string{p.text + "s"}
	if a.nano == 0 {
		texts = append(texts, strconv.FormatInt(a.whole, 10)+"m")
	}
	return texts
}

// onlyNumber returns the number when the whole text is one decimal number, with or without a sign.
func (p *parser) onlyNumber() (quantity, bool) {
	pos := 0
	if c := p.toks[0].mark(); (c == '-' || c == '+') && p.n > 1 && !p.toks[1].gap {
		pos = 1
	}
	if t := &p.toks[pos]; !t.is(cNum) && t.mark() != '.' {
		return quantity{}, false
	}
	if strings.IndexByte(p.text, '/') >= 0 {
		return quantity{}, false
	}
	for r := p.derive(p.g.names["COUNT"], pos); r >= 0; r = p.res[r].next {
		if int(p.res[r].end) == p.n {
			return p.res[r].m.q, true
		}
	}
	return quantity{}, false
}
