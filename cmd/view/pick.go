package view

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/ouro-timer/ouro-timer/cmd/cli"
	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/timer/problem"
	"github.com/ouro-timer/ouro-timer/timer/rules"
	"github.com/ouro-timer/ouro-timer/timer/tasks"
	"github.com/ouro-timer/ouro-timer/timer/when"
)

// PickError says why an ID, or the text of --match, does not name a single task.
type PickError struct {
	ID string
	*problem.Problem
	Other *state.Entry // the task that it names, which does not fit
}

// PickErrorJSON is a PickError in the words of the surface of the call.
type PickErrorJSON struct {
	ID         string          `json:"id"`
	Code       problem.Code    `json:"code"`
	Message    string          `json:"message"`
	Hint       string          `json:"hint"`
	Candidates []cli.Candidate `json:"candidates,omitempty"`
}

// PickErrors are the tasks that could not be had, for an answer in JSON.
func PickErrors(s *cli.Call, failed []PickError) []PickErrorJSON {
	list := []PickErrorJSON{}
	for _, f := range failed {
		list = append(list, PickErrorJSON{f.ID, f.Code, s.Render(f.Message), s.Render(f.Hint),
			cli.AsCandidates(f.Candidates)})
	}
	return list
}

// PickFailed makes the error of an ID or a text that names no task, or several.
func PickFailed(id string, code problem.Code, message problem.Text, fit ...state.Entry) *PickError {
	p := problem.New(code, message, problem.T("%s shows every task", cli.EveryTask))
	var ids []string
	for _, e := range fit {
		c := when.Candidate{Text: e.Task.ID}
		if !state.IsUnscheduled(e.Due) {
			c.At = e.Due.In(rules.TaskZone(e.Task))
		}
		p.Candidates = append(p.Candidates, c)
		ids = append(ids, e.Task.ID)
	}
	if len(ids) > 0 {
		p.Hint = problem.T("it could be %s", strings.Join(ids, ", "))
	}
	return &PickError{ID: id, Problem: p}
}

// FailedBy makes the error of a task that could not be changed because of err.
func FailedBy(id string, err error) PickError {
	// The task existed a moment ago: it fired, or another call was first.
	if errors.Is(err, state.ErrEnded) || errors.Is(err, state.ErrNotFound) {
		return *PickFailed(id, problem.Ended, problem.T("task %s has already ended", id))
	}
	return PickError{ID: id, Problem: cli.Explain(err).About("task " + id)}
}

