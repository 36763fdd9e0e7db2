package rules

import (
	"fmt"
	"strings"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
)

// Result is how an attempt ended.
type Result struct {
	Started, Ended time.Time // zero: it was not started, nobody saw its end
	ExitCode       int
	Signal         string
	User, System   time.Duration
	MaxRSS         int64
	Stdout, Stderr state.Output
	Sum            string // of its standard output, where it is compared with the next run's

	Unstarted bool   // its instant had not come when it was told to end, or has receded
	Gate      string // why the gate kept it back; empty: it did not
	TimedOut  bool
	Nearly    string // of an agent: what there was in place of an answer
	Halted    string // why it was ended from outside
	Matched   bool   // its standard output has what the task waits for
	Unknown   bool   // nobody saw its exit code
	Memory    bool   // the system has ended processes of it that had used up its memory
	Ignored   int    // of an agent: lines that were no JSON-RPC
	Err       error  // why it could not be started, or the message not be told
	Postponed error  // why it could not be started yet, of what passes by itself: nothing has begun
}

// Refusal is a part of a task that [run] allow does not allow.
type Refusal struct {
	Argv     []string // the command; nil: it is Variable
	Program  string   // what would be executed for it; empty: there is no such program
	Variable string   // a variable that the task was given beside those that are captured
}

func (r *Refusal) Error() string {
	if r.Argv == nil {
		return fmt.Sprintf("the variable %s is not allowed: [run] allow lets commands have the captured ones only", r.Variable)
	}
	line := []rune(state.ShellLine(r.Argv))
	if most := 200; len(line) > most {
		line = append(line[:most-1], '…')
	}
	return fmt.Sprintf(`the command is not allowed by [run] allow: "%s"`, strings.ReplaceAll(string(line), `"`, `\"`))
}
