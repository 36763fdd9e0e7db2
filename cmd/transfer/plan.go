// Package transfer has the commands that read and write whole sets of tasks: import, apply and
// export.
package transfer

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ouro-timer/ouro-timer/cmd/cli"
	"github.com/ouro-timer/ouro-timer/cmd/handover"
	"github.com/ouro-timer/ouro-timer/cmd/option"
	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/timer/problem"
	"github.com/ouro-timer/ouro-timer/timer/tasks"
	"github.com/ouro-timer/ouro-timer/timer/when"
)

// sourceTask is a task that a source asks for, or the reason why it cannot be made.
type sourceTask struct {
	line  int    // 0 when the source has names
	label string // its name in messages, if that is not the line
	text  string // the text of the line
	world tasks.World
	spec  tasks.Spec
	notes []string
	// compare compares the instants of the coming year with those of the source; nil when there is
	// nothing to compare with.
	compare func(sched *when.Schedule, now time.Time) comparison
	err     error
}

// prefix is the beginning of a message about the task.
func (w sourceTask) prefix() string {
	return cmp.Or(cli.Visible(w.label), fmt.Sprintf("line %d", w.line))
}

// comparison is the result of comparing the instants of a year.
type comparison struct {
	instants    int
	differences []difference
	reason      string // why there are differences
}

// instantsMost is how many instants of a year are compared.
const instantsMost = 600_000

// compared compares the instants of a schedule, up to one of them, with those of its source. reason
// is why they may differ.
func compared(sched *when.Schedule, now, to time.Time, there []time.Time, reason string) comparison {
	var here []time.Time
	for t, ok := sched.Next(now); ok && !t.After(to) && len(here) <= instantsMost; t, ok = sched.Next(t) {
		here = append(here, t)
	}
	return comparison{len(here), differences(there, here), reason}
}

// source is a set of tasks of a file or another scheduler.
type source struct {
	name    string // the name of the file
	group   string // the beginning of all its keys
	partial bool   // the source is only a part of the group, and says nothing about its other tasks
	list    []sourceTask
	notes   []string
}

// groupFlags are the options of the commands that make the tasks of a source.
func groupFlags() option.Rows {
	return option.Rows{
		option.Option{Name: "write", Kind: option.Flag, OfCall: true,
			Help: "do it: without this nothing is changed, and the answer says what would be"},
		option.Option{Name: "prune", Kind: option.Flag, OfCall: true,
			Help: "remove the tasks of the group that the source does not have any more"},
		option.Option{Name: "group", Kind: option.Name, OfCall: true,
			Help: "call the group NAME, which the keys of its tasks have in them (default: after the file)"},
	}
}

