package transfer

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/ouro-timer/ouro-timer/cmd/cli"
	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/timer/problem"
	"github.com/ouro-timer/ouro-timer/timer/tasks"
)

// dependencies are the tasks of a source that wait for others. Until a task of the source is made,
// its key takes the place of its ID in everything that waits for it.
type dependencies struct {
	from    *source
	index   map[string]int // by key
	find    func(context.Context, string) (state.Entry, error)
	order   []int                     // the indexes of the list, awaited tasks first
	awaited map[int]map[string]string // the tasks that each waits for, by key
}

// newDependencies lets each task of the source find the others by their names in it.
func newDependencies(from *source) *dependencies {
	ch := &dependencies{from: from, index: map[string]int{}, awaited: map[int]map[string]string{}}
	for i := range from.list {
		w := &from.list[i]
		if w.spec.Key != nil {
			ch.index[*w.spec.Key] = i
		}
		if len(w.spec.After) == 0 {
			continue
		}
		ch.find = w.world.Find
		w.world.Find = ch.findAwaited
	}
	return ch
}

// findAwaited finds the task that another waits for: one of the source by its name, or one of the
// state, which the source may have, too.
func (ch *dependencies) findAwaited(ctx context.Context, name string) (state.Entry, error) {
	for _, key := range []string{ch.from.group + name, name} {
		if _, has := ch.index[key]; has {
			return placeholder(key), nil
		}
	}
	e, err := ch.find(ctx, name)
	if err == nil {
		if _, has := ch.index[e.Task.Key]; has {
			return placeholder(e.Task.Key), nil
		}
		return e, nil
	}
	if p, ok := errors.AsType[*problem.Problem](err); ok && p.Code == problem.NotFound {
		hint := problem.T("name another table of the file, or a task by its ID or key")
		if near := problem.Nearest(name, ch.names()); near != "" {
			hint = problem.T("did you mean %s?", cli.Quote(near))
		}
		return e, problem.New(problem.NotFound, problem.T("the file has no [%s], and there is no such task",
			cli.Visible(name)), hint)
	}
	return e, err
}

// placeholder stands for a task of the source that others wait for.
func placeholder(key string) state.Entry {
	return state.Entry{Task: state.Task{ID: key, Key: key}, Phase: state.Pending}
}

// names are the names of all tasks of the source.
func (ch *dependencies) names() (list []string) {
	for key := range ch.index {
		list = append(list, strings.TrimPrefix(key, ch.from.group))
	}
	slices.Sort(list)
	return list
}

// name is the name in the source of an awaited task, or else its ID.
func (ch *dependencies) name(id string) string {
	if _, has := ch.index[id]; has {
		return strings.TrimPrefix(id, ch.from.group)
	}
	return id
}

// check refuses tasks that would wait for themselves, or for one that is removed.
func (ch *dependencies) check(ctx context.Context, changes []*tasks.Change, prune bool) {
	for i := range changes {
		w := &ch.from.list[i]
		if w.err != nil || len(w.spec.After) == 0 {
			continue
		}
		ch.awaited[i] = changes[i].Task.When.After
		if cycle := ch.cycle(ctx, changes, *w.spec.Key, *w.spec.Key, nil); cycle != nil {
			w.err = problem.Of(problem.T("it would wait for itself: %s", strings.Join(cycle, " after ")),
				problem.T("give one of them a time, with %s", problem.Option("when")))
			continue
		}
		for _, a := range changes[i].Task.When.Awaits() {
			recurring := false
			if k, has := ch.index[a.ID]; has {
				recurring = ch.from.list[k].err == nil && changes[k].Task.Recurring()
			} else if e, err := ch.find(ctx, a.ID); err == nil {
				recurring = e.Task.Recurring()
				if prune && strings.HasPrefix(e.Task.Key, ch.from.group) {
					w.err = problem.Of(problem.T("it waits for task %s (%s), which %s removes", a.ID,
						cli.Visible(e.Task.Key), problem.Option("prune")),
						problem.T("keep [%s] in the file, or wait for another task",
							cli.Visible(strings.TrimPrefix(e.Task.Key, ch.from.group))))
				}
			}
			if recurring {
				w.notes = append(w.notes, fmt.Sprintf("it runs once, after the first run of %s; to run it after each "+
					"run, put it into the command of that", ch.name(a.ID)))
			}
		}
	}
}

