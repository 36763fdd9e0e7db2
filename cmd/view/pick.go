package view

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ouro-timer/ouro-timer/cmd/cli"
	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/timer/problem"
	"github.com/ouro-timer/ouro-timer/timer/rules"
	"github.com/ouro-timer/ouro-timer/timer/tasks"
	"github.com/ouro-timer/ouro-timer/timer/when/fault"
)

// PickError says why an ID, or the text of --match, does not name a single task.
type PickError struct {
	ID string
	*problem.Problem
	Other *state.Entry // the task that it names, which the command cannot take
}

// PickErrorJSON is a PickError in the words of the surface of the call.
type PickErrorJSON struct {
	ID         string            `json:"id"`
	Code       problem.Code      `json:"code"`
	Message    string            `json:"message"`
	Hint       string            `json:"hint"`
	Candidates []fault.Candidate `json:"candidates,omitempty"`
}

// PickErrors are the errors of tasks that could not be found or changed, for an answer in JSON.
func PickErrors(s *cli.Call, failed []PickError) []PickErrorJSON {
	list := []PickErrorJSON{}
	for _, f := range failed {
		list = append(list, PickErrorJSON{f.ID, f.Code, s.Render(f.Message), s.Render(f.Hint), f.Candidates})
	}
	return list
}

// PickFailed is the error of an ID or a text that names no task, or several, the first ten of which
// are candidates; the hint says what they are.
func PickFailed(id string, code problem.Code, message problem.Text, candidates ...state.Entry) *PickError {
	p := problem.New(code, message, problem.T("%s shows every task", cli.EveryTask))
	const most = 10
	var ids []string
	for _, e := range candidates[:min(most, len(candidates))] {
		c := fault.Candidate{Text: e.Task.ID}
		if !state.IsUnscheduled(e.Due) {
			c.At = e.Due.In(rules.TaskZone(e.Task))
		}
		p.Candidates = append(p.Candidates, c)
		ids = append(ids, e.Task.ID+" ("+cli.Cut(Describe(e.Task), 40, "…")+")")
	}
	switch more := len(candidates) - most; {
	case more > 0:
		p.Hint = problem.T("it could be %s and %d more", strings.Join(ids, ", "), more)
	case len(ids) > 0:
		p.Hint = problem.T("it could be %s", strings.Join(ids, ", "))
	}
	return &PickError{ID: id, Problem: p}
}

// FailedBy is the error of a task that could not be changed because of err.
func FailedBy(id string, err error) PickError {
	// The task existed a moment ago. It has fired since, or another call has ended it.
	if errors.Is(err, state.ErrEnded) || errors.Is(err, state.ErrNotFound) {
		return *PickFailed(id, problem.Ended, problem.T("task %s has already ended", id))
	}
	return PickError{ID: id, Problem: cli.Explain(err).About("task " + id)}
}

// PickOne finds the task that a call names. fits reports whether the command can take it.
func PickOne(ctx context.Context, s *cli.Call, st state.Tasks, fits func(state.Entry) bool) (state.Entry, error) {
	found, failed, err := Pick(ctx, s, st, fits)
	if err != nil {
		return state.Entry{}, err
	}
	if len(failed) > 0 {
		return state.Entry{}, failed[0].Problem
	}
	return found[0], nil
}

