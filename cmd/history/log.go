// Package history has the commands about what happened to tasks: log, inbox and ack.
package history

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ouro-timer/ouro-timer/cmd/cli"
	"github.com/ouro-timer/ouro-timer/cmd/option"
	"github.com/ouro-timer/ouro-timer/cmd/view"
	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/timer/await"
	"github.com/ouro-timer/ouro-timer/timer/problem"
	"github.com/ouro-timer/ouro-timer/timer/when"
)

func LogCommand() cli.Command {
	return cli.Command{
		Name: "log", Args: "[<id>]", Short: "how runs ended, and their output",
		Long: `
Without an ID: the last 20 entries of the ledger, oldest first, also in a pipe; when there are older ones, standard error
says so ("more" with --json), and -n asks for them. In a pipe they are tab-separated fields: written, occurrence or
task, outcome or event, exit code or signal (of a change of a task: when it is due then, of a pause its end), seconds
late, what it is. With the ID of a task: its last run, who was told of it, and what it wrote; with that of an occurrence
(k7m2/3): that one. That a channel was told, or could not be, is an entry of its own (told, undelivered) without an ID and
with -n.
When a line of the ledger is damaged, the others are shown and the exit code is 4. With --json the texts of the output
come with an ID only. Every due instant ends with one outcome: ok, failed, timeout, interrupted (the runner or the
machine died), missed, skipped or cancelled. --audit holds the whole ledger to that: it names the instants with no
outcome or with more than one, says since when it can know, and exits 1 when there are any.

--follow goes on with what comes, entry by entry, until it is interrupted. With an ID also with what the task's runs
write, as they write it and each to the stream it was written to, and every change of the task; it ends when no run of
it can come any more, and with the ID of an occurrence when that has ended. With --json each entry is one object, and
so is each piece of output ("type":"output"). --max bounds it: exit 75, with the command that goes on where it ended,
nothing lost and nothing twice.

--wait waits for one end: of the run that is named, of the task's next run, or, when the task is over, of its last. It
answers how the run ended and the end of what it wrote, and exits with 0 when it went well, 124 when its time-out ended
it, else 1. --max bounds it: exit 75, with the command that waits further.`,
		Examples: []string{"ouro-timer log", "ouro-timer log k7m2",
			"ouro-timer log -n 50 --since 2h --outcome failed,timeout --json", "ouro-timer log -f k7m2",
			"ouro-timer log --follow --json --max 110s", "ouro-timer log --audit --since 7d"},
		Ids:       "any",
		Arguments: []option.Argument{{Name: "id", Kind: option.ID}},
		Options: option.Rows{
			option.Option{Name: "number", Aliases: []string{"n", "limit"}, Kind: option.Whole,
				Default: strconv.Itoa(logRows), Help: "show at most N entries; 1 with an ID when it is not given"},
			option.Option{Name: "since", Kind: option.Time,
				Help: "only what was written since WHEN: a duration back from now (2h), or a date or instant"},
			option.Option{Name: "outcome", Kind: option.List, Many: true, Choices: outcomes,
				Help: "only runs and instants that ended so, LIST: failed,timeout"},
			option.Option{Name: "follow", Aliases: []string{"f"}, Kind: option.Flag, Help: "go on with what comes"},
			cli.WaitFlag("with an ID: wait for the end of a run, and answer how it ended"),
			option.Option{Name: "after", Kind: option.Cursor, Value: "PLACE",
				Help: "with --follow or --wait: begin after the PLACE that an earlier call ended with"},
			option.Option{Name: "output-limit", Kind: option.Whole, Default: strconv.Itoa(view.OutputMost),
				Help: "with an ID: show the last N bytes of what it wrote to each stream"},
			cli.MaxFlag(), auditFlag(), cli.MatchFlag(), cli.QuietFlag("print the answer alone"), cli.ZoneFlag(),
			cli.JsonFlag(), cli.FieldsFlag(),
		},
		Exits: []int{cli.ExitTimedOut},
		Answers: append([]cli.Shape{
			{Name: "log", Of: logJSON{}, Given: "!follow !audit !wait",
				Says: "the latest lines of the ledger, in the order they were written"},
			{Name: "line", Of: view.ToldLine{}, Given: "follow", Says: "--follow: a line of the ledger", Stream: true},
			{Name: "log-output", Of: view.PieceJSON{}, Given: "follow",
				Says: "--follow: a piece of what a run writes", Stream: true},
			{Name: "log-problem", Of: view.ProblemJSON{}, Given: "follow",
				Says: "--follow: something that cannot be read", Stream: true},
			{Name: "log-followed", Of: followedJSON{}, Given: "follow", Says: "--follow: how to go on after --max"},
			{Name: "log-finding", Of: findingJSON{}, Given: "audit",
				Says: "--audit: something that does not balance", Stream: true},
			{Name: "log-audit", Of: auditJSON{}, Given: "audit",
				Says: "--audit: whether all balances; after the findings"},
		}, view.EndedShapes()...),
		Run: runLog,
	}
}

