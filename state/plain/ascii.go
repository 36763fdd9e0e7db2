package plain

import (
	"unicode"
	"unicode/utf8"
)

// ASCII rewrites what a person may paste into ASCII that looks like it. Spaces of all widths become
// a space, dashes and the minus sign a hyphen, full-width forms their narrow twins, curly
// apostrophes straight ones, and ½ a decimal fraction. Invisible marks vanish, and runs of spaces
// become one. It reports false for any other rune, because no time expression has it.
func ASCII(text string, buf []byte) ([]byte, bool) {
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
				if n := len(out); n == 0 || (out[n-1] < '0' || out[n-1] > '9') { // 2 ½ is 2.5
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
