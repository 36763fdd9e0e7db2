package cli

import (
	"github.com/ouro-timer/ouro-timer/timer/problem"
	"github.com/ouro-timer/ouro-timer/timer/when"
)

// forms are the options of WhenFlags with their forms.
var forms = []struct {
	flag string
	form when.Form
}{{"delay", when.DelayForm}, {"until", when.UntilForm}, {"every", when.EveryForm}, {"cron", when.CronForm},
	{"rrule", when.RRuleForm}}

// Forced returns the text and the form of an option of WhenFlags. ok is false when none is given.
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

// LongestTime is the most words that are tried as a time. The longest known time has eleven.
const LongestTime = 16
