package manage

import (
	"slices"
	"strings"
	"time"

	"github.com/ouro-timer/ouro-timer/cmd/cli"
	"github.com/ouro-timer/ouro-timer/cmd/view"
	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/timer/problem"
	"github.com/ouro-timer/ouro-timer/timer/tasks"
	"github.com/ouro-timer/ouro-timer/timer/when"
)

// states are the words that --state takes: the states that answers name, and removed.
var states = []string{"pending", "running", "paused", "ended", string(state.Removed)}

// filter chooses the tasks that a call lists. A task has to fit every part of it.
type filter struct {
	texts         []string // the words that the task has to have
	tags          []string
	states        []string
	origin        string
	from          time.Time // the task is due next then or later; zero means no bound
	until         time.Time // the task is due next before then; zero means no bound
	untilIncluded bool      // the task may also be due exactly at until
}

// filterOf reads the filter from the options and words of the call.
func filterOf(s *cli.Call) (f filter, err error) {
	f.texts = s.Args
	if s.Opt.Has("match") {
		f.texts = append(slices.Clone(f.texts), s.Opt.Text("match"))
	}
	if slices.ContainsFunc(f.texts, func(text string) bool { return strings.TrimSpace(text) == "" }) {
		return f, problem.Of(problem.T("there is no word to look for"), problem.T("leave it out for all tasks"))
	}
	if s.Opt.Has("tag") {
		if f.tags, err = view.TagsGiven(s); err != nil {
			return f, err
		}
	}
	if s.Opt.Has("state") {
		if f.states, err = s.Cmd.Options.Named("state").ChooseAll(s.Opt.Text("state")); err != nil {
			return f, err
		}
	}
	if f.origin, err = cli.OriginGiven(s.Opt); err != nil || !s.Opt.Has("due") {
		return f, err
	}
	return f, f.readDue(s)
}

// readDue reads --due: an instant by which tasks are due, a day, or a span.
func (f *filter) readDue(s *cli.Call) error {
	o, err := s.TimeOptions()
	if err != nil {
		return err
	}
	text := strings.TrimSpace(s.Opt.Text("due"))
	if left, right, span := strings.Cut(text, ".."); span {
		if f.from, err = dueInstant(left, o); err != nil {
			return err
		}
		f.until, err = dueInstant(right, o)
		f.untilIncluded = true
		if err == nil && !f.from.IsZero() && !f.until.IsZero() && f.until.Before(f.from) {
			return problem.Of(problem.T("%s %s ends before it begins", problem.Option("due"), cli.Quote(text)),
				problem.T("give the earlier instant first: A..B"))
		}
		return err
	}
	if text == "" {
		return problem.Of(problem.T("%s is empty", problem.Option("due")),
			problem.T("give a day, an instant or a span: %s, or A..B", problem.Set("due", "tomorrow")))
	}
	at, err := dueInstant(text, o)
	if err != nil {
		return err
	}
	year, month, day := at.Date()
	if _, clock := when.Instant(text+" 12:00", o); clock == nil &&
		at.Equal(time.Date(year, month, day, 0, 0, 0, 0, at.Location())) {
		f.from, f.until = at, time.Date(year, month, day+1, 0, 0, 0, 0, at.Location())
		return nil
	}
	f.until, f.untilIncluded = at, true
	return nil
}

// dueInstant reads an instant of --due, which may be past. An empty text is the zero instant.
func dueInstant(text string, o when.Options) (time.Time, error) {
	if strings.TrimSpace(text) == "" {
		return time.Time{}, nil
	}
	at, err := when.Instant(strings.TrimSpace(text), o)
	if err != nil {
		at, err = tasks.Moment("due", text, o) // the text is a duration
	}
	return at, err
}

// active reports whether the filter can leave out a task.
func (f filter) active() bool {
	return len(f.texts)+len(f.tags)+len(f.states) > 0 || f.origin != "" || !f.from.IsZero() || !f.until.IsZero()
}

// phases are the phases of the tasks that may fit. With all they include ended and removed.
func (f filter) phases(all bool) []state.Phase {
	live := []state.Phase{state.Pending, state.Running, state.Paused}
	switch {
	case all:
		return append(live, state.Ended, state.Removed)
	case len(f.states) == 0:
		return live
	}
	for _, phase := range []state.Phase{state.Ended, state.Removed} {
		if slices.Contains(f.states, string(phase)) {
			live = append(live, phase)
		}
	}
	return live
}

// fits reports whether a task is listed.
func (f *filter) fits(e *state.Entry) bool {
	switch {
	case f.origin != "" && e.Task.Origin != f.origin, len(f.tags) > 0 && !tasks.Tagged(e.Task, f.tags):
		return false
	case slices.ContainsFunc(f.texts, func(text string) bool { return !view.Mentions(e.Task, text) }):
		return false
	case len(f.states) > 0 && !slices.Contains(f.states, stateOf(*e)):
		return false
	case f.from.IsZero() && f.until.IsZero():
		return true
	}
	due := view.DueOf(*e)
	return !due.IsZero() && !due.Before(f.from) && (f.until.IsZero() || due.Before(f.until) || f.untilIncluded &&
		due.Equal(f.until))
}

// stateOf returns the state of a task in the words of --state.
func stateOf(e state.Entry) string {
	if e.Phase == state.Removed {
		return string(state.Removed)
	}
	return view.StateName(e)
}
