package when

import (
	"fmt"
	"math"
	"math/bits"
	"strings"
	"sync"
)

// row is a line of the grammar. It says that a symbol may be written as a pattern, and what such a
// text means. The elements of a pattern stand between spaces:
//
//	word of|in   a word, or one of several; punctuation counts as words
//	UNIT COUNT   a word of a class, or what another symbol of the grammar matches
//	^x           without space before it
//	x?           may be left out
//	h:H24        what is captured is the hour, see labels
//
// The elements in capitals are the captures. The action makes the meaning from them, and reports
// false when the text has none.
type row struct {
	of      string
	pattern string
	act     func(x *match, m *meaning) bool
}

// element is an element of a pattern.
type element struct {
	set class // the classes that match
	// The words that match are compiledGrammar.lits[words:end].
	words, end       uint16
	symbol           int8 // the symbol that matches, from 1 on; 0 for none
	capture          int8 // the number of its capture; -1 when it is not one
	optional, joined bool
}

// pattern is the compiled pattern of a row.
type pattern struct {
	els    []element
	act    func(x *match, m *meaning) bool
	tokens uint16 // a bit for each capture that is a token
	labels labels
	need   first // a token that every match has
}

// labels gives for each label the number of its capture, counted from 1.
type labels [labelCount]int8

// The labels of captures.
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
	labelCount
)

var labelNames = map[string]int{"h": isHour, "mi": isMinute, "s": isSecond, "ap": isMeridiem, "n": isCount, "f": isFraction, "u": isUnit, "l": isListed, "o": isOfDay, "e": isPeriod}

// first is the set of tokens that a match may begin with: of some classes, or with some words, as
// bits of their numbers modulo 64.
type first struct {
	set  class
	bits uint64
	any  bool
}

func (f first) or(g first) first { return first{f.set | g.set, f.bits | g.bits, f.any || g.any} }

func (f first) fits(t *token) bool {
	return f.any || f.set&t.set != 0 || t.lit != 0 && f.bits>>(t.lit&63)&1 != 0
}

// in reports whether one of some tokens may fit; all is what they are together.
func (f *first) in(all *first) bool { return f.any || f.set&all.set != 0 || f.bits&all.bits != 0 }

// prefix is what the first two tokens of a match may be. When short is set, a match may be one
// token long, and anything may follow.
type prefix struct {
	one   [2]first
	short bool
}

func (l prefix) or(m prefix) prefix {
	return prefix{[2]first{l.one[0].or(m.one[0]), l.one[1].or(m.one[1])}, l.short || m.short}
}

func (l *prefix) fits(t *token, next *token) bool {
	return l.one[0].fits(t) && (l.short || l.one[1].fits(next))
}

// compiledGrammar is the table in the form in which texts are matched.
type compiledGrammar struct {
	words    map[string]uint16
	lits     []uint16    // the words of all elements
	patterns [][]pattern // the patterns of each symbol, by its number
	needs    []first     // what one token of each match of a symbol is
	// What the matches of each symbol may begin with, and of each of its patterns.
	prefixes        []prefix
	patternPrefixes [][]prefix
	openings        []*opening // of each symbol with many patterns; nil for the others
	names           map[string]int
}

// grammar compiles the table at its first use. Each process that reads a time pays for this, so the
// patterns, prefixes, elements and words are four allocations.
var grammar = sync.OnceValue(compile)

func compile() *compiledGrammar {
	rows := table()
	g := &compiledGrammar{words: make(map[string]uint16, len(rows)), names: map[string]int{}}
	var counts []int // the number of patterns of each symbol
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
	patterns, begin := make([]pattern, total), make([]prefix, total)
	els := make([]element, 0, elements)
	g.lits = make([]uint16, 0, words)
	g.patterns = make([][]pattern, len(g.names)+1)
	g.needs = make([]first, len(g.names)+1)
	g.prefixes, g.patternPrefixes = make([]prefix, len(g.names)+1), make([][]prefix, len(g.names)+1)
	for i, n := range counts {
		g.patterns[i+1], patterns = patterns[:0:n], patterns[n:]
		g.patternPrefixes[i+1], begin = begin[:n:n], begin[n:]
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
				} else if e.symbol = int8(g.names[name]); e.symbol == 0 {
					panic(fmt.Sprintf("the grammar has no %s, in %q", name, r.pattern))
				}
			}
			if e.capture >= 0 && e.symbol == 0 {
				p.tokens |= 1 << e.capture
			}
			e.end = uint16(len(g.lits))
			els = append(els, e)
		}
		p.els = els[first:len(els):len(els)]
		for name := range strings.SplitSeq(r.of, "|") {
			n := g.names[name]
			g.patterns[n] = append(g.patterns[n], p)
		}
	}
	g.findPrefixes()
	g.openings = make([]*opening, len(g.patterns))
	for n, list := range g.patternPrefixes {
		if len(list) > 32 {
			g.openings[n] = openingOf(list)
		}
	}
	return g
}

// wordsOf returns the numbers of the words that an element matches.
func (g *compiledGrammar) wordsOf(e *element) []uint16 { return g.lits[e.words:e.end] }

