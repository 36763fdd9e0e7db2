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

// matches reports whether the first MiB of a body matches. It tries again whenever more has
// arrived, so a stream does not have to end: what matches then matches regardless of what follows.
func matches(ctx context.Context, re *regexp.Regexp, body io.Reader, at *progress) (bool, error) {
	ahead := looksAhead(re)
	come := partialBody{grown: make(chan struct{}, 1)}
	go come.read(body)
	for {
		at.reach(reading)
		select {
		case <-come.grown: // at the end of the body as well
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

// partialBody is as much of a body as has arrived. The rest goes on arriving while a part is
// matched, so that a long body is matched only a few times.
type partialBody struct {
	grown chan struct{}
	mu    sync.Mutex
	text  []byte
	end   error
}

// read ends when the body ends. The body is closed when no more of it is wanted.
func (a *partialBody) read(body io.Reader) {
	rest, b := io.LimitReader(body, maxBody), make([]byte, 32<<10)
	for end := error(nil); end == nil; {
		var n int
		n, end = rest.Read(b)
		a.mu.Lock()
		a.text, a.end = append(a.text, b[:n]...), end
		a.mu.Unlock()
		select {
		case a.grown <- struct{}{}:
		default:
		}
	}
}

// soFar returns what has arrived. That part is not written to again.
func (a *partialBody) soFar() ([]byte, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.text, a.end
}

// looksAhead reports whether an expression depends on what follows a match. A match at the end of
// what has arrived may then not be one.
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

// runes gives an expression its text until time runs out. An expression may be slow, and nothing
// else stops it.
type runes struct {
	ctx   context.Context
	text  []byte
	given int
	ended bool // the expression has reached the end of the text
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
