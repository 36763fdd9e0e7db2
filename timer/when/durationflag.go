package when

import (
	"math"
	"strconv"
	"time"
)

// Duration reads a length of elapsed time for a flag such as --timeout or --interval: "90s", "1.5h", "2 hours 30 min",
// "PT15M". A day is 24 hours and a week seven days; months and years are refused, as are a bare number and a sign.
// Zero is allowed.
func Duration(text string) (time.Duration, error) {
	var p parser
	var none Options
	if err := p.open(text, &none); err != nil {
		return 0, err
	}
	refused := func(why, hint string) (time.Duration, error) {
		message := "could not understand the duration " + quoted(p.typed)
		if why != "" {
			message += ": " + why
		}
		return 0, &Error{Code: CodeUsage, Message: message, Hint: hint}
	}
	const such = `give a number and a unit, such as "90s", "15m" or "1d"`
	if p.n == 0 {
		return refused("it is empty", such)
	}
	if a, ok := p.decimal(); ok && p.at(0).kind == tEnd {
		return refused("the unit is missing", say(p.withUnit(a)))
	}
	p.i = 0
	if p.isMark(0, '-') {
		return refused("it is negative", such)
	}
	s, ok := p.span()
	switch {
	case p.err != nil:
		return refused("", p.err.Hint)
	case !ok || p.at(0).kind != tEnd:
		return refused("", such)
	case s.months != 0:
		return refused("months and years have no fixed length", "give days or weeks")
	}
	const day = int64(24 * time.Hour)
	if s.days > (math.MaxInt64-int64(s.elapsed))/day {
		return refused("it is too long", such)
	}
	return time.Duration(s.days*day) + s.elapsed, nil
}

// withUnit is a text that is a number, with the units that it is usually meant in.
func (p *parser) withUnit(a quantity) []string {
	texts := []string{p.text + "s"}
	if a.nano == 0 {
		texts = append(texts, strconv.FormatInt(a.whole, 10)+"m")
	}
	return texts
}
