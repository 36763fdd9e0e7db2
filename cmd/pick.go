package cmd

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/timer/problem"
	"github.com/ouro-timer/ouro-timer/timer/when"
)

// pickError says why an ID, or a text given with --match, names no single task.
type pickError struct {
	ID string
	*problem.Problem
	other *state.Entry // the one task that it names and that does not fit
}

// pickErrorJSON is a pickError in the words of the surface that the call came by.
type pickErrorJSON struct {
	ID         string       `json:"id"`
	Code       problem.Code `json:"code"`
	Message    string       `json:"message"`
	Hint       string       `json:"hint"`
	Candidates []candidate  `json:"candidates"`
}

// pickErrors are what could not be had, for an answer in JSON.
func pickErrors(s *session, failed []pickError) []pickErrorJSON {
	list := []pickErrorJSON{}
	for _, f := range failed {
		list = append(list, pickErrorJSON{f.ID, f.Code, s.says(f.Message), s.says(f.Hint), asCandidates(f.Candidates)})
	}
	return list
}

// pickFailed makes the error of an ID or a text that fits none of the tasks, or more than one.
func pickFailed(id string, code problem.Code, message problem.Text, fit ...state.Entry) *pickError {
	p := problem.New(code, message, problem.T("%s shows every task", everyTask))
	var ids []string
	for _, e := range fit {
		p.Candidates = append(p.Candidates, when.Candidate{Text: e.Task.ID, At: e.Due.In(taskZone(e.Task))})
		ids = append(ids, e.Task.ID)
	}
	if len(ids) > 0 {
		p.Hint = problem.T("it could be %s", strings.Join(ids, ", "))
	}
	return &pickError{ID: id, Problem: p}
}

// failedBy makes the error of a task that an error keeps from being changed.
func failedBy(id string, err error) pickError {
	if errors.Is(err, state.ErrEnded) || errors.Is(err, state.ErrNotFound) { // it was there a moment ago: it fired, or somebody else came first
		return *pickFailed(id, problem.Ended, problem.T("task %s has already ended", id))
	}
	return pickError{ID: id, Problem: explain(err).About("task " + id)}
}

// pick finds the tasks that the arguments name: IDs, of which a unique beginning is enough, or --match TEXT. Only tasks
// that fit are offered; want says what for, in the message about one that does not ("already ended"). Each ID is tried;
// those that fail are returned beside those that were found.
func pick(ctx context.Context, s *session, st state.Tasks, fits func(state.Entry) bool) ([]state.Entry, []pickError, error) {
	match := s.opt.Text("match")
	switch {
	case s.opt.Bool("all") && (s.opt.Has("match") || len(s.args) > 0):
		return nil, nil, problem.Of(problem.T("%s names every task; IDs and %s exclude it", problem.Option("all"), problem.Option("match")), oneOfThem)
	case s.opt.Bool("all"):
		return pickAll(ctx, s, st, fits)
	case s.opt.Has("origin") && (s.opt.Has("match") || len(s.args) > 0):
		return nil, nil, problem.Of(problem.T("%s names every task that came of one; IDs and %s exclude it", problem.Option("origin"), problem.Option("match")), oneOfThem)
	case s.opt.Has("origin"):
		origin, err := originGiven(s)
		if err != nil {
			return nil, nil, err
		}
		found, err := pickOrigin(ctx, s, st, origin, fits)
		return found, nil, err
	case s.opt.Has("match") && len(s.args) > 0:
		return nil, nil, problem.Of(problem.T("IDs and %s exclude each other", problem.Option("match")), oneOfThem)
	case s.opt.Has("match"):
		return pickMatch(ctx, s, st, match, fits)
	case len(s.args) == 0:
		return nil, nil, problem.Of(problem.T("which task? %s needs an ID", problem.To(s.cmd.name)),
			problem.T("%s shows them; or name one by %s", listing(s), problem.Set("match", "TEXT")))
	}
	var found []state.Entry
	var failed []pickError
	seen := map[string]bool{}
	search := st.Find
	if len(s.args) > 1 {
		var err error
		if search, err = st.Finder(ctx); err != nil {
			return nil, nil, err
		}
	}
	for _, id := range s.args {
		e, bad, err := pickID(ctx, search, id, fits)
		switch {
		case errors.Is(err, state.ErrUnusable) || errors.Is(err, state.ErrNewer): // this one's file; the others are tried
			failed = append(failed, failedBy(id, err))
		case err != nil:
			return nil, nil, err
		case bad != nil:
			failed = append(failed, *bad)
		case !seen[e.Task.ID]:
			seen[e.Task.ID] = true
			found = append(found, e)
		}
	}
	return found, failed, nil
}

// listing is the call that shows the tasks which the command is for.
func listing(s *session) problem.Call {
	if s.cmd.ids == "removed" {
		return everyTask
	}
	return problem.To("ls")
}

// each makes a change of every task that was picked, whatever becomes of the others, and adds those that it failed for to failed.
func each(found []state.Entry, failed []pickError, change func(i int, e state.Entry) error) []pickError {
	for i, e := range found {
		if err := change(i, e); err != nil {
			failed = append(failed, failedBy(e.Task.ID, err))
		}
	}
	return failed
}

// whileFree is a change that is not tried any more once nobody can change anything, as the call was ended or somebody does not give the
// state lock back: the tasks that are left fail as the one did that was waited for.
func whileFree(ctx context.Context, change func(e state.Entry) error) func(int, state.Entry) error {
	var none error
	return func(_ int, e state.Entry) error {
		if none != nil {
			return none
		}
		err := ctx.Err()
		if err == nil {
			err = change(e)
		}
		if err != nil && (ctx.Err() != nil || errors.Is(err, state.ErrBusy)) {
			none = err
		}
		return err
	}
}

