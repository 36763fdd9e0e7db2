package simulate

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/ouro-timer/ouro-timer/cmd/cli"
	"github.com/ouro-timer/ouro-timer/cmd/option"
	"github.com/ouro-timer/ouro-timer/cmd/schedule"
	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/timer/problem"
	"github.com/ouro-timer/ouro-timer/timer/proc"
	"github.com/ouro-timer/ouro-timer/timer/rules"
	"github.com/ouro-timer/ouro-timer/timer/when"
	"github.com/ouro-timer/ouro-timer/timer/when/fault"
)

// load reads the tasks of the state.
func (m *simulation) load(ctx context.Context, s *cli.Call, begin time.Time) error {
	if s.Opt.Has("file") {
		return m.loadFile(ctx, s, begin)
	}
	st, err := s.Open()
	if err != nil {
		return err
	}
	entries, problems, err := state.All(ctx, st, state.Pending, state.Running, state.Paused)
	if err != nil {
		return err
	}
	for _, p := range problems {
		m.warnings = append(m.warnings, p.Error())
	}
	for _, e := range entries {
		m.put(e, begin)
	}
	_, problems, err = st.Log(ctx, "", func(l state.Line) bool { // the newest first
		if _, ok := m.runTimes[l.TaskID]; !ok && m.idsByName[l.TaskID] != "" && l.Started != nil && l.Ended != nil &&
			l.Attempts <= 1 {
			m.runTimes[l.TaskID] = max(l.Ended.Sub(*l.Started), 0)
		}
		return len(m.runTimes) < m.tasks
	})
	for _, p := range problems {
		m.warnings = append(m.warnings, p.Error())
	}
	return err
}

// put adds a task as it is, if it has an occurrence to come.
func (m *simulation) put(e state.Entry, begin time.Time) {
	for _, r := range e.Open {
		if !r.Manual && r.Due.Equal(e.Due) {
			return // the last occurrence of the task is already running
		}
	}
	e.Open = nil
	if !e.Held {
		e.Phase = state.Pending
	}
	if e.Tally.Floor().After(begin) || e.Tally.Busy.After(begin) {
		// The simulation begins before these instants.
		e.Tally.LastDue, e.Tally.Busy = time.Time{}, time.Time{}
	}
	if e.HadBoot(proc.Boot()) { // the machine has booted before the beginning
		here, end := m.world.Process()
		end()
		e.Tally.Boot = here.Boot
	}
	left, err := m.exclude(&e.Task, &e.Due, begin)
	if !left && err == nil {
		return
	}
	var sched *when.Schedule
	if err == nil {
		sched, err = rules.Schedule(e.Task)
	}
	if err != nil {
		m.warnings = append(m.warnings, "task "+e.Task.ID+" is left out: "+err.Error())
		return
	}
	if sched != nil && m.past {
		if first, ok := sched.Next(begin.Add(-1)); ok && first.Before(e.Due) {
			e.Due = first
		}
	}
	if e.Held && e.Resume.IsZero() {
		m.paused++
	}
	m.world.Put(e)
	m.count(e)
}

// count counts a task, which may be named by its ID and its key.
func (m *simulation) count(e state.Entry) {
	m.tasks++
	m.entries = append(m.entries, e)
	m.idsByName[e.Task.ID] = e.Task.ID
	if e.Task.Key != "" {
		m.idsByName[e.Task.Key] = e.Task.ID
	}
}

// awaited finds the task that another one waits for, by its key, among the lines that were read.
func (m *simulation) awaited(_ context.Context, key string) (state.Entry, error) {
	for _, e := range m.entries {
		if e.Task.Key == key {
			return e, nil
		}
	}
	return state.Entry{}, problem.New(problem.NotFound, problem.T("no earlier line has the key %s",
		cli.Quote(key)),
		problem.T(`give the awaited line that key, {"key": %s, …}, and put it before this line`, cli.Quote(key)))
}

// exclude lets a task also leave out the days of --except: from its due instant on, if that is
// still to come. It is not ok when the task has no occurrence left.
func (m *simulation) exclude(t *state.Task, due *time.Time, begin time.Time) (ok bool, err error) {
	if !t.Recurring() || t.When.OfBoots() || len(m.except.Texts) == 0 {
		return true, nil
	}
	t.When.Except = slices.Concat(t.When.Except, m.except.Texts)
	t.When.ExceptDays = slices.Concat(t.When.ExceptDays, m.except.Lines)
	sched, err := rules.Schedule(*t)
	if e, ok := errors.AsType[*fault.Error](err); ok && e.Code == fault.CodeNever {
		return false, nil
	}
	if err != nil || !due.After(begin) {
		return err == nil, err
	}
	*due, ok = sched.Next(due.Add(-1))
	return ok, nil
}

// loadFile reads the tasks of --file, as if all were made when the simulation begins.
func (m *simulation) loadFile(ctx context.Context, s *cli.Call, begin time.Time) error {
	name := s.Opt.Text("file")
	in := cli.Input(ctx, s, name)
	defer in.Close()
	at := schedule.AtCommand()
	base := *s
	base.Cmd, base.Opt, base.DefaultZone, base.Present, base.Awaited = &at, option.Values{}, m.zone, begin, m.awaited
	reader := &schedule.Lines{Call: s, Base: base, Form: schedule.FormJSONL, Fields: at.Options.Fields()}
	for l, err := range reader.Each(in) {
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			return problem.Of(problem.T("%s: %s", problem.Option("file"), err),
				problem.T("name a file of JSON lines, such as "+option.Example))
		}
		var draft schedule.Draft
		if err = l.Err; err == nil {
			draft, err = reader.ReadLine(ctx, l.Text, nil)
		}
		if err == nil {
			draft.Task.Created = begin
			var left bool
			if left, err = m.exclude(&draft.Task, &draft.Due, begin); err == nil && !left {
				continue
			}
		}
		if err == nil {
			var e state.Entry
			if e, err = m.world.Store.Add(ctx, draft.Task, draft.Due); err == nil {
				m.count(e)
				continue
			}
		}
		s.Surface = schedule.Objects(s, &at) // problems are about keys of the line
		return cli.Explain(err).About(problem.T("%s, line %d", name, l.Line))
	}
	return nil
}
