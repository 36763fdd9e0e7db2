package when

import "math/bits"

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
	pat        *pattern
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
func (x *match) isToken(i int) bool { return x.pat.tokens>>i&1 != 0 }

// has reports whether an optional capture is there.
func (x *match) has(i int) bool { return x.at[i] >= 0 }

// labelled returns the capture that has a label, or -1.
func (x *match) labelled(label int) int {
	i := int(x.pat.labels[label]) - 1
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

func (x *match) off() int { return int(x.p.toks[x.begin].off) }

func (x *match) stop() int { return int(x.p.toks[x.end-1].end) }

// resEnd returns the token at which a result ends.
func (p *parser) resEnd(r int32) int { return int(p.res[r].end) }

// unread marks a symbol that was not looked for at a token yet. It is no result: those of a parser
// begin at 1.
const unread = 0

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
	for i, set := range p.g.candidates(part, t, &p.toks[min(pos+1, p.n)]) {
		for ; set != 0; set &= set - 1 {
			pat := &patterns[i<<6+bits.TrailingZeros64(set)]
			if !pat.need.in(&p.ahead[pos]) {
				continue
			}
			x.pat, x.begin, x.at = pat, pos, noCaptures
			p.match(pat, 0, pos, x, &head, &tail)
		}
	}
	p.nest--
	p.memo[pos*len(p.g.patterns)+part] = head
	return head
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
