// Package agent tells agent processes of reminders and answers their requests, with
// newline-delimited JSON-RPC 2.0 on their standard input and output.
//
// A Pool keeps one process for each program as long as it may be needed, and tells it of one
// reminder at a time, so that an answer without an id is unambiguous. It never trusts what a
// process writes: lines are bounded, lines that are not JSON-RPC are ignored and counted, and
// requests are answered one after the other. If a process writes without end, reads nothing, closes
// its streams or dies, the attempt at its present reminder fails, and no other program is affected.
//
// The package decides nothing about reminders. Its caller decides when a reminder is told, whether
// it is tried again and what a request does. It does not use the store.
package agent

import (
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/ouro-timer/ouro-timer/timer/proc"
)

// Program is an agent and how to start it. Equal programs share a process.
type Program struct {
	// Argv is executed directly. Argv[0] is looked up in the PATH of Env unless it has a slash.
	Argv  []string
	Dir   string   // absolute
	Env   []string // exactly this, each KEY=VALUE, always in the same order
	Umask int
	// Also are further variables for the process, from its first reminder. Equal ignores them.
	Also []string
}

// key is the same for equal programs, and for no others.
func (p Program) key() string {
	var b strings.Builder
	for _, list := range [][]string{p.Argv, {p.Dir, strconv.Itoa(p.Umask)}, p.Env} {
		b.WriteString(strconv.Itoa(len(list)))
		for _, w := range list {
			b.WriteString(" " + strconv.Itoa(len(w)) + ":" + w)
		}
	}
	return b.String()
}

// Equal reports whether two programs share a process.
func (p Program) Equal(q Program) bool { return p.key() == q.key() }

// Reminder is what an agent is told: the params of reminder.fire.
type Reminder struct {
	ID          string  `json:"reminder_id"` // the same for each occurrence
	Title       string  `json:"title"`
	Description *string `json:"description"`
	Due         string  `json:"due_date"` // as the function Due writes it
	Project     *string `json:"project_id"`
	Priority    string  `json:"priority"` // low, medium or high
	// Occurrence names this occurrence, and stays the same if it is told again.
	Occurrence string `json:"occurrence_id"`
	// Origin is the OURO_ORIGIN for what the agent schedules by the command line because of this
	// reminder.
	Origin string `json:"origin"`
}

// Due writes an instant for reminders: RFC 3339 with a numeric offset, to the millisecond if it has
// fractions. It never writes Z, because an agent that cuts off a Z would read another instant.
func Due(t time.Time) string {
	if t.Nanosecond() < int(time.Millisecond) {
		return t.Format("2006-01-02T15:04:05-07:00")
	}
	return t.Format("2006-01-02T15:04:05.000-07:00")
}

// Call is one attempt to tell a program of a reminder.
type Call struct {
	Program  Program
	Reminder Reminder
	ID       string // of the request; empty for a notification, which has none
	// Timeout is how long the answer may take after the line was sent, or after a new process has
	// read it. 0 means no limit.
	Timeout time.Duration

	// Stdout and Stderr make the files for what the process writes until its next reminder. That of
	// standard output gets the lines that are not JSON-RPC. The files are bounded. If a function is
	// nil, the output is not kept.
	Stdout, Stderr func() (*os.File, error)

	// Halt is closed when the attempt has to end. The process is then ended, too: by TERM, and by
	// KILL after Grace. It is killed at once when Kill is closed. Nil channels are never closed.
	Halt, Kill <-chan struct{}
	Grace      time.Duration

	// Started is called with the process that is about to be told.
	Started func(proc.Identity)
	// Serve answers what the process asks from now on.
	Serve Serve
}

// Result is how an attempt ended. The attempt succeeded if Answered is set and Refused is not.
type Result struct {
	Sent, Ended time.Time // Sent is zero if the program was never told
	Answered    bool
	Refused     *Error // its answer is an error
	TimedOut    bool
	Nearly      string // what came instead of an answer, or empty
	Halted      bool   // the caller ended it
	Err         error  // why it could not be started, or how it ended before it answered
	Ignored     int    // lines of its standard output since the last attempt that are not JSON-RPC

	Stdout, Stderr Written
}

// Written is what a process wrote to a stream while it was told.
type Written struct {
	Bytes     int64
	Truncated bool // the middle was left out
}
