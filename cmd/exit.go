package cmd

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
	"github.com/ouro-timer/ouro-timer/state/lock"
	"github.com/ouro-timer/ouro-timer/timer/problem"
	"github.com/ouro-timer/ouro-timer/timer/when"
)

// The exit codes; each is a promise of the manual.
const (
	exitOK       = 0
	exitFailed   = problem.ExitFailed
	exitUsage    = problem.ExitUsage
	exitNotFound = problem.ExitNotFound
	exitState    = problem.ExitState
	exitMax      = 75  // the caller's --max was reached: call again
	exitTimedOut = 124 // what was waited for did not come in time
)

// exitCodes are what they say to whoever called, for the guide. A command that runs another one (fire, health-wait) passes its code on.
var exitCodes = []struct {
	code  int
	means string
}{
	{exitOK, "done"},
	{exitFailed, "what was asked for failed; doctor found work"},
	{exitUsage, "the call is wrong, or the time is not understood, or past"},
	{exitNotFound, "no such task or item"},
	{exitState, "the state is busy or unusable"},
	{exitMax, "the bound of --max or OURO_MAX was reached: call again as the answer says"},
	{exitTimedOut, "what was waited for did not come in time"},
	{128 + int(syscall.SIGHUP), "ended by HUP, as the shell tells it"},
	{128 + int(syscall.SIGINT), "ended by INT, as the shell tells it"},
	{128 + int(syscall.SIGQUIT), "ended by QUIT"},
	{128 + int(syscall.SIGTERM), "ended by TERM, as the shell tells it"},
}

// usage is a mistake in the call; hint says what to type instead.
func usage(message, hint string) error { return problem.Of(problem.T(message), problem.T(hint)) }

// failed is what was asked for, and could not be done.
func failed(message, hint string) error {
	return &problem.Problem{Code: problem.Failed, Message: problem.T(message), Hint: problem.T(hint)}
}

// exitCode is an answer that was given in full and still is no success: only the code is left to say.
type exitCode int

func (e exitCode) Error() string { return "exit " + strconv.Itoa(int(e)) }

// explain turns any error into a problem.
func explain(err error) *problem.Problem {
	var (
		f    *problem.Problem
		t    *when.Error
		busy *lock.BusyError
	)
	switch {
	case errors.As(err, &f):
		return f
	case limitOf(err) != nil:
		return limitFailure(limitOf(err))
	case errors.As(err, &t):
		return &problem.Problem{Code: problem.Code(t.Code), Message: problem.T(t.Message), Hint: hintOf(t), Candidates: t.Candidates}
	case errors.Is(err, state.ErrNotFound):
		return problem.New(problem.NotFound, problem.T(err.Error()), problem.T("%s shows every task", everyTask))
	case errors.Is(err, state.ErrInvalid):
		return problem.New(problem.Limit, problem.T(err.Error()), problem.T("keep what is long in a file, and schedule a command that reads it"))
	case errors.Is(err, state.ErrTaken):
		return problem.New(problem.Ended, problem.T("its occurrence was taken in the meantime"), problem.T("%s shows how it ended", everyTask))
	case errors.Is(err, state.ErrEnded):
		return problem.New(problem.Ended, problem.T(err.Error()), problem.T("%s shows how it ended", everyTask))
	case errors.Is(err, state.ErrLed):
		return problem.New(problem.HasRunner, problem.T(err.Error()), problem.T("one runner serves all tasks; %s ends it", problem.To("run").With("stop", true)))
	case errors.As(err, &busy):
		return problem.New(problem.Busy, problem.T(err.Error()), problem.T("nothing was changed; %s, and call again", freeing(busy)))
	case errors.Is(err, state.ErrBusy):
		return problem.New(problem.Busy, problem.T(err.Error()), problem.T("call again in a moment"))
	case errors.Is(err, state.ErrNewer):
		return problem.New(problem.Newer, problem.T(err.Error()), problem.T("use the newer ouro-timer that wrote it"))
	case errors.Is(err, state.ErrUnusable):
		return problem.New(problem.Unusable, problem.T(err.Error()), problem.T(mending(err)))
	case errors.Is(err, context.Canceled):
		return problem.New(problem.Cancelled, problem.T("cancelled"), problem.Text{})
	}
	return problem.New(problem.Failed, problem.T(err.Error()), problem.Text{})
}

