package cli

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/ouro-timer/ouro-timer/cmd/option"
	"github.com/ouro-timer/ouro-timer/timer/problem"
	"github.com/ouro-timer/ouro-timer/timer/proc"
)

// With is a call with those of the options that values have, in the order of the names.
func With(c problem.Call, v option.Values, names ...string) problem.Call {
	for _, name := range names {
		switch value := v.Value(name).(type) {
		case nil:
		case bool:
			if value {
				c = c.With(problem.Option(name), true)
			}
		case string:
			if name == "json" { // behind which no value stands
				c = c.With(problem.Option(name), problem.Bare(value))
			} else {
				c = c.With(problem.Option(name), value)
			}
		default:
			c = c.With(problem.Option(name), value)
		}
	}
	return c
}

// GoingOn remembers how the call goes on, for whoever made it within this program, and returns its
// words, as an answer in JSON has them.
func GoingOn(s *Call, c problem.Call) ArgvOrNull {
	s.Further = c
	return c.Words(Itself(s))
}

// Program is what a line for people, and a hint, calls this program: ouro-timer where that finds
// it, as it does for nearly everybody; else what it was called by. Each line that can be pasted
// back has it.
func (w *Words) Program() string {
	if w.program == nil {
		return plainName
	}
	return w.program()
}

// plainName is what the program is called where it is installed.
const plainName = "ouro-timer"

// programOf finds out what Program is.
func programOf(s *Call) string {
	switch {
	case s.Called == "", s.Called == plainName && s.Getenv("PATH") == "", finds(s, plainName):
		return plainName
	case filepath.Base(s.Called) != s.Called || finds(s, s.Called):
		return s.Called
	}
	return Itself(s)
}

// finds reports whether a bare name, looked up on the PATH, is this very program.
func finds(s *Call, name string) bool {
	program, err := os.Executable()
	if err != nil {
		return false
	}
	found, err := proc.LookPath(name, s.Getenv("PATH"), "")
	if err != nil {
		return false
	}
	own, err := os.Stat(program)
	if err != nil {
		return false
	}
	other, err := os.Stat(found)
	return err == nil && os.SameFile(own, other)
}

// Itself is the word that calls this program again, from any folder: its path if it was called by
// one, its bare name if that finds this very program, else where the program is.
func Itself(s *Call) string {
	if strings.ContainsRune(s.Called, '/') || strings.ContainsRune(s.Called, filepath.Separator) {
		if filepath.IsAbs(s.Called) {
			return s.Called
		}
		if dir, err := s.Getwd(); err == nil {
			return filepath.Join(dir, s.Called)
		}
	}
	if s.Called != "" && finds(s, s.Called) {
		return s.Called
	}
	if program, err := os.Executable(); err == nil {
		return program
	}
	return plainName
}
