// Package history has the commands about what happened to tasks: log, inbox and ack.
package history

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/ouro-timer/ouro-timer/cmd/cli"
	"github.com/ouro-timer/ouro-timer/cmd/option"
	"github.com/ouro-timer/ouro-timer/cmd/view"
	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/timer/await"
	"github.com/ouro-timer/ouro-timer/timer/problem"
)

// LogCommand is the command log.
func LogCommand() cli.Command {
	return cli.Command{
		Name: "log", Args: "[<id> | --match <text>]", Short: "how runs ended, and their output",
		Long: `
Without an ID: the last 20 entries of the ledger, oldest first, also in a pipe; when there are older ones, standard error
says so ("more" with --json), and -n asks for them. In a pipe they are tab-separated fields: written, occurrence or
task, outcome or event, exit code, signal or reason (for a change of a task its due instant, for a pause its end), seconds
late, what it is. With the ID of a task: its last run, who was told of it, and what it wrote. With the ID of an
occurrence (k7m2/3): the same of that occurrence. Without an ID and with -n, an entry of its own says that a channel was
told or could not be (told, undelivered).
When a line of the ledger is damaged, the others are shown and the exit code is 4. With --json the texts of the output
come with an ID only. Every due instant ends with one outcome: ok, failed, timeout, interrupted (the runner or the
machine died), missed, skipped or cancelled. --audit holds the whole ledger to that: it names the instants with no
outcome or with more than one, says since when it can know, and exits 1 when there are any.

--follow goes on with what comes, entry by entry, until it is interrupted. With an ID also with what the task's runs
write, as they write it and each to the stream it was written to, and every change of the task; it ends when no run of
it can come any more, and with the ID of an occurrence when that has ended. With --json each entry is one object, and
so is each piece of output ("type":"output"). --max limits how long: exit 75, with the command that goes on where this
one ended, nothing lost and nothing twice.

--wait waits for one run to end: the one that is named, the task's next one, or, when the task is over, its last. It
answers how the run ended and the end of what it wrote, and exits with 0 when it went well, 124 when its time-out ended
it, else 1. --max limits the wait: exit 75, with the command that waits on.`,
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
			cli.WaitFlag.WithHelp("with an ID: wait for a run to end, and answer how it ended"),
			option.Option{Name: "after", Kind: option.Cursor, Value: "PLACE",
				Help: "with --follow or --wait: begin after the PLACE that an earlier call ended with"},
			option.Option{Name: "output-limit", Kind: option.Whole, Default: strconv.Itoa(view.OutputMost),
				Help: "with an ID: show the last N bytes of what it wrote to each stream"},
			cli.MaxFlag, option.Option{Name: "audit", Kind: option.Flag,
				Help: "say whether each past instant has exactly one outcome; exit 1 when one has not, 4 when damage hides it"},
			cli.MatchFlag, cli.QuietFlag.WithHelp("print the answer alone"), cli.ZoneFlag,
			cli.JSONFlag, cli.FieldsFlag,
		},
		Exits: []int{cli.ExitTimedOut},
		Answers: append([]cli.Shape{
			{Name: "log", Of: logJSON{}, Given: "!follow !audit !wait",
				Means: "the latest lines of the ledger, in the order they were written"},
			{Name: "line", Of: view.StreamLine{}, Given: "follow", Means: "--follow: a line of the ledger", Stream: true},
			{Name: "log-output", Of: view.PieceJSON{}, Given: "follow",
				Means: "--follow: a piece of what a run writes", Stream: true},
			{Name: "log-problem", Of: view.ProblemJSON{}, Given: "follow",
				Means: "--follow: something that cannot be read", Stream: true},
			{Name: "log-followed", Of: followedJSON{}, Given: "follow", Means: "--follow: how to go on after --max"},
			{Name: "log-finding", Of: findingJSON{}, Given: "audit",
				Means: "--audit: something that does not balance", Stream: true},
			{Name: "log-audit", Of: auditJSON{}, Given: "audit",
				Means: "--audit: whether all balances; after the findings"},
		}, view.EndedShapes...),
		Run: runLog,
	}
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
		times, err := s.TimeOptions()
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
	warnOfProblems(s, past.problems)
	if err := o.notFound(ctx, s, st, past, known); err != nil {
		return err
	}
	// A torn line was never confirmed, so nothing is lost with it. A damaged line is a loss.
	incomplete := view.Incomplete(slices.DeleteFunc(slices.Clone(past.problems), isTorn))
	answer := logJSON{Now: o.now, Running: running != "", Problems: view.ProblemTexts(past.problems), past: past,
		o: o, running: running, st: st}
	if past.more {
		answer.More = 1
	}
	if s.InJSON {
		answer.Log = make([]view.LineJSON, len(past.lines))
		for i, l := range past.lines {
			answer.Log[i] = lineOf(ctx, st, &o, l)
			answer.Log[i].Deliveries = past.deliveries.Of(l, o.zone)
		}
	}
	s.Answer(answer)
	return incomplete
}

