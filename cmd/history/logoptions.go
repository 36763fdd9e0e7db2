package history

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ouro-timer/ouro-timer/cmd/cli"
	"github.com/ouro-timer/ouro-timer/cmd/option"
	"github.com/ouro-timer/ouro-timer/cmd/view"
	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/timer/problem"
	"github.com/ouro-timer/ouro-timer/timer/when"
	"github.com/ouro-timer/ouro-timer/timer/when/say"
)

// logOptions is a call of log, with all its words and options read.
type logOptions struct {
	now         time.Time
	zone        *time.Location
	limit       int
	hasLimit    bool // the call has -n
	since       time.Time
	outcomes    []string // the outcomes that are shown; empty means all, and changes of tasks
	task        string   // empty means all
	occurrence  int      // the number of the occurrence; 0 means all
	outputLimit int64    // how many bytes of each stream are shown
	follow      bool
	wait        bool          // the call waits for a run to end
	after       *logPlace     // nil means that the last entries come first
	bound       time.Duration // --max
}

// namesTask reports whether the call is about one task.
func (o *logOptions) namesTask() bool { return o.task != "" }

// shows reports whether a line is among those that the call asks for.
func (o *logOptions) shows(l state.Line) bool {
	switch {
	case o.occurrence > 0 && !l.Has(o.occurrence):
		return false
	case len(o.outcomes) > 0:
		return slices.Contains(o.outcomes, string(l.Outcome))
	}
	return true
}

// logRows are how many entries are shown unless the call says otherwise.
const logRows = 20

// outputLimitMost is the most that --output-limit may be, because all of it is kept in memory.
const outputLimitMost = 16 << 20

// readOutputLimit reads --output-limit: how many bytes of each stream are shown.
func readOutputLimit(s *cli.Call) (int64, error) {
	n := s.Opt.Int("output-limit")
	switch {
	case !s.Opt.Has("output-limit"):
		return view.OutputMost, nil
	case n < 1 || n > outputLimitMost:
		return 0, problem.Of(problem.T("%s must be from 1 to %d", problem.Option("output-limit"),
			outputLimitMost), problem.T("leave it out for %s",
			problem.Usual{Name: "output-limit", Text: strconv.Itoa(view.OutputMost)}))
	case len(s.Args) == 0 && !s.Opt.Has("match"):
		return 0, cli.CallInstead(problem.T("%s is for the output of one task, and none is named",
			problem.Option("output-limit")),
			problem.To("log", "k7m2").With("output-limit", n))
	case s.Opt.Bool("follow") || s.Opt.Bool("audit"):
		return 0, problem.Of(problem.T("%s has no meaning with %s", problem.Option("output-limit"),
			problem.Options(" or ", "follow", "audit")), problem.T("leave it out"))
	}
	return int64(n), nil
}

// newLog reads the options of a call. The ID is read by pick, which needs the store.
func newLog(s *cli.Call) (o logOptions, err error) {
	o.limit, o.hasLimit, o.follow, o.wait = s.Opt.Int("number"), s.Opt.Has("number"), s.Opt.Bool("follow"),
		s.Opt.Bool("wait")
	if err = o.check(s); err != nil {
		return o, err
	}
	if o.outputLimit, err = readOutputLimit(s); err != nil {
		return o, err
	}
	if s.Opt.Has("after") {
		if o.after, err = parseLogPlace(s.Opt.Text("after")); err != nil {
			return o, err
		}
	}
	if s.Opt.Has("outcome") {
		if o.outcomes, err = s.Cmd.Options.Named("outcome").ChooseAll(strings.Join(s.Opt.List("outcome"), ",")); err != nil {
			return o, err
		}
	}
	if o.follow || o.wait {
		if o.bound, err = cli.Bound(s); err != nil {
			return o, err
		}
	}
	times, err := s.TimeOptions()
	if err != nil {
		return o, err
	}
	o.now, o.zone = times.Now, times.Zone
	o.since, err = since(s.Opt, times)
	return o, err
}

