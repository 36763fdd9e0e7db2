package health

import (
	"context"
	"io"
	"regexp"
	"regexp/syntax"
	"slices"
	"sync"
	"unicode/utf8"
)

// matches reports whether the first MiB of a body matches. It looks whenever something has come, so
// that a stream need not end: what is found then is found whatever follows.
func matches(ctx context.Context, re *regexp.Regexp, body io.Reader, at *progress) (bool, error) {
	ahead := looksAhead(re)
	come := arriving{news: make(chan struct{}, 1)}
	go come.read(body)
	for {
		at.reach(reading)
		select {
		case <-come.news: // of the end as well
		case <-ctx.Done():
			return false, explain(ctx.Err(), reading)
		}
		text, end := come.soFar()
		if end != nil && end != io.EOF && len(text) == 0 {
			return false, explain(end, reading)
		}
		at.reach(matching)
		r := &runes{ctx: ctx, text: text}
		found := re.MatchReader(r)
		switch {
		case r.cut:
			return false, explain(ctx.Err(), matching)
		case found && (end == io.EOF || !ahead || !r.ended):
			return true, nil
		case end == io.EOF:
			return false, nil
		case end != nil:
			return false, explain(end, reading)
		}
	}
}

// arriving is as much of a body as has come. It goes on coming while that is looked at, so that
// much of it is looked at a few times only.
type arriving struct {
	news chan struct{}
	mu   sync.Mutex
	text []byte
	end  error
}

// read ends with the body, which is closed when nobody wants more of it.
func (a *arriving) read(body io.Reader) {
	rest, b := io.LimitReader(body, maxBody), make([]byte, 32<<10)
	for end := error(nil); end == nil; {
		var n int
		n, end = rest.Read(b)
		a.mu.Lock()
		a.text, a.end = append(a.text, b[:n]...), end
		a.mu.Unlock()
		select {
		case a.news <- struct{}{}:
		default:
		}
	}
}

// soFar gives what has come. It is not written to again.
func (a *arriving) soFar() ([]byte, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.text, a.end
}

// looksAhead reports whether an expression asks what follows a match: then one at the end of what
// has come may be none.
func looksAhead(re *regexp.Regexp) bool {
	tree, err := syntax.Parse(re.String(), syntax.Perl)
	return err != nil || asksBeyond(tree)
}

func asksBeyond(re *syntax.Regexp) bool {
	switch re.Op {
	case syntax.OpEndLine, syntax.OpEndText, syntax.OpWordBoundary, syntax.OpNoWordBoundary:
		return true
	}
	return slices.ContainsFunc(re.Sub, asksBeyond)
}

// runes hands out a text for as long as there is time: an expression may be slow, and nothing else
// stops it.
type runes struct {
	ctx   context.Context
	text  []byte
	given int
	ended bool // the end of the text was told
	cut   bool // time ran out before it
}

func (r *runes) ReadRune() (rune, int, error) {
	if r.given++; r.given%256 == 0 && r.ctx.Err() != nil {
		r.cut = true
	}
	if r.cut || len(r.text) == 0 {
		r.ended = true
		return 0, 0, io.EOF
	}
	c, size := utf8.DecodeRune(r.text)
	r.text = r.text[size:]
	return c, size, nil
}