// hintOf is the hint of a time that is none, with the options that it ends with.
func hintOf(e *when.Error) problem.Text {
	hint := problem.T(e.Hint)
	for i, name := range e.Options {
		between := ", "
		switch i {
		case 0:
			between = " "
		case len(e.Options) - 1:
			between = " or "
		}
		hint = problem.T("%s%s%s", hint, between, problem.Option(name))
	}
	return hint
}

// everyTask is the call that lists every task there is.
var everyTask = problem.To("ls").With("all", true)

// freeing says what to do about a process that does not give the state lock back.
func freeing(busy *lock.BusyError) string {
	if busy.PID == 0 {
		return "look for an ouro-timer that hangs or was stopped (ps -ef | grep ouro-timer), end it or let it go on"
	}
	if busy.Stopped {
		return fmt.Sprintf("let that process go on: kill -CONT %d", busy.PID)
	}
	return fmt.Sprintf("look at what that process does (ps -fp %d), end it if it hangs", busy.PID)
}

// mending says what to do about a state folder that cannot be used.
func mending(err error) string {
	switch {
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return "make room on the disk, and call again: nothing was lost"
	case errors.Is(err, syscall.EMFILE), errors.Is(err, syscall.ENFILE):
		return "raise the limit of open files: ulimit -n 1024 (or close some programs), and call again"
	case errors.Is(err, syscall.EROFS):
		return "make the file system writable, or set OURO_HOME to a folder on another one"
	case errors.Is(err, syscall.ENOTDIR):
		return "set OURO_HOME to a folder of yours; what it names is none"
	case errors.Is(err, fs.ErrPermission):
		return "see who owns the folder and who may write to it, or set OURO_HOME to a folder of yours"
	}
	return "mend or move away what it names; every other task is left as it is"
}

// candidate is a text that can be pasted back in place of what was ambiguous, and the instant it stands for.
type candidate struct {
	Text string    `json:"text"`
	At   time.Time `json:"at"`
}

func asCandidates(list []when.Candidate) []candidate {
	rows := []candidate{}
	for _, c := range list {
		rows = append(rows, candidate{c.Text, c.At})
	}
	return rows
}

// errorJSON is an error as every command shows it.
type errorJSON struct {
	Code       problem.Code `json:"code"`
	Message    string       `json:"message"`
	Hint       *string      `json:"hint"`
	Candidates []candidate  `json:"candidates"`
}

// failedJSON is the answer of every command that failed as a whole.
type failedJSON struct {
	Now   time.Time `json:"now"`
	Error errorJSON `json:"error"`
}

// errorJSON is a problem in the words of the surface that the call came by.
func asErrorJSON(s *session, p *problem.Problem) errorJSON {
	return errorJSON{Code: p.Code, Message: s.says(p.Message), Hint: orNull(s.says(p.Hint)), Candidates: asCandidates(p.Candidates)}
}

// says is a text in the words of the surface that the call came by.
func (s *session) says(text problem.Text) string {
	if s.surface == nil {
		return text.In(problem.Shell{Typed: s.opt.Typed()})
	}
	return text.In(s.surface)
}

// report tells the error and returns the exit code: on standard error as a line and a hint, with --json on standard
// output as an object.
func report(s *session, err error) int {
	if err == nil {
		return exitOK
	}
	var code exitCode
	if errors.As(err, &code) {
		return int(code)
	}
	p := explain(err)
	if s.inJSON {
		s.emit(failedJSON{s.stamp(), asErrorJSON(s, p)})
		return p.ExitCode()
	}
	s.complain("", p)
	return p.ExitCode()
}

// complain tells a problem on standard error, as a line that names what it is about and a hint.
func (s *session) complain(about string, p *problem.Problem) {
	s.aside("ouro-timer: %s%s\n", about, visible(s.says(p.Message)))
	if !p.Hint.Empty() {
		s.aside("hint: %s\n", visible(s.says(p.Hint)))
	}
}

// exitsOf are the codes that a command can end with, but for those of signals: done, failed, a wrong call and an unusable state are of all;
// no such task, of those that name one; the bound, of those with --max. The row of the command has what is left.
func exitsOf(c command) []int {
	codes := append([]int{exitOK, exitFailed, exitUsage, exitState}, c.exits...)
	if c.ids != "" || c.options.Named("origin") != nil {
		codes = append(codes, exitNotFound)
	}
	if c.options.Named("max") != nil && len(c.answers) > 0 { // that of a server bounds its tools
		codes = append(codes, exitMax)
	}
	slices.Sort(codes)
	return slices.Compact(codes)
}
