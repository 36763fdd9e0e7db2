package schedule

import (
	"time"

	"github.com/ouro-timer/ouro-timer/cmd/cli"

	"github.com/ouro-timer/ouro-timer/timer/problem"

	"github.com/ouro-timer/ouro-timer/timer/when"
)

// spread reads --spread; zero when it was not given.
func spread(s *cli.Call) (time.Duration, error) {
	if !s.Opt.Has("spread") {
		return 0, nil
	}
	span, err := when.Duration(s.Opt.Text("spread"))
	if err != nil {
		return 0, cli.Explain(err).About(problem.Option("spread"))
	}
	if span < time.Millisecond {
		return 0, problem.Of(problem.T("%s is no span to deal tasks out over", problem.Set("spread", s.Opt.Text("spread"))), problem.T("give 1ms or more, such as %s", problem.Set("spread", "1h")))
	}
	return span, nil
}
