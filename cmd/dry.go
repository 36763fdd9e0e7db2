package cmd

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/ouro-timer/ouro-timer/cmd/option"
	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/timer/rules"
)

// dryFlag is of every command that changes something. The answer is then the one of the call in earnest, as far as it can be known, with
// dry_run beside it; a line has "dry run:" before it and says what would be done (deed). So is what is refused. Nothing is written, started, ended or told.
func dryFlag() option.Option {
	return option.Option{Name: "dry-run", Kind: option.Flag, OfCall: true, Help: "change nothing: say what would be done"}
}

// deeds are what lines of answers say was done, and the same as what would be.
var deeds = map[string]string{
	"acknowledged": "acknowledge", "changed": "change", "ended": "end", "kept": "keep", "paused": "pause", "removed": "remove", "replaced": "replace",
	"restored": "restore", "resumed": "resume", "scheduled": "schedule", "skipped": "skip", "started": "start", "stopped": "stop",
}

// deed is the word of deeds as it is true of this call: "removed", or with --dry-run "would remove".
func deed(s *session, past string) string { return deedOf(past, s.dry) }

func deedOf(past string, dry bool) string {
	if !dry {
		return past
	}
	if base := deeds[past]; base != "" {
		return "would " + base
	}
	return "Would " + deeds[strings.ToLower(past)]
}

// changes makes changes, or says what would become of them.
func changes(s *session, st state.Changes) state.Changes {
	if !s.dry {
		return st
	}
	if s.would == nil {
		s.would = st.Dry()
	}
	return s.would
}

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
			case s.json:
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
	case s.json:
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
