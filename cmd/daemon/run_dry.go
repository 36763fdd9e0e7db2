package daemon

import (
	"context"
	"fmt"
	"slices"

	"github.com/ouro-timer/ouro-timer/cmd/cli"
	"github.com/ouro-timer/ouro-timer/cmd/handover"
	"github.com/ouro-timer/ouro-timer/cmd/view"
	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/timer/rules"
)

// wouldRun is run --once --dry-run: what a runner would do at this moment about what is due. Gates (--if) are not asked.
func wouldRun(ctx context.Context, s *cli.Call, st state.Store) error {
	zone, err := s.Zone()
	if err != nil {
		return err
	}
	switch leader, led, err := handover.LivingRunner(ctx, s.Clock, st); {
	case err != nil:
		return err
	case led:
		return fmt.Errorf("%w: %s", state.ErrLed, holder(leader, zone))
	}
	now, sum := s.Now(zone), summaryJSON{Type: "summary", DryRun: true}
	sum.Now = now
	var entries []state.Entry
	problems, err := state.DueBy(ctx, st, now, func(e state.Entry) bool { entries = append(entries, e); return true })
	if err != nil {
		return err
	}
	cli.WarnOf(s, problems)
	for _, e := range entries {
		lines, err := rules.Planned(e, now)
		if err != nil {
			s.Warn("warning: task %s: %s", e.Task.ID, cli.Visible(s.Says(cli.Explain(err).Message)))
			continue
		}
		for _, l := range lines {
			sum.Ended++
			l.At = now
			switch {
			case s.InJSON:
				s.Emit(view.ToldLine{LineJSON: view.AsLineJSON(l, rules.TaskZone(e.Task)), Now: now, DryRun: true})
			case l.Outcome == "":
				s.Line("would run %s (%s), due %s", e.Task.ID, view.Describe(e.Task), view.Stamp(l.Due.In(rules.TaskZone(e.Task))))
			default:
				s.Line("%s would be %s (%s): %s", e.Task.ID, l.Outcome, l.Reason, cli.Plural(l.Count, "instant"))
			}
		}
	}
	next, pending, err := state.Next(ctx, st, now)
	if err != nil {
		return err
	}
	if pending {
		sum.Next = cli.Instant(next, zone)
	}
	switch {
	case s.InJSON:
		s.Emit(sum)
	case sum.Ended == 0:
		s.Talk("Nothing is due.")
	}
	return view.Incomplete(problems)
}

// wouldStop is run --stop --dry-run.
func wouldStop(ctx context.Context, s *cli.Call, st state.Claims, leader state.Leader, led bool) error {
	ending := []state.Ident{leader.Ident}
	if !led {
		var err error
		if ending, _, err = steppedDown(ctx, st, leader); err != nil {
			return err
		}
		if pid := s.Opt.Int("pid"); pid != 0 {
			ending = slices.DeleteFunc(ending, func(i state.Ident) bool { return i.PID != pid })
		}
	}
	return tellStopped(s, ending, nil, led, 0, 0)
}
