package runner

import (
	"cmp"
	"maps"
	"os"
	"strconv"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/timer/proc"
	"github.com/ouro-timer/ouro-timer/timer/rules"
)

// environ is the environment of a claim's command: exactly the captured variables, and those that
// say which occurrence it is.
func environ(r state.Record, last string) []string {
	env := make([]string, 0, len(r.Task.Run.Env)+8)
	for name, value := range r.Task.Run.Env {
		if name != OriginVariable { // of the run that scheduled it; its own runs have their own
			env = append(env, name+"="+value)
		}
	}
	if r.Fence > 0 {
		env = append(env, "OURO_FENCE="+strconv.FormatUint(r.Fence, 10))
	}
	return append(env,
		"OURO_TASK_ID="+r.Task.ID,
		"OURO_TASK="+r.Task.Text,
		"OURO_DUE="+r.Due.In(rules.TaskZone(r.Task)).Format(time.RFC3339Nano),
		"OURO_ATTEMPT="+strconv.Itoa(max(r.Attempt, 1)),
		"OURO_OCCURRENCE="+state.OccurrenceID(r.Task.ID, r.Number),
		"OURO_LAST_OUTCOME="+last,
		OriginVariable+"="+r.Task.ChildOrigin(),
	)
}

// ofUser are the variables of a user that a command from another machine gets from the runner. By
// the last two an ouro-timer inside it finds the state that its task is in.
var ofUser = []string{"HOME", "USER", "LOGNAME", "LANG", "OURO_HOME", "OURO_STORE"}

// atHome returns a task as it runs on this machine. A command without a folder was scheduled for
// whatever machine may run it: it starts in the home of the runner's user, with those variables of
// the user that it does not name itself.
func atHome(t state.Task) state.Task {
	if len(t.On) == 0 || t.Run.Dir != "" || t.Type() == state.TypeMessage || t.Type() == state.TypeWait {
		return t
	}
	env := maps.Clone(t.Run.Env)
	if env == nil {
		env = map[string]string{}
	}
	for _, name := range ofUser {
		value, known := os.LookupEnv(name)
		if _, named := env[name]; known && !named {
			env[name] = value
		}
	}
	t.Run.Env, t.Run.Dir = env, cmp.Or(env["HOME"], "/")
	return t
}

// OriginVariable tells a task that a run schedules what it came from: the ID of the task whose run
// was the first. It is never captured.
const OriginVariable = "OURO_ORIGIN"

// Handed are the variables that every run gets of its own.
var Handed = []string{"OURO_TASK_ID", "OURO_TASK", "OURO_DUE", "OURO_ATTEMPT", "OURO_OCCURRENCE", "OURO_LAST_OUTCOME", "OURO_FENCE", OriginVariable}

// argv is the command line of a claim's job.
func argv(j state.Job) []string {
	switch {
	case j.Script != "":
		return []string{j.Prog} // reads the script from its standard input, like at(1)
	case j.Shell != "":
		return proc.ShellText(j.Prog, j.Shell)
	}
	return j.Argv
}
