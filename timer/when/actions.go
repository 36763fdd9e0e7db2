package when

import (
	"slices"
	"strings"

	"github.com/ouro-timer/ouro-timer/timer/when/fault"
)

// says reports whether one of the words of a match is w.
func (x *match) says(w string) bool {
	for i := x.begin; i < x.end; i++ {
		t := &x.p.toks[i]
		if x.p.low[t.off:t.end] == w {
			return true
		}
	}
	return false
}

// asIs takes the meaning of the first capture.
func asIs(x *match, m *meaning) bool {
	*m = *x.of(0)
	return true
}

// union joins two members of a list of days, months or minutes. When once is set, a day that both
// members name is refused.
func union(once bool) func(x *match, m *meaning) bool {
	return func(x *match, m *meaning) bool {
		a, b := x.of(0), x.of(1)
		m.err = x.firstErr()
		c, d := &a.recur, &b.recur
		// the first and last monday: the first is no date
		if !once && c.dates != 0 && c.dates&^0b111110 == 0 && a.n&isSpelled == 0 && len(b.days) > 0 && b.days[0].kind == onNth {
			return false
		}
		if once && (c.weekdays&d.weekdays != 0 || c.dates&d.dates != 0 || c.nths&d.nths != 0) {
			m.err = &refusal{why: "it names the same day twice", hint: "name it once"}
		}
		if !once && x.spanBehindList(b) {
			m.err = &refusal{code: fault.CodeAmbiguous, why: "the last days may be left out as well, or be those of the recurrence", hint: `join them with "and", or put "from" before the first of the recurrence`}
		}
		m.n = a.n | b.n | isList
		m.recur.weekdays, m.recur.dates, m.recur.nths = c.weekdays|d.weekdays, c.dates|d.dates, c.nths|d.nths
		m.recur.months, m.recur.minutes = c.months|d.months, c.minutes|d.minutes
		m.days = slices.Concat(a.days, b.days)
		return true
	}
}

// spanBehindList reports whether the days from one date to another stand behind a list that "and"
// has ended: monday and friday, dec 21 to 24.
func (x *match) spanBehindList(b *meaning) bool {
	if n := len(b.days); n < 3 || b.days[n-3].kind != onSpan {
		return false
	}
	text := x.p.low[x.off():x.stop()]
	and := strings.LastIndex(text, " and ")
	return and >= 0 && strings.LastIndex(text, ", ") > and
}

// firstErr returns why the first or the second capture is refused, or nil.
func (x *match) firstErr() *refusal {
	if err := x.of(0).err; err != nil {
		return err
	}
	return x.of(1).err
}

func nothing(*match, *meaning) bool { return true }

// filler reads a word that changes nothing, such as "sharp" after a time of day.
func filler(x *match, _ *meaning) bool {
	before := &x.p.toks[max(x.begin-1, 0)]
	return x.begin > 0 && (x.p.toks[x.end].is(cEnd) || before.is(cNum|cMer|cDayPart|cLow) || x.p.word(x.begin-1, "noon", "midnight", "o'clock", "oclock"))
}

// runs reads the word in "run every 5 minutes", which changes nothing.
func runs(x *match, _ *meaning) bool {
	return x.p.recurs && (x.begin == 0 || x.p.toks[x.end].is(cAgain|cAdverb))
}

// onlyThen reads the word in "only on weekdays", which changes nothing.
func onlyThen(x *match, m *meaning) bool { return x.p.recurs }

// vague returns the action that refuses a text as ambiguous; refused returns the one that refuses
// it as not understood.
func vague(why, hint string) func(x *match, m *meaning) bool {
	return func(x *match, m *meaning) bool {
		m.err = &refusal{code: fault.CodeAmbiguous, why: why, hint: hint}
		return true
	}
}

// vagueFirst is vague for what begins a text, and vagueBeside for what is not the whole text.
func vagueFirst(why, hint string) func(x *match, m *meaning) bool {
	return func(x *match, m *meaning) bool { return x.begin == 0 && vague(why, hint)(x, m) }
}

func vagueBeside(why, hint string) func(x *match, m *meaning) bool {
	return func(x *match, m *meaning) bool {
		return (x.begin > 0 || !x.p.toks[x.end].is(cEnd)) && vague(why, hint)(x, m)
	}
}

// numberAhead refuses "in 5".
func numberAhead(x *match, m *meaning) bool {
	m.err = either("a number needs a unit", x.stop(), x.stop(), " minutes", " hours")
	return x.begin == 0 && x.p.toks[x.end].is(cEnd)
}

func refused(why, hint string) func(x *match, m *meaning) bool {
	return func(x *match, m *meaning) bool {
		m.err = &refusal{why: why, hint: hint}
		return true
	}
}

func onDay(x *match, m *meaning) bool {
	*m = *x.of(0)
	return m.day.kind != onOffset
}

// leading reads a day after "at", "in" or "the". These words may only begin a text.
func leading(x *match, m *meaning) bool {
	*m = *x.of(0)
	return x.begin == 0 && m.day.kind != noDay && !(m.day.yearFirst && x.says("at")) && !x.p.toks[x.begin+1].is(cOrd|cTens)
}

func leadingClock(x *match, m *meaning) bool {
	return x.begin == 0 && x.of(0).clock.how&clockCompact == 0 && afterAt(x, m)
}

func leadingTime(x *match, m *meaning) bool { return x.begin == 0 && dateTime(x, m) }

func deadlineWord(x *match, m *meaning) bool {
	m.has = hasDeadlineWord
	return x.begin == 0
}
