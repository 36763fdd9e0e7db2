package when

import (
	"fmt"
	"strings"
	"sync"
)

// row is a line of the grammar: a pattern, and the meaning of what it matches. The pattern's elements are parted by spaces:
//
//	word of|in   a word, or one of several; marks are words
//	UNIT COUNT   a word of a class, or what another part of the grammar matches
//	^x           without space before it
//	x?           may be left out
//	h:H24        what is captured is the hour, see labels
//
// The action has the elements in capitals, in order, and makes the meaning; it reports false when there is none.
type row struct {
	of      string
	pattern string
	act     func(x *found, m *meaning) bool
}

// element is an element of a pattern.
type element struct {
	set              class  // of a class
	words, end       uint16 // of a word: where in the words of the rules it has its own, and where they end
	part             int8   // of another part of the grammar, from 1 on
	capture          int8   // its number among those in capitals; -1 for a word
	optional, joined bool
}

// pattern is a row made ready.
type pattern struct {
	els    []element
	act    func(x *found, m *meaning) bool
	tokens uint16 // the captures that are tokens
	labels labels
}

// labels are the captures, counted from 1, that are the hour, the minute and so on.
type labels [labelCount]int8

// What a capture may be.
const (
	isHour = iota
	isMinute
	isSecond
	isMeridiem
	isCount
	isFraction
	isUnit
	isListed
	isOfDay
	isPeriod
	isOfMonth
	labelCount
)

var labelNames = map[string]int{"h": isHour, "mi": isMinute, "s": isSecond, "ap": isMeridiem, "n": isCount, "f": isFraction, "u": isUnit, "l": isListed, "o": isOfDay, "e": isPeriod, "mo": isOfMonth}

// first is what a token may be: of some classes, or of words given as bits of their numbers modulo 64.
type first struct {
	set  class
	bits uint64
	any  bool
}

func (f first) or(g first) first { return first{f.set | g.set, f.bits | g.bits, f.any || g.any} }

func (f first) fits(t *token) bool {
	return f.any || f.set&t.set != 0 || t.lit != 0 && f.bits>>(t.lit&63)&1 != 0
}

// lead is what the first two tokens of a match may be; short says that it may be one token alone, which anything may follow.
type lead struct {
	one   [2]first
	short bool
}

func (l lead) or(m lead) lead {
	return lead{[2]first{l.one[0].or(m.one[0]), l.one[1].or(m.one[1])}, l.short || m.short}
}

func (l *lead) fits(t *token, next *token) bool {
	return l.one[0].fits(t) && (l.short || l.one[1].fits(next))
}

// rules is the grammar made ready.
type rules struct {
	words map[string]uint16
	lits  []uint16    // the words of all elements
	parts [][]pattern // by the number of the part
	leads []lead      // of each part
	begin [][]lead    // of each pattern
	names map[string]int
}

// grammar compiles the table on first use. Each call that reads a time does so: all that is made of the rows is made in four pieces.
var grammar = sync.OnceValue(func() *rules {
	rows := table()
	g := &rules{words: make(map[string]uint16, len(rows)), names: map[string]int{}}
	var counts []int // patterns of each part
	total, elements, words := 0, 0, 0
	for _, r := range rows {
		for name := range strings.SplitSeq(r.of, "|") {
			if g.names[name] == 0 {
				g.names[name] = len(g.names) + 1
				counts = append(counts, 0)
			}
			counts[g.names[name]-1]++
			total++
		}
		n := 1 + strings.Count(r.pattern, " ")
		elements += n
		words += n + strings.Count(r.pattern, "|")
	}
	patterns, begin := make([]pattern, total), make([]lead, total)
	els := make([]element, 0, elements)
	g.lits = make([]uint16, 0, words)
	g.parts = make([][]pattern, len(g.names)+1)
	g.leads, g.begin = make([]lead, len(g.names)+1), make([][]lead, len(g.names)+1)
	for i, n := range counts {
		g.parts[i+1], patterns = patterns[:0:n], patterns[n:]
		g.begin[i+1], begin = begin[:n:n], begin[n:]
	}
	for _, r := range rows {
		p := pattern{act: r.act}
		captures, first := int8(0), len(els)
		for word := range strings.FieldsSeq(r.pattern) {
			e := element{capture: -1, words: uint16(len(g.lits))}
			if rest, ok := strings.CutPrefix(word, "^"); ok && rest != "" {
				word, e.joined = rest, true
			}
			if rest, ok := strings.CutSuffix(word, "?"); ok && rest != "" {
				word, e.optional = rest, true
			}
			if name, rest, ok := strings.Cut(word, ":"); ok && rest != "" {
				word, p.labels[labelNames[name]] = rest, captures+1
			}
			if word[0] >= 'A' && word[0] <= 'Z' {
				e.capture = captures
				captures++
			}
			for name := range strings.SplitSeq(word, "|") {
				if name[0] < 'A' || name[0] > 'Z' {
					g.lits = append(g.lits, g.number(name))
				} else if set := classNames[name]; set != 0 {
					e.set |= set
				} else if e.part = int8(g.names[name]); e.part == 0 {
					panic(fmt.Sprintf("the grammar has no %s, in %q", name, r.pattern))
				}
			}
			if e.capture >= 0 && e.part == 0 {
				p.tokens |= 1 << e.capture
			}
			e.end = uint16(len(g.lits))
			els = append(els, e)
		}
		p.els = els[first:len(els):len(els)]
		for name := range strings.SplitSeq(r.of, "|") {
			n := g.names[name]
			g.parts[n] = append(g.parts[n], p)
		}
	}
	g.findLeads()
	return g
})

