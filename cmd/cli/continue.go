package cli

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/ouro-timer/ouro-timer/cmd/option"
	"github.com/ouro-timer/ouro-timer/timer/problem"
	"github.com/ouro-timer/ouro-timer/timer/proc"
)

// With adds to a call those of the named options that v has.
func With(c problem.Call, v option.Values, names ...string) problem.Call {
	for _, name := range names {
		switch value := v.Value(name).(type) {
		case nil:
		case bool:
			if value {
				c = c.With(problem.Option(name), true)
			}
		case string:
			if name == "json" { // its value is optional, and joined by "="
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

// ContinueWith sets the continuation of the call, which a caller within this program reads (MCP),
// and returns its words for an answer in JSON.
func ContinueWith(s *Call, c problem.Call) ArgvOrNull {
	s.Continuation = c
	return c.Words(OwnName(s))
}

// Program is the name of this program in hints and in lines for people, so that each can be pasted
// into a shell: ouro-timer where the PATH finds it, else the name that it was called by.
func (w *Wording) Program() string {
	if w.program == nil {
		return plainName
	}
	return w.program()
}

// plainName is the name of the installed program.
const plainName = "ouro-timer"

// programOf returns the value of Program.
func programOf(s *Call) string {
	switch {
	case s.Called == "", s.Called == plainName && s.Getenv("PATH") == "", onPath(s, plainName):
		return plainName
	case filepath.Base(s.Called) != s.Called || onPath(s, s.Called):
		return s.Called
	}
	return OwnName(s)
}

// onPath reports whether the PATH finds this program by a bare name.
func onPath(s *Call, name string) bool {
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

// OwnName is the name that calls this program from any folder: the absolute path if it was called
// by a path, the bare name if the PATH finds it, else the path of the executable.
func OwnName(s *Call) string {
	if strings.ContainsRune(s.Called, '/') || strings.ContainsRune(s.Called, filepath.Separator) {
		if filepath.IsAbs(s.Called) {
			return s.Called
		}
		if dir, err := s.Getwd(); err == nil {
			return filepath.Join(dir, s.Called)
		}
	}
	if s.Called != "" && onPath(s, s.Called) {
		return s.Called
	}
	if program, err := os.Executable(); err == nil {
		return program
	}
	return plainName
}
