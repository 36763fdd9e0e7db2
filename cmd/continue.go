package cmd

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/ouro-timer/ouro-timer/cmd/option"
	"github.com/ouro-timer/ouro-timer/timer/problem"
	"github.com/ouro-timer/ouro-timer/timer/proc"
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
	if !s.inJSON {
		s.aside("continue: %s\n", line)
	}
}

// itself is the word that calls this program again, from any folder: its path if it was called by one, its bare name if that finds
// this very program, else where the program is.
func itself(s *session) string {
	const name = "ouro-timer"
	if strings.ContainsRune(s.called, '/') || strings.ContainsRune(s.called, filepath.Separator) {
		if filepath.IsAbs(s.called) {
			return s.called
		}
		if dir, err := s.Getwd(); err == nil {
			return filepath.Join(dir, s.called)
		}
	}
	program, err := os.Executable()
	if err != nil {
		return name
	}
	if own, err := os.Stat(program); err == nil && s.called != "" {
		if found, err := proc.LookPath(s.called, s.Getenv("PATH"), ""); err == nil {
			if other, err := os.Stat(found); err == nil && os.SameFile(own, other) {
				return s.called
			}
		}
	}
	return program
}
