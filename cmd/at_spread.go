package cmd

import (
	"time"

	"github.com/ouro-timer/ouro-timer/timer/problem"

	"github.com/ouro-timer/ouro-timer/timer/when"
)

// spread reads --spread; zero when it was not given.
func spread(s *session) (time.Duration, error) {
	if !s.opt.Has("spread") {
		return 0, nil
	}
	span, err := when.Duration(s.opt.Text("spread"))
	if err != nil {
		return 0, explain(err).About(problem.Option("spread"))
	}
	if span < time.Millisecond {
		return 0, problem.Of(problem.T("%s is no span to deal tasks out over", problem.Set("spread", s.opt.Text("spread"))), problem.T("give 1ms or more, such as %s", problem.Set("spread", "1h")))
	}
	return span, nil
}
