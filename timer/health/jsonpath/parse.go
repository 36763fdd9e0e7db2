package jsonpath

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// SyntaxError says why a text is not a query, and at which byte.
type SyntaxError struct {
	At      int
	Problem string
}

func (e *SyntaxError) Error() string { return fmt.Sprintf("%s at character %d", e.Problem, e.At+1) }

// maxDepth is how deep a query may nest.
const maxDepth = 100

// Parse reads a query. Its errors are *SyntaxError.
func Parse(text string) (p *Path, err error) {
	r := &reader{text: text}
	defer func() {
		if failed := recover(); failed != nil {
			e, ok := failed.(*SyntaxError)
			if !ok {
				panic(failed)
			}
			p, err = nil, e
		}
	}()
	if !utf8.ValidString(text) {
		r.fail("is not UTF-8")
	}
	if !r.skip("$") {
		r.fail("a path begins with $")
	}
	segments := r.segments()
	if r.at < len(text) {
		r.fail("expected . or [")
	}
	return &Path{segments}, nil
}

type reader struct {
	text      string
	at, depth int
}

func (r *reader) fail(problem string) { panic(&SyntaxError{r.at, problem}) }

func (r *reader) rest() string { return r.text[r.at:] }

func (r *reader) peek() byte {
	if r.at < len(r.text) {
		return r.text[r.at]
	}
	return 0
}

func (r *reader) skip(word string) bool {
	if strings.HasPrefix(r.rest(), word) {
		r.at += len(word)
		return true
	}
	return false
}

func (r *reader) want(word string) {
	if !r.skip(word) {
		r.fail("expected " + word)
	}
}

func (r *reader) blanks() { r.at = len(r.text) - len(strings.TrimLeft(r.rest(), " \t\n\r")) }

func (r *reader) deeper() func() {
	if r.depth++; r.depth > maxDepth {
		r.fail("nests too deep")
	}
	return func() { r.depth-- }
}

func (r *reader) segments() (list []segment) {
	for {
		before := r.at
		r.blanks()
		s := segment{}
		switch {
		case r.peek() == '[':
			s.selectors = r.bracket()
		case r.skip(".."):
			s.descendant = true
			if r.peek() == '[' {
				s.selectors = r.bracket()
			} else {
				s.selectors = r.shorthand()
			}
		case r.skip("."):
			s.selectors = r.shorthand()
		default:
			r.at = before
			return list
		}
		list = append(list, s)
	}
}

// shorthand reads what may follow a dot.
func (r *reader) shorthand() []selector {
	if r.skip("*") {
		return []selector{wildcard{}}
	}
	end := strings.IndexFunc(r.rest(), func(c rune) bool {
		return !(c == '_' || c >= 0x80 || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9')
	})
	if end < 0 {
		end = len(r.rest())
	}
	if end == 0 || isDigit(r.peek()) {
		r.fail("expected a name or *")
	}
	word := r.rest()[:end]
	r.at += end
	return []selector{name(word)}
}

func (r *reader) bracket() (list []selector) {
	defer r.deeper()()
	r.want("[")
	for {
		r.blanks()
		list = append(list, r.selector())
		r.blanks()
		if r.skip("]") {
			return list
		}
		r.want(",")
	}
}

func (r *reader) selector() selector {
	switch c := r.peek(); {
	case c == '\'' || c == '"':
		return name(r.quoted())
	case r.skip("*"):
		return wildcard{}
	case r.skip("?"):
		r.blanks()
		return filter{r.or()}
	case c == ':' || c == '-' || isDigit(c):
		return r.subscript()
	}
	r.fail("expected a name in quotes, a number, *, ? or a slice")
	return nil
}

// subscript reads an index or a slice.
func (r *reader) subscript() selector {
	var s slice
	s.start = r.number()
	if s.start != nil {
		before := r.at
		r.blanks()
		if r.peek() != ':' {
			r.at = before
			return index(*s.start)
		}
	}
	r.want(":")
	r.blanks()
	s.end = r.number()
	before := r.at
	r.blanks()
	if !r.skip(":") {
		r.at = before
		return s
	}
	before = r.at
	r.blanks()
	if s.step = r.number(); s.step == nil {
		r.at = before
	}
	return s
}

// number reads a whole number, in the range in which every implementation of JSON tells numbers
// apart. It returns nil when there is none.
func (r *reader) number() *int {
	start := r.at
	r.skip("-")
	for isDigit(r.peek()) {
		r.at++
	}
	word := r.text[start:r.at]
	if word == "" {
		return nil
	}
	n, err := strconv.ParseInt(word, 10, 64)
	digits := strings.TrimPrefix(word, "-")
	if err != nil || word == "-0" || len(digits) > 1 && digits[0] == '0' || n > 1<<53-1 || n < -(1<<53-1) {
		r.at = start
		r.fail("no index: " + word)
	}
	i := int(n)
	return &i
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

func (r *reader) quoted() string {
	quote := r.peek()
	r.at++
	var b strings.Builder
	for {
		c, size := utf8.DecodeRuneInString(r.rest())
		switch {
		case size == 0:
			r.fail("a text has no end")
		case c < 0x20:
			r.fail("a control character in a text")
		case byte(c) == quote && size == 1:
			r.at++
			return b.String()
		case c == '\\':
			r.at++
			b.WriteRune(r.escape(quote))
			continue
		}
		b.WriteRune(c)
		r.at += size
	}
}

func (r *reader) escape(quote byte) rune {
	c := r.peek()
	if i := strings.IndexByte(`bfnrt/\`, c); i >= 0 && c != 0 {
		r.at++
		return rune("\b\f\n\r\t/\\"[i])
	}
	if c == quote {
		r.at++
		return rune(c)
	}
	if c != 'u' {
		r.fail("no escape")
	}
	first := r.utf16Unit()
	if !utf16.IsSurrogate(first) {
		return first
	}
	if !r.skip(`\`) || r.peek() != 'u' {
		r.fail("half of a surrogate pair")
	}
	whole := utf16.DecodeRune(first, r.utf16Unit())
	if whole == utf8.RuneError {
		r.fail("no surrogate pair")
	}
	return whole
}

// utf16Unit reads u and four digits.
func (r *reader) utf16Unit() rune {
	if len(r.rest()) < 5 {
		r.fail("no escape")
	}
	n, err := strconv.ParseUint(r.rest()[1:5], 16, 16)
	if err != nil {
		r.fail("no escape")
	}
	r.at += 5
	return rune(n)
}

// Split splits PATH=VALUE at the first "=" that ends a path. An "=" within brackets belongs to the
// path.
func Split(text string) (p *Path, path, value string, err error) {
	for i := range len(text) {
		if text[i] != '=' {
			continue
		}
		var e error
		if p, e = Parse(text[:i]); e == nil {
			return p, text[:i], text[i+1:], nil
		} else if err == nil {
			err = e
		}
	}
	if err == nil {
		err = &SyntaxError{len(text), "expected ="}
		if _, e := Parse(text); e != nil {
			err = e
		}
	}
	return nil, "", "", err
}
