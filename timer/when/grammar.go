package when

import (
	"fmt"
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
	isOfMonth
	labelCount
)

var labelNames = map[string]int{"h": isHour, "mi": isMinute, "s": isSecond, "ap": isMeridiem, "n": isCount, "f": isFraction, "u": isUnit, "l": isListed, "o": isOfDay, "e": isPeriod, "mo": isOfMonth}

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
	// What the matches of each symbol may begin with, and of each of its patterns.
	prefixes        []prefix
	patternPrefixes [][]prefix
	names           map[string]int
}

// grammar compiles the table at its first use. Each process that reads a time pays for this, so the
// patterns, prefixes, elements and words are four allocations.
var grammar = sync.OnceValue(func() *compiledGrammar {
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
	return g
})

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

// findPrefixes works out what each pattern may begin with. It repeats until nothing changes,
// because symbols contain one another.
func (g *compiledGrammar) findPrefixes() {
	for changed := true; changed; {
		changed = false
		for n := range g.patterns {
			for i := range g.patterns[n] {
				if l := g.prefixOf(g.patterns[n][i].els); l != g.patternPrefixes[n][i] {
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

// firstOf returns the tokens that a match of some elements may begin with, when one of the elements
// must be there.
func (g *compiledGrammar) firstOf(els []element) (f first) {
	for i := range els {
		e := &els[i]
		f.set |= e.set
		for _, w := range g.wordsOf(e) {
			f.bits |= 1 << (w & 63)
		}
		if e.symbol != 0 {
			f = f.or(g.prefixes[e.symbol].one[0])
		}
		if !e.optional {
			break
		}
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

// result is a match of a symbol.
type result struct {
	end  int16
	next int32 // the index of the next result of the same symbol at the same token
	m    meaning
}

// match is a match of a pattern, as its action sees it.
type match struct {
	p          *parser
	begin, end int
	tokens     uint16 // a bit for each capture that is a token
	labels     labels
	// for each capture, the index of its token or of its result; -1 when it is left out
	at [maxCaptures]int32
}

const maxCaptures = 6

var noCaptures = [maxCaptures]int32{-1, -1, -1, -1, -1, -1}

// maxDepth is how deep symbols of the grammar nest.
const maxDepth = 2*maxTokens + 32

// tok returns the token that a capture is, or nil when it is left out.
func (x *match) tok(i int) *token {
	if x.at[i] < 0 {
		return nil
	}
	return &x.p.toks[x.at[i]]
}

// of returns the meaning of a capture that is a symbol.
func (x *match) of(i int) *meaning { return &x.p.res[x.at[i]].m }

// isToken reports whether a capture is a token, and not a symbol.
func (x *match) isToken(i int) bool { return x.tokens>>i&1 != 0 }

// has reports whether an optional capture is there.
func (x *match) has(i int) bool { return x.at[i] >= 0 }

// labelled returns the capture that has a label, or -1.
func (x *match) labelled(label int) int {
	i := int(x.labels[label]) - 1
	if i < 0 || x.at[i] < 0 {
		return -1
	}
	return i
}

// number returns the number that a labelled capture is, and with how many digits it was written.
func (x *match) number(label int) (n int64, digits int) {
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

// text returns the text that was matched, as typed.
func (x *match) text() string { return x.p.text[x.off():x.stop()] }

func (x *match) off() int  { return int(x.p.toks[x.begin].off) }
func (x *match) stop() int { return int(x.p.toks[x.end-1].end) }

// resEnd returns the token at which a result ends.
func (p *parser) resEnd(r int32) int { return int(p.res[r].end) }

// unread marks a symbol that was not looked for at a token yet.
const unread = -2

// derive finds every match of a symbol at a token. It returns the index of the first result, or -1.
// Each symbol is looked for once at each token; the parser keeps what was found.
func (p *parser) derive(part, pos int) int32 {
	memo := &p.memo[pos*len(p.g.patterns)+part]
	if *memo != unread {
		return *memo
	}
	*memo = -1
	t := &p.toks[pos]
	if !p.g.prefixes[part].one[0].fits(t) {
		return -1
	}
	head, tail := int32(-1), int32(-1)
	patterns := p.g.patterns[part]
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
	p.memo[pos*len(p.g.patterns)+part] = head
	return head
}

// cachedCandidates are the patterns of a symbol that may begin with two tokens. The other fields
// are the key: what the patterns depend on.
type cachedCandidates struct {
	symbol    int
	set, next class
	lit, then uint16
	patterns  []uint16
}

// maxCached is how many are kept.
const maxCached = 1024

// candidates returns the patterns of a symbol that may begin with two tokens.
func (p *parser) candidates(part int, t, next *token) []uint16 {
	hash := (uint64(part)*31 + uint64(t.set)*7 + uint64(next.set)*13 + uint64(t.lit)*17 + uint64(next.lit)) * 0x9E3779B97F4A7C15
	b := &p.cache[hash>>54]
	if b.symbol == part && b.set == t.set && b.next == next.set && b.lit == t.lit && b.then == next.lit {
		return b.patterns
	}
	*b = cachedCandidates{part, t.set, next.set, t.lit, next.lit, nil}
	for i := range p.g.patternPrefixes[part] {
		if p.g.patternPrefixes[part][i].fits(t, next) {
			b.patterns = append(b.patterns, uint16(i))
		}
	}
	return b.patterns
}

// match matches the elements of a pattern from the k-th on. It appends a result for each way to do
// so.
func (p *parser) match(pat *pattern, k, pos int, x *match, head, tail *int32) {
	if k == len(pat.els) {
		if p.work++; p.work > maxWork {
			return
		}
		x.end = pos
		n := int32(len(p.res))
		if len(p.res) == cap(p.res) {
			p.res = append(p.res, result{})[:n]
		}
		// The action writes into the result itself: a copy costs more than most actions do.
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
	if e.symbol != 0 {
		for r := p.derive(int(e.symbol), pos); r >= 0; r = p.res[r].next {
			x.at[e.capture] = r
			p.match(pat, k+1, int(p.res[r].end), x, head, tail)
		}
	}
}

// maxWork is how many steps reading one text may take.
const maxWork = 20_000
