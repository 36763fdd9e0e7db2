package problem

import "github.com/ouro-timer/ouro-timer/timer/when/fault"

// Code says to a program what went wrong. The list is closed: a problem has one of these codes and
// no other, and what a code stands for does not change.
type Code string

// The codes.
const (
	Usage         Code = fault.CodeUsage
	NotUnderstood Code = fault.CodeNotUnderstood
	Past          Code = fault.CodePast
	Ambiguous     Code = fault.CodeAmbiguous
	Never         Code = fault.CodeNever
	Differs       Code = "time_differs"
	Zone          Code = fault.CodeZone
	Limit         Code = fault.CodeLimit
	NotAllowed    Code = "not_allowed"

	NotFound    Code = "not_found"
	IDAmbiguous Code = "id_ambiguous"
	Ended       Code = "already_ended"

	Busy        Code = "state_busy"
	Unusable    Code = "state_unusable"
	Newer       Code = "state_newer"
	HasRunner   Code = "runner_exists"
	Failed      Code = "failed"
	Cancelled   Code = "cancelled"
	Running     Code = "running"
	NotRunning  Code = "not_running"
	Unsupported Code = "unsupported"
	NoManager   Code = "unusable"
)

// The exit codes of calls that fail; each is a promise of the manual.
const (
	ExitFailed   = 1 // what was asked for failed
	ExitUsage    = 2 // the call, or a time, cannot be understood or is past
	ExitNotFound = 3 // no such task
	ExitState    = 4 // the state is busy or unusable
)

// Meaning is what a code stands for, and the exit code of a call that fails by it.
type Meaning struct {
	Code  Code
	Exit  int
	Means string
}

// Codes are all codes, as the guide and the schema of errors name them.
var Codes = []Meaning{
	{Usage, ExitUsage, "the call is not understood: an option, an argument or a setting is wrong, or one is missing"},
	{NotUnderstood, ExitUsage, "the words are no time"},
	{Past, ExitUsage, "the time has passed"},
	{Ambiguous, ExitUsage, "the time can be read in several ways; candidates has them, to be given in its place"},
	{Never, ExitUsage, "the time never comes"},
	{Differs, ExitUsage, "the time is not read as --expect says it must be"},
	{Zone, ExitUsage, "there is no such time zone"},
	{Limit, ExitUsage, "it is more, longer or closer together than is taken; the message names the limit"},
	{NotAllowed, ExitUsage, "the configuration does not allow it"},
	{NotFound, ExitNotFound, "there is no such task or item"},
	{IDAmbiguous, ExitNotFound, "several fit the ID or the text; candidates has the first ten"},
	{Ended, ExitNotFound, "the task has ended, or was taken by somebody else, so it cannot be changed"},
	{Busy, ExitState, "another process holds the state; nothing was changed: call again"},
	{Unusable, ExitState, "the state cannot be read or written; the message says why"},
	{Newer, ExitState, "a newer ouro-timer wrote the state"},
	{HasRunner, ExitState, "another process is the runner"},
	{Failed, ExitFailed, "what was asked for failed; the message says why"},
	{Cancelled, ExitFailed, "somebody ended it"},
	{Running, ExitFailed, "a run of the task goes on, and a second one is not wanted beside it"},
	{NotRunning, ExitFailed, "nothing runs that could be ended"},
	{Unsupported, ExitFailed, "this system does not have what it takes"},
	{NoManager, ExitFailed, "what starts services cannot be reached"},
}

// Exit is the exit code of a call that fails by the code.
func (c Code) Exit() int {
	for _, m := range Codes {
		if m.Code == c {
			return m.Exit
		}
	}
	return ExitFailed
}

// Values is the closed list, for the schema.
func (Code) Values() []string {
	list := make([]string, len(Codes))
	for i, m := range Codes {
		list[i] = string(m.Code)
	}
	return list
}
