package cmd

import (
	"context"
	"fmt"
	"slices"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/timer/rules"
)

// wouldRun is run --once --dry-run: what a runner would do at this moment about what is due. Gates (--if) are not asked.
func wouldRun(ctx context.Context, s *session, st state.Store) error {
	zone, err := s.zone()
	if err != nil {
		return err
	}
	switch leader, led, err := livingRunner(ctx, s, st); {
	case err != nil:
		return err
	case led:
		return fmt.Errorf("%w: %s", state.ErrLed, holder(leader, zone))
	}
	now, sum := s.now(zone), summaryJSON{Type: "summary", DryRun: true}
	sum.Now = now
	var entries []state.Entry
	problems, err := state.DueBy(ctx, st, now, func(e state.Entry) bool { entries = append(entries, e); return true })
	if err != nil {
		return err
	}
	warnOf(s, problems)
	for _, e := range entries {
		lines, err := rules.Planned(e, now)
		if err != nil {
			s.warn("warning: task %s: %s", e.Task.ID, visible(s.says(explain(err).Message)))
			continue
		}
		for _, l := range lines {
			sum.Ended++
			l.At = now
			switch {
			case s.inJSON:
				s.emit(toldLine{lineJSON: asLineJSON(l, taskZone(e.Task)), Now: now, DryRun: true})
			case l.Outcome == "":
				s.line("would run %s (%s), due %s", e.Task.ID, describe(e.Task), stamp(l.Due.In(taskZone(e.Task))))
			default:
				s.line("%s would be %s (%s): %s", e.Task.ID, l.Outcome, l.Reason, plural(l.Count, "instant"))
			}
		}
	}
	next, pending, err := state.Next(ctx, st, now)
	if err != nil {
		return err
	}
	if pending {
		sum.Next = instant(next, zone)
	}
	switch {
	case s.inJSON:
		s.emit(sum)
	case sum.Ended == 0:
		s.talk("Nothing is due.")
	}
	return incomplete(problems)
}

// wouldStop is run --stop --dry-run.
func wouldStop(ctx context.Context, s *session, st state.Claims, leader state.Leader, led bool) error {
	ending := []state.Ident{leader.Ident}
	if !led {
		var err error
		if ending, _, err = steppedDown(ctx, st, leader); err != nil {
			return err
		}
		if pid := s.opt.Int("pid"); pid != 0 {
			ending = slices.DeleteFunc(ending, func(i state.Ident) bool { return i.PID != pid })
		}
	}
	return tellStopped(s, ending, nil, led, 0, 0)
}
