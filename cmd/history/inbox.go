package history

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ouro-timer/ouro-timer/cmd/cli"
	"github.com/ouro-timer/ouro-timer/cmd/handover"
	"github.com/ouro-timer/ouro-timer/cmd/option"
	"github.com/ouro-timer/ouro-timer/cmd/view"
	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/timer/problem"
	"github.com/ouro-timer/ouro-timer/timer/tasks"
)

const (
	inboxRows    = 20  // on a terminal
	inboxAnswers = 100 // elsewhere
)

// InboxCommand is the command inbox.
func InboxCommand() cli.Command {
	return cli.Command{
		Name: "inbox", Args: "[<id>...]", Short: "what was told and what came of it, until somebody acknowledges it",
		Long: `
Keeps what nobody should miss until ouro-timer ack ends it: messages that were told, failures, results of commands
that have written something, occurrences (the single times of a task) that were missed, and news that could not be
delivered. Oldest first. IDs of tasks, or of single items (k7m2/3), narrow it to those. Looking changes nothing.

At most 4 KiB of an item are shown: the beginning of a message, or how a command ended and the last lines it wrote.
When more is kept, ouro-timer log k7m2/3 has all of it.

--take leases what it prints: for 10 minutes, with --take 2m for two, no other --take gets it. After that it is there
again, so a reader that dies before ack loses nothing. Only --all, --since or its own ID shows what is leased.
--wait blocks until there is something, without polling; when two wait with --take, each item goes to one of them.
--count prints how many there are, 0 for none, for a shell's prompt.
--since CURSOR is for readers that keep a place of their own: only what came after it, leased or not; each answer says
from where to go on.

In a pipe each item is a line of tab-separated fields: item, when, type, outcome (or -), cursor, what its task is, text
(line breaks and tabs in it are written \n and \t), and with --all the end of its lease (or -). The exit code is 4 when
an item cannot be read, and 75 at --max.`,
		Examples: []string{"ouro-timer inbox", "ouro-timer inbox k7m2 --json",
			"ouro-timer inbox --wait --take --json --max 9m",
			"ouro-timer inbox --since 20261123T080000.000000000Z"},
		Ids:       "items",
		Arguments: []option.Argument{{Name: "id", Kind: option.ID, Many: true}},
		Options: option.Rows{
			option.Option{Name: "take", Kind: option.Duration, Bare: true,
				Help: "lease what is printed for DURATION (10m when it is left out)"},
			option.Option{Name: "wait", Aliases: []string{"w"}, Kind: option.Flag,
				Help: "block until there is something"},
			cli.MaxFlag,
			option.Option{Name: "since", Kind: option.Cursor,
				Help: "only what came after CURSOR, as an earlier answer gave it"},
			option.Option{Name: "limit", Kind: option.Whole, Default: strconv.Itoa(inboxAnswers),
				Help: "show at most N items; on a terminal 20 when it is not given"},
			option.Option{Name: "all", Aliases: []string{"a"}, Kind: option.Flag, Help: "also what somebody has taken"},
			option.Option{Name: "count", Kind: option.Flag,
				Help: "how many items there are, and nothing else: a number for a shell's prompt"},
			cli.DryFlag, cli.QuietFlag.WithHelp("print nothing but the items"), cli.ZoneFlag, cli.JSONFlag,
			cli.FieldsFlag,
		},
		Answers: []cli.Shape{{Name: "inbox", Of: inboxJSON{}, Given: "!count", Means: "what nobody has acknowledged"},
			{Name: "inbox-count", Of: countJSON{}, Given: "count", Means: "--count: how much that is"}},
		Run: func(ctx context.Context, s *cli.Call) error {
			o, err := newInbox(s)
			if err != nil {
				return err
			}
			return runInbox(ctx, s, o)
		},
	}
}

// inboxOptions is a call of inbox, with all its words and options read except the IDs.
type inboxOptions struct {
	tasks.Mail
	zone  *time.Location
	wait  bool
	bound time.Duration // 0 means no bound
	dry   bool          // a dry run: nothing is leased
}