// check refuses options that have no meaning, or no meaning together.
func (o *logOptions) check(s *cli.Call) error {
	switch {
	case o.hasLimit && (o.limit < 0 || o.limit == 0 && !o.follow):
		return problem.Of(problem.T("%s must be 1 or more", problem.Option("n")),
			problem.T("leave it out for %d, or 1 with an ID", logRows))
	case len(s.Args) > 1:
		return cli.CallInstead(problem.T("log takes one ID"), problem.To("log", s.Args[0]))
	case o.follow && s.Opt.Bool("audit"):
		return cli.Excluding("follow", "audit")
	case o.wait && (o.follow || s.Opt.Bool("audit")):
		return problem.Of(problem.T("%s excludes %s", problem.Option("wait"),
			problem.Options(" and ", "follow", "audit")), cli.GiveOneOfThem)
	case o.wait && (o.hasLimit || s.Opt.Has("since") || s.Opt.Has("outcome")):
		return problem.Of(problem.T("%s waits for one end; %s have no meaning with it", problem.Option("wait"),
			problem.Options(", ", "n", "since", "outcome")), problem.T("leave them out"))
	case o.wait && len(s.Args) == 0 && !s.Opt.Has("match"):
		return cli.CallInstead(problem.T("%s needs the ID of a task", problem.Option("wait")),
			problem.To("log", "k7m2").With("wait", true))
	case !o.follow && !o.wait && (s.Opt.Has("max") || s.Opt.Has("after")):
		return problem.Of(problem.T("%s go with %s or %s", problem.Options(" and ", "max", "after"),
			problem.Option("follow"), problem.Option("wait")), problem.T("add one of them"))
	case s.Opt.Has("after") && (o.hasLimit || s.Opt.Has("since")):
		return problem.Of(problem.T("%s says where to begin; %s have no meaning with it",
			problem.Option("after"), problem.Options(" and ", "n", "since")), problem.T("leave them out"))
	}
	return nil
}

// since reads --since: a duration back from now, or an instant. A time of day is the last that has
// passed, and other words that name an instant to come are refused, because nothing was written
// since then. A date with its year may be to come, as a caller may have it from another machine.
func since(given option.Values, o when.Options) (time.Time, error) {
	if !given.Has("since") {
		return time.Time{}, nil
	}
	text := strings.TrimSpace(given.Text("since"))
	if d, err := when.Duration(text); err == nil {
		return o.Now.Add(-d), nil
	}
	if t, err := when.Instant(text, o); err == nil {
		_, notDate := time.Parse(time.DateOnly, text[:min(len(text), len(time.DateOnly))])
		if !t.After(o.Now) || notDate == nil {
			return t, nil
		}
		for _, day := range []string{"today ", "yesterday "} {
			if passed, err := when.Instant(day+text, o); err == nil && !passed.After(o.Now) {
				return passed, nil
			}
		}
		return time.Time{}, problem.Of(problem.T("%s is %s, which is still to come: %s", problem.Option("since"),
			cli.Quote(text), say.Stamp(t)), problem.T("try %s, %s or %s", problem.Set("since", "last friday"),
			problem.Set("since", "yesterday"), problem.Set("since", "2h")))
	}
	return time.Time{}, problem.Of(problem.T("%s is %s, which is neither a duration back from now nor an instant",
		problem.Option("since"), cli.Quote(text)),
		problem.T("try %s, %s or %s", problem.Set("since", "2h"), problem.Set("since", "2026-11-21"),
			problem.Set("since", "2026-11-21T09:00")))
}

// outcomes are the words for the ends of a run or an instant.
var outcomes = []string{string(state.OK), string(state.Failed), string(state.TimedOut), string(state.Interrupted),
	string(state.Missed), string(state.Skipped), string(state.Cancelled)}
