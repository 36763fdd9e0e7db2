// Package jsonpath selects nodes of a JSON document by a query of RFC 9535. A query that cannot be
// read is refused, with the place of the mistake. Selecting ends soon, whatever the document holds.
package jsonpath

import (
	"errors"
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// maxSteps is how many nodes a query may visit: ".." after ".." visits some nodes again and again.
const maxSteps = 2_000_000

// ErrTooMuch says that a query visits more nodes than maxSteps.
var ErrTooMuch = errors.New("the query visits too many nodes")

// Path is a query.
type Path struct{ segments []segment }

// Select returns the nodes of a document that encoding/json decoded into an any. Members of an
// object come in the order of their names.
func (p *Path) Select(doc any) (nodes []any, err error) {
	e := &evaluation{root: doc}
	defer func() {
		if r := recover(); r != nil {
			if r != ErrTooMuch {
				panic(r)
			}
			nodes, err = nil, ErrTooMuch
		}
	}()
	return e.walk(p.segments, doc), nil
}

// evaluation is the state of one Select.
type evaluation struct {
	root    any
	steps   int
	regexps map[string]*regexp.Regexp // nil for a text that is not a regular expression
}

func (e *evaluation) step() {
	if e.steps++; e.steps > maxSteps {
		panic(ErrTooMuch)
	}
}

type segment struct {
	descendant bool
	selectors  []selector
}

type selector interface {
	pick(e *evaluation, node any, add func(any))
}

func (e *evaluation) walk(segments []segment, from any) []any {
	nodes := []any{from}
	for _, s := range segments {
		var next []any
		add := func(n any) { e.step(); next = append(next, n) }
		for _, n := range nodes {
			if s.descendant {
				e.descend(n, s.selectors, add)
				continue
			}
			for _, sel := range s.selectors {
				sel.pick(e, n, add)
			}
		}
		nodes = next
	}
	return nodes
}

func (e *evaluation) descend(n any, selectors []selector, add func(any)) {
	e.step()
	for _, sel := range selectors {
		sel.pick(e, n, add)
	}
	wildcard{}.pick(e, n, func(child any) { e.descend(child, selectors, add) })
}

type (
	name     string
	wildcard struct{}
	index    int
	slice    struct{ start, end, step *int }
	filter   struct{ test logical }
)

func (s name) pick(_ *evaluation, node any, add func(any)) {
	if object, ok := node.(map[string]any); ok {
		if v, ok := object[string(s)]; ok {
			add(v)
		}
	}
}

func (wildcard) pick(_ *evaluation, node any, add func(any)) {
	switch n := node.(type) {
	case []any:
		for _, v := range n {
			add(v)
		}
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(n)) {
			add(n[key])
		}
	}
}

func (s index) pick(_ *evaluation, node any, add func(any)) {
	if array, ok := node.([]any); ok {
		i := int(s)
		if i < 0 {
			i += len(array)
		}
		if i >= 0 && i < len(array) {
			add(array[i])
		}
	}
}

func (s slice) pick(_ *evaluation, node any, add func(any)) {
	array, _ := node.([]any)
	step, n := 1, len(array)
	if s.step != nil {
		step = *s.step
	}
	if step == 0 || n == 0 {
		return
	}
	bound := func(i *int, otherwise, low, high int) int {
		if i == nil {
			return otherwise
		}
		at := *i
		if at < 0 {
			at += n
		}
		return min(max(at, low), high)
	}
	if step > 0 {
		start, end := bound(s.start, 0, 0, n), bound(s.end, n, 0, n)
		for i := start; i < end; i += min(step, n) {
			add(array[i])
		}
		return
	}
	start, end := bound(s.start, n-1, -1, n-1), bound(s.end, -1, -1, n-1)
	for i := start; i > end; i += max(step, -n) {
		add(array[i])
	}
}

func (s filter) pick(e *evaluation, node any, add func(any)) {
	wildcard{}.pick(e, node, func(child any) {
		e.step()
		if s.test.holds(e, child) {
			add(child)
		}
	})
}

// logical is a condition of a filter on a node.
type logical interface {
	holds(e *evaluation, node any) bool
}

type (
	or      []logical
	and     []logical
	not     struct{ of logical }
	compare struct {
		op          string
		left, right operand
	}
)

