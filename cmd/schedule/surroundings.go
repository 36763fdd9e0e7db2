package schedule

import (
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/ouro-timer/ouro-timer/cmd/cli"
	"github.com/ouro-timer/ouro-timer/timer/problem"
	"github.com/ouro-timer/ouro-timer/timer/proc"
	"github.com/ouro-timer/ouro-timer/timer/runner"
	"github.com/ouro-timer/ouro-timer/timer/tasks"
)

// surroundingsOf returns the folder, umask and variables of this call, which its command will have.
// It refuses those that are not UTF-8, because a task cannot keep them.
func surroundingsOf(s *cli.Call) (*tasks.Surroundings, error) {
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
		if name, value, _ := strings.Cut(pair, "="); strings.HasPrefix(name, "LC_") {
			env[name] = value
		}
	}
	for _, name := range runner.CapturedNames() {
		if value := s.Getenv(name); value != "" {
			env[name] = value
		}
	}
	if env["PATH"], err = cli.RunPath(s); err != nil {
		return nil, err
	}
	if env["PATH"] == "" {
		delete(env, "PATH")
	}
	if !utf8.ValidString(dir) {
		return nil, problem.Of(problem.T("the path of the current folder is not valid UTF-8"), problem.T("change to another folder"))
	}
	for _, name := range slices.Sorted(maps.Keys(env)) {
		if !utf8.ValidString(name + env[name]) {
			return nil, problem.Of(problem.T("the variable %s is not valid UTF-8", cli.Quote(name)), problem.T("set it otherwise, or unset it"))
		}
	}
	s.Surroundings = &tasks.Surroundings{Dir: dir, Umask: proc.Umask(), Env: env}
	return s.Surroundings, nil
}