// logOptions is a call of log, with all its words and options read.
type logOptions struct {
	now      time.Time
	zone     *time.Location
	n        int
	numbered bool // the call has -n
	since    time.Time
	outcomes []string // the outcomes that are shown; empty means all, and changes of tasks
	task     string   // empty means all
	number   int      // the number of the occurrence; 0 means all
	output   int64    // how many bytes of each stream are shown
	follow   bool
	wait     bool      // the call waits for one end
	after    *logPlace // nil means that the last entries come first
	most     time.Duration
}

// one reports whether the call is about one task.
func (o *logOptions) one() bool { return o.task != "" }

// shows reports whether a line is among those that the call asks for.
func (o *logOptions) shows(l state.Line) bool {
	switch {
	case o.number > 0 && (l.Number > o.number || l.Number+max(l.Count, 1) <= o.number):
		return false
	case len(o.outcomes) > 0:
		return slices.Contains(o.outcomes, string(l.Outcome))
	}
	return true
}

// logRows are how many entries are shown unless the call says otherwise.
const logRows = 20

// outputLimitMost is the most of --output-limit, because all of it is kept in memory.
const outputLimitMost = 16 << 20

// outputLimit is how many bytes of each stream are shown.
func outputLimit(s *cli.Call) (int64, error) {
	n := s.Opt.Int("output-limit")
	switch {
	case !s.Opt.Has("output-limit"):
		return view.OutputMost, nil
	case n < 1 || n > outputLimitMost:
		return 0, problem.Of(problem.T("%s must be from 1 to %d", problem.Option("output-limit"),
			outputLimitMost), problem.T("leave it out for %s",
			problem.Usual{Name: "output-limit", Text: strconv.Itoa(view.OutputMost)}))
	case len(s.Args) == 0 && !s.Opt.Has("match"):
		return 0, cli.Instead(problem.T("%s is for the output of one task, and none is named",
			problem.Option("output-limit")),
			problem.To("log", "k7m2").With("output-limit", n))
	case s.Opt.Bool("follow") || s.Opt.Bool("audit"):
		return 0, problem.Of(problem.T("%s has no meaning with %s", problem.Option("output-limit"),
			problem.Options(" or ", "follow", "audit")), problem.T("leave it out"))
	}
	return int64(n), nil
}

// newLog reads the call except the ID.
func newLog(s *cli.Call) (o logOptions, err error) {
	o.n, o.numbered, o.follow, o.wait = s.Opt.Int("number"), s.Opt.Has("number"), s.Opt.Bool("follow"),
		s.Opt.Bool("wait")
	switch {
	case o.numbered && (o.n < 0 || o.n == 0 && !o.follow):
		return o, problem.Of(problem.T("%s must be 1 or more", problem.Option("n")),
			problem.T("leave it out for %d, or 1 with an ID", logRows))
	case len(s.Args) > 1:
		return o, cli.Instead(problem.T("log takes one ID"), problem.To("log", s.Args[0]))
	case o.follow && s.Opt.Bool("audit"):
		return o, cli.Excluding("follow", "audit")
	case o.wait && (o.follow || s.Opt.Bool("audit")):
		return o, problem.Of(problem.T("%s excludes %s", problem.Option("wait"),
			problem.Options(" and ", "follow", "audit")), cli.OneOfThem)
	case o.wait && (o.numbered || s.Opt.Has("since") || s.Opt.Has("outcome")):
		return o, problem.Of(problem.T("%s waits for one end; %s have no meaning with it", problem.Option("wait"),
			problem.Options(", ", "n", "since", "outcome")), problem.T("leave them out"))
	case o.wait && len(s.Args) == 0 && !s.Opt.Has("match"):
		return o, cli.Instead(problem.T("the end of which task? %s needs its ID", problem.Option("wait")),
			problem.To("log", "k7m2").With("wait", true))
	case !o.follow && !o.wait && s.Opt.Has("max"):
		return o, cli.GoesWith("max", "follow", problem.To("log").With("follow", true).With("max", s.Opt.Text("max")))
	case !o.follow && !o.wait && s.Opt.Has("after"):
		return o, cli.GoesWith("after", "follow", problem.To("log").With("follow", true).With("after",
			s.Opt.Text("after")))
	case s.Opt.Has("after") && (o.numbered || s.Opt.Has("since")):
		return o, problem.Of(problem.T("%s says where to begin; %s have no meaning with it",
			problem.Option("after"), problem.Options(" and ", "n", "since")), problem.T("leave them out"))
	}
	if o.output, err = outputLimit(s); err != nil {
		return o, err
	}
	if s.Opt.Has("after") {
		if o.after, err = parseLogPlace(s.Opt.Text("after")); err != nil {
			return o, err
		}
	}
	for _, list := range s.Opt.List("outcome") {
		for word := range strings.SplitSeq(list, ",") {
			word = strings.ToLower(strings.TrimSpace(word))
			if !slices.Contains(outcomes, word) {
				hint := problem.T("the outcomes are %s", strings.Join(outcomes, ", "))
				if near := problem.Nearest(word, outcomes); near != "" {
					hint = problem.T("did you mean %s? %s", near, hint)
				}
				return o, problem.Of(problem.T("%s %s is not an outcome", problem.Option("outcome"),
					cli.Quote(word)), hint)
			}
			o.outcomes = append(o.outcomes, word)
		}
	}
	if o.follow || o.wait {
		if o.most, err = cli.Longest(s); err != nil {
			return o, err
		}
	}
	times, err := s.Options()
	if err != nil {
		return o, err
	}
	o.now, o.zone = times.Now, times.Zone
	o.since, err = since(s.Opt, times)
	return o, err
}

