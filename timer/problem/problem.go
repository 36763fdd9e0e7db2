// Package problem has what went wrong as values: a code, sentences whose parts name options, values
// and calls, and what may be said instead. Whoever answers writes them in the words of the surface
// that the call came by.
package problem

import "github.com/ouro-timer/ouro-timer/timer/when/fault"

// Problem is why a call failed, or why one of the things failed that it was about.
type Problem struct {
	Code    Code
	Message Text
	Hint    Text // what to type instead; empty for none
	// texts that can be given in place of what was ambiguous, and the instants they stand for
	Candidates []fault.Candidate
	Exit       int // the exit code of a call that fails by it; 0: that of the code
}

// Error is the message in the words of a command line.
func (p *Problem) Error() string { return p.Message.String() }

// ExitCode is the exit code of a call that fails by it.
func (p *Problem) ExitCode() int {
	if p.Exit != 0 {
		return p.Exit
	}
	return p.Code.Exit()
}

// About is the problem with what it is about before its message.
func (p *Problem) About(what any) *Problem { return p.Saying(T("%s: %s", what, p.Message)) }

// Saying is the problem with another message.
func (p *Problem) Saying(message Text) *Problem {
	told := *p
	told.Message = message
	return &told
}

// Advising is the problem with another hint.
func (p *Problem) Advising(hint Text) *Problem {
	told := *p
	told.Hint = hint
	return &told
}

// New makes a problem.
func New(code Code, message, hint Text) *Problem {
	return &Problem{Code: code, Message: message, Hint: hint}
}

// Of makes the problem of a mistake in the call; hint says what to type instead.
func Of(message, hint Text) *Problem { return New(Usage, message, hint) }
