package cmd

import "github.com/ouro-timer/ouro-timer/timer/when"

// errorCode says to a program what went wrong. The list is closed: an error has one of these codes and no other, and what a code stands for
// does not change.
type errorCode string

// The codes, by the exit code that a call has which failed by one.
const (
	codeUsage         errorCode = when.CodeUsage
	codeNotUnderstood errorCode = when.CodeNotUnderstood
	codePast          errorCode = when.CodePast
	codeAmbiguous     errorCode = when.CodeAmbiguous
	codeNever         errorCode = when.CodeNever
	codeDiffers       errorCode = "time_differs"
	codeZone          errorCode = when.CodeZone
	codeLimit         errorCode = when.CodeLimit
	codeNotAllowed    errorCode = "not_allowed"

	codeNotFound    errorCode = "not_found"
	codeIDAmbiguous errorCode = "id_ambiguous"
	codeEnded       errorCode = "already_ended"

	codeBusy       errorCode = "state_busy"
	codeUnusable   errorCode = "state_unusable"
	codeNewer      errorCode = "state_newer"
	codeHasRunner  errorCode = "runner_exists"
	codeFailed     errorCode = "failed"
	codeCancelled  errorCode = "cancelled"
	codeRunning    errorCode = "running"
	codeNotRunning errorCode = "not_running"
	codeUnsupport  errorCode = "unsupported"
	codeNoManager  errorCode = "unusable"
)

// errorCodes are all of them, as the guide and the schema of errors name them.
var errorCodes = []struct {
	code  errorCode
	exit  int
	means string
}{
	{codeUsage, exitUsage, "the call is not understood: an option, an argument or a setting is wrong, or one is missing"},
	{codeNotUnderstood, exitUsage, "the words are no time"},
	{codePast, exitUsage, "the time has passed"},
	{codeAmbiguous, exitUsage, "the time can be read in several ways; candidates has them, to be given in its place"},
	{codeNever, exitUsage, "the time never comes"},
	{codeDiffers, exitUsage, "the time is not read as --expect says it must be"},
	{codeZone, exitUsage, "there is no such time zone"},
	{codeLimit, exitUsage, "it is more, longer or closer together than is taken; the message names the limit"},
	{codeNotAllowed, exitUsage, "the configuration does not allow it"},
	{codeNotFound, exitNotFound, "there is no such task or item"},
	{codeIDAmbiguous, exitNotFound, "several fit the ID or the text; candidates has them"},
	{codeEnded, exitNotFound, "the task has ended, or was taken by somebody else, so it cannot be changed"},
	{codeBusy, exitState, "another process holds the state; nothing was changed: call again"},
	{codeUnusable, exitState, "the state cannot be read or written; the message says why"},
	{codeNewer, exitState, "a newer ouro-timer wrote the state"},
	{codeHasRunner, exitState, "another process is the runner"},
	{codeFailed, exitFailed, "what was asked for failed; the message says why"},
	{codeCancelled, exitFailed, "somebody ended it"},
	{codeRunning, exitFailed, "a run of the task goes on, and a second one is not wanted beside it"},
	{codeNotRunning, exitFailed, "nothing runs that could be ended"},
	{codeUnsupport, exitFailed, "this system does not have what it takes"},
	{codeNoManager, exitFailed, "what starts services cannot be reached"},
}

// Values is the closed list, for the schema.
func (errorCode) Values() []string {
	list := make([]string, len(errorCodes))
	for i, c := range errorCodes {
		list[i] = string(c.code)
	}
	return list
}