func (l or) holds(e *evaluation, n any) bool {
	return slices.ContainsFunc(l, func(x logical) bool { return x.holds(e, n) })
}

func (l and) holds(e *evaluation, n any) bool {
	return !slices.ContainsFunc(l, func(x logical) bool { return !x.holds(e, n) })
}

func (l not) holds(e *evaluation, n any) bool { return !l.of.holds(e, n) }

// nothing is the absence of a value. It equals only itself.
type nothing struct{}

func (c compare) holds(e *evaluation, n any) bool {
	a, b := c.left.value(e, n), c.right.value(e, n)
	switch c.op {
	case "==":
		return e.equal(a, b)
	case "!=":
		return !e.equal(a, b)
	case "<":
		return less(a, b)
	case "<=":
		return less(a, b) || e.equal(a, b)
	case ">":
		return less(b, a)
	}
	return less(b, a) || e.equal(a, b)
}

func less(a, b any) bool {
	switch x := a.(type) {
	case float64:
		y, ok := b.(float64)
		return ok && x < y
	case string:
		y, ok := b.(string)
		return ok && x < y
	}
	return false
}

// Equal reports whether two values of JSON are equal.
func Equal(a, b any) bool { return (&evaluation{steps: -1 << 60}).equal(a, b) }

func (e *evaluation) equal(a, b any) bool {
	e.step()
	switch x := a.(type) {
	case []any:
		y, ok := b.([]any)
		return ok && slices.EqualFunc(x, y, e.equal)
	case map[string]any:
		y, ok := b.(map[string]any)
		return ok && maps.EqualFunc(x, y, e.equal)
	}
	switch b.(type) {
	case []any, map[string]any:
		return false
	}
	return a == b
}

// operand is a literal, a query or a call of a function.
type operand struct {
	literal  any
	query    *query
	function string
	args     []operand
}

type query struct {
	relative bool
	segments []segment
}

// singular queries select at most one node.
func (q *query) singular() bool {
	for _, s := range q.segments {
		if s.descendant || len(s.selectors) != 1 {
			return false
		}
		switch s.selectors[0].(type) {
		case name, index:
		default:
			return false
		}
	}
	return true
}

func (o operand) nodes(e *evaluation, n any) []any {
	if o.query.relative {
		return e.walk(o.query.segments, n)
	}
	return e.walk(o.query.segments, e.root)
}

// holds returns the operand as a condition.
func (o operand) holds(e *evaluation, n any) bool {
	switch {
	case o.query != nil:
		return len(o.nodes(e, n)) > 0
	case o.function == "match", o.function == "search":
		text, is := o.args[0].value(e, n).(string)
		pattern, ok := o.args[1].value(e, n).(string)
		return is && ok && e.matches(text, pattern, o.function == "match")
	}
	return false
}

func (o operand) value(e *evaluation, n any) any {
	switch {
	case o.query != nil, o.function == "value":
		if o.query == nil {
			o = o.args[0]
		}
		if nodes := o.nodes(e, n); len(nodes) == 1 {
			return nodes[0]
		}
		return nothing{}
	case o.function == "count":
		return float64(len(o.args[0].nodes(e, n)))
	case o.function == "length":
		switch v := o.args[0].value(e, n).(type) {
		case string:
			return float64(utf8.RuneCountInString(v))
		case []any:
			return float64(len(v))
		case map[string]any:
			return float64(len(v))
		}
		return nothing{}
	}
	return o.literal
}

func (e *evaluation) matches(text, pattern string, whole bool) bool {
	key := pattern
	if whole {
		key = `\A(?:` + pattern + `)\z`
	}
	re, known := e.regexps[key]
	if !known {
		if e.regexps == nil {
			e.regexps = map[string]*regexp.Regexp{}
		}
		re, _ = regexp.Compile(dotted(key))
		e.regexps[key] = re
	}
	return re != nil && re.MatchString(text)
}

// dotted turns a regular expression of RFC 9485 into one of Go. Its dot matches neither of two line
// ends.
func dotted(pattern string) string {
	var b strings.Builder
	class, escape := false, false
	for _, r := range pattern {
		switch {
		case escape:
			escape = false
		case r == '\\':
			escape = true
		case r == '[':
			class = true
		case r == ']':
			class = false
		case r == '.' && !class:
			b.WriteString(`[^\n\r]`)
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}
