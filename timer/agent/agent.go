// Package agent tells agent processes of reminders and answers their requests, with
// newline-delimited JSON-RPC 2.0 on their standard input and output.
//
// A Pool keeps one process for each program as long as somebody may need it, and tells it of one
// reminder at a time, so that an answer without an id is unambiguous. It never trusts what a
// process writes: lines are bounded, lines that are not JSON-RPC are ignored and counted, and
// requests are answered one after the other. A process that writes without end, reads nothing,
// closes its streams or dies costs its present reminder an attempt, and nobody else anything.
//
// The package decides nothing about reminders. Its caller decides when one is told, whether it is
// tried again and what a request does. It knows no store.
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
	// executed directly; Argv[0] is looked up in the PATH of Env unless it has a slash
	Argv  []string
	Dir   string   // absolute
	Env   []string // exactly this, each KEY=VALUE, always in the same order
	Umask int
	// Also are variables for the process that depend on its first reminder. Equal ignores them.
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
	Due         string  `json:"due_date"` // DueForm
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
	ID       string // of the request; empty: a notification, which has none
	// for the answer, from when it was sent or a new process reads it; 0: no bound
	Timeout time.Duration

	// Stdout and Stderr make the files for what the process writes from now on, until its next
	// reminder: on standard output, what is not JSON-RPC. The output is bounded. Nil: it is not
	// kept.
	Stdout, Stderr func() (*os.File, error)

	// Halt receives why the attempt has to end. The process is then ended, too, with the grace that
	// Grace returns. If Halt receives again, it is killed.
	Halt  <-chan string
	Grace func(why string) time.Duration

	// Started is called with the process that is about to be told.
	Started func(proc.Identity)
	// Serve answers what the process asks from now on.
	Serve Serve
}

// Result is how an attempt ended. The attempt succeeded if Answered is set and Refused is not.
type Result struct {
	Sent, Ended time.Time // zero Sent: it was never told
	Answered    bool
	Refused     *Error // its answer is an error
	TimedOut    bool
	Nearly      string // what came instead of an answer; empty: nothing
	Halted      string // why it was ended from outside
	Err         error  // why it could not be started, or how it ended before it answered
	Ignored     int    // lines of its standard output since the last attempt that are not JSON-RPC

	Stdout, Stderr Written
}

// Written is what a process wrote to a stream while it was told.
type Written struct {
	Bytes     int64
	Truncated bool // the middle is not kept
}