// wordsOf are the numbers of the words that an element has.
func (g *rules) wordsOf(e *element) []uint16 { return g.lits[e.words:e.end] }

// number is the number of a word in patterns: of a mark its byte.
func (g *rules) number(word string) uint16 {
	if c := word[0]; len(word) == 1 && !isLetter(c) && !isDigit(c) {
		return uint16(c)
	}
	n, ok := g.words[word]
	if !ok {
		n = uint16(128 + len(g.words))
		g.words[word] = n
	}
	return n
}

// findLeads works out what each pattern may begin with, until nothing is added.
func (g *rules) findLeads() {
	for changed := true; changed; {
		changed = false
		for n := range g.parts {
			for i := range g.parts[n] {
				if l := g.leadOf(g.parts[n][i].els); l != g.begin[n][i] {
					g.begin[n][i], changed = l, true
					g.leads[n] = g.leads[n].or(l)
				}
			}
		}
	}
}

// leadOf is what some elements may begin with.
func (g *rules) leadOf(els []element) (l lead) {
	if len(els) == 0 {
		l.one[0].any, l.one[1].any, l.short = true, true, true
		return l
	}
	e, rest := &els[0], lead{}
	if e.optional || g.leavable(els[1:]) {
		rest = g.leadOf(els[1:])
	} else {
		rest.one[0] = g.firstOf(els[1:])
	}
	if e.optional {
		l = rest
	}
	l.one[0] = l.one[0].or(g.firstOf(els[:1]))
	if e.part != 0 {
		of := &g.leads[e.part]
		l.one[1] = l.one[1].or(of.one[1])
		if !of.short {
			return l
		}
	}
	if l.one[1] = l.one[1].or(rest.one[0]); rest.one[0].any && len(els) == 1 {
		l.short = true
	}
	if rest.short && len(els) > 1 && g.leavable(els[1:]) {
		l.short = true
	}
	return l
}

// firstOf is what the first token of some elements may be, one of which has to be there.
func (g *rules) firstOf(els []element) (f first) {
	for i := range els {
		e := &els[i]
		f.set |= e.set
		for _, w := range g.wordsOf(e) {
			f.bits |= 1 << (w & 63)
		}
		if e.part != 0 {
			f = f.or(g.leads[e.part].one[0])
		}
		if !e.optional {
			break
		}
	}
	return f
}

// leavable reports whether elements may all be left out.
func (g *rules) leavable(els []element) bool {
	for i := range els {
		if !els[i].optional {
			return false
		}
	}
	return true
}

// result is a match of a part of the grammar.
type result struct {
	end  int16
	next int32 // the next one of the same part at the same token
	m    meaning
}

// found is a match of a pattern, for its action.
type found struct {
	p          *parser
	begin, end int
	tokens     uint16 // the captures that are tokens
	labels     labels
	at         [maxCaptures]int32 // the captures: the token, or the result
}

const maxCaptures = 6

var noCaptures = [maxCaptures]int32{-1, -1, -1, -1, -1, -1}

// maxDepth is how deep parts of the grammar nest, lists apart.
const maxDepth = 2*maxTokens + 32

// tok is the token that a capture is.
func (x *found) tok(i int) *token {
	if x.at[i] < 0 {
		return nil
	}
	return &x.p.toks[x.at[i]]
}

// of is the meaning that a capture has.
func (x *found) of(i int) *meaning { return &x.p.res[x.at[i]].m }

// isToken reports whether a capture is a token, and not the meaning of some.
func (x *found) isToken(i int) bool { return x.tokens>>i&1 != 0 }

// has reports whether a capture that may be left out is there.
func (x *found) has(i int) bool { return x.at[i] >= 0 }

