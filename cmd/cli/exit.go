package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"syscall"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/state/fleet"
	"github.com/ouro-timer/ouro-timer/state/lock"
	"github.com/ouro-timer/ouro-timer/timer/problem"
	"github.com/ouro-timer/ouro-timer/timer/runner"
	"github.com/ouro-timer/ouro-timer/timer/when/fault"
)

// These are the exit codes. The manual promises each.
const (
	ExitOK       = 0
	ExitFailed   = problem.ExitFailed
	ExitUsage    = problem.ExitUsage
	ExitNotFound = problem.ExitNotFound
	ExitState    = problem.ExitState
	ExitMax      = 75  // the caller's --max was reached: call again
	ExitTimedOut = 124 // what was waited for did not come in time
)

// ExitCodes are the exit codes with their meanings, for the guide. A command that runs another one
// (fire, health-wait) passes on its code.
var ExitCodes = []struct {
	Code  int
	Means string
}{
	{ExitOK, "done"},
	{ExitFailed, "what was asked for failed; doctor found work"},
	{ExitUsage, "the call is wrong, or the time is not understood, or past"},
	{ExitNotFound, "no such task or item"},
	{ExitState, "the state is busy or unusable"},
	{ExitMax, "the bound of --max or OURO_MAX was reached: call again as the answer says"},
	{ExitTimedOut, "what was waited for did not come in time"},
	{128 + int(syscall.SIGHUP), "ended by HUP, as the shell tells it"},
	{128 + int(syscall.SIGINT), "ended by INT, as the shell tells it"},
	{128 + int(syscall.SIGQUIT), "ended by QUIT"},
	{128 + int(syscall.SIGTERM), "ended by TERM, as the shell tells it"},
}

// Usage is the problem of a wrong call. Its hint says what to type instead.
func Usage(message, hint string) error { return problem.Of(problem.T(message), problem.T(hint)) }

// Failed is the problem of a request that could not be carried out.
func Failed(message, hint string) error {
	return &problem.Problem{Code: problem.Failed, Message: problem.T(message), Hint: problem.T(hint)}
}

// ExitCode is the error of a call that has answered in full and still did not succeed. Nothing more
// is reported, and the process exits with this code.
type ExitCode int

func (e ExitCode) Error() string { return "exit " + strconv.Itoa(int(e)) }

// Explain returns any error as a problem.
func Explain(err error) *problem.Problem {
	var busy *lock.BusyError
	switch told, unsafe := problem.As(err), unsafePath(err); {
	case told != nil:
		return told
	case LimitOf(err) != nil:
		return limitFailure(LimitOf(err))
	case errors.Is(err, state.ErrNotFound):
		return problem.New(problem.NotFound, problem.T(err.Error()), problem.T("%s shows every task", EveryTask))
	case errors.Is(err, state.ErrInvalid):
		return problem.New(problem.Limit, problem.T(err.Error()),
			problem.T("keep what is long in a file, and schedule a command that reads it"))
	case errors.Is(err, state.ErrTaken):
		return problem.New(problem.Ended, problem.T("a runner has claimed the occurrence in the meantime"),
			problem.T("%s shows how it ended", EveryTask))
	case errors.Is(err, state.ErrEnded):
		return problem.New(problem.Ended, problem.T(err.Error()), problem.T("%s shows how it ended", EveryTask))
	case errors.Is(err, state.ErrLed):
		return problem.New(problem.HasRunner, problem.T(err.Error()),
			problem.T("one runner serves all tasks; %s ends it", problem.To("run").With("stop", true)))
	case errors.As(err, &busy):
		return problem.New(problem.Busy, problem.T(err.Error()),
			problem.T("nothing was changed; %s, and call again", lockHint(busy)))
	case errors.Is(err, state.ErrBusy):
		return problem.New(problem.Busy, problem.T(err.Error()), problem.T("call again in a moment"))
	case errors.Is(err, state.ErrNewer):
		return problem.New(problem.Newer, problem.T(err.Error()), problem.T("use the newer ouro-timer that wrote it"))
	case unsafe != nil:
		return unsafe
	case errors.Is(err, state.ErrUnusable):
		return problem.New(problem.Unusable, problem.T(err.Error()), unusableHint(err))
	case errors.Is(err, context.Canceled):
		return problem.New(problem.Cancelled, problem.T("cancelled"), problem.Text{})
	}
	return problem.New(problem.Failed, problem.T(err.Error()), problem.Text{})
}

