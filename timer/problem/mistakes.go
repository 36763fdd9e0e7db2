package problem

import (
	"errors"
	"regexp/syntax"
	"time"

	"github.com/ouro-timer/ouro-timer/state/plain"
	"github.com/ouro-timer/ouro-timer/timer/when/fault"
)

// NotText says what to do about bytes that are no text.
var NotText = T("give it as UTF-8; keep other bytes in a file, and schedule a command that reads it")

// As is the problem that an error is, also one of a time that cannot be read; nil for an error that
// is none.
func As(err error) *Problem {
	var (
		p *Problem
		t *fault.Error
	)
	switch {
	case errors.As(err, &p):
		return p
	case errors.As(err, &t):
		return &Problem{Code: Code(t.Code), Message: T(t.Message), Hint: hintOf(t), Candidates: t.Candidates}
	}
	return nil
}

// hintOf is the hint of a time that is none, with the options that it ends with.
func hintOf(e *fault.Error) Text {
	hint := T(e.Hint)
	for i, name := range e.Options {
		between := ", "
		switch i {
		case 0:
			between = " "
		case len(e.Options) - 1:
			between = " or "
		}
		hint = T("%s%s%s", hint, between, Option(name))
	}
	return hint
}

// NoTimestamp is the mistake of a value that is not an instant with its offset; like is one.
func NoTimestamp(name Option, text string, like time.Time) *Problem {
	return Of(T("%s is %s, not an instant with offset", name, plain.Quote(text)), T("write it as %s", like.Format(time.RFC3339)))
}

// RegexFault is what is wrong with a regular expression.
func RegexFault(err error) string {
	if e, ok := errors.AsType[*syntax.Error](err); ok {
		return e.Code.String() + ": `" + e.Expr + "`"
	}
	return err.Error()
}
