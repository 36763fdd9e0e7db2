package cmd

import (
	"cmp"
	"context"
	"os"
	"slices"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/timer/needs"
)

// What is to be expected of a task that could not start now.
const (
	willFail  = "; the task will fail unless that changes by then"
	wouldSkip = "; what --if asks cannot be answered, and each occurrence is skipped unless that changes by then"
)

// cannotRun points out what would keep a task from running as it is meant to, were it due now: its
// folder, its program, its gate. Where no file system answers in a short time it points out that.
func (s *session) cannotRun(ctx context.Context, t state.Task) (warnings []string) {
	switch err := s.programs().Answers(ctx, t); {
	case ctx.Err() != nil: // nobody waits for it any more
		return nil
	case err != nil:
		return []string{err.Error() + isPutOff}
	}
	job := t.Run
	if job.Dir != "" {
		if _, err := os.Stat(job.Dir); os.IsNotExist(err) {
			return []string{"its folder " + quote(job.Dir) + " is not there now" + willFail}
		}
	}
	program := job.Prog
	switch {
	case len(job.Argv) > 0:
		program = job.Argv[0]
	case len(job.Agent) > 0:
		program = job.Agent[0]
	}
	var missing *needs.Missing
	if program != "" {
		missing = s.programs().Missing(ctx, program, job.Env["PATH"], job.Dir)
	}
	if missing = cmp.Or(missing, s.programs().MissingInShell(ctx, job.Shell, job)); missing != nil {
		warnings = append(warnings, missing.Says("now")+willFail)
	}
	if missing := s.programs().MissingInShell(ctx, t.Policy.If, job); missing != nil {
		warnings = append(warnings, missing.Says("now")+wouldSkip)
	}
	return warnings
}

// isPutOff is what becomes of a task for which a file system does not answer.
const isPutOff = "; its start is put off until it does"

// programs looks for programs, and remembers what it has found for the whole call.
func (s *session) programs() *needs.Finder {
	if s.finder == nil {
		s.finder = needs.New(s.Clock)
	}
	return s.finder
}

// farOff is how far away something that comes once is said to need a runner after a reboot, as what
// recurs always does.
const farOff = 24 * time.Hour

// rebootWarning is said of recurring tasks, and of what is days away.
const rebootWarning = "after a reboot nothing runs until ouro-timer is called again (any at, or run --background)"

// standingWarning reports whether a warning is of how things are set up, which every call would
// repeat: --quiet leaves it out. What keeps a task from being run or told against what the call
// says is no such warning.
func standingWarning(warning string) bool { return warning == rebootWarning || warning == toldNobody }

// runWarnings are of who runs a task, also after a reboot, which a wait is not warned of. One that
// is paused until somebody says so is run by nobody.
func runWarnings(e state.Entry, now time.Time, h hands) (warnings []string) {
	if !awaited(e) {
		return nil
	}
	if (e.Task.Recurring() || e.Due.Sub(now) > farOff) && h.runner != runnerNone && !h.survives && e.Task.Type() != state.TypeWait {
		warnings = append(warnings, rebootWarning)
	}
	if h.runner == runnerNone {
		warnings = append(warnings, h.sentence())
	}
	return warnings
}

// tellWarnings are of who is told of a task. Of a wait it is whoever waits.
func (s *session) tellWarnings(t state.Task, told audience, h hands) (warnings []string) {
	if t.Type() == state.TypeWait {
		return nil
	}
	if w := told.warning(t); w != "" {
		warnings = append(warnings, w)
	}
	return append(warnings, s.unready(told, h)...)
}

// warnAll tells warnings at the end of an answer for people.
func (s *session) warnAll(warnings []string) {
	for _, w := range warnings {
		if !s.cli.Bool("quiet") || !standingWarning(w) {
			s.warn("warning: %s", visible(w))
		}
	}
}

// once adds to a list what is not in it.
func once(list []string, more ...string) []string {
	for _, text := range more {
		if !slices.Contains(list, text) {
			list = append(list, text)
		}
	}
	return list
}
