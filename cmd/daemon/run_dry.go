package daemon

import (
	"context"
	"fmt"

	"github.com/ouro-timer/ouro-timer/cmd/cli"
	"github.com/ouro-timer/ouro-timer/cmd/handover"
	"github.com/ouro-timer/ouro-timer/cmd/view"
	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/timer/rules"
)

// planRun answers run --once --dry-run: what a runner would do now about what is due. Gates (--if)
// are not run.
func planRun(ctx context.Context, s *cli.Call, st state.Store) error {
	zone, err := s.Zone()
	if err != nil {
		return err
	}
	switch leader, led, err := handover.LivingRunner(ctx, s.Clock, st); {
	case err != nil:
		return err
	case led:
		return fmt.Errorf("%w: %s", state.ErrLed, leaderText(leader, zone))
	}
	now, sum := s.Now(zone), summaryJSON{Type: "summary", DryRun: true}
	sum.Now = now
	var entries []state.Entry
	problems, err := state.DueBy(ctx, st, now, func(e state.Entry) bool { entries = append(entries, e); return true })
	if err != nil {
		return err
	}
	s.WarnUnreadable(problems)
	for _, e := range entries {
		lines, err := rules.Planned(e, now)
		if err != nil {
			s.Warn("warning: task %s: %s", e.Task.ID, cli.Visible(s.Render(cli.Explain(err).Message)))
			continue
		}
		for _, l := range lines {
			sum.Ended++
			l.At = now
			s.Answer(plannedLine{view.StreamLine{LineJSON: view.AsLineJSON(l, rules.TaskZone(e.Task)), Now: now,
				DryRun: true}, l, e.Task})
		}
	}
	next, pending, err := state.Next(ctx, st, now)
	if err != nil {
		return err
	}
	if pending {
		sum.Next = cli.Instant(next, zone)
	}
	s.Answer(sum)
	return view.Incomplete(problems)
}

// plannedLine is what a runner would do about an instant.
type plannedLine struct {
	view.StreamLine
	line state.Line
	task state.Task
}

// Text says what would run, or how an instant would end that does not.
func (a plannedLine) Text(o *cli.Out) {
	if l := a.line; l.Outcome != "" {
		o.Line("%s would be %s (%s): %s", a.task.ID, l.Outcome, l.Reason, cli.Plural(l.Count, "instant"))
		return
	}
	o.Line("would run %s (%s), due %s", a.task.ID, view.Describe(a.task),
		view.Stamp(a.line.Due.In(rules.TaskZone(a.task))))
}
