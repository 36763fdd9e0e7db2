package cli

import (
	"strings"
	"unicode/utf8"

	"github.com/ouro-timer/ouro-timer/timer/problem"
	"github.com/ouro-timer/ouro-timer/timer/proc"
	"github.com/ouro-timer/ouro-timer/timer/runner"
	"github.com/ouro-timer/ouro-timer/timer/tasks"
)

// SurroundingsOf returns the folder, umask and variables of this call, which its command will have.
func SurroundingsOf(s *Call) (*tasks.Surroundings, error) {
	if s.Surroundings != nil {
		return s.Surroundings, nil
	}
	dir, err := s.Getwd()
	if err != nil {
		return nil, problem.New(problem.Failed, problem.T("the current folder is not known: "+err.Error()),
			problem.T("change to a folder that exists"))
	}
	env := map[string]string{}
	for _, pair := range s.Environ() {
		name, value, _ := strings.Cut(pair, "=")
		if strings.HasPrefix(name, "LC_") && utf8.ValidString(pair) {
			env[name] = value
		}
	}
	for _, name := range runner.CapturedNames() {
		if value := s.Getenv(name); value != "" && utf8.ValidString(value) {
			env[name] = value
		}
	}
	if env["PATH"], err = RunPath(s); err != nil {
		return nil, err
	}
	if env["PATH"] == "" || !utf8.ValidString(env["PATH"]) {
		delete(env, "PATH")
	}
	s.Surroundings = &tasks.Surroundings{Dir: dir, Umask: proc.Umask(), Env: env}
	return s.Surroundings, nil
}
