package waiting

import (
	"fmt"
	"time"

	"github.com/ouro-timer/ouro-timer/cmd/cli"
	"github.com/ouro-timer/ouro-timer/timer/health"
	"github.com/ouro-timer/ouro-timer/timer/problem"
	"github.com/ouro-timer/ouro-timer/timer/when"
)

// healthFault is the first fault of a result that explains its end.
func healthFault(r health.Result) string {
	for _, t := range r.Targets {
		if !t.Last.IsZero() && (r.Reason != health.Permanent || t.Permanent) {
			return t.Target + ": " + t.Last.String()
		}
	}
	return "no answer"
}

// lines tells a result to people, a line for each target.
func (o *healthOptions) lines(r health.Result) []string {
	lines := make([]string, len(r.Targets))
	for i, t := range r.Targets {
		when := " in " + lasted(r.Waited)
		if t.Healthy && o.after != nil {
			when = ", " + o.came(i) + "after " + lasted(time.Duration(o.after[i]*float64(time.Second)))
		}
		lines[i] = fmt.Sprintf("%s %s (%s%s)", cli.Visible(t.Target), cli.Visible(o.standing(i, t)), cli.Plural(t.Attempts, "attempt"), when)
	}
	return lines
}

// came is the word for what a target has become.
func (o *healthOptions) came(i int) string {
	switch {
	case !o.wait.Invert:
		return "healthy "
	case o.isThing(i):
		return "gone "
	}
	return ""
}

// standing says in words how a target stands at the end.
func (o *healthOptions) standing(i int, t health.TargetResult) string {
	switch {
	case t.Healthy && o.wait.Invert && o.isThing(i):
		return "is not there" + seen(t)
	case t.Healthy && o.wait.Invert:
		return "is not healthy, as asked" + seen(t)
	case t.Healthy:
		return "is healthy"
	case t.Streak > 0:
		return "is not yet proven: " + t.Last.String()
	case t.Last.IsZero():
		return "has not answered yet"
	case !o.wait.Invert:
		return "is not healthy: " + t.Last.String()
	case t.Last.Stays():
		return t.Last.String()
	}
	return "is not known to be gone: " + t.Last.String()
}

// seen is what was found in the place of a target that is to be gone.
func seen(t health.TargetResult) string {
	if t.Seen.IsZero() {
		return ""
	}
	return ": " + t.Seen.String()
}

// isThing reports whether a target is one of which is asked only that it is there.
func (o *healthOptions) isThing(i int) bool {
	switch o.targets[i].Scheme() {
	case "tcp", "unix", "pid":
		return true
	case "file":
		return o.wait.File == health.File{}
	}
	return false
}

// lasted writes a length of time for people, to a tenth of a second or, below one, to a thousandth.
func lasted(d time.Duration) string {
	unit := time.Millisecond
	if d >= time.Second {
		unit = 100 * time.Millisecond
	}
	var start time.Time
	return when.Distance(start, start.Add(d.Round(unit)))
}

// healthRow is a target in JSON.
type healthRow struct {
	Target         string   `json:"target"`
	Healthy        bool     `json:"healthy"`
	Attempts       int      `json:"attempts"`
	LastError      *string  `json:"last_error,omitempty"`
	Hint           *string  `json:"hint,omitempty"`
	LatencySeconds *float64 `json:"latency_seconds,omitempty"`
	Permanent      bool     `json:"permanent,omitempty" jsonschema:"the last error is one that waiting does not mend"`
	Streak         int      `json:"streak" jsonschema:"good answers in a row"`
	HealthyAfter   *float64 `json:"healthy_after_seconds,omitempty"`
	Seen           *string  `json:"seen,omitempty" jsonschema:"with --invert, what was found in its place"`
	Fault          *string  `json:"fault,omitempty" jsonschema:"the kind of the last error, in one word, such as refused, status, no_answer"`
}

// What the status of a health-wait says.
const (
	healthIs      = "healthy"
	healthIsNot   = "unhealthy"
	healthWaiting = "waiting" // the caller granted no more; further says how to go on
)

// healthMax is the reason of a wait that is to be continued.
const healthMax = "max"

// healthJSON is the answer of health-wait.
type healthJSON struct {
	Now           time.Time      `json:"now"`
	Healthy       bool           `json:"healthy"`
	WaitedSeconds float64        `json:"waited_seconds"`
	Attempts      int            `json:"attempts"`
	Reason        *string        `json:"reason,omitempty"`
	Targets       []healthRow    `json:"targets"`
	Status        string         `json:"status" enum:"healthy unhealthy waiting"`
	Due           *time.Time     `json:"due,omitempty"`
	LeftSeconds   *float64       `json:"left_seconds,omitempty"`
	Continue      cli.ArgvOrNull `json:"continue,omitempty"`
	Command       *commandJSON   `json:"command,omitempty" jsonschema:"how the command ended that was run then"`
	Error         *cli.ErrorJSON `json:"error,omitempty" jsonschema:"of a fault that waiting does not mend, such as a target that cannot be read"`

	lines []string // one for each target
	aside bool     // standard output is the command's
}

// Text says how each target stands.
func (a healthJSON) Text(o *cli.Out) {
	for _, line := range a.lines {
		if a.aside {
			o.Talk("%s", line)
		} else {
			o.Line("%s", line)
		}
	}
}

// answer is the result as it is told. hints, if any, say for each target what to type instead; further, if any, are the
// words to go on with. fault is why waiting does not help, or nil.
func (o *healthOptions) answer(s *cli.Call, r health.Result, hints []problem.Text, further []string, fault *problem.Problem) healthJSON {
	rows := make([]healthRow, len(r.Targets))
	for i, t := range r.Targets {
		rows[i] = healthRow{Target: t.Target, Healthy: t.Healthy, Attempts: t.Attempts, LastError: cli.OrNull(t.Last.String()), Fault: cli.OrNull(string(t.Last.Kind)), Permanent: t.Permanent, Streak: t.Streak, Seen: cli.OrNull(t.Seen.String())}
		if hints != nil {
			rows[i].Hint = cli.OrNull(s.Says(hints[i]))
		}
		if t.Healthy {
			latency := cli.Seconds(t.Latency)
			rows[i].LatencySeconds = &latency
			if o.after != nil {
				rows[i].HealthyAfter = &o.after[i]
			}
		}
	}
	now := s.Stamp()
	status, reason := healthIsNot, string(r.Reason)
	var left *float64
	switch {
	case r.Healthy:
		status = healthIs
	case further != nil:
		status, reason = healthWaiting, healthMax
		if !o.due.IsZero() {
			n := cli.Seconds(max(0, o.due.Sub(now)))
			left = &n
		}
	}
	answer := healthJSON{Now: now, Healthy: r.Healthy, WaitedSeconds: cli.Seconds(r.Waited), Attempts: r.Attempts, Reason: cli.OrNull(reason), Targets: rows, Status: status,
		Due: cli.Instant(o.due, now.Location()), LeftSeconds: left, Continue: further}
	if fault != nil {
		e := s.AsErrorJSON(fault)
		answer.Error = &e
	}
	return answer
}
