package healthwait

import (
	"time"

	"github.com/ouro-timer/ouro-timer/cmd/cli"
	"github.com/ouro-timer/ouro-timer/timer/health"
	"github.com/ouro-timer/ouro-timer/timer/problem"
	"github.com/ouro-timer/ouro-timer/timer/when/say"
)

// firstFault returns the first fault that explains the end of a wait.
func firstFault(r health.Result) string {
	for _, t := range r.Targets {
		if !t.Last.IsZero() && (r.Reason != health.Permanent || t.Permanent) {
			return t.Target + ": " + t.Last.String()
		}
	}
	return "no answer"
}

// lasted returns a duration for people, to a tenth of a second, below one second to a thousandth.
func lasted(d time.Duration) string {
	unit := time.Millisecond
	if d >= time.Second {
		unit = 100 * time.Millisecond
	}
	var start time.Time
	return say.Distance(start, start.Add(d.Round(unit)))
}

// These are the statuses of a health-wait.
const (
	statusHealthy   = "healthy"
	statusUnhealthy = "unhealthy"
	statusWaiting   = "waiting" // --max was reached, and another call goes on
)

// reasonMax is the reason of a wait that ended at --max.
const reasonMax = "max"

// answerJSON is the answer of health-wait.
type answerJSON struct {
	Now           time.Time      `json:"now"`
	Healthy       bool           `json:"healthy"`
	WaitedSeconds float64        `json:"waited_seconds"`
	Attempts      int            `json:"attempts"`
	Reason        *string        `json:"reason,omitempty"`
	Targets       []Row          `json:"targets"`
	Status        string         `json:"status" enum:"healthy unhealthy waiting"`
	Due           *time.Time     `json:"due,omitempty"`
	LeftSeconds   *float64       `json:"left_seconds,omitempty"`
	Continue      cli.ArgvOrNull `json:"continue,omitempty"`
	Command       *commandJSON   `json:"command,omitempty" jsonschema:"how the command ended that was run after the wait"`
	Error         *cli.ErrorJSON `json:"error,omitempty" jsonschema:"a fault that waiting does not mend, such as a target that cannot be read"`

	lines    []string // a line for each target
	toStderr bool     // standard output belongs to the command
}

// Text writes a line for each target.
func (a answerJSON) Text(o *cli.Out) {
	for _, line := range a.lines {
		if a.toStderr {
			o.Note("%s", line)
		} else {
			o.Line("%s", line)
		}
	}
}

// answer returns the answer of a result. hints say for each target what to do, further is the call
// that goes on, and fault is why waiting does not help; each may be nil.
func (o *healthWait) answer(s *cli.Call, r health.Result, hints []problem.Text, further []string,
	fault *problem.Problem) answerJSON {
	rows := make([]Row, len(r.Targets))
	for i := range rows {
		rows[i] = o.group.Row(r, i)
		if hints != nil {
			rows[i].Hint = cli.OrNull(s.Render(hints[i]))
		}
	}
	now := s.Stamp()
	status, reason := statusUnhealthy, string(r.Reason)
	var left *float64
	switch {
	case r.Healthy:
		status = statusHealthy
	case further != nil:
		status, reason = statusWaiting, reasonMax
		if !o.bounds.due.IsZero() {
			left = new(cli.Seconds(max(0, o.bounds.due.Sub(now))))
		}
	}
	answer := answerJSON{Now: now, Healthy: r.Healthy, WaitedSeconds: cli.Seconds(r.Waited), Attempts: r.Attempts,
		Reason: cli.OrNull(reason), Targets: rows, Status: status,
		Due: cli.Instant(o.bounds.due, now.Location()), LeftSeconds: left, Continue: further}
	if fault != nil {
		answer.Error = new(s.AsErrorJSON(fault))
	}
	return answer
}
