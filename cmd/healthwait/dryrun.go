package healthwait

import (
	"time"

	"github.com/ouro-timer/ouro-timer/cmd/cli"
	"github.com/ouro-timer/ouro-timer/cmd/view"
)

// dryRunJSON is the answer of health-wait --dry-run.
type dryRunJSON struct {
	Now         time.Time      `json:"now"`
	Status      string         `json:"status" jsonschema:"would_wait" enum:"would_wait"`
	Targets     []string       `json:"targets"`
	Any         bool           `json:"any,omitempty" jsonschema:"one of them is enough"`
	Invert      bool           `json:"invert,omitempty" jsonschema:"until they are not healthy"`
	Due         *time.Time     `json:"due,omitempty" jsonschema:"when it would give up; absent: never"`
	LeftSeconds *float64       `json:"left_seconds,omitempty"`
	MaxSeconds  *float64       `json:"max_seconds,omitempty" jsonschema:"for how long a call would block at the most; absent: no such bound"`
	Command     cli.ArgvOrNull `json:"command,omitempty" jsonschema:"what would be run then; absent: nothing"`
	DryRun      bool           `json:"dry_run,omitempty" jsonschema:"nothing was tried or changed: this is what would have been done"`
}

// answerDryRun answers health-wait --dry-run. It tries no target: some run a command, and others
// are servers that would notice.
func (o *healthWait) answerDryRun(s *cli.Call) {
	now := s.Stamp()
	a := dryRunJSON{Now: now, Status: "would_wait", Targets: []string{}, Any: o.group.Options.Any,
		Invert: o.group.Options.Invert, Due: cli.Instant(o.bounds.due, now.Location()),
		Command: o.argv, DryRun: true}
	for _, t := range o.group.Targets {
		a.Targets = append(a.Targets, t.String())
	}
	if !o.bounds.due.IsZero() {
		a.LeftSeconds = new(cli.Seconds(max(0, o.bounds.due.Sub(now))))
	}
	if o.bounds.most > 0 {
		a.MaxSeconds = new(cli.Seconds(o.bounds.most))
	}
	s.Answer(a)
}

// Text says what would be waited for, and what would be run after.
func (a dryRunJSON) Text(o *cli.Out) {
	become, bounds := "healthy", ""
	if a.Invert {
		become = "not healthy"
	}
	if a.Due != nil {
		bounds = ", until " + view.Echo(*a.Due, a.Now)
	}
	if a.MaxSeconds != nil {
		bounds += ", at most " + lasted(time.Duration(*a.MaxSeconds*float64(time.Second))) + " at a time"
	}
	for _, t := range a.Targets {
		o.Line("would wait for %s to be %s%s", cli.Visible(t), become, bounds)
	}
	if a.Command != nil {
		o.Line("would then run %s", cli.Visible(cli.ShellLine(a.Command)))
	}
}
