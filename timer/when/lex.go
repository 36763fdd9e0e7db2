package when

import (
	"strings"
	"unicode"
	"unicode/utf8"
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

// plain rewrites what a person may paste into ASCII that looks like it. Spaces of all widths become
// a space, dashes and the minus sign a hyphen, full-width forms their narrow twins, curly
// apostrophes straight ones, and ½ a decimal fraction. Invisible marks vanish, and runs of spaces
// become one. It reports false for any other rune, because no time expression has it.
func plain(text string, buf []byte) ([]byte, bool) {
	out := buf
	space := false
	for i := 0; i < len(text); {
		c := text[i]
		size := 1
		if c >= utf8.RuneSelf {
			var r rune
			r, size = utf8.DecodeRuneInString(text[i:])
			if r == utf8.RuneError && size == 1 {
				return out, false
			}
			switch {
			case r >= '\uFF01' && r <= '\uFF5E': // full-width forms
				c = byte(r - '\uFF01' + '!')
			case unicode.IsSpace(r) || unicode.Is(unicode.Zs, r):
				c = ' '
			case r >= '\u2010' && r <= '\u2015' || r == '\u2212' || r == '\uFE63' || r == '\uFE58':
				c = '-'
			case r == '\u2018' || r == '\u2019' || r == '\u02BC' || r == '\u2032':
				c = '\''
			case r == '\u00B5' || r == '\u03BC': // micro, and the Greek letter
				c = 'u'
			case r == '\u2236' || r == '\uA789' || r == '\uFE55':
				c = ':'
			case r == '\u00BC' || r == '\u00BD' || r == '\u00BE':
				if n := len(out); n == 0 || !isDigit(out[n-1]) { // 2 ½ is 2.5
					if space && n > 0 {
						out = append(out, ' ')
					}
					out = append(out, '0')
				}
				space = false
				out = append(out, [...]string{".25", ".5", ".75"}[r-'\u00BC']...)
				i += size
				continue
			case r == '\u00AD' || r == '\uFEFF' || r >= '\u200B' && r <= '\u200F' || r == '\u2060' ||
				r >= '\u202A' && r <= '\u202E' || r >= '\u2066' && r <= '\u2069':
				i += size // soft hyphens, joiners, marks of direction
				continue
			default:
				return out, false
			}
		}
		i += size
		if c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\v' || c == '\f' {
			space = true
			continue
		}
		if c < ' ' || c == 0x7f {
			return out, false
		}
		if space && len(out) > 0 {
			out = append(out, ' ')
		}
		space = false
		out = append(out, c)
	}
	return out, true
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
	if end := i + 4; i-begin == 3 && end <= len(low) && isDigit(low[i]) && wordEnd(low, i+1) == end && isZone(strings.ToUpper(low[begin:end])) {
		t.set = cZoneName
		return end
	}
	if i+1 < len(low) && low[i] == '/' && isLetter(low[i+1]) && low[begin:i] != "x" && !v[low[begin:i]].is(cDay|cDays|cMonth|cDayPart) {
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
