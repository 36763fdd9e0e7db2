package handover

import (
	"cmp"
	"context"
	"os"
	"time"

	"github.com/ouro-timer/ouro-timer/cmd/cli"
	"github.com/ouro-timer/ouro-timer/cmd/view"
	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/timer/needs"
	"github.com/ouro-timer/ouro-timer/timer/problem"
	"github.com/ouro-timer/ouro-timer/timer/proc"
)

// willFail says what happens to a task that could not start now.
const willFail = "; the task will fail unless that changes by then"

// CannotRun warns about what would keep a task from running if it were due now: its folder, its
// program, its gate, or a file system that does not answer soon.
func CannotRun(ctx context.Context, s *cli.Call, t state.Task) (warnings []cli.Warning) {
	switch err := Programs(s).Answers(ctx, t); {
	case ctx.Err() != nil: // the caller has gone
		return nil
	case err != nil:
		return []cli.Warning{{Kind: cli.WarnPostponed, Text: problem.T(err.Error() + isPostponed)}}
	}
	run := t.Run
	if here := s.Surroundings; run.Dir != "" && (here == nil || run.Dir != here.Dir) {
		if _, err := os.Stat(run.Dir); os.IsNotExist(err) {
			return []cli.Warning{{Kind: cli.WarnFolder,
				Text: problem.T("its folder " + cli.Quote(run.Dir) + " is not there now" + willFail)}}
		}
	}
	program := run.Prog
	switch {
	case len(run.Argv) > 0:
		program = run.Argv[0]
	case len(run.Agent) > 0:
		program = run.Agent[0]
	}
	var missing *needs.Missing
	if program != "" {
		missing = Programs(s).Missing(ctx, program, run.Env["PATH"], run.Dir)
	}
	if missing = cmp.Or(missing, Programs(s).MissingInShell(ctx, run.Shell, run)); missing != nil {
		warnings = append(warnings, cli.Warning{Kind: cli.WarnProgram, Text: problem.T(missing.Says("now") + willFail)})
	}
	if missing := Programs(s).MissingInShell(ctx, t.Policy.If, run); missing != nil {
		warnings = append(warnings, cli.Warning{Kind: cli.WarnGate,
			Text: problem.T("%s; the %s check would fail, and each occurrence is skipped unless that changes by then",
				missing.Says("now"), problem.Option("if"))})
	}
	if p := t.Policy; p.Memory > 0 || p.CPU > 0 {
		if why := proc.CanLimit(); why != nil {
			warnings = append(warnings, cli.Warning{Kind: cli.WarnLimits,
				Text: problem.T("its memory and processor time cannot be limited by this process, and perhaps not by the runner: %v%s", why, willFail)})
		}
	}
	return warnings
}

// isPostponed says what happens to a task whose file system does not answer now.
const isPostponed = "; its start is put off until it does"

// Programs looks for programs, and keeps what it found for the whole call.
func Programs(s *cli.Call) *needs.Finder {
	if s.Finder == nil {
		s.Finder = needs.New(s.Clock)
	}
	return s.Finder
}

// farAway is how far away a one-shot has to be for a warning about a reboot. For recurrences there
// always is one.
const farAway = 24 * time.Hour

// rebootWarning returns the warning about tasks that may need a runner after a reboot.
func rebootWarning() cli.Warning {
	return cli.Warning{Kind: cli.WarnReboot,
		Text: problem.T("after a reboot nothing runs until ouro-timer is called again (any at, or %s)",
			problem.To("run").With("background", true))}
}

// RunWarnings warns that nobody runs a task now or after a reboot. A reboot does not matter to a
// wait, and a task that is paused without end needs no runner.
func RunWarnings(e state.Entry, now time.Time, h RunnerState) (warnings []cli.Warning) {
	if !view.NeedsRunner(e) {
		return nil
	}
	if (e.Task.Recurring() || !state.IsUnscheduled(e.Due) && e.Due.Sub(now) > farAway) && h.Runner != RunnerNone &&
		e.Task.Type() != state.TypeWait && !h.Survives() {
		warnings = append(warnings, rebootWarning())
	}
	return append(warnings, h.Warnings()...)
}