// labelled is the capture that a label has, or -1 without one.
func (x *found) labelled(label int) int {
	i := int(x.labels[label]) - 1
	if i < 0 || x.at[i] < 0 {
		return -1
	}
	return i
}

// number is the number that a labelled capture is, and how many digits it was written with.
func (x *found) number(label int) (n int64, digits int) {
	i := x.labelled(label)
	switch {
	case i < 0:
		return 0, 0
	case !x.isToken(i):
		return x.of(i).q.whole, 0
	case x.tok(i).is(cNum):
		return x.tok(i).n, int(x.tok(i).digits)
	}
	return int64(x.tok(i).num), 0
}

// text is what was matched, as typed.
func (x *found) text() string { return x.p.text[x.off():x.stop()] }

func (x *found) off() int  { return int(x.p.toks[x.begin].off) }
func (x *found) stop() int { return int(x.p.toks[x.end-1].end) }

// resEnd is where a result ends.
func (p *parser) resEnd(r int32) int { return int(p.res[r].end) }

// unread marks a part at a token that has not been looked at.
const unread = -2

// derive finds every match of a part of the grammar at a token: the index of the first result, or -1.
func (p *parser) derive(part, pos int) int32 {
	memo := &p.memo[pos*len(p.g.parts)+part]
	if *memo != unread {
		return *memo
	}
	*memo = -1
	t := &p.toks[pos]
	if !p.g.leads[part].one[0].fits(t) {
		return -1
	}
	head, tail := int32(-1), int32(-1)
	patterns := p.g.parts[part]
	x := &p.stack[p.nest]
	if x.p == nil {
		x.p = p
	}
	p.nest++
	for _, i := range p.candidates(part, t, &p.toks[min(pos+1, p.n)]) {
		pat := &patterns[i]
		x.begin, x.tokens, x.labels, x.at = pos, pat.tokens, pat.labels, noCaptures
		p.match(pat, 0, pos, x, &head, &tail)
	}
	p.nest--
	p.memo[pos*len(p.g.parts)+part] = head
	return head
}

// beginning is what the patterns that may begin at two tokens depend on, and those patterns.
type beginning struct {
	part      int
	set, next class
	lit, then uint16
	patterns  []uint16
}

// maxBeginnings is how many of them are kept.
const maxBeginnings = 1024

// candidates are the patterns of a part that may begin with two tokens.
func (p *parser) candidates(part int, t, next *token) []uint16 {
	hash := (uint64(part)*31 + uint64(t.set)*7 + uint64(next.set)*13 + uint64(t.lit)*17 + uint64(next.lit)) * 0x9E3779B97F4A7C15
	b := &p.begins[hash>>54]
	if b.part == part && b.set == t.set && b.next == next.set && b.lit == t.lit && b.then == next.lit {
		return b.patterns
	}
	*b = beginning{part, t.set, next.set, t.lit, next.lit, nil}
	for i := range p.g.begin[part] {
		if p.g.begin[part][i].fits(t, next) {
			b.patterns = append(b.patterns, uint16(i))
		}
	}
	return b.patterns
}

// match matches the elements of a pattern from the k-th on, and notes a result for each way to do it.
func (p *parser) match(pat *pattern, k, pos int, x *found, head, tail *int32) {
	if k == len(pat.els) {
		if p.work++; p.work > maxWork {
			return
		}
		x.end = pos
		n := int32(len(p.res))
		if len(p.res) == cap(p.res) {
			p.res = append(p.res, result{})[:n]
		}
		// The action writes where the result will be: a copy costs more than most actions do.
		p.res = p.res[:n+1]
		r := &p.res[n]
		*r = result{end: int16(pos), next: -1}
		if !pat.act(x, &r.m) {
			p.res = p.res[:n]
			return
		}
		if *head < 0 {
			*head = n
		} else {
			p.res[*tail].next = n
		}
		*tail = n
		return
	}
	e := &pat.els[k]
	if e.optional {
		if e.capture >= 0 {
			x.at[e.capture] = -1
		}
		p.match(pat, k+1, pos, x, head, tail)
	}
	t := &p.toks[pos]
	if e.joined && t.gap {
		return
	}
	fits := t.set&e.set != 0
	for _, w := range p.g.wordsOf(e) {
		fits = fits || t.lit == w
	}
	if fits {
		if e.capture >= 0 {
			x.at[e.capture] = int32(pos)
		}
		p.match(pat, k+1, pos+1, x, head, tail)
	}
	if e.part != 0 {
		for r := p.derive(int(e.part), pos); r >= 0; r = p.res[r].next {
			x.at[e.capture] = r
			p.match(pat, k+1, int(p.res[r].end), x, head, tail)
		}
	}
}

// maxWork bounds the matches of one text.
const maxWork = 20_000
