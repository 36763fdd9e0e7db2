// Package agent tells agent processes of reminders, and takes what they ask: newline-delimited JSON-RPC 2.0 on their standard
// input and output.
//
// A Pool keeps one process for each program, for as long as somebody may need it, and tells it of one reminder at a time, so
// that an answer without an id can only be meant for one. What a process writes is never trusted: lines are bounded, what is
// no JSON-RPC is ignored and counted, and requests are answered one after the other. A process that writes without end, reads
// nothing, closes its streams or dies costs the reminder that it was being told of an attempt, and nobody else anything.
//
// The package decides nothing about reminders: when one is told, whether it is tried again and what a request does is the
// caller's business. It knows no store.
package agent

import (
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/ouro-timer/ouro-timer/timer/proc"
)

// Program is an agent as it is started. Two that are equal share a process.
type Program struct {
	Argv  []string // executed directly; Argv[0] is looked up in the PATH of Env unless it has a slash
	Dir   string   // absolute
	Env   []string // exactly this, each KEY=VALUE, in an order that is always the same
	Umask int
	// Also are variables that it is started with for the sake of what it is told first. They make no difference to what is equal.
	Also []string
}

// key is the same for programs that are equal, and for no others.
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
	// Occurrence is of this occurrence alone, and the same when it is told once more.
	Occurrence string `json:"occurrence_id"`
	// Origin is what OURO_ORIGIN has to be of what the agent schedules by the command line because of this.
	Origin string `json:"origin"`
}

// Due writes an instant as reminders have it: RFC 3339 with a numeric offset, never Z, to the millisecond where it has
// fractions. Agents that cut off a Z would read another instant.
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
	ID       string        // of the request; empty: a notification, which has none
	Timeout  time.Duration // for the answer, from when it is sent, or a new process reads it; 0: however long it takes

	// Stdout and Stderr make the files for what it writes from now on, until it is told of something else: on standard output
	// what is no JSON-RPC. What is written is bounded. Nil: it is not kept.
	Stdout, Stderr func() (*os.File, error)

	// Halt receives why the attempt is to end; the process is then ended, too, with the grace that Grace says. Received
	// once more, it is killed.
	Halt  <-chan string
	Grace func(why string) time.Duration

	// Started is called with the process that is about to be told.
	Started func(proc.Identity)
	// Serve answers what the process asks from now on.
	Serve Serve
}

// Result is how an attempt ended. It went well when Answered is set and Refused is not.
type Result struct {
	Sent, Ended time.Time // zero Sent: it was never told
	Answered    bool
	Refused     *Error // its answer is an error
	TimedOut    bool
	Nearly      string // what there was in place of an answer; empty: nothing
	Halted      string // why it was ended from outside
	Err         error  // why it could not be started, or how it came to its end before it answered
	Ignored     int    // lines of its standard output that were no JSON-RPC, since the attempt before

	Stdout, Stderr Written
}

// Written is what a process wrote to a stream while it was told.
type Written struct {
	Bytes     int64
	Truncated bool // the middle is not kept
}