func runLog(ctx context.Context, s *cli.Call) error {
	o, err := newLog(s)
	if err != nil {
		return err
	}
	st, err := s.Open()
	if err != nil {
		return err
	}
	if s.Opt.Bool("audit") {
		times, err := s.Options()
		if err != nil {
			return err
		}
		return auditLedger(ctx, s, st, o.since, times)
	}
	known, err := o.pick(ctx, s, st)
	if err != nil {
		return err
	}
	switch {
	case o.follow:
		return followLog(ctx, s, st, o, known)
	case o.wait:
		return o.await(ctx, s, st)
	}
	past, err := o.past(ctx, st)
	if err != nil {
		return err
	}
	running := runningNow(past.open, o.now)
	problems(s, past.problems)
	if err := o.missing(ctx, s, st, past, known); err != nil {
		return err
	}
	// A line that was written only in part was never confirmed. A line that was damaged later is a
	// loss.
	lost := view.Incomplete(slices.DeleteFunc(slices.Clone(past.problems), isTorn))
	answer := logJSON{Now: o.now, Running: running != "", Problems: view.ProblemTexts(past.problems), past: past,
		o: o, running: running, st: st}
	if past.more {
		answer.More = 1
	}
	for _, l := range past.lines {
		row := view.AsLineJSON(l, o.now.Location())
		if s.InJSON {
			row = lineWithOutput(ctx, st, &o, l)
		}
		row.Deliveries = past.told.Of(l, o.zone)
		answer.Log = append(answer.Log, row)
	}
	answer.Log = cli.OrEmpty(answer.Log)
	s.Answer(answer)
	return lost
}

// await answers log --wait.
func (o *logOptions) await(ctx context.Context, s *cli.Call, st state.Store) error {
	output := o.output
	if !s.Opt.Has("output-limit") {
		output = view.EndedMost
	}
	a := await.Run{ID: o.task, Number: o.number}
	if o.after != nil {
		a.After = &o.after.Place
	}
	return view.AwaitEnd(ctx, s, st, a, o.most, output, nil)
}

// isTorn reports whether a problem is a last line that was written only in part, so that nothing is
// missing.
func isTorn(p state.Problem) bool { return errors.Is(p, state.ErrTorn) }

// pick finds the task that the call names. A whole ID is not looked for among the tasks, because
// the ledger may remember it longer. known says that the task exists.
func (o *logOptions) pick(ctx context.Context, s *cli.Call, st state.Tasks) (known bool, err error) {
	if len(s.Args) == 0 && !s.Opt.Has("match") {
		return true, nil
	}
	after, occurrence := "", false
	if len(s.Args) == 1 && !s.Opt.Has("match") {
		var name string
		name, after, occurrence = strings.Cut(strings.ToLower(strings.TrimSpace(s.Args[0])), "/")
		if state.WholeID(name) {
			o.task = name
		}
	}
	if o.task == "" {
		found, failed, err := view.Pick(ctx, s, st, func(state.Entry) bool { return true })
		if err != nil {
			return false, err
		}
		if len(failed) > 0 {
			return false, failed[0].Problem
		}
		o.task, known = found[0].Task.ID, true
	}
	if occurrence {
		if o.number, err = strconv.Atoi(after); err != nil || o.number < 1 {
			return false, problem.Of(problem.T("%s names no occurrence", cli.Quote(s.Args[0])),
				problem.T("write it as %s", state.OccurrenceID(o.task, 1)))
		}
	}
	return known, nil
}

