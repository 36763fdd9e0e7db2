package cli

import (
	"github.com/ouro-timer/ouro-timer/cmd/option"
	"github.com/ouro-timer/ouro-timer/timer/problem"
	"github.com/ouro-timer/ouro-timer/timer/when"
)

// TimeOption returns the text and the form of the given option of WhenFlags. ok is false when none
// is given.
func TimeOption(s *Call) (text string, form when.Form, ok bool, err error) {
	for _, name := range option.Forms {
		switch {
		case !s.Opt.Has(name):
		case ok:
			return "", "", false, Excluding(problem.Option(form), problem.Option(name))
		default:
			text, form, ok = s.Opt.Text(name), when.Form(name), true
		}
	}
	return text, form, ok, nil
}

// MaxTimeWords is how many words are tried as one time. The longest known time has eleven.
const MaxTimeWords = 16
