package when

// The actions of numbers.

func whole(x *match, m *meaning) bool {
	m.q.whole = x.tok(0).n
	return m.q.whole >= 0
}

func decimal(x *match, m *meaning) bool {
	last := &x.p.toks[x.end-1]
	if !x.has(1) && x.begin > 0 && !x.p.toks[x.begin].gap { // the .5 of 18:00:00.5
		return false
	}
	if x.has(1) {
		m.q.whole = x.tok(0).n
	}
	m.q.nano = fraction(x.p.low[last.off:last.end])
	return m.q.whole >= 0
}

// fraction returns the digits after a decimal point as billionths. Digits after the ninth are cut
// off.
func fraction(digits string) int64 {
	n, place := int64(0), int64(1e8)
	for i := 0; i < len(digits) && place > 0; i, place = i+1, place/10 {
		n += int64(digits[i]-'0') * place
	}
	return n
}

// halves reads 1/2 and 1 1/2. Only halves and quarters are read.
func halves(x *match, m *meaning) bool {
	top, bottom := x.tok(0), x.tok(1)
	if x.has(2) {
		m.q.whole = top.n
		if top, bottom = bottom, x.tok(2); !top.gap {
			return false
		}
	}
	if m.q.whole < 0 || bottom.n != 2 && bottom.n != 4 || top.n < 1 || top.n >= bottom.n {
		return false
	}
	m.q.nano = 1e9 / bottom.n * top.n
	return true
}

// amount returns the action of words that are whole + nano / 1e9.
func amount(whole, nano int64) func(x *match, m *meaning) bool {
	return func(x *match, m *meaning) bool {
		m.q = quantity{whole, nano}
		return true
	}
}

// numberIs returns the action of words that name the n-th of something, the last one with -1.
func numberIs(n int) func(x *match, m *meaning) bool {
	return func(x *match, m *meaning) bool {
		m.n = n
		return true
	}
}

// cardinal reads a number in words.
func cardinal(x *match, m *meaning) bool {
	n := &m.q.whole
	for i := x.begin; i < x.end; i++ {
		switch t := &x.p.toks[i]; {
		case x.p.word(i, "hundred"):
			*n = max(*n, 1) * 100
		case x.p.word(i, "thousand"):
			*n = max(*n, 1) * 1000
		case x.p.word(i, "dozen"):
			*n = max(*n, 1) * 12
		default:
			*n += int64(t.num)
		}
	}
	return true
}

// ordinal reads 1st, first and twenty-first into m.n. It sets m.q.whole to 1 when the ordinal is in
// words.
func ordinal(x *match, m *meaning) bool {
	t := x.tok(0)
	switch {
	case t.is(cNum):
		m.n = int(t.n)
		return t.digits <= 2
	case x.has(1):
		m.n = int(t.num + x.tok(1).num)
	default:
		m.n = int(t.num)
	}
	m.q.whole = 1
	return true
}