// changes reads what the source asks for into changes. It writes into the list why a task is
// refused; its own error means that ctx has ended.
func (from *source) changes(ctx context.Context) ([]*tasks.Change, error) {
	changes := make([]*tasks.Change, len(from.list))
	for i := range from.list {
		w := &from.list[i]
		if w.err == nil {
			changes[i] = tasks.Adding(w.world, w.spec)
			w.err = changes[i].Apply(ctx)
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
	}
	return changes, nil
}

// carryOut makes the tasks of the source, or says what would be done, and answers. With
// allOrNothing it does nothing when any task is refused.
func carryOut(ctx context.Context, s *cli.Call, from source, allOrNothing bool) error {
	st, err := s.Open()
	if err != nil {
		return err
	}
	write := s.Opt.Bool("write") && !s.DryRun
	now := s.Stamp()
	a := planJSON{Now: now, Source: from.name, Group: from.group, Tasks: []plannedJSON{}, Notes: from.notes,
		prune: s.Opt.Bool("prune"), allOrNothing: allOrNothing, partial: from.partial}
	deps := newDependencies(&from)
	changes, err := from.changes(ctx)
	if err != nil {
		return err
	}
	deps.check(ctx, changes, a.prune)
	deps.sort(changes)
	rest, waiting, err := from.rest(ctx, st)
	if err != nil {
		return err
	}
	refused := func() bool { return slices.ContainsFunc(from.list, func(w sourceTask) bool { return w.err != nil }) }
	write = write && !(allOrNothing && refused())
	startRunner := func(ctx context.Context) bool {
		return write && handover.HandOver(ctx, s, st).Runner != handover.RunnerNone
	}
	if a.prune {
		s.Leaving = len(rest)
	}
	addAll := func(st state.Store) ([]plannedJSON, error) {
		return deps.addTasks(changes, func(i int) (row plannedJSON, err error) {
			w := &from.list[i]
			if row, w.err = addOrChange(ctx, st, startRunner, changes[i]); w.err == nil {
				return row, nil
			}
			if p := cli.Explain(w.err); p.ExitCode() == problem.ExitState || ctx.Err() != nil {
				return row, p.About(problem.T("%s", w.prefix()))
			}
			return row, nil
		})
	}
	rows, err := addAll(state.Preview(st))
	if err != nil {
		return err
	}
	if write = write && !(allOrNothing && refused()); write {
		if rows, err = addAll(st); err != nil {
			return err
		}
	} else {
		st = state.Preview(st)
	}
	for i, w := range from.list {
		if w.err != nil {
			p := cli.Explain(w.err)
			a.Refused = append(a.Refused, refusedJSON{w.line, w.text, s.AsErrorJSON(p), p, w.prefix()})
			continue
		}
		t := changes[i].Task
		warnings := s.WarningTexts(append(handover.CannotRun(ctx, s, t),
			handover.Unready(s, handover.RecipientsOf(s, t), handover.RunnerState{})...))
		a.addCompared(rows[i], w, changes[i], warnings)
	}
	if !allOrNothing || len(a.Refused) == 0 {
		if err := a.pruneGroup(ctx, s, st, rest, waiting); err != nil {
			return err
		}
	}
	a.Written = write
	return a.conclude(ctx, s, st)
}

// addOrChange makes the task, or changes the task that has its key if something is different.
func addOrChange(ctx context.Context, st state.TaskWriter, startRunner func(context.Context) bool,
	c *tasks.Change) (plannedJSON, error) {
	c.Replace = false
	done, err := c.Add(ctx, st, startRunner)
	if err != nil {
		return plannedJSON{}, err
	}
	does := "create"
	if !done.Created {
		does = "keep"
		if len(done.Differs) > 0 {
			does, c.Replace = "change", true
			differs := done.Differs
			if done, err = c.Add(ctx, st, startRunner); err != nil {
				return plannedJSON{}, err
			}
			done.Differs = differs
		}
	}
	row := plannedTask(done.Entry, does)
	row.Differs = done.Differs
	if does == "keep" {
		return row, nil
	}
	row.When, row.TZ, row.Shell, row.Command, row.Description = c.Task.When.Text, c.Task.When.Zone,
		c.Task.Run.Shell, c.Task.Run.Argv, c.Task.Summary()
	return row, nil
}

// rest returns the tasks of the group that the source does not have, and tasks of others that wait
// for the end of one.
func (from *source) rest(ctx context.Context, st state.Store) (rest, waiting []state.Entry, err error) {
	inSource := map[string]bool{}
	for _, w := range from.list {
		if w.err == nil {
			inSource[*w.spec.Key] = true
		}
	}
	_, err = state.Each(ctx, st, func(e state.Entry) bool {
		switch {
		case inSource[e.Task.Key] || !tasks.Live(e):
		case strings.HasPrefix(e.Task.Key, from.group):
			rest = append(rest, e)
		case state.IsUnscheduled(e.Due) && len(e.Task.When.After) > 0:
			waiting = append(waiting, e)
		}
		return true
	}, state.Pending, state.Running, state.Paused)
	slices.SortFunc(rest, func(x, y state.Entry) int { return strings.Compare(x.Task.Key, y.Task.Key) })
	return rest, waiting, err
}

// pruneGroup removes the rest of the group, or notes how many tasks that is.
func (a *planJSON) pruneGroup(ctx context.Context, s *cli.Call, st state.Store, rest, waiting []state.Entry) error {
	if !a.prune {
		if len(rest) > 0 && !a.partial {
			a.Notes = append(a.Notes,
				fmt.Sprintf("%s of the group %s not in the source: --prune removes what is gone",
					cli.Plural(len(rest), "task"), map[bool]string{true: "is", false: "are"}[len(rest) == 1]))
		}
		return nil
	}
	for _, e := range waiting {
		for _, gone := range rest {
			if e.Task.When.After[gone.Task.ID] != "" {
				a.Notes = append(a.Notes,
					fmt.Sprintf("task %s (%s) waits for %s, and ends as skipped when that is removed", e.Task.ID,
						e.Task.Summary(), gone.Task.Key))
			}
		}
	}
	removed, failed := tasks.Remove(ctx, st, rest, s.Clock)
	for _, e := range removed {
		a.add(plannedTask(e, "remove"))
	}
	if len(failed) > 0 {
		return failed[0].Err
	}
	return nil
}
