package cli

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/ouro-timer/ouro-timer/cmd/option"
	"github.com/ouro-timer/ouro-timer/timer/problem"
	"github.com/ouro-timer/ouro-timer/timer/proc"
)

// With adds to a call those of the named options that are given.
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

// GoingOn keeps the call that goes on for a caller within this program, such as MCP, and returns
// its words for an answer in JSON.
func GoingOn(s *Call, c problem.Call) ArgvOrNull {
	s.Further = c
	return c.Words(Itself(s))
}

// Program is the name of this program in hints and in lines for people: ouro-timer where the PATH
// finds it, else the name that it was called by. So each line can be pasted back.
func (w *Words) Program() string {
	if w.program == nil {
		return plainName
	}
	return w.program()
}

// plainName is the name of the installed program.
const plainName = "ouro-timer"

// programOf finds out the value of Program.
func programOf(s *Call) string {
	switch {
	case s.Called == "", s.Called == plainName && s.Getenv("PATH") == "", finds(s, plainName):
		return plainName
	case filepath.Base(s.Called) != s.Called || finds(s, s.Called):
		return s.Called
	}
	return Itself(s)
}

// finds reports whether the PATH leads from a bare name to this program.
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

// Itself is the word that calls this program from any folder: the absolute path if it was called by
// a path, its bare name if the PATH finds it, else the path of the executable.
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