func newInbox(s *cli.Call) (o inboxOptions, err error) {
	if o.zone, err = s.Zone(); err != nil {
		return o, err
	}
	o.wait, o.dry = s.Opt.Bool("wait"), s.DryRun
	switch {
	case o.dry && !s.Opt.Has("take"):
		return o, problem.Of(problem.T("%s goes with %s; without it inbox changes nothing",
			problem.Option("dry-run"), problem.Option("take")),
			problem.T("leave it out, or add %s", problem.Set("take", problem.Bare(""))))
	case s.Opt.Has("limit") && s.Opt.Int("limit") < 1:
		return o, problem.Of(problem.T("%s must be 1 or more", problem.Option("limit")),
			problem.T("leave it out for %s", problem.Usual{Name: "limit", Text: "100, or 20 on a terminal"}))
	case s.Opt.Bool("count") && slices.ContainsFunc([]string{"take", "wait", "limit"}, s.Opt.Has):
		return o, problem.Of(problem.T("%s counts all items at once; %s do not go with it",
			problem.Option("count"), problem.Options(" and ", "take", "wait", "limit")), cli.GiveOneOfThem)
	case s.Opt.Bool("all") && s.Opt.Has("take"):
		return o, problem.Of(problem.T("%s exclude each other: an item that somebody has leased cannot be leased",
			problem.Options(" and ", "all", "take")), cli.GiveOneOfThem)
	case !o.wait && s.Opt.Has("max"):
		return o, cli.NeedsOption("max", problem.Set("wait", true))
	}
	if s.Opt.Has("take") {
		if o.Take, err = view.TakeSpan(s.Opt.Text("take")); err != nil {
			return o, err
		}
	}
	if o.wait {
		if o.bound, err = cli.Bound(s); err != nil {
			return o, err
		}
	}
	if s.Opt.Has("since") {
		o.Query.Since = strings.TrimSpace(s.Opt.Text("since"))
		if state.CheckCursor(o.Query.Since) != nil {
			return o, problem.Of(problem.T("%s is %s, which is not a cursor of the inbox",
				problem.Option("since"), cli.Quote(o.Query.Since)),
				problem.T(`take the "cursor" of an earlier answer of inbox, or leave it out`))
		}
	}
	o.Query.Limit = inboxAnswers
	if _, terminal := s.Width(); terminal && !s.InJSON {
		o.Query.Limit = inboxRows
	}
	if s.Opt.Has("limit") {
		o.Query.Limit = s.Opt.Int("limit")
	}
	if s.Opt.Bool("count") {
		o.Query.Limit = 1 // the others are only counted
	}
	// A reader with --since never comes back to an item before its cursor, so it sees leased items
	// too. An item that the call names is always shown.
	named := len(s.Args) > 0 && !slices.ContainsFunc(s.Args,
		func(word string) bool { return !strings.Contains(word, "/") })
	o.Query.Free = o.Take > 0 || !s.Opt.Bool("all") && !s.Opt.Has("since") && (!named || o.wait)
	return o, nil
}

func runInbox(ctx context.Context, s *cli.Call, o inboxOptions) error {
	st, err := s.Open()
	if err != nil {
		return err
	}
	s.DryRun = false // the answer reads as one without --take, which changes nothing
	var failed []view.PickError
	if o.Query.Tasks, failed, err = pickItems(ctx, s, st, s.Args); err != nil {
		return err
	}
	if len(failed) > 0 && len(o.Query.Tasks) == 0 {
		if word := s.Args[0]; o.Take > 0 && s.Opt.Text("take") == "" && !strings.Contains(word, "/") &&
			failed[0].Code == problem.NotFound && !state.WholeID(strings.ToLower(word)) {
			return problem.Of(problem.T("%s is neither a duration for %s nor the ID of a task",
				cli.Quote(word), problem.Option("take")),
				problem.T("write %s, or leave the time out", problem.Set("take", "10m")))
		}
		return failed[0].Problem
	}
	m, err := o.Look(ctx, st, s.Clock)
	if err == nil && o.wait && len(m.Items) == 0 {
		m, err = o.await(ctx, s, st)
	}
	if err != nil {
		return err
	}
	waited := o.wait && len(m.Items) == 0
	s.WarnUnreadable(m.Problems)
	if s.Opt.Bool("count") {
		s.Answer(countJSON{m.Now.In(o.zone), len(m.Items) + m.More, view.PickErrors(s, failed), view.ProblemTexts(m.Problems)})
	} else {
		answerItems(ctx, s, st, &o, m, failed, waited)
	}
	if !o.wait && !s.Opt.Bool("count") {
		s.WarnAll(handover.UnrunnableWarnings(ctx, st))
	}
	if o.Take > 0 && len(m.Items) > 0 && !o.dry {
		if err := s.Flush(); err != nil {
			return view.EndLeases(ctx, st, m, err)
		}
	}
	switch {
	case waited:
		return cli.ExitCode(cli.ExitMax)
	case len(failed) > 0:
		return view.ReportPicks(ctx, s, failed)
	}
	return view.Incomplete(m.Problems)
}

