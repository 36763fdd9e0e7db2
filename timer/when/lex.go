package when

import (
	"strings"

	"github.com/ouro-timer/ouro-timer/timer/when/civil"
)

// maxText is the longest text that is read, in bytes. Rules and cron lines may have long lists, so
// maxRuleText holds for them.
const (
	maxText     = 512
	maxRuleText = 4096
	maxTokens   = 96
)

// token is a word, a number or a punctuation mark of a text.
type token struct {
	entry
	n        int64 // the value of digits; -1 when there are more than 18
	off, end uint16
	digits   uint8 // how many digits there are
	gap      bool  // space lies before it
}

func (t *token) is(c class) bool { return t.set&c != 0 }

// mark returns the punctuation mark that a token is, or 0.
func (t *token) mark() byte {
	if t.lit < 128 {
		return byte(t.lit)
	}
	return 0
}

func isDigit(c byte) bool  { return c >= '0' && c <= '9' }
func isLetter(c byte) bool { return c >= 'a' && c <= 'z' }

// lex cuts the text into tokens. It reports false when there are too many for a time expression.
func (p *parser) lex() bool {
	v := vocabulary()
	low := p.low
	n, gap := 0, false
	for i := 0; i < len(low); {
		c := low[i]
		if c == ' ' {
			gap = true
			i++
			continue
		}
		if n == maxTokens {
			return false
		}
		t := &p.toks[n]
		*t = token{off: uint16(i), gap: gap}
		n++
		gap = false
		switch {
		case isDigit(c):
			i = t.number(low, i)
		case isLetter(c):
			i = t.word(v, low, i)
		default:
			if t.lit = uint16(c); c >= 128 {
				t.lit = 0
			}
			i++
		}
		t.end = uint16(i)
		// the genitive of "in three weeks' time"
		if t.is(cUnit) && i < len(low) && low[i] == '\'' && low[i-1] == 's' {
			i++
		}
	}
	p.toks[n] = token{off: uint16(len(low)), end: uint16(len(low)), gap: true, entry: entry{set: cEnd}}
	p.n = n
	return true
}

// number reads digits and sets their classes.
func (t *token) number(low string, i int) int {
	begin := i
	for ; i < len(low) && isDigit(low[i]); i++ {
		t.n = t.n*10 + int64(low[i]-'0')
	}
	d := i - begin
	if d > 18 {
		t.n, t.digits, t.set = -1, 19, cNum
		return i
	}
	t.digits, t.set = uint8(d), cNum
	n := t.n
	in := func(ok bool, c class) {
		if ok {
			t.set |= c
		}
	}
	switch d {
	case 1, 2:
		t.set |= cN1
		in(n >= 1 && n <= 12, cH12)
		in(n <= 24, cH24)
		in(n >= 1 && n <= 31, cD31)
		in(d == 2, cN2)
		in(d == 2 && n < 60, cM60)
	case 3, 4:
		in(n/100 >= 1 && n/100 <= 12 && n%100 < 60, cHMM)
		in(d == 3, cN3)
		in(d == 4, cN4)
		in(d == 4 && n/100 < 24 && n%100 < 60, cHHMM)
		in(n >= 1900, cYear)
	case 6:
		t.set |= cN6
	case 8:
		t.set |= cN8
	case 12, 14:
		t.set |= cNLong
	}
	return i
}

// word reads a word, the name of a zone, or a duration of ISO 8601.
func (t *token) word(v map[string]entry, low string, i int) int {
	begin := i
	if low[i] == 'p' && i+1 < len(low) && (isDigit(low[i+1]) || low[i+1] == 't' && i+2 < len(low) && isDigit(low[i+2])) {
		for i < len(low) && (isLetter(low[i]) || isDigit(low[i]) || (low[i] == '.' || low[i] == ',') && i+1 < len(low) && isDigit(low[i+1])) {
			i++
		}
		t.set = cISO
		return i
	}
	i = wordEnd(low, i)
	// PST8PDT
	if end := i + 4; i-begin == 3 && end <= len(low) && isDigit(low[i]) && wordEnd(low, i+1) == end && civil.IsZone(strings.ToUpper(low[begin:end])) {
		t.set = cZoneName
		return end
	}
	if i+1 < len(low) && low[i] == '/' && isLetter(low[i+1]) && low[begin:i] != "x" && !v[low[begin:i]].is(cDay|cDays|cMonth|cDayPart|cMer) && !v[low[i+1:wordEnd(low, i+1)]].is(cUnit) {
		for i < len(low) && (isLetter(low[i]) || isDigit(low[i]) || low[i] == '_' || low[i] == '/' || low[i] == '+' || low[i] == '-') {
			i++
		}
		t.set = cZoneName
		return i
	}
	e, known := v[low[begin:i]]
	if t.entry = e; !known {
		t.set = cNew
	}
	return i
}

func (e entry) is(c class) bool { return e.set&c != 0 }

// wordEnd returns the end of the word at i. An apostrophe between letters belongs to the word, as
// in o'clock.
func wordEnd(low string, i int) int {
	for i < len(low) && (isLetter(low[i]) || low[i] == '\'' && i+1 < len(low) && isLetter(low[i+1])) {
		i++
	}
	return i
}
