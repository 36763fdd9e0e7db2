package healthwait

import (
	"context"
	"errors"
	"strconv"
	"strings"

	"github.com/ouro-timer/ouro-timer/cmd/cli"
	"github.com/ouro-timer/ouro-timer/cmd/view"
	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/timer/health"
	"github.com/ouro-timer/ouro-timer/timer/problem"
	"github.com/ouro-timer/ouro-timer/timer/runner"
	"github.com/ouro-timer/ouro-timer/timer/tasks"
)

// taskTargets answers for targets of the scheme task from the ledger, which has the outcome of
// every run. It reads the state and changes nothing.
type taskTargets struct {
	store interface {
		state.Tasks
		state.Ledger
	}
}

// taskID returns the ID in a target of the scheme task.
func taskID(t health.Target) string { return strings.ToLower(t.Arg()) }

// tasks opens the store if a target is a task. It refuses the beginning of an ID that fits several
// tasks. An ID that fits none makes a target that is not healthy.
func (g *Group) tasks(ctx context.Context, s *cli.Call) error {
	for _, t := range g.Targets {
		if t.Scheme() != "task" {
			continue
		}
		st, err := s.Open()
		if err != nil {
			return err
		}
		_, failed, err := view.PickID(ctx, st.Find, taskID(t), s.Clock.Now(), func(state.Entry) bool { return true })
		if err != nil {
			return err
		}
		if failed != nil && failed.Code == problem.IDAmbiguous {
			return failed.Problem
		}
		g.Options.Tasks = &taskTargets{st}
	}
	return nil
}

// Changed signals after each line of the ledger.
func (t *taskTargets) Changed(ctx context.Context) (<-chan struct{}, error) {
	return t.store.WatchLog(ctx, "")
}

// errStranded is a fault that passes without a line of the ledger, so the target is tried again and
// again.
var errStranded = errors.New("its runner died; the next one accounts for it")

// Outcome returns the state of a task or an occurrence. A task has ended when nothing of it will
// run any more; its last occurrence says how. What a dead runner has left open ends when the next
// runner writes its outcome.
func (t *taskTargets) Outcome(ctx context.Context, id string) (health.TaskState, error) {
	name, after, occurrence := strings.Cut(strings.ToLower(id), "/")
	number := 0
	if occurrence {
		var err error
		switch number, err = strconv.Atoi(after); {
		case err != nil:
			return willNotCome("", "has no such occurrence"), nil
		case number < 1:
			return willNotCome(health.FromOne, ""), nil
		}
	}
	found, err := t.store.Find(ctx, name)
	switch {
	case errors.Is(err, state.ErrNotFound): // the ledger may still have it
		line, err := t.line(ctx, name, number)
		if line == nil || err != nil {
			return health.TaskState{}, err
		}
		return endedState(*line), nil
	case err != nil:
		return health.TaskState{}, err
	case len(found) > 1:
		return health.TaskState{}, errors.New(cli.Quote(name) + " fits " + cli.Plural(len(found), "task"))
	}
	if occurrence {
		return t.occurrence(ctx, found[0], number)
	}
	return t.taskState(ctx, found[0])
}

// willNotCome returns the fault of an occurrence that will not come.
func willNotCome(why health.Kind, how string) health.TaskState {
	return health.TaskState{Known: true, Ended: true, Why: why, How: how}
}

// taskState returns the state of a task.
func (t *taskTargets) taskState(ctx context.Context, e state.Entry) (health.TaskState, error) {
	s := health.TaskState{Known: true}
	for _, r := range e.Open {
		if !r.Manual {
			return openState(r)
		}
	}
	switch {
	case e.Phase == state.Removed:
		s.Ended, s.How = true, "was removed"
		return s, nil
	case e.Held, tasks.Live(e):
		return s, nil
	}
	line, err := t.line(ctx, e.Task.ID, 0)
	if err != nil {
		return health.TaskState{}, err
	}
	if line != nil {
		return endedState(*line), nil
	}
	s.Ended, s.OK, s.How = true, e.Tally.Last == string(state.OK), e.Tally.Last
	if s.How == "" {
		s.How = "ended without a run"
	}
	return s, nil
}

// occurrence returns the state of an occurrence of a task.
func (t *taskTargets) occurrence(ctx context.Context, e state.Entry, number int) (health.TaskState, error) {
	line, err := t.line(ctx, e.Task.ID, number)
	if err != nil {
		return health.TaskState{}, err
	}
	if line != nil {
		return endedState(*line), nil
	}
	s := health.TaskState{Known: true}
	for _, r := range e.Open {
		if r.Number == number {
			return openState(r)
		}
	}
	switch {
	case number <= e.Tally.Number:
		s.Ended, s.How = true, "is not in the ledger any more"
	case !e.Task.Recurring() && number > 1:
		return willNotCome(health.OnlyOnce, strconv.Itoa(number)), nil
	case !tasks.Live(e) && len(e.Open) == 0:
		s.Ended, s.How = true, "will not come: the task ended before it"
	}
	return s, nil
}

// line finds the line of an occurrence, or of a manual run with its number; without a number that
// of the last occurrence. It is nil when there is none.
func (t *taskTargets) line(ctx context.Context, id string, number int) (line *state.Line, err error) {
	if !state.WholeID(id) {
		return nil, nil
	}
	_, _, err = t.store.Log(ctx, id, func(l state.Line) bool {
		switch {
		case l.Type == state.LineTask, number == 0 && l.Type != state.LineOccurrence:
			return true
		case number > 0 && !l.Has(number):
			return true
		}
		line = &l
		return false
	})
	return line, err
}

// openState returns the state of an open claim.
func openState(r state.Record) (health.TaskState, error) {
	if !tasks.RunAlive(r) && !runner.InOtherContainer(r.Runner) {
		return health.TaskState{Why: health.Stranded}, errStranded
	}
	return health.TaskState{Known: true}, nil
}

// endedState returns the state that a line of the ledger tells.
func endedState(l state.Line) health.TaskState {
	s := health.TaskState{Known: true, Ended: true, OK: l.Outcome == state.OK, How: string(l.Outcome)}
	switch {
	case l.Signal != "":
		s.How += ", signal " + l.Signal
	case l.ExitCode != nil && *l.ExitCode != 0:
		s.How += ", exit code " + strconv.Itoa(*l.ExitCode)
	}
	if l.Reason != "" {
		s.How += ", " + l.Reason
	}
	return s
}
