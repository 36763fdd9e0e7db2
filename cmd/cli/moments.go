package cli

import (
	"strings"
	"time"

	"github.com/ouro-timer/ouro-timer/timer/problem"
	"github.com/ouro-timer/ouro-timer/timer/when"
)

// forms are the flags of whenFlags and the readings they force.
var forms = []struct {
	flag string
	form when.Form
}{{"delay", when.DelayForm}, {"until", when.UntilForm}, {"every", when.EveryForm}, {"cron", when.CronForm}, {"rrule", when.RRuleForm}}

// Forced returns the text and the form given by a flag of whenFlags; ok is false when there was none.
func Forced(s *Call) (text string, form when.Form, ok bool, err error) {
	var given string
	for _, f := range forms {
		if !s.Opt.Has(f.flag) {
			continue
		}
		if ok {
			return "", "", false, Excluding(problem.Option(given), problem.Option(f.flag))
		}
		text, form, given, ok = s.Opt.Text(f.flag), f.form, f.flag, true
	}
	return text, form, ok, nil
}

// Bounds reads --start, --end and --count into the options, whatever of them the command has.
func Bounds(s *Call, o *when.Options) error {
	if s.Opt.Has("start") {
		t, err := MomentOf(s, "start", *o)
		if err != nil {
			return err
		}
		o.Start = t
	}
	if s.Opt.Has("end") {
		t, err := MomentOf(s, "end", *o)
		if err != nil {
			return err
		}
		o.End = t
	}
	if s.Opt.Has("count") {
		n := s.Opt.Int("count")
		if n < 1 {
			return problem.Of(problem.T("%s must be 1 or more", problem.Option("count")), problem.T("leave it out for no bound"))
		}
		o.Count = n
	}
	return nil
}

// moment reads a flag whose value is one instant. An RFC 3339 instant may lie in the past; words mean the future.
func MomentOf(s *Call, flag string, o when.Options) (time.Time, error) {
	text := s.Opt.Text(flag)
	if flag == "start" {
		t, err := when.Instant(text, o)
		if err != nil {
			return time.Time{}, Explain(err).About(problem.Option("start"))
		}
		return t, nil
	}
	if t, err := time.Parse(time.RFC3339, strings.TrimSpace(text)); err == nil {
		return t.In(o.Zone), nil
	}
	o.Form, o.OnceOnly, o.Start, o.End, o.Count = when.Any, true, time.Time{}, time.Time{}, 0
	sched, err := when.Parse(text, o)
	if err != nil {
		return time.Time{}, Explain(err).About(problem.Option(flag))
	}
	return sched.At, nil
}

// LongestTime is the most words that a time is looked for in. The longest known has eleven.
const LongestTime = 16