// await answers log --wait.
func (o *logOptions) await(ctx context.Context, s *cli.Call, st state.Store) error {
	output := o.outputLimit
	if !s.Opt.Has("output-limit") {
		output = view.EndedOutputMost
	}
	a := await.Run{ID: o.task, Number: o.occurrence}
	if o.after != nil {
		a.After = &o.after.Place
	}
	return view.AwaitEnd(ctx, s, st, a, o.bound, output, nil)
}

// isTorn reports whether a problem is a last line that was written only in part.
func isTorn(p state.Problem) bool { return errors.Is(p, state.ErrTorn) }

// pick finds the task that the call names, and reports whether it is among the tasks. It does not
// look for a whole ID there, because the ledger may remember the task longer.
func (o *logOptions) pick(ctx context.Context, s *cli.Call, st state.Tasks) (known bool, err error) {
	if len(s.Args) == 0 && !s.Opt.Has("match") {
		return true, nil
	}
	numberText, hasNumber := "", false
	if len(s.Args) == 1 && !s.Opt.Has("match") {
		var name string
		name, numberText, hasNumber = strings.Cut(strings.ToLower(strings.TrimSpace(s.Args[0])), "/")
		if state.WholeID(name) {
			o.task = name
		}
	}
	if o.task == "" {
		e, err := view.PickOne(ctx, s, st, func(state.Entry) bool { return true })
		if err != nil {
			return false, err
		}
		o.task, known = e.Task.ID, true
	}
	if hasNumber {
		if o.occurrence, err = strconv.Atoi(numberText); err != nil || o.occurrence < 1 {
			return false, problem.Of(problem.T("%s is not the ID of an occurrence", cli.Quote(s.Args[0])),
				problem.T("write it as %s", state.OccurrenceID(o.task, 1)))
		}
	}
	return known, nil
}

// logPast is what the ledger has about the past, and the runs that go on.
type logPast struct {
	lines      []state.Line     // oldest first
	deliveries *view.Deliveries // of the lines; nil when they are entries of their own
	more       bool             // there are older ones
	inLedger   bool             // there is an entry of the task
	open       []state.Record   // the runs of the task that go on
	end        state.Place
	problems   []state.Problem
}

// past reads the last lines that the call asks for.
func (o *logOptions) past(ctx context.Context, st state.Store) (p logPast, err error) {
	if o.namesTask() {
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
	n := o.pastLines(len(p.open) > 0)
	lastRun := o.namesTask() && !o.hasLimit
	if lastRun {
		p.deliveries = &view.Deliveries{}
	}
	take := func(l state.Line) bool {
		p.inLedger = true
		switch {
		case !o.since.IsZero() && l.At.Before(o.since):
			return false
		case lastRun && l.Type == state.LineDelivery:
			p.deliveries.Lines = append(p.deliveries.Lines, l)
			return true
		case lastRun && l.Type == state.LineTask, !o.shows(l):
			return true
		case len(p.lines) == n:
			p.more = true
			return false
		}
		p.lines = append(p.lines, l)
		return o.occurrence == 0 || n == 0
	}
	if o.occurrence > 0 {
		var known bool
		p.end, known, p.problems, err = st.Occurrence(ctx, o.task, o.occurrence, take)
		p.inLedger = p.inLedger || known
	} else {
		p.end, p.problems, err = st.Log(ctx, o.task, take)
	}
	slices.Reverse(p.lines)
	if err == nil {
		err = st.Spell(ctx, p.lines)
	}
	if err == nil && p.deliveries.Lacks(p.lines) {
		p.deliveries.Waiting, _, _, err = st.Outbox(ctx, state.EndOfTime, 0)
	}
	return p, err
}

// pastLines is how many lines of the past the call asks for. With --follow it asks for none while a
// run of its task goes on, because it shows the output of that run.
func (o *logOptions) pastLines(running bool) int {
	switch {
	case o.hasLimit:
		return o.limit
	case o.namesTask() && o.follow && running:
		return 0
	case o.namesTask():
		return 1
	}
	return logRows
}

// notFound returns the problem of a call that names a task or an occurrence that does not exist.
func (o *logOptions) notFound(ctx context.Context, s *cli.Call, st state.Tasks, p logPast, known bool) error {
	if o.namesTask() && !known && !p.inLedger && len(p.open) == 0 {
		if _, err := view.PickOne(ctx, s, st, func(state.Entry) bool { return true }); err != nil {
			return err
		}
	}
	if o.occurrence == 0 || len(p.lines) > 0 || len(o.outcomes) > 0 ||
		slices.ContainsFunc(p.open, func(r state.Record) bool { return r.Number == o.occurrence }) {
		return nil
	}
	return problem.New(problem.NotFound, problem.T("the ledger has no occurrence %s",
		state.OccurrenceID(o.task, o.occurrence)),
		problem.T("%s shows the latest", problem.To("log", o.task).With("n", 20)))
}

// warnOfProblems warns about what could not be read.
func warnOfProblems(s *cli.Call, list []state.Problem) {
	for _, p := range list {
		s.Warn("warning: %s", cli.Visible(p.Error()))
	}
}
