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
	"github.com/ouro-timer/ouro-timer/timer/when"
)

// The exit codes; each is a promise of the manual.
const (
	exitOK       = 0
	exitFailed   = 1   // what was asked for failed
	exitUsage    = 2   // the call, or a time, cannot be understood or is past
	exitNotFound = 3   // no such task
	exitState    = 4   // the state is busy or unusable
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

// failure is an error as it is told: to a person as a line and a hint, in JSON with its code.
type failure struct {
	exit       int
	code       errorCode
	message    string
	hint       string
	candidates []when.Candidate
}

func (f *failure) Error() string { return f.message }

// usage is a mistake in the call; hint says what to type instead.
func usage(message, hint string) error {
	return &failure{exit: exitUsage, code: codeUsage, message: message, hint: hint}
}

// failed is what was asked for, and could not be done.
func failed(message, hint string) error {
	return &failure{exit: exitFailed, code: codeFailed, message: message, hint: hint}
}

// exitCode is an answer that was given in full and still is no success: only the code is left to say.
type exitCode int

func (e exitCode) Error() string { return "exit " + strconv.Itoa(int(e)) }

// explain turns any error into a failure: the one place that knows exit codes.
func explain(err error) *failure {
	var (
		f    *failure
		t    *when.Error
		busy *lock.BusyError
	)
	switch {
	case errors.As(err, &f):
		return f
	case limitOf(err) != nil:
		return limitFailure(limitOf(err))
	case errors.As(err, &t):
		return &failure{exit: exitUsage, code: errorCode(t.Code), message: t.Message, hint: t.Hint, candidates: t.Candidates}
	case errors.Is(err, state.ErrNotFound):
		return &failure{exit: exitNotFound, code: codeNotFound, message: err.Error(), hint: "ouro-timer ls --all shows every task"}
	case errors.Is(err, state.ErrInvalid):
		return &failure{exit: exitUsage, code: codeLimit, message: err.Error(), hint: "keep what is long in a file, and schedule a command that reads it"}
	case errors.Is(err, state.ErrTaken):
		return &failure{exit: exitNotFound, code: codeEnded, message: "its occurrence was taken in the meantime", hint: "ouro-timer ls --all shows how it ended"}
	case errors.Is(err, state.ErrEnded):
		return &failure{exit: exitNotFound, code: codeEnded, message: err.Error(), hint: "ouro-timer ls --all shows how it ended"}
	case errors.Is(err, state.ErrLed):
		return &failure{exit: exitState, code: codeHasRunner, message: err.Error(), hint: "one runner serves all tasks; ouro-timer run --stop ends it"}
	case errors.As(err, &busy):
		return &failure{exit: exitState, code: codeBusy, message: err.Error(), hint: "nothing was changed; " + freeing(busy) + ", and call again"}
	case errors.Is(err, state.ErrBusy):
		return &failure{exit: exitState, code: codeBusy, message: err.Error(), hint: "call again in a moment"}
	case errors.Is(err, state.ErrNewer):
		return &failure{exit: exitState, code: codeNewer, message: err.Error(), hint: "use the newer ouro-timer that wrote it"}
	case errors.Is(err, state.ErrUnusable):
		return &failure{exit: exitState, code: codeUnusable, message: err.Error(), hint: mending(err)}
	case errors.Is(err, context.Canceled):
		return &failure{exit: exitFailed, code: codeCancelled, message: "cancelled"}
	}
	return &failure{exit: exitFailed, code: codeFailed, message: err.Error()}
}

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
	Code       errorCode   `json:"code"`
	Message    string      `json:"message"`
	Hint       *string     `json:"hint"`
	Candidates []candidate `json:"candidates"`
}

// failedJSON is the answer of every command that failed as a whole.
type failedJSON struct {
	Now   time.Time `json:"now"`
	Error errorJSON `json:"error"`
}

func asErrorJSON(f *failure) errorJSON {
	return errorJSON{Code: f.code, Message: f.message, Hint: orNull(f.hint), Candidates: asCandidates(f.candidates)}
}

// report tells the error and returns the exit code: on standard error as a line and a hint, with --json on standard
// output as an object.
func (s *session) report(err error) int {
	if err == nil {
		return exitOK
	}
	var code exitCode
	if errors.As(err, &code) {
		return int(code)
	}
	f := explain(err)
	if s.json {
		s.emit(failedJSON{s.stamp(), asErrorJSON(f)})
		return f.exit
	}
	s.aside("ouro-timer: %s\n", visible(f.message))
	if f.hint != "" {
		s.aside("hint: %s\n", visible(f.hint))
	}
	return f.exit
}

// exitsOf are the codes that a command can end with, but for those of signals: done, failed, a wrong call and an unusable state are of all;
// no such task, of those that name one; the bound, of those with --max. The row of the command has what is left.
func exitsOf(c command) []int {
	codes := append([]int{exitOK, exitFailed, exitUsage, exitState}, c.exits...)
	if c.ids != "" || flagNamed(&c, "origin") != nil {
		codes = append(codes, exitNotFound)
	}
	if flagNamed(&c, "max") != nil && len(c.answers) > 0 { // that of a server bounds its tools
		codes = append(codes, exitMax)
	}
	slices.Sort(codes)
	return slices.Compact(codes)
}