// EveryTask is the call that lists every task.
var EveryTask = problem.To("ls").With("all", true)

// lockHint says what to do about a holder that does not release the state lock.
func lockHint(busy *lock.BusyError) string {
	if busy.PID == 0 {
		return "look for an ouro-timer that hangs or was stopped (ps -ef | grep ouro-timer), end or continue it"
	}
	if busy.Stopped {
		return fmt.Sprintf("continue that process: kill -CONT %d", busy.PID)
	}
	return fmt.Sprintf("look at what that process does (ps -fp %d), end it if it hangs", busy.PID)
}

// unusableHint says what to do about a state that cannot be used.
func unusableHint(err error) problem.Text {
	switch {
	case errors.Is(err, runner.ErrLost):
		return problem.T("put the folder back if it is the wrong one, and start another runner: %s", problem.To("run").With("background", true))
	case errors.Is(err, fleet.ErrUnmade):
		return problem.T("create it, once for all machines: ouro-timer fleet init")
	case errors.Is(err, fleet.ErrTwin):
		return problem.T("give this machine a name of its own below [node] in config.toml, as in name = \"build-2\"; ouro-timer fleet nodes lists those that are taken")
	case errors.Is(err, fleet.ErrDenied):
		return problem.T("set nkey or creds under [fleet] in config.toml to a role that is allowed to: " +
			"ouro-timer fleet permit shows the roles")
	case errors.Is(err, fleet.ErrAway):
		return problem.T("see whether the servers are up that OURO_STORE, or store in config.toml, names, " +
			"and whether they accept nkey or creds under [fleet]")
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return problem.T("free space on the disk, and call again: nothing was lost")
	case errors.Is(err, syscall.EMFILE), errors.Is(err, syscall.ENFILE):
		return problem.T("raise the limit of open files (ulimit -n 1024) or close some programs, and call again")
	case errors.Is(err, syscall.EROFS):
		return problem.T("make the file system writable, or set OURO_HOME to a folder on another one")
	case errors.Is(err, syscall.ENOTDIR):
		return problem.T("set OURO_HOME to a folder of yours: it names a file now")
	case errors.Is(err, fs.ErrNotExist):
		return problem.T("see that the folder can be made there, or set OURO_HOME to a folder of yours")
	case errors.Is(err, fs.ErrPermission):
		return problem.T("see who owns the folder and who may write to it, or set OURO_HOME to a folder of yours")
	}
	return problem.T("mend what the message names; %s says what else is wrong", problem.To("doctor"))
}

// ErrorJSON is an error as every command shows it.
type ErrorJSON struct {
	Code       problem.Code      `json:"code"`
	Message    string            `json:"message"`
	Hint       *string           `json:"hint,omitempty"`
	Candidates []fault.Candidate `json:"candidates,omitempty"`
}

// FailedJSON is the answer of every command that failed as a whole.
type FailedJSON struct {
	Now   time.Time `json:"now"`
	Error ErrorJSON `json:"error"`
}

// report writes the error and returns the exit code: a line and a hint on standard error, or with
// --json an object on standard output, unless that cannot be written.
func report(s *Call, err error) int {
	if err == nil {
		return ExitOK
	}
	if code, ok := errors.AsType[ExitCode](err); ok {
		return int(code)
	}
	p := Explain(err)
	if s.InJSON && !s.lost {
		s.Emit(FailedJSON{s.Stamp(), s.AsErrorJSON(p)})
		return p.ExitCode()
	}
	s.ShowProblem("", p)
	return p.ExitCode()
}

// ExitsOf returns the exit codes of a command, without those of signals. Every command has those
// for done, failed, wrong call and unusable state. Commands that name tasks also have that for not
// found, and those with --max that for its bound. Command.Exits has the others.
func ExitsOf(c Command) []int {
	codes := append([]int{ExitOK, ExitFailed, ExitUsage, ExitState}, c.Exits...)
	if c.Ids != "" || c.Options.Named("origin") != nil {
		codes = append(codes, ExitNotFound)
	}
	// The --max of the MCP server bounds its tools, and not the server itself.
	if c.Options.Named("max") != nil && c.Name != "mcp" {
		codes = append(codes, ExitMax)
	}
	slices.Sort(codes)
	return slices.Compact(codes)
}
