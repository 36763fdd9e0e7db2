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
//
// The action has the elements in capitals, in order, and makes the meaning; it reports false when there is none.
type row struct {
	of      string
	pattern string
	act     func(x *found, m *meaning) bool
}

// element is an element of a pattern.
type element struct {
	optional, joined bool
	words            []uint16 // of a word
	set              class    // of a class
	part             int8     // of another part of the grammar, from 1 on
	capture          int8     // its number among those in capitals; -1 for a word
}

// pattern is a row made ready.
type pattern struct {
	els    []element
	act    func(x *found, m *meaning) bool
	lead   lead
	tokens uint16 // the captures that are tokens
}

// lead is what a match may begin with: classes, and words as bits of their numbers modulo 64.
type lead struct {
	set  class
	bits uint64
}

func (l lead) fits(t *token) bool { return l.set&t.set != 0 || t.lit != 0 && l.bits>>(t.lit&63)&1 != 0 }

// rules is the grammar made ready.
type rules struct {
	words map[string]uint16
	parts [][]pattern // by the number of the part
	leads []lead
	names map[string]int
}

// grammar compiles the table on first use.
var grammar = sync.OnceValue(func() *rules {
	g := &rules{words: map[string]uint16{}, names: map[string]int{}}
	rows := table()
	for _, r := range rows {
		for _, name := range strings.Split(r.of, "|") {
			if g.names[name] == 0 {
				g.names[name] = len(g.names) + 1
			}
		}
	}
	g.parts = make([][]pattern, len(g.names)+1)
	g.leads = make([]lead, len(g.names)+1)
	for _, r := range rows {
		p := pattern{act: r.act}
		captures := int8(0)
		for _, word := range strings.Fields(r.pattern) {
			e := element{capture: -1}
			if rest, ok := strings.CutPrefix(word, "^"); ok && rest != "" {
				word, e.joined = rest, true
			}
			if rest, ok := strings.CutSuffix(word, "?"); ok && rest != "" {
				word, e.optional = rest, true
			}
			for i, name := range strings.Split(word, "|") {
				switch {
				case classNames[name] != 0:
					e.set |= classNames[name]
				case g.names[name] != 0:
					e.part = int8(g.names[name])
				case name[0] >= 'A' && name[0] <= 'Z':
					panic(fmt.Sprintf("the grammar has no %s, in %q", name, r.pattern))
				default:
					e.words = append(e.words, g.number(name))
				}
				if i == 0 && name[0] >= 'A' && name[0] <= 'Z' {
					e.capture = captures
					if e.part == 0 {
						p.tokens |= 1 << captures
					}
					captures++
				}
			}
			p.els = append(p.els, e)
		}
		for _, name := range strings.Split(r.of, "|") {
			n := g.names[name]
			g.parts[n] = append(g.parts[n], p)
		}
	}
	g.findLeads()
	return g
})

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
				p := &g.parts[n][i]
				l := p.lead
				for _, e := range p.els {
					l.set |= e.set
					for _, w := range e.words {
						l.bits |= 1 << (w & 63)
					}
					if e.part != 0 {
						l.set |= g.leads[e.part].set
						l.bits |= g.leads[e.part].bits
					}
					if !e.optional {
						break
					}
				}
				if l != p.lead {
					p.lead, changed = l, true
					g.leads[n].set |= l.set
					g.leads[n].bits |= l.bits
				}
			}
		}
	}
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
	pat        *pattern
	begin, end int
	at         [maxCaptures]int32 // the captures: the token, or the result
}

const maxCaptures = 10

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
func (x *found) isToken(i int) bool { return x.pat.tokens>>i&1 != 0 }

// has reports whether a capture that may be left out is there.
func (x *found) has(i int) bool { return x.at[i] >= 0 }

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
	if !p.g.leads[part].fits(t) {
		return -1
	}
	head, tail := int32(-1), int32(-1)
	patterns := p.g.parts[part]
	for i := range patterns {
		pat := &patterns[i]
		if !pat.lead.fits(t) {
			continue
		}
		x := found{p: p, pat: pat, begin: pos}
		for k := range x.at {
			x.at[k] = -1
		}
		p.match(pat, 0, pos, &x, &head, &tail)
	}
	*memo = head
	return head
}

// match matches the elements of a pattern from the k-th on, and notes a result for each way to do it.
func (p *parser) match(pat *pattern, k, pos int, x *found, head, tail *int32) {
	if k == len(pat.els) {
		if p.work++; p.work > maxWork {
			return
		}
		x.end = pos
		var m meaning
		if !pat.act(x, &m) {
			return
		}
		n := int32(len(p.res))
		p.res = append(p.res, result{int16(pos), -1, m})
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
	for _, w := range e.words {
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
