package cmd

import (
	"strings"
	"time"

	"github.com/ouro-timer/ouro-timer/cmd/option"
	"github.com/ouro-timer/ouro-timer/timer/problem"
	"github.com/ouro-timer/ouro-timer/timer/when"
)

func noAutostartFlag() option.Option {
	return option.Option{Name: "no-autostart", Kind: option.Flag, Env: "OURO_AUTOSTART", OfCall: true, Help: "do not start a runner (also: OURO_AUTOSTART=0, or autostart = false under [run] in the config)"}
}

// originFlag names all tasks that came of the runs of one.
func originFlag(usage string) option.Option {
	return option.Option{Name: "origin", Kind: option.ID, Help: usage}
}

// allFlag names every task at once.
func allFlag(usage string) option.Option {
	return option.Option{Name: "all", Kind: option.Flag, Help: usage}
}

// matchFlag lets a task be named by what it says.
func matchFlag() option.Option {
	return option.Option{Name: "match", Kind: option.Text, Help: "the one task whose description, text or command contains TEXT"}
}

// whenFlags are the flags that force how a time is read; each excludes the others and the positional WHEN.
func whenFlags() option.Rows {
	return option.Rows{
		option.Option{Name: "delay", Kind: option.Duration, Help: "after DURATION: 90s, 2h30m, 1d; a bare number is seconds"},
		option.Option{Name: "until", Kind: option.Instant, Help: "at INSTANT: 10pm, \"tomorrow at 9am\", 2026-12-24T18:00"},
		option.Option{Name: "every", Aliases: []string{"interval"}, Kind: option.Duration, Help: "again every DURATION: 5m, 1h30m; a unit is needed"},
		option.Option{Name: "cron", Kind: option.Cron, Help: "by a CRON line of 5, 6 (year last) or 7 fields (seconds first, year last), or @daily"},
		option.Option{Name: "rrule", Kind: option.Rule, Help: "by an RFC 5545 RULE, such as FREQ=DAILY;BYHOUR=18"},
	}
}

// boundFlags are the bounds of a recurrence.
func boundFlags() option.Rows {
	return option.Rows{
		option.Option{Name: "start", Kind: option.Time, Help: "a recurrence begins at WHEN: the phase of an interval, the first day of a rule"},
		option.Option{Name: "end", Kind: option.Time, Help: "a recurrence ends at WHEN; that instant still counts"},
		option.Option{Name: "count", Kind: option.Whole, Help: "a recurrence ends after N scheduled instants"},
	}
}

// forms are the flags of whenFlags and the readings they force.
var forms = []struct {
	flag string
	form when.Form
}{{"delay", when.DelayForm}, {"until", when.UntilForm}, {"every", when.EveryForm}, {"cron", when.CronForm}, {"rrule", when.RRuleForm}}

// forced returns the text and the form given by a flag of whenFlags; ok is false when there was none.
func forced(s *session) (text string, form when.Form, ok bool, err error) {
	var given string
	for _, f := range forms {
		if !s.opt.Has(f.flag) {
			continue
		}
		if ok {
			return "", "", false, excluding(problem.Option(given), problem.Option(f.flag))
		}
		text, form, given, ok = s.opt.Text(f.flag), f.form, f.flag, true
	}
	return text, form, ok, nil
}

// bounds reads --start, --end and --count into the options, whatever of them the command has.
func bounds(s *session, o *when.Options) error {
	if s.opt.Has("start") {
		t, err := momentOf(s, "start", *o)
		if err != nil {
			return err
		}
		o.Start = t
	}
	if s.opt.Has("end") {
		t, err := momentOf(s, "end", *o)
		if err != nil {
			return err
		}
		o.End = t
	}
	if s.opt.Has("count") {
		n := s.opt.Int("count")
		if n < 1 {
			return problem.Of(problem.T("%s must be 1 or more", problem.Option("count")), problem.T("leave it out for no bound"))
		}
		o.Count = n
	}
	return nil
}

// moment reads a flag whose value is one instant. An RFC 3339 instant may lie in the past; words mean the future.
func momentOf(s *session, flag string, o when.Options) (time.Time, error) {
	text := s.opt.Text(flag)
	if flag == "start" {
		t, err := when.Instant(text, o)
		if err != nil {
			return time.Time{}, explain(err).About(problem.Option("start"))
		}
		return t, nil
	}
	if t, err := time.Parse(time.RFC3339, strings.TrimSpace(text)); err == nil {
		return t.In(o.Zone), nil
	}
	o.Form, o.OnceOnly, o.Start, o.End, o.Count = when.Any, true, time.Time{}, time.Time{}, 0
	sched, err := when.Parse(text, o)
	if err != nil {
		return time.Time{}, explain(err).About(problem.Option(flag))
	}
	return sched.At, nil
}
