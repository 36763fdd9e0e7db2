package rules

import (
	"fmt"
	"strings"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/state/plain"
)

// Result is how an attempt ended.
type Result struct {
	Started, Ended time.Time // zero when it was not started, or nobody saw its end
	ExitCode       int
	Signal         string
	User, System   time.Duration
	MaxRSS         int64
	Stdout, Stderr state.Output
	// the checksum of its standard output, where that is compared with the next run
	Sum string

	Unstarted bool   // its instant had not come when it was told to end, or the clock was put back
	Gate      string // why the gate stopped it; empty when it did not
	TimedOut  bool
	Nearly    string // of an agent: what came instead of an answer
	Halted    string // why it was ended from outside
	Matched   bool   // its standard output has what the task waits for
	Unknown   bool   // nobody saw its exit code
	Memory    bool   // the system has ended processes of it that had used up its memory
	Ignored   int    // of an agent: lines that were not JSON-RPC
	Err       error  // why it could not be started, or the message not be told
	Postponed error  // why it could not be started yet, for a passing reason: nothing has begun
}

// Refusal is a part of a task that [run] allow does not match.
type Refusal struct {
	Argv     []string // the command; nil when it is Variable
	Program  string   // the program that would be executed for it; empty when there is none
	Variable string   // a variable that was named for the task
}

func (r *Refusal) Error() string {
	if r.Argv == nil {
		return fmt.Sprintf("the variable %s is not allowed: [run] allow lets commands have the captured ones only", r.Variable)
	}
	line := plain.Cut(state.ShellLine(r.Argv), 200)
	return fmt.Sprintf(`the command is not allowed by [run] allow: "%s"`, strings.ReplaceAll(line, `"`, `\"`))
}