// logPast is what the ledger has, and the runs that go on.
type logPast struct {
	lines    []state.Line     // oldest first
	told     *view.Deliveries // the deliveries of the lines; nil when they are entries of their own
	more     bool             // there are older ones
	known    bool             // there is an entry of the task
	open     []state.Record
	end      state.Place
	problems []state.Problem
}

// past reads the last lines that the call asks for.
func (o *logOptions) past(ctx context.Context, st state.Store) (p logPast, err error) {
	if o.one() {
		all, _, err := st.Open(ctx)
		if err != nil {
			return p, err
		}
		for _, r := range all {
			if r.Task.ID == o.task {
				p.open = append(p.open, r)
			}
		}
	}
	n := o.n
	switch {
	case o.numbered:
	case o.one() && o.follow && len(p.open) > 0:
		n = 0 // its output is shown
	case o.one():
		n = 1
	default:
		n = logRows
	}
	if o.one() && !o.numbered {
		p.told = &view.Deliveries{}
	}
	take := func(l state.Line) bool {
		p.known = true
		switch {
		case !o.since.IsZero() && l.At.Before(o.since):
			return false
		case o.one() && l.Type == state.LineDelivery && !o.numbered:
			p.told.Lines = append(p.told.Lines, l)
			return true
		case o.one() && l.Type == state.LineTask && !o.numbered, !o.shows(l):
			// without -n the call means the last run
			return true
		case len(p.lines) == n:
			p.more = true
			return false
		}
		p.lines = append(p.lines, l)
		return o.number == 0 || n == 0
	}
	if o.number > 0 {
		var known bool
		p.end, known, p.problems, err = st.Occurrence(ctx, o.task, o.number, take)
		p.known = p.known || known
	} else {
		p.end, p.problems, err = st.Log(ctx, o.task, take)
	}
	slices.Reverse(p.lines)
	if err == nil {
		err = st.Spell(ctx, p.lines)
	}
	if err == nil && p.told.Lacks(p.lines) {
		p.told.Waiting, _, _, err = st.Outbox(ctx, state.EndOfTime, 0)
	}
	return p, err
}

// missing is the problem of a task or an occurrence that does not exist.
func (o *logOptions) missing(ctx context.Context, s *cli.Call, st state.Tasks, p logPast, known bool) error {
	if o.one() && !known && !p.known && len(p.open) == 0 {
		_, failed, err := view.Pick(ctx, s, st, func(state.Entry) bool { return true })
		if err != nil {
			return err
		}
		if len(failed) > 0 {
			return failed[0].Problem
		}
	}
	if o.number == 0 || len(p.lines) > 0 || len(o.outcomes) > 0 ||
		slices.ContainsFunc(p.open, func(r state.Record) bool { return r.Number == o.number }) {
		return nil
	}
	return problem.New(problem.NotFound, problem.T("the ledger has no occurrence %s",
		state.OccurrenceID(o.task, o.number)),
		problem.T("%s shows the latest", problem.To("log", o.task).With("n", 20)))
}

// problems warns about what could not be read.
func problems(s *cli.Call, list []state.Problem) {
	for _, p := range list {
		s.Warn("warning: %s", cli.Visible(p.Error()))
	}
}

// since reads --since: a duration back from now, or an instant, which may be past.
func since(given option.Values, o when.Options) (time.Time, error) {
	if !given.Has("since") {
		return time.Time{}, nil
	}
	text := strings.TrimSpace(given.Text("since"))
	if d, err := when.Duration(text); err == nil {
		return o.Now.Add(-d), nil
	}
	if t, err := when.Instant(text, o); err == nil {
		return t, nil
	}
	return time.Time{}, problem.Of(problem.T("%s is %s, which is neither a duration back from now nor an instant",
		problem.Option("since"), cli.Quote(text)),
		problem.T("try %s, %s or %s", problem.Set("since", "2h"), problem.Set("since", "2026-11-21"),
			problem.Set("since", "2026-11-21T09:00")))
}

// outcomes are the words for the ends of a run or an instant.
var outcomes = []string{string(state.OK), string(state.Failed), string(state.TimedOut), string(state.Interrupted),
	string(state.Missed), string(state.Skipped),
	string(state.Cancelled)}
