package when

import "slices"

// said reports whether one of the words of a match is w.
func (x *found) says(w string) bool {
	for i := x.begin; i < x.end; i++ {
		t := &x.p.toks[i]
		if x.p.low[t.off:t.end] == w {
			return true
		}
	}
	return false
}

// first is the meaning that the first capture has.
func asIs(x *found, m *meaning) bool {
	*m = *x.of(0)
	return true
}

// union joins two parts of a list of days, months or minutes. Where once is set, none may be in both.
func union(once bool) func(x *found, m *meaning) bool {
	return func(x *found, m *meaning) bool {
		a, b := x.of(0), x.of(1)
		m.err = x.firstErr()
		c, d := &a.cad, &b.cad
		if once && (c.weekdays&d.weekdays != 0 || c.dates&d.dates != 0 || c.nths&d.nths != 0) {
			m.err = &refusal{why: "it names the same day twice", hint: "name it once"}
		}
		m.n = a.n | b.n | isList
		m.cad.weekdays, m.cad.dates, m.cad.nths = c.weekdays|d.weekdays, c.dates|d.dates, c.nths|d.nths
		m.cad.months, m.cad.marks = c.months|d.months, c.marks|d.marks
		m.days = slices.Concat(a.days, b.days)
		return true
	}
}

// firstErr is why one of the first two captures is refused.
func (x *found) firstErr() *refusal {
	if err := x.of(0).err; err != nil {
		return err
	}
	return x.of(1).err
}

func nothing(*found, *meaning) bool { return true }

// filler is a word that changes nothing, behind others.
func filler(x *found, _ *meaning) bool {
	before := &x.p.toks[max(x.begin-1, 0)]
	return x.begin > 0 && (x.p.toks[x.end].is(cEnd) || before.is(cNum|cMer|cPart|cLow) || x.p.word(x.begin-1, "noon", "midnight", "o'clock", "oclock"))
}

// vague refuses what is not an exact time, refused what is not a time.
func vague(why, hint string) func(x *found, m *meaning) bool {
	return func(x *found, m *meaning) bool {
		m.err = &refusal{code: CodeAmbiguous, why: why, hint: hint}
		return true
	}
}

// numberAhead refuses "in 5".
func numberAhead(x *found, m *meaning) bool {
	m.err = &refusal{code: CodeAmbiguous, why: "a number needs a unit", off: x.stop(), end: x.stop(), readings: []string{" minutes", " hours"}}
	return x.begin == 0 && x.p.toks[x.end].is(cEnd)
}

func refused(why, hint string) func(x *found, m *meaning) bool {
	return func(x *found, m *meaning) bool {
		m.err = &refusal{why: why, hint: hint}
		return true
	}
}

func onDay(x *found, m *meaning) bool {
	*m = *x.of(0)
	return m.day.kind != onOffset
}

// leading reads a day behind "at", "in" or "the", which may lead a text.
func leading(x *found, m *meaning) bool {
	*m = *x.of(0)
	return x.begin == 0 && m.day.kind != noDay && !(m.day.yearFirst && x.says("at")) && !x.p.toks[x.begin+1].is(cOrd|cTens)
}

func leadingClock(x *found, m *meaning) bool {
	return x.begin == 0 && x.of(0).clock.how&clockCompact == 0 && said(x, m)
}

func leadingTime(x *found, m *meaning) bool { return x.begin == 0 && dateTime(x, m) }

func lead1(x *found, m *meaning) bool {
	m.has = hasLead
	return x.begin == 0
}