// pickAll finds every task that fits, next due first, and those that cannot be read.
func pickAll(ctx context.Context, s *session, st state.Tasks, fits func(state.Entry) bool) ([]state.Entry, []pickError, error) {
	all, problems, err := state.All(ctx, st, state.Pending, state.Running, state.Paused)
	if err != nil {
		return nil, nil, err
	}
	for _, p := range problems {
		s.warn("warning: %s", visible(p.Error()))
	}
	s.unread = problems
	return slices.DeleteFunc(all, func(e state.Entry) bool { return !fits(e) }), nil, nil
}

// pickID finds the task of an ID or of its unique beginning. An ID in full wins over those that begin with it; among
// beginnings, tasks that fit win over those that do not.
func pickID(ctx context.Context, search func(context.Context, string) ([]state.Entry, error), id string, fits func(state.Entry) bool) (state.Entry, *pickError, error) {
	name := strings.ToLower(strings.TrimSpace(id))
	if at := strings.IndexByte(name, '/'); at > 0 {
		name = name[:at] // an occurrence names its task
	}
	var all []state.Entry
	if name != "" {
		var err error
		all, err = search(ctx, name)
		if err != nil && !errors.Is(err, state.ErrNotFound) {
			return state.Entry{}, nil, err
		}
	}
	var good []state.Entry
	for _, e := range all {
		if fits(e) {
			good = append(good, e)
		}
	}
	switch {
	case len(good) == 1:
		return good[0], nil, nil
	case len(good) > 1:
		return state.Entry{}, pickFailed(id, problem.IDAmbiguous, problem.T("the beginning %s fits %s", quote(id), plural(len(good), "task")), good...), nil
	case len(all) == 1:
		return state.Entry{}, unfit(id, all[0]), nil
	}
	return state.Entry{}, pickFailed(id, problem.NotFound, problem.T("no task %s", quote(id))), nil
}

// unfit is the error of an ID or a text that names one task which does not fit.
func unfit(id string, e state.Entry) *pickError {
	p := pickFailed(id, problem.Ended, problem.T("task %s %s", e.Task.ID, standing(e, "is still")))
	p.other = &e
	switch {
	case live(e):
		p.Code = problem.Failed
	case e.Phase == state.Removed:
		p.Message = problem.T("task %s was removed already", e.Task.ID)
		p.Hint = problem.T("%s undoes that", problem.To("restore", e.Task.ID))
	case len(e.Open) > 0:
		p.Hint = problem.T("%s ends it", problem.To("stop", e.Task.ID))
	}
	return p
}

// standing says where a task that does not fit is in its life; is stands before the name of a state that goes on.
func standing(e state.Entry, is string) string {
	switch {
	case e.Phase == state.Removed:
		return "was removed"
	case len(e.Open) > 0:
		return "is running"
	case e.Phase == state.Ended:
		return "has already ended"
	}
	return is + " " + stateName(e)
}

// pickMatch finds the one task that says the text, whatever the case of its letters.
func pickMatch(ctx context.Context, s *session, st state.Tasks, text string, fits func(state.Entry) bool) ([]state.Entry, []pickError, error) {
	if strings.TrimSpace(text) == "" {
		return nil, nil, problem.Of(problem.T("%s needs some text", problem.Option("match")), problem.T("%s shows what the tasks say", listing(s)))
	}
	all, _, err := state.All(ctx, st)
	if err != nil {
		return nil, nil, err
	}
	var good, others []state.Entry
	for _, e := range all {
		switch {
		case !says(e.Task, text):
		case fits(e):
			good = append(good, e)
		default:
			others = append(others, e)
		}
	}
	switch {
	case len(good) == 1:
		return good, nil, nil
	case len(good) == 0 && len(others) == 1:
		return nil, []pickError{*unfit(text, others[0])}, nil
	case len(good) == 0:
		return nil, []pickError{*pickFailed(text, problem.NotFound, problem.T("no task says %s", quote(text)))}, nil
	}
	return nil, []pickError{*pickFailed(text, problem.IDAmbiguous, problem.T("%d tasks say %s", len(good), quote(text)), good...)}, nil
}

// says reports whether a task's ID, key, description, text or command contains the text.
func says(t state.Task, text string) bool {
	text = strings.ToLower(text)
	for _, field := range append([]string{t.ID, t.Key, t.Description, t.Text, t.Run.Shell, strings.Join(t.Run.Argv, " "), strings.Join(t.Run.Agent, " "), t.Reminder.Title, t.Reminder.Project}, t.When.Text) {
		if strings.Contains(strings.ToLower(field), text) {
			return true
		}
	}
	return false
}

// answered ends a call that has changed tasks: with the answer in JSON or, where there was nothing to change, with none for people, with
// warnings, and with what could not be changed.
func answered(ctx context.Context, s *session, answer any, picked int, none string, failed []pickError, warnings []warning) error {
	switch {
	case s.inJSON:
		s.emit(answer)
	case picked == 0 && len(failed) == 0 && unreadCount(s.unread) == 0:
		s.talk("%s", none)
	}
	warnAll(s, warnings)
	if err := tellPicks(ctx, s, failed); err != nil {
		return err
	}
	return incomplete(s.unread)
}

// tellPicks says on standard error which of the tasks could not be had, and returns the exit code of the first, or nil. A call that
// was ended by a signal ends as that says.
func tellPicks(ctx context.Context, s *session, failed []pickError) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if len(failed) == 0 {
		return nil
	}
	if !s.inJSON {
		for _, f := range failed {
			s.complain("", f.Problem)
		}
	}
	return exitCode(failed[0].ExitCode())
}
