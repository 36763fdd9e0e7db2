package cmd

import (
	"github.com/ouro-timer/ouro-timer/cmd/option"
	"github.com/ouro-timer/ouro-timer/timer/problem"
)

// with is a call with those of the options that values have, in the order of the names.
func with(c problem.Call, v option.Values, names ...string) problem.Call {
	for _, name := range names {
		if value := v.Value(name); value != nil && value != false {
			c = c.With(problem.Option(name), value)
		}
	}
	return c
}

// goingOn remembers how the call goes on, for whoever made it within this program, and returns its words, as an answer in JSON has them.
func goingOn(s *session, c problem.Call) argvOrNull {
	s.further = c
	return c.Words(itself(s))
}

// goOn tells people how the call goes on. In JSON the answer has it.
func goOn(s *session, words argvOrNull) {
	line := shellLine(words)
	if _, terminal := terminalWidth(s.Err, s.Getenv); terminal {
		line = visible(line)
	}
	if !s.json {
		s.aside("continue: %s\n", line)
	}
}
