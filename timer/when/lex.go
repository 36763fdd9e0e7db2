package when

import (
	"unicode"
	"unicode/utf8"
)

// maxText is the longest text that is read, in bytes; rules and cron lines with long lists may have maxRuleText.
const (
	maxText     = 512
	maxRuleText = 4096
	maxTokens   = 96
)

type kind uint8

const (
	tEnd   kind = iota
	tNum        // digits
	tWord       // letters, apostrophes inside included
	tPlace      // a zone name with a slash, such as Europe/Warsaw
	tMark       // one byte of punctuation
)

// token is a word, a number or a mark of a text.
type token struct {
	entry
	n        int64 // of tNum; -1 when it has more than 18 digits
	off, end uint16
	kind     kind
	mark     byte
	digits   uint8 // how many digits n was written with
	gap      bool  // space lies before it
}

// parser holds one text while it is read. Its tokens end with at least four tEnd.
type parser struct {
	text string // plain: ASCII letters, digits and marks, single spaces
	low  string // the same in lower case
	toks [maxTokens + 4]token
	n, i int
	far  int // the furthest token that could not be read, for the error

	reader
	recurs bool // some word belongs to recurrences alone

	opts  *Options
	typed string // as typed, outer space removed
	err   *Error // why a text is refused, when more is known than that it is not understood
}

// plain rewrites what a person may paste into the ASCII that it looks like: spaces of all widths become a space, dashes
// and the minus sign a hyphen, full-width forms their narrow twins, curly apostrophes straight ones, ½ a decimal
// fraction; invisible marks vanish. Runs of spaces become one. It reports false for other runes, which no time
// expression has.
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
				if n := len(out); n == 0 || out[n-1] < '0' || out[n-1] > '9' || space {
					if space && len(out) > 0 {
						out = append(out, ' ')
					}
					space = false
					out = append(out, '0')
				}
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
		n++
		t.off, t.gap = uint16(i), gap
		gap = false
		switch {
		case isDigit(c):
			t.kind = tNum
			for ; i < len(low) && isDigit(low[i]); i++ {
				t.n = t.n*10 + int64(low[i]-'0')
			}
			if d := i - int(t.off); d > 18 {
				t.n, t.digits = -1, 19
			} else {
				t.digits = uint8(d)
			}
		case isLetter(c):
			t.kind = tWord
			i = wordEnd(low, i)
			if i+1 < len(low) && low[i] == '/' && isLetter(low[i+1]) {
				t.kind = tPlace
				for i < len(low) && (isLetter(low[i]) || isDigit(low[i]) || low[i] == '_' || low[i] == '/' ||
					low[i] == '+' || low[i] == '-') {
					i++
				}
				break
			}
			t.entry = v[low[t.off:i]]
			if t.many || t.role == wEvery {
				p.recurs = true
			}
			t.end = uint16(i)
			// the genitive of "in three weeks' time"
			if i < len(low) && low[i] == '\'' && low[i-1] == 's' && t.unit != uNone {
				i++
			}
			continue
		default:
			t.kind, t.mark = tMark, c
			i++
		}
		t.end = uint16(i)
	}
	for k := n; k < n+4; k++ {
		p.toks[k] = token{kind: tEnd, off: uint16(len(low)), end: uint16(len(low)), gap: true}
	}
	p.n = n
	for i := range p.toks[:n] { // mon-fri, monday to friday
		if p.toks[i].day != 0 && p.weekdaysTo(i+1) {
			p.recurs = true
		}
	}
	return true
}

// weekdaysTo reports whether what follows a weekday at token i is "to" another one.
func (p *parser) weekdaysTo(i int) bool {
	t := &p.toks[i]
	return p.toks[i+1].day != 0 && (t.mark == '-' || t.role == wTo || t.role == wThrough)
}

// wordEnd is where the word at i ends: apostrophes between letters belong to it, as in o'clock.
func wordEnd(low string, i int) int {
	for i < len(low) && (isLetter(low[i]) || low[i] == '\'' && i+1 < len(low) && isLetter(low[i+1])) {
		i++
	}
	return i
}

// at is the token k places ahead.
func (p *parser) at(k int) *token {
	if p.i+k >= p.n {
		return &p.toks[p.n]
	}
	return &p.toks[p.i+k]
}

// is reports whether the token k places ahead is the word w.
func (p *parser) is(k int, w string) bool {
	t := p.at(k)
	return t.kind == tWord && p.low[t.off:t.end] == w
}

// isMark reports whether the token k places ahead is the mark c.
func (p *parser) isMark(k int, c byte) bool { return p.at(k).mark == c }

// joined reports whether the token k places ahead follows the one before it without space.
func (p *parser) joined(k int) bool { return !p.at(k).gap && p.at(k).kind != tEnd }

// miss notes how far the text was understood and reports false.
func (p *parser) miss() bool {
	p.far = max(p.far, p.i)
	return false
}
