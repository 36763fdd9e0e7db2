package cli

import (
	"github.com/ouro-timer/ouro-timer/timer/problem"
	"github.com/ouro-timer/ouro-timer/timer/when"
)

// forms has the form of each option of WhenFlags.
var forms = []struct {
	flag string
	form when.Form
}{{"delay", when.DelayForm}, {"until", when.UntilForm}, {"every", when.EveryForm}, {"cron", when.CronForm},
	{"rrule", when.RRuleForm}}

// TimeOption returns the text and the form of the given option of WhenFlags. ok is false when none
// is given.
func TimeOption(s *Call) (text string, form when.Form, ok bool, err error) {
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

// MaxTimeWords is how many words are tried as one time. The longest known time has eleven.
const MaxTimeWords = 16
