package runner

import (
	"strconv"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/timer/proc"
	"github.com/ouro-timer/ouro-timer/timer/when"
)

// environ is what the command of a claim sees: exactly the captured variables, and what tells it which occurrence it is.
func environ(r state.Record, last string) []string {
	env := make([]string, 0, len(r.Task.Run.Env)+7)
	for name, value := range r.Task.Run.Env {
		if name != OriginVariable { // of whose run it was scheduled in; what its own run schedules, it has
			env = append(env, name+"="+value)
		}
	}
	zone, err := when.LoadZone(r.Task.When.Zone)
	if err != nil {
		zone = time.UTC
	}
	return append(env,
		"OURO_TASK_ID="+r.Task.ID,
		"OURO_TASK="+r.Task.Text,
		"OURO_DUE="+r.Due.In(zone).Format(time.RFC3339Nano),
		"OURO_ATTEMPT="+strconv.Itoa(max(r.Attempt, 1)),
		"OURO_OCCURRENCE="+state.OccurrenceID(r.Task.ID, r.Number),
		"OURO_LAST_OUTCOME="+last,
		OriginVariable+"="+r.Task.Lineage(),
	)
}

// OriginVariable is the variable by which a task that is scheduled by a run knows what it came of: the ID of the task at whose run all
// began. It is never captured.
const OriginVariable = "OURO_ORIGIN"

// argv is the command line of a claim's job.
func argv(j state.Job) []string {
	switch {
	case j.Script != "":
		return []string{j.Prog} // reads the script from its standard input, as at(1) has it
	case j.Shell != "":
		return proc.ShellText(j.Prog, j.Shell)
	}
	return j.Argv
}