// sort finds the order in which the tasks are made.
func (ch *dependencies) sort(changes []*tasks.Change) {
	done := make([]bool, len(changes))
	var put func(i int)
	put = func(i int) {
		if done[i] {
			return
		}
		done[i] = true
		if changes[i] != nil {
			for _, a := range changes[i].Task.When.Awaits() {
				if k, has := ch.index[a.ID]; has {
					put(k)
				}
			}
		}
		ch.order = append(ch.order, i)
	}
	for i := range changes {
		put(i)
	}
}

// cycle returns the path from a task, along what it waits for, to the goal; nil when there is none.
// path is the path so far.
func (ch *dependencies) cycle(ctx context.Context, changes []*tasks.Change, id, goal string, path []string) []string {
	name := ch.name(id)
	if id == goal && path != nil {
		return append(slices.Clone(path), name)
	}
	if slices.Contains(path, name) { // another cycle
		return nil
	}
	path = append(slices.Clone(path), name)
	for _, next := range ch.awaits(ctx, changes, id) {
		if cycle := ch.cycle(ctx, changes, next, goal, path); cycle != nil {
			return cycle
		}
	}
	return nil
}

// awaits returns the tasks that a task waits for, by their keys if they are of the source.
func (ch *dependencies) awaits(ctx context.Context, changes []*tasks.Change, id string) (list []string) {
	if i, has := ch.index[id]; has {
		if changes[i] != nil {
			for _, a := range changes[i].Task.When.Awaits() {
				list = append(list, a.ID)
			}
		}
		return list
	}
	e, err := ch.find(ctx, id)
	if err != nil || !state.IsUnscheduled(e.Due) {
		return nil
	}
	for _, a := range e.Task.When.Awaits() {
		if next, err := ch.find(ctx, a.ID); err == nil {
			if _, has := ch.index[next.Task.Key]; has {
				a.ID = next.Task.Key
			}
		}
		list = append(list, a.ID)
	}
	return list
}

// addTasks makes the tasks in their order; each waits for others by the IDs that those have by
// then. add makes one of them: it writes into the list why a task cannot be made, and returns an
// error only when nothing more can be done. The rows are in the order of the list.
func (ch *dependencies) addTasks(changes []*tasks.Change,
	add func(int) (plannedJSON, error)) (rows []plannedJSON, err error) {
	rows = make([]plannedJSON, len(changes))
	ids := map[string]string{}
	for _, i := range ch.order {
		if ch.from.list[i].err != nil {
			continue
		}
		if after := ch.awaited[i]; len(after) > 0 {
			for id := range after {
				if _, has := ch.index[id]; !has {
					ids[id] = id
				}
			}
			t := &changes[i].Task.When
			if t.After = after; !useNewIDs(t, ids) {
				ch.from.list[i].err = problem.Of(problem.T("what it waits for is refused"),
					problem.T("correct that first"))
				continue
			}
		}
		if rows[i], err = add(i); err != nil {
			return nil, err
		}
		if ch.from.list[i].err != nil {
			continue
		}
		key := changes[i].Task.Key
		if ids[key] = key; rows[i].ID != nil { // without --write it has no ID
			ids[key] = *rows[i].ID
		}
	}
	for i, after := range ch.awaited {
		if ch.from.list[i].err != nil {
			continue
		}
		for _, a := range (state.Timing{After: after}).Awaits() {
			name := ch.name(a.ID)
			rows[i].After = append(rows[i].After, state.After{ID: name, On: a.On}.String())
			if k, has := ch.index[a.ID]; has {
				rows[k].Then = append(rows[k].Then, state.After{ID: ch.name(changes[i].Task.Key), On: a.On}.String())
			}
		}
		slices.Sort(rows[i].After)
		rows[i].When = "after " + strings.Join(rows[i].After, " and ")
	}
	for i := range rows {
		slices.Sort(rows[i].Then)
	}
	return rows, nil
}
