package jsonpath

import (
	"strconv"
	"strings"
)

func (r *reader) or() logical {
	defer r.deeper()()
	list := or{r.and()}
	for r.skipOperator("||") {
		list = append(list, r.and())
	}
	return list
}

func (r *reader) and() logical {
	list := and{r.basic()}
	for r.skipOperator("&&") {
		list = append(list, r.basic())
	}
	return list
}

// skipOperator skips an operator with blanks around it.
func (r *reader) skipOperator(op string) bool {
	before := r.at
	r.blanks()
	if r.skip(op) {
		r.blanks()
		return true
	}
	r.at = before
	return false
}

func (r *reader) basic() logical {
	negated := r.skip("!")
	if negated {
		r.blanks()
	}
	var l logical
	if r.skip("(") {
		r.blanks()
		l = r.or()
		r.blanks()
		r.want(")")
	} else {
		l = r.test(negated)
	}
	if negated {
		return not{l}
	}
	return l
}

// test reads a comparison, or a query or a function alone. After a negation it cannot be a
// comparison.
func (r *reader) test(negated bool) logical {
	start := r.at
	left := r.operand()
	after := r.at
	r.blanks()
	for _, op := range []string{"==", "!=", "<=", ">=", "<", ">"} {
		if negated || !r.skip(op) {
			continue
		}
		r.comparable(left, start)
		r.blanks()
		start = r.at
		right := r.operand()
		r.comparable(right, start)
		return compare{op, left, right}
	}
	r.at = after
	if left.query == nil && left.function != "match" && left.function != "search" {
		r.at = start
		r.fail("a value alone is not a test")
	}
	return left
}

// comparable refuses an operand that may have more than one value.
func (r *reader) comparable(o operand, at int) {
	if o.query != nil && !o.query.singular() || o.function == "match" || o.function == "search" {
		r.at = at
		r.fail("what is compared must be a single value")
	}
}

func (r *reader) operand() operand {
	switch c := r.peek(); {
	case c == '\'' || c == '"':
		return operand{literal: r.quoted()}
	case c == '-' || isDigit(c):
		return operand{literal: r.literalNumber()}
	case c == '@' || c == '$':
		r.at++
		return operand{query: &query{relative: c == '@', segments: r.segments()}}
	}
	end := strings.IndexFunc(r.rest(), func(c rune) bool { return !('a' <= c && c <= 'z' || c == '_' || '0' <= c && c <= '9') })
	if end < 0 {
		end = len(r.rest())
	}
	word := r.rest()[:end]
	if strings.HasPrefix(r.rest()[end:], "(") {
		return r.call(word)
	}
	literals := map[string]any{"true": true, "false": false, "null": nil}
	v, ok := literals[word]
	if !ok {
		r.fail("expected a value, a query or a function")
	}
	r.at += end
	return operand{literal: v}
}

func (r *reader) literalNumber() float64 {
	start := r.at
	digits := func() {
		if !isDigit(r.peek()) {
			r.fail("expected a digit")
		}
		for isDigit(r.peek()) {
			r.at++
		}
	}
	r.skip("-")
	first := r.at
	digits()
	if r.text[first] == '0' && r.at > first+1 {
		r.at = start
		r.fail("no number")
	}
	if r.skip(".") {
		digits()
	}
	if r.skip("e") || r.skip("E") {
		if !r.skip("-") {
			r.skip("+")
		}
		digits()
	}
	n, err := strconv.ParseFloat(r.text[start:r.at], 64)
	if err != nil {
		r.at = start
		r.fail("no number")
	}
	return n
}

// call reads a function of RFC 9535, section 2.4, with its arguments.
func (r *reader) call(word string) operand {
	defer r.deeper()()
	// the argument is a list of nodes; otherwise a single value
	wants := map[string]string{"length": "v", "count": "n", "value": "n", "match": "vv", "search": "vv"}
	kinds, ok := wants[word]
	if !ok {
		r.fail("no function " + strconv.Quote(word))
	}
	r.at += len(word) + 1
	o := operand{function: word}
	for i, kind := range kinds {
		if r.blanks(); i > 0 {
			r.want(",")
			r.blanks()
		}
		start := r.at
		arg := r.operand()
		if kind == 'n' && arg.query == nil {
			r.at = start
			r.fail(word + " wants a query")
		}
		if kind == 'v' {
			r.comparable(arg, start)
		}
		o.args = append(o.args, arg)
	}
	r.blanks()
	r.want(")")
	return o
}