// Pick finds the tasks that a call names: by IDs, of which a unique beginning is enough, or by
// --match, --all or --origin. fits reports whether the command can take a task. Pick tries each ID,
// and returns the errors of those that fail beside the tasks that it found.
func Pick(ctx context.Context, s *cli.Call, st state.Tasks, fits func(state.Entry) bool) ([]state.Entry,
	[]PickError, error) {
	match := s.Opt.Text("match")
	switch {
	case s.Opt.Bool("all") && (s.Opt.Has("match") || len(s.Args) > 0):
		return nil, nil, problem.Of(problem.T("%s names every task; IDs and %s exclude it", problem.Option("all"),
			problem.Option("match")), cli.GiveOneOfThem)
	case s.Opt.Bool("all") && s.Opt.Has("origin"):
		return nil, nil, cli.Excluding("all", "origin")
	case s.Opt.Bool("all"):
		return pickAll(ctx, s, st, fits)
	case s.Opt.Has("origin") && (s.Opt.Has("match") || len(s.Args) > 0):
		return nil, nil, problem.Of(problem.T("%s names every task of one origin; IDs and %s exclude it",
			problem.Option("origin"), problem.Option("match")), cli.GiveOneOfThem)
	case s.Opt.Has("origin"):
		origin, err := cli.OriginGiven(s.Opt)
		if err != nil {
			return nil, nil, err
		}
		return pickAll(ctx, s, st, func(e state.Entry) bool { return e.Task.Origin == origin && fits(e) })
	case s.Opt.Has("match") && len(s.Args) > 0:
		return nil, nil, problem.Of(problem.T("IDs and %s exclude each other", problem.Option("match")), cli.GiveOneOfThem)
	case s.Opt.Has("match"):
		return pickMatch(ctx, s, st, match, fits)
	case len(s.Args) == 0:
		return nil, nil, problem.Of(problem.T("%s needs the ID of a task", problem.To(s.Cmd.Name)),
			problem.T("%s shows the IDs; or name one by %s", listing(s), problem.Set("match", "TEXT")))
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
		e, bad, err := PickID(ctx, search, id, s.Clock.Now(), fits)
		switch {
		case errors.Is(err, state.ErrUnusable) || errors.Is(err, state.ErrNewer):
			// The file of this task cannot be read. The others are tried.
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

// PickTagged is Pick for commands that also have --tag, which names every task with all its tags.
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

// IDsAlone reports whether an answer has the IDs of its tasks alone, because the call names as many
// as there are.
func IDsAlone(s *cli.Call) bool {
	return s.Compact() && (s.Opt.Bool("all") || s.Opt.Has("tag") || s.Opt.Has("origin"))
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

// pickAll finds every live task that fits, in the order of their next instants. It warns of those
// that cannot be read, and notes them in the call.
func pickAll(ctx context.Context, s *cli.Call, st state.Tasks, fits func(state.Entry) bool) (list []state.Entry,
	failed []PickError, err error) {
	s.Unreadable, err = state.Each(ctx, st, func(e state.Entry) bool {
		if fits(e) {
			list = append(list, e)
		}
		return true
	}, state.Pending, state.Running, state.Paused)
	if err != nil {
		return nil, nil, err
	}
	s.WarnUnreadable(s.Unreadable)
	slices.SortFunc(list, state.Compare)
	return list, nil, nil
}

// PickID finds a task by its ID or a unique beginning of it. A whole ID is preferred to a
// beginning, and a task that the command can take to one that it cannot.
func PickID(ctx context.Context, search func(context.Context, string) ([]state.Entry, error), id string,
	now time.Time, fits func(state.Entry) bool) (state.Entry, *PickError, error) {
	// The ID of an occurrence, or of an item about it, names its task: k7m2/3, k7m2/3/desktop.
	name, rest, slash := strings.Cut(strings.ToLower(strings.TrimSpace(id)), "/")
	number, _, _ := strings.Cut(rest, "/")
	if _, err := strconv.ParseUint(number, 10, 63); slash && err != nil {
		name = ""
	}
	var all []state.Entry
	if name != "" {
		var err error
		all, err = search(ctx, name)
		if err != nil && !errors.Is(err, state.ErrNotFound) {
			return state.Entry{}, nil, err
		}
	}
	e, bad := bestOf(id, all, fits, now, problem.T("no task %s", cli.Quote(id)), func(n string) problem.Text {
		return beginning(id, n)
	})
	return e, bad, nil
}

// beginning says of how many tasks a text begins the IDs.
func beginning(id, tasks string) problem.Text {
	return problem.T("the IDs of %s begin with %s", tasks, cli.Quote(id))
}

// Ambiguous is the error of a text with which the IDs of several tasks begin.
func Ambiguous(id string, all []state.Entry) *PickError {
	return PickFailed(id, problem.IDAmbiguous, beginning(id, cli.Plural(len(all), "task")), all...)
}

// bestOf returns the one of the tasks that a name can mean: the one that the command can take, or
// else the live one, or else the only one. none and several say that there is not one.
func bestOf(name string, all []state.Entry, fits func(state.Entry) bool, now time.Time, none problem.Text,
	several func(tasks string) problem.Text) (e state.Entry, bad *PickError) {
	for _, wanted := range []func(state.Entry) bool{fits, tasks.Live} {
		if slices.ContainsFunc(all, wanted) {
			all = slices.DeleteFunc(slices.Clone(all), func(e state.Entry) bool { return !wanted(e) })
			break
		}
	}
	switch {
	case len(all) == 0:
		return e, PickFailed(name, problem.NotFound, none)
	case len(all) > 1:
		return e, PickFailed(name, problem.IDAmbiguous, several(cli.Plural(len(all), "task")), all...)
	case !fits(all[0]):
		return e, unfit(name, all[0], now)
	}
	return all[0], nil
}

// unfit is the error of a task that the command cannot take.
func unfit(id string, e state.Entry, now time.Time) *PickError {
	p := PickFailed(id, problem.Ended, problem.T("task %s %s", e.Task.ID, PhaseWords(e, "is still")))
	p.Other = &e
	switch {
	case tasks.Live(e):
		p.Code = problem.Failed
	case e.Phase == state.Removed:
		p.Message = problem.T("task %s was removed already", e.Task.ID)
		p.Hint = tasks.Undoing(e, now, problem.T("%s undoes that", problem.To("restore", e.Task.ID)))
	case len(e.Open) > 0:
		p.Hint = problem.T("%s ends it", problem.To("stop", e.Task.ID))
	}
	return p
}

// PhaseWords says in which state a task is, as the predicate of a sentence. is, such as "is still",
// precedes pending and paused.
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

// pickMatch finds the one task that mentions the text.
func pickMatch(ctx context.Context, s *cli.Call, st state.Tasks, text string,
	fits func(state.Entry) bool) ([]state.Entry, []PickError, error) {
	if strings.TrimSpace(text) == "" {
		return nil, nil, problem.Of(problem.T("%s needs a text to look for", problem.Option("match")),
			problem.T("%s shows the texts of the tasks", listing(s)))
	}
	all, _, err := state.All(ctx, st)
	if err != nil {
		return nil, nil, err
	}
	all = slices.DeleteFunc(all, func(e state.Entry) bool { return !Mentions(e.Task, text) })
	e, bad := bestOf(text, all, fits, s.Clock.Now(), problem.T("no task mentions %s", cli.Quote(text)), func(n string) problem.Text {
		return problem.T("%s mention %s", n, cli.Quote(text))
	})
	if bad != nil {
		return nil, []PickError{*bad}, nil
	}
	return []state.Entry{e}, nil, nil
}

// Mentions reports whether the ID, key, description, text, command or time of a task contains the
// text, in any case of letters.
func Mentions(t state.Task, text string) bool {
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

// AnswerChanges ends a call that has changed tasks. It writes the answer, warnings, and the errors
// of tasks that could not be changed.
func AnswerChanges(ctx context.Context, s *cli.Call, answer cli.Answer, failed []PickError, warnings []cli.Warning) error {
	s.Answer(answer)
	s.WarnAll(warnings)
	if err := ReportPicks(ctx, s, failed); err != nil {
		return err
	}
	return Incomplete(s.Unreadable)
}

// ReportPicks writes the errors of tasks to standard error, and returns the exit code of the first
// one, or nil. If a signal has ended the call, it returns that instead.
func ReportPicks(ctx context.Context, s *cli.Call, failed []PickError) error {
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