// Pick finds the tasks that the arguments name: by IDs, of which a unique beginning is enough, or
// by --match TEXT. Only tasks that fit are found; want words the message about one that does not
// ("already ended"). It tries each ID, and returns those that fail beside those that were found.
func Pick(ctx context.Context, s *cli.Call, st state.Tasks, fits func(state.Entry) bool) ([]state.Entry,
	[]PickError, error) {
	match := s.Opt.Text("match")
	switch {
	case s.Opt.Bool("all") && (s.Opt.Has("match") || len(s.Args) > 0):
		return nil, nil, problem.Of(problem.T("%s names every task; IDs and %s exclude it", problem.Option("all"),
			problem.Option("match")), cli.GiveOneOfThem)
	case s.Opt.Bool("all"):
		return pickAll(ctx, s, st, fits)
	case s.Opt.Has("origin") && (s.Opt.Has("match") || len(s.Args) > 0):
		return nil, nil, problem.Of(problem.T("%s names every task that came of one; IDs and %s exclude it",
			problem.Option("origin"), problem.Option("match")), cli.GiveOneOfThem)
	case s.Opt.Has("origin"):
		origin, err := cli.OriginGiven(s.Opt)
		if err != nil {
			return nil, nil, err
		}
		found, err := pickOrigin(ctx, s, st, origin, fits)
		return found, nil, err
	case s.Opt.Has("match") && len(s.Args) > 0:
		return nil, nil, problem.Of(problem.T("IDs and %s exclude each other", problem.Option("match")), cli.GiveOneOfThem)
	case s.Opt.Has("match"):
		return pickMatch(ctx, s, st, match, fits)
	case len(s.Args) == 0:
		return nil, nil, problem.Of(problem.T("which task? %s needs an ID", problem.To(s.Cmd.Name)),
			problem.T("%s shows them; or name one by %s", listing(s), problem.Set("match", "TEXT")))
	}
	var found []state.Entry
	var failed []PickError
	seen := map[string]bool{}
	search := st.Find
	if len(s.Args) > 1 {
		var err error
		if search, err = st.Finder(ctx); err != nil {
			return nil, nil, err
		}
	}
	for _, id := range s.Args {
		e, bad, err := PickID(ctx, search, id, fits)
		switch {
		case errors.Is(err, state.ErrUnusable) || errors.Is(err, state.ErrNewer):
			// the file of this task cannot be read; the others are tried
			failed = append(failed, FailedBy(id, err))
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

// PickTagged is Pick for commands that also take --tag, which names every task with the tags.
func PickTagged(ctx context.Context, s *cli.Call, st state.Tasks, fits func(state.Entry) bool) ([]state.Entry,
	[]PickError, error) {
	if !s.Opt.Has("tag") {
		return Pick(ctx, s, st, fits)
	}
	if len(s.Args) > 0 || slices.ContainsFunc([]string{"match", "all", "origin"}, s.Opt.Has) {
		return nil, nil,
			problem.Of(problem.T("%s names every task that has it; IDs and other ways to name tasks exclude it",
				problem.Option("tag")), cli.GiveOneOfThem)
	}
	tags, err := TagsGiven(s)
	if err != nil {
		return nil, nil, err
	}
	return pickAll(ctx, s, st, func(e state.Entry) bool { return tasks.Tagged(e.Task, tags) && fits(e) })
}

// TagsGiven returns the tags of --tag.
func TagsGiven(s *cli.Call) ([]string, error) {
	tags, err := tasks.ReadTags(s.Opt.List("tag"))
	if err == nil && len(tags) == 0 {
		return nil, problem.Of(problem.T("%s is empty", problem.Option("tag")),
			problem.T("name one, such as %s", problem.Set("tag", "home")))
	}
	return tags, err
}

// listing is the call that lists the tasks that the command can take.
func listing(s *cli.Call) problem.Call {
	if s.Cmd.Ids == "removed" {
		return cli.EveryTask
	}
	return problem.To("ls")
}

// pickAll finds every task that fits, in the order of their next instants, and those that cannot be
// read.
func pickAll(ctx context.Context, s *cli.Call, st state.Tasks, fits func(state.Entry) bool) ([]state.Entry,
	[]PickError, error) {
	all, problems, err := state.All(ctx, st, state.Pending, state.Running, state.Paused)
	if err != nil {
		return nil, nil, err
	}
	for _, p := range problems {
		s.Warn("warning: %s", cli.Visible(p.Error()))
	}
	s.Unreadable = problems
	return slices.DeleteFunc(all, func(e state.Entry) bool { return !fits(e) }), nil, nil
}

// PickID finds a task by its ID or a unique beginning of it. A whole ID wins over a beginning, and
// a task that fits over one that does not.
func PickID(ctx context.Context, search func(context.Context, string) ([]state.Entry, error), id string,
	fits func(state.Entry) bool) (state.Entry, *PickError, error) {
	name := strings.ToLower(strings.TrimSpace(id))
	if at := strings.IndexByte(name, '/'); at > 0 {
		name = name[:at] // the ID of an occurrence names its task
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
		return state.Entry{}, PickFailed(id, problem.IDAmbiguous,
			problem.T("the beginning %s fits %s", cli.Quote(id), cli.Plural(len(good), "task")), good...), nil
	case len(all) == 1:
		return state.Entry{}, unfit(id, all[0]), nil
	}
	return state.Entry{}, PickFailed(id, problem.NotFound, problem.T("no task %s", cli.Quote(id))), nil
}

// unfit is the error of a task that does not fit.
func unfit(id string, e state.Entry) *PickError {
	p := PickFailed(id, problem.Ended, problem.T("task %s %s", e.Task.ID, PhaseWords(e, "is still")))
	p.Other = &e
	switch {
	case tasks.Live(e):
		p.Code = problem.Failed
	case e.Phase == state.Removed:
		p.Message = problem.T("task %s was removed already", e.Task.ID)
		p.Hint = problem.T("%s undoes that", problem.To("restore", e.Task.ID))
	case len(e.Open) > 0:
		p.Hint = problem.T("%s ends it", problem.To("stop", e.Task.ID))
	}
	return p
}

// PhaseWords says in which state a task is that does not fit. is comes before states that last.
func PhaseWords(e state.Entry, is string) string {
	switch {
	case e.Phase == state.Removed:
		return "was removed"
	case len(e.Open) > 0:
		return "is running"
	case e.Phase == state.Ended:
		return "has already ended"
	}
	return is + " " + StateName(e)
}

// pickMatch finds the one task that has the text, in any case of letters.
func pickMatch(ctx context.Context, s *cli.Call, st state.Tasks, text string,
	fits func(state.Entry) bool) ([]state.Entry, []PickError, error) {
	if strings.TrimSpace(text) == "" {
		return nil, nil, problem.Of(problem.T("%s needs a text to look for", problem.Option("match")),
			problem.T("%s shows what the tasks say", listing(s)))
	}
	all, _, err := state.All(ctx, st)
	if err != nil {
		return nil, nil, err
	}
	var good, others []state.Entry
	for _, e := range all {
		switch {
		case !Says(e.Task, text):
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
		return nil, []PickError{*unfit(text, others[0])}, nil
	case len(good) == 0:
		return nil, []PickError{*PickFailed(text, problem.NotFound, problem.T("no task says %s", cli.Quote(text)))}, nil
	}
	return nil, []PickError{*PickFailed(text, problem.IDAmbiguous,
		problem.T("%d tasks say %s", len(good), cli.Quote(text)), good...)}, nil
}

// Says reports whether the ID, key, description, text or command of a task contains the text.
func Says(t state.Task, text string) bool {
	text = strings.ToLower(text)
	for _, field := range append([]string{t.ID, t.Key, t.Description, t.Text, t.Run.Shell,
		strings.Join(t.Run.Argv, " "), strings.Join(t.Run.Agent, " "), t.Reminder.Title,
		t.Reminder.Project}, t.When.Text) {
		if strings.Contains(strings.ToLower(field), text) {
			return true
		}
	}
	return false
}

// Failed returns the errors of tasks that could not be changed.
func Failed(list []tasks.Failure) (failed []PickError) {
	for _, f := range list {
		failed = append(failed, FailedBy(f.ID, f.Err))
	}
	return failed
}

// Answered ends a call that has changed tasks: it writes the answer, warnings, and the errors of
// tasks that could not be changed.
func Answered(ctx context.Context, s *cli.Call, answer cli.Answer, failed []PickError, warnings []cli.Warning) error {
	s.Answer(answer)
	s.WarnAll(warnings)
	if err := TellPicks(ctx, s, failed); err != nil {
		return err
	}
	return Incomplete(s.Unreadable)
}

// TellPicks writes the errors of tasks to standard error, and returns the exit code of the first,
// or nil. When a signal has ended the call, that decides.
func TellPicks(ctx context.Context, s *cli.Call, failed []PickError) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if len(failed) == 0 {
		return nil
	}
	if !s.InJSON {
		for _, f := range failed {
			s.ShowProblem("", f.Problem)
		}
	}
	return cli.ExitCode(failed[0].ExitCode())
}

// ofOrigin returns the tasks in some phases with an origin, in the order of lists.
func ofOrigin(ctx context.Context, st state.Tasks, origin string, phases ...state.Phase) (list []state.Entry,
	problems []state.Problem, err error) {
	problems, err = state.Each(ctx, st, func(e state.Entry) bool {
		if e.Task.Origin == origin {
			list = append(list, e)
		}
		return true
	}, phases...)
	slices.SortFunc(list, state.Compare)
	return list, problems, err
}

// pickOrigin finds every task of an origin that fits, in the order of their next instants, and
// warns about those that cannot be read.
func pickOrigin(ctx context.Context, s *cli.Call, st state.Tasks, origin string,
	fits func(state.Entry) bool) ([]state.Entry, error) {
	list, problems, err := ofOrigin(ctx, st, origin, state.Pending, state.Running, state.Paused)
	if err != nil {
		return nil, err
	}
	s.WarnUnreadable(problems)
	s.Unreadable = problems
	return slices.DeleteFunc(list, func(e state.Entry) bool { return !fits(e) }), nil
}