// number returns the number of a word of the patterns. For punctuation it is the byte.
func (g *compiledGrammar) number(word string) uint16 {
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

// patternSet is a set of patterns of one symbol, a bit each. It has room for all of PART, the
// symbol with the most; the table cannot be compiled when that is not enough.
type patternSet [5]uint64

func (s *patternSet) add(i int) { s[i>>6] |= 1 << (i & 63) }

func (s *patternSet) join(t *patternSet) {
	for i := range s {
		s[i] |= t[i]
	}
}

// opening has the patterns of a symbol by the first two tokens that they may begin with, so that
// they need not be asked one by one.
type opening struct{ one [2]tokenIndex }

// tokenIndex has the patterns that fit a token: by its class, by its word, and whatever it is.
type tokenIndex struct {
	classes [classCount]patternSet
	words   [64]patternSet // by the number of the word modulo 64
	any     patternSet
}

// openingOf indexes patterns by what they may begin with.
func openingOf(list []prefix) *opening {
	o := new(opening)
	for i := range list {
		o.one[0].add(i, list[i].one[0], false)
		o.one[1].add(i, list[i].one[1], list[i].short)
	}
	return o
}

func (x *tokenIndex) add(i int, f first, always bool) {
	if f.any || always {
		x.any.add(i)
	}
	for set := uint64(f.set); set != 0; set &= set - 1 {
		x.classes[bits.TrailingZeros64(set)].add(i)
	}
	for words := f.bits; words != 0; words &= words - 1 {
		x.words[bits.TrailingZeros64(words)].add(i)
	}
}

// fitting returns the patterns that fit a token.
func (x *tokenIndex) fitting(t *token) patternSet {
	s := x.any
	for set := uint64(t.set); set != 0; set &= set - 1 {
		s.join(&x.classes[bits.TrailingZeros64(set)])
	}
	if t.lit != 0 {
		s.join(&x.words[t.lit&63])
	}
	return s
}

// candidates returns the patterns of a symbol that may begin with two tokens.
func (g *compiledGrammar) candidates(symbol int, t, next *token) (s patternSet) {
	if o := g.openings[symbol]; o != nil {
		s = o.one[0].fitting(t)
		second := o.one[1].fitting(next)
		for i := range s {
			s[i] &= second[i]
		}
		return s
	}
	list := g.patternPrefixes[symbol]
	for i := range list {
		if list[i].fits(t, next) {
			s.add(i)
		}
	}
	return s
}

// findPrefixes works out what each pattern may begin with and what it needs. It repeats until
// nothing changes, because symbols contain one another.
func (g *compiledGrammar) findPrefixes() {
	for changed := true; changed; {
		changed = false
		for n := range g.patterns {
			for i := range g.patterns[n] {
				p := &g.patterns[n][i]
				if need := g.needOf(p.els); need != p.need {
					p.need, changed = need, true
					g.needs[n] = g.needs[n].or(need)
				}
				if l := g.prefixOf(p.els); l != g.patternPrefixes[n][i] {
					g.patternPrefixes[n][i], changed = l, true
					g.prefixes[n] = g.prefixes[n].or(l)
				}
			}
		}
	}
}

// prefixOf returns what a match of some elements may begin with.
func (g *compiledGrammar) prefixOf(els []element) (l prefix) {
	if len(els) == 0 {
		l.one[0].any, l.one[1].any, l.short = true, true, true
		return l
	}
	e, rest := &els[0], prefix{}
	if e.optional || g.leavable(els[1:]) {
		rest = g.prefixOf(els[1:])
	} else {
		rest.one[0] = g.firstOf(els[1:])
	}
	if e.optional {
		l = rest
	}
	l.one[0] = l.one[0].or(g.firstOf(els[:1]))
	if e.symbol != 0 {
		of := &g.prefixes[e.symbol]
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

// needOf returns what one token of each match of some elements is. It takes the element that the
// fewest tokens fit, so that most patterns are passed over when a text has no such token.
func (g *compiledGrammar) needOf(els []element) (need first) {
	least := math.MaxInt
	for i := range els {
		e := &els[i]
		if e.optional {
			continue
		}
		f := g.own(e)
		if e.symbol != 0 {
			f = f.or(g.needs[e.symbol])
		}
		if n := 16*bits.OnesCount64(uint64(f.set)) + bits.OnesCount64(f.bits); n < least && !f.any {
			least, need = n, f
		}
	}
	need.any = least == math.MaxInt
	return need
}

// firstOf returns the tokens that a match of some elements may begin with, when one of the elements
// must be there.
func (g *compiledGrammar) firstOf(els []element) (f first) {
	for i := range els {
		e := &els[i]
		f = f.or(g.own(e))
		if e.symbol != 0 {
			f = f.or(g.prefixes[e.symbol].one[0])
		}
		if !e.optional {
			break
		}
	}
	return f
}

// own returns the tokens that an element matches by itself, and not by its symbol.
func (g *compiledGrammar) own(e *element) first {
	f := first{set: e.set}
	for _, w := range g.wordsOf(e) {
		f.bits |= 1 << (w & 63)
	}
	return f
}

// leavable reports whether all elements may be left out.
func (g *compiledGrammar) leavable(els []element) bool {
	for i := range els {
		if !els[i].optional {
			return false
		}
	}
	return true
}