// await blocks until there is something, or the bound is reached.
func (o *inboxOptions) await(ctx context.Context, s *cli.Call, st state.Store) (tasks.Found, error) {
	limited, cancel := cli.WithBound(ctx, s.Clock, o.bound)
	defer cancel()
	handover.WarnNoRunner(limited, s, st)
	limited, stop := cli.WithReader(limited, s.World.Out)
	defer stop()
	f, err := o.Mail.Await(limited, st, s.Clock)
	switch {
	case err == nil || limited.Err() == nil:
		return f, err
	case ctx.Err() != nil:
		return f, ctx.Err()
	case errors.Is(context.Cause(limited), cli.ErrReaderGone):
		return f, cli.ExitCode(cli.ExitFailed) // the answer has no reader, and nothing is leased
	}
	return tasks.Found{Now: s.Clock.Now()}, nil
}

// nextCall is the call that goes on after --max.
func (o *inboxOptions) nextCall(s *cli.Call) problem.Call {
	c := cli.With(problem.To("inbox", s.Args...), s.Opt, "since", "limit", "tz")
	if s.Opt.Has("take") {
		c = c.With("take", problem.Bare(s.Opt.Text("take")))
	}
	return cli.With(cli.With(c, s.Opt, "all", "dry-run", "quiet").With("wait", true).With("max", cli.BoundText(s)),
		s.Opt, "json", "fields")
}

// pickItems finds the items that the arguments name, by IDs of items, of occurrences or of tasks. A
// unique beginning of the ID of a task is enough. The ID may be of a task that has items and is
// gone, because an item can outlive its task.
func pickItems(ctx context.Context, s *cli.Call, st state.Store, words []string) (ids []string,
	failed []view.PickError, err error) {
	var items []state.Item
	if len(words) > 0 {
		if items, _, _, err = st.Inbox(ctx, state.Query{}); err != nil {
			return nil, nil, err
		}
	}
	for _, word := range words {
		word = strings.TrimSpace(word)
		name, rest, hasRest := strings.Cut(word, "/")
		name = strings.ToLower(name)
		owners := map[string]state.Line{} // by the tasks whose items have this beginning
		for _, i := range items {
			if state.MatchID(i.Line.TaskID, name) {
				owners[i.Line.TaskID] = i.Line
			}
		}
		task := ""
		switch {
		case len(owners) == 1:
			for id := range owners {
				task = id
			}
		case len(owners) > 1:
			all, err := withOwners(ctx, st, name, owners)
			if err != nil {
				return nil, nil, err
			}
			failed = append(failed, *view.Ambiguous(word, all))
			continue
		default:
			e, refused, err := view.PickID(ctx, st.Find, word, s.Clock.Now(), func(state.Entry) bool { return true })
			if err != nil {
				return nil, nil, err
			}
			if refused != nil {
				refused.ID = word
				failed = append(failed, *refused)
				continue
			}
			task = e.Task.ID
		}
		if !hasRest || rest == "" {
			ids = append(ids, task)
			continue
		}
		id := task + "/" + rest
		before := len(ids)
		for _, i := range items {
			// An occurrence includes its notices that could not be delivered.
			if i.ID == id || strings.HasPrefix(i.ID, id+"/") {
				ids = append(ids, i.ID)
			}
		}
		if len(ids) == before {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return slices.Compact(ids), failed, nil
}

// withOwners returns the tasks whose IDs have a beginning, with those of which only items are left.
// owners has a line of each that has items.
func withOwners(ctx context.Context, st state.Tasks, name string, owners map[string]state.Line) ([]state.Entry, error) {
	all, err := st.Find(ctx, name)
	if err != nil && !errors.Is(err, state.ErrNotFound) {
		return nil, err
	}
	for id, line := range owners {
		if slices.ContainsFunc(all, func(e state.Entry) bool { return e.Task.ID == id }) {
			continue
		}
		e := state.Entry{Task: state.Task{ID: id, Description: line.Description}, Due: state.Unscheduled}
		if line.Due != nil {
			e.Due = *line.Due
		}
		all = append(all, e)
	}
	slices.SortFunc(all, func(a, b state.Entry) int { return state.CompareIDs(a.Task.ID, b.Task.ID) })
	return all, nil
}
