package cmd

import (
	"strings"

	"github.com/ouro-timer/ouro-timer/cmd/option"
	"github.com/ouro-timer/ouro-timer/timer/problem"
)

// errNothing is of an object that says nothing to do.
var errNothing = problem.Of(problem.T("there is nothing to do at that time"), problem.T("a command: %s; a line for the shell: %s; a message: %s; an agent: %s",
	problem.Set(problem.Command, []string{"make", "backup"}), problem.Set("c", "make backup"), problem.Set("task", "call Bob"), problem.Set("agent", "./agent.py")))

// checkObject refuses an object that says too little or too much to be a task. values are what it says, and what the call says for all.
func checkObject(o option.Object, values option.Values) error {
	var ways []problem.Option
	for _, w := range []struct {
		name problem.Option
		is   bool
	}{{problem.Command, o.Command != nil}, {"c", values.Has("c")}, {"file", values.Has("file")}, {"agent", values.Has("agent")}} {
		if w.is {
			ways = append(ways, w.name)
		}
	}
	switch {
	case o.When != nil && o.Form() != "":
		return usage(quote(o.Called("when"))+" and "+quote(o.Called(o.Form()))+" exclude each other", "give one of them")
	case len(ways) > 1:
		return problem.Of(problem.T("%s exclude each other", problem.Options(" and ", ways...)), problem.T("give one of them"))
	case len(ways) == 0 && strings.TrimSpace(values.Text("task")) == "":
		return errNothing
	case values.Has("c") && strings.TrimSpace(values.Text("c")) == "":
		return problem.Of(problem.T("%s is empty", problem.Option("c")), problem.T("write the line for the shell, %s", problem.Set("c", "make backup")))
	case o.Command != nil && o.Values.Has("shell"):
		return problem.Of(problem.T("%s is for %s; %s runs without a shell", problem.Option("shell"), problem.Options(" and ", "c", "file"), problem.Command),
			problem.T("leave it out"))
	case values.Bool("replace") && !values.Has("key"):
		return problem.Of(problem.T("%s is for tasks that have a key", problem.Option("replace")), problem.T("name the task, %s", problem.Set("key", "backup")))
	case values.Text("file") == "-":
		return problem.Of(problem.T("%s cannot be standard input, which the tasks are read from", problem.Option("file")),
			problem.T("name a file, or give the text in %s", problem.Option("c")))
	}
	return nil
}
