package history

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/ouro-timer/ouro-timer/cmd/cli"
	"github.com/ouro-timer/ouro-timer/cmd/option"
	"github.com/ouro-timer/ouro-timer/cmd/view"
	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/timer/problem"
	"github.com/ouro-timer/ouro-timer/timer/tasks"
)

// AckCommand is the command ack.
func AckCommand() cli.Command {
	return cli.Command{
		Name: "ack", Args: "<item>... | [--task <id>] [--up-to <cursor>] | --all",
		Short: "acknowledge what is in the inbox: it is gone for good",
		Long: `
Ends items (k7m2/3) for good, whoever has taken them; what happened stays in the log. A unique beginning of the task's
ID is enough. Every item is tried: when one is not there, because it was acknowledged already or never was, standard
error says so, the others are ended, and the exit code is 3.

--task ends all items of a task, --up-to all that came up to a cursor of ouro-timer inbox, that item included, and both
together those of the task up to it; --all ends all there are. When there is none, that is not a failure.

k7m2/3/CHANNEL also ends a notice that still waits for that channel: it is tried no more, and the log says so. --task,
--up-to and --all do not end such notices.`,
		Examples: []string{"ouro-timer ack k7m2/3 x3p9/1", "ouro-timer ack --task k7m2",
			"ouro-timer ack --up-to 20261123T080000.000000000Z"},
		Ids:       "item",
		Arguments: []option.Argument{{Name: "item", Kind: option.ID, Many: true}},
		Options: option.Rows{
			option.Option{Name: "task", Kind: option.ID, Help: "all items of the task ID"},
			option.Option{Name: "up-to", Kind: option.Cursor,
				Help: "all items that came up to CURSOR, with the one that has it"},
			option.Option{Name: "all", Aliases: []string{"a"}, Kind: option.Flag, Help: "all items there are"},
			cli.DryFlag, cli.QuietFlag.WithHelp("print nothing but errors"), cli.ZoneFlag, cli.JSONFlag, cli.FieldsFlag,
		},
		Answers: []cli.Shape{{Name: "ack", Of: ackJSON{}, Means: "what was acknowledged"}},
		Run:     runAck,
	}
}

// acked is an item that was acknowledged.
type acked struct {
	ID string `json:"id"`
}

// ackJSON is the answer of ack.
type ackJSON struct {
	Now          time.Time            `json:"now"`
	Acknowledged []acked              `json:"acknowledged"`
	Errors       []view.PickErrorJSON `json:"errors,omitempty"`
	DryRun       bool                 `json:"dry_run,omitempty" jsonschema:"nothing was changed: this is what would have been done"`
}

// Text says which items were acknowledged.
func (a ackJSON) Text(o *cli.Out) {
	for _, item := range a.Acknowledged {
		o.LineUnlessQuiet("%s %s", o.Verb("acknowledged"), cli.Visible(item.ID))
	}
	if len(a.Acknowledged)+len(a.Errors) == 0 {
		o.Note("There was nothing to acknowledge.")
	}
}

func runAck(ctx context.Context, s *cli.Call) error {
	narrowed := s.Opt.Has("task") || s.Opt.Has("up-to")
	byOption := narrowed || s.Opt.Bool("all")
	switch {
	case narrowed && s.Opt.Bool("all"):
		return problem.Of(problem.T("%s ends every item; %s end some", problem.Option("all"),
			problem.Options(" and ", "task", "up-to")), cli.GiveOneOfThem)
	case s.Opt.Bool("all") && len(s.Args) > 0:
		return problem.Of(problem.T("%s ends every item, so %s cannot be given with it", problem.Option("all"),
			cli.Quote(s.Args[0])), problem.T("give the items, or %s", problem.Option("all")))
	case byOption && len(s.Args) > 0:
		return problem.Of(problem.T("%s choose the items, so %s cannot be given with them",
			problem.Options(" and ", "task", "up-to"), cli.Quote(s.Args[0])),
			problem.T("give the items, or the options"))
	case !byOption && len(s.Args) == 0:
		return problem.Of(problem.T("%s needs an item, such as k7m2/3", problem.To("ack")),
			problem.T("%s shows them", problem.To("inbox")))
	}
	st, err := s.Open()
	if err != nil {
		return err
	}
	var ids []string
	var failed []view.PickError
	if byOption {
		ids, err = itemsByOption(ctx, s, st)
	} else {
		ids, failed, err = namedItems(ctx, s, st)
	}
	if err != nil {
		return err
	}
	acknowledge := func(ctx context.Context, ids []string) []error { return tasks.Acknowledge(ctx, st, s.Clock, ids) }
	if byOption {
		acknowledge = st.Ack
	}
	answer := ackJSON{Acknowledged: []acked{}}
	for i, err := range acknowledge(ctx, ids) {
		switch {
		case err == nil:
			answer.Acknowledged = append(answer.Acknowledged, acked{ids[i]})
		case errors.Is(err, state.ErrNotFound) && byOption: // somebody else came first
		case errors.Is(err, state.ErrNotFound):
			failed = append(failed, *noItem(ids[i]))
		default:
			failed = append(failed, view.PickError{ID: ids[i], Problem: cli.Explain(err).About("item " + ids[i])})
		}
	}
	answer.Now, answer.Errors, answer.DryRun = s.Stamp(), view.PickErrors(s, failed), s.DryRun
	return view.AnswerChanges(ctx, s, answer, failed, nil)
}

// noItem is the failure of an item that is not in the inbox.
func noItem(id string) *view.PickError {
	p := view.PickFailed(id, problem.NotFound,
		problem.T("item %s is not in the inbox: it was acknowledged already, or never was there", cli.Quote(id)))
	p.Hint = problem.T("%s shows what is there", problem.To("inbox").With("all", true))
	return p
}

// namedItems returns the whole IDs of the items that the arguments name, each once.
func namedItems(ctx context.Context, s *cli.Call, st state.Mail) (ids []string, failed []view.PickError, err error) {
	var all []string // the IDs of all that can be ended, read when a beginning is to be completed
	for _, word := range s.Args {
		word = strings.TrimSpace(word)
		name, rest, hasRest := strings.Cut(word, "/")
		name = strings.ToLower(name)
		if !hasRest || rest == "" {
			p := view.PickFailed(word, problem.NotFound, problem.T("%s is not the ID of an item, such as %s/3",
				cli.Quote(word), cmp.Or(name, "k7m2")))
			p.Hint = problem.T("%s shows them; all items of a task: %s", problem.To("inbox"),
				problem.To("ack").With("task", cmp.Or(name, "ID")))
			failed = append(failed, *p)
			continue
		}
		if number, channel, ok := strings.Cut(rest, "/"); ok && channel != "" && !strings.Contains(channel, "+") {
			// The channel may be given as in a call: mail:bob@example.org
			rest = number + "/" + state.ChannelForm(channel)
		}
		if !state.WholeID(name) {
			if all == nil {
				if all, err = endable(ctx, st); err != nil {
					return nil, nil, err
				}
			}
			switch fit := completions(all, name, rest); {
			case len(fit) == 0:
				failed = append(failed, *noItem(word))
				continue
			case len(fit) > 1:
				p := view.PickFailed(word, problem.IDAmbiguous,
					problem.T("the beginning %s fits %s", cli.Quote(word), cli.Plural(len(fit), "item")))
				p.Hint = problem.T("it could be %s", strings.Join(fit, ", "))
				failed = append(failed, *p)
				continue
			default:
				word = fit[0]
			}
		} else {
			word = name + "/" + rest
		}
		if !slices.Contains(ids, word) {
			ids = append(ids, word)
		}
	}
	return ids, failed, nil
}

// completions returns the IDs of a task that begins with name and a rest that is whole, each once.
func completions(all []string, name, rest string) (fit []string) {
	for _, id := range all {
		task, itemRest, _ := strings.Cut(id, "/")
		if state.MatchID(task, name) && itemRest == rest && !slices.Contains(fit, id) {
			fit = append(fit, id)
		}
	}
	return fit
}

// endable returns the IDs of the items, and of the notices that wait.
func endable(ctx context.Context, st state.Mail) (ids []string, err error) {
	items, _, _, err := st.Inbox(ctx, state.Query{})
	if err != nil {
		return nil, err
	}
	notices, err := tasks.Notices(ctx, st)
	for _, i := range items {
		ids = append(ids, i.ID)
	}
	for _, n := range notices {
		ids = append(ids, tasks.NoticeID(n))
	}
	return ids, err
}

// itemsByOption returns the items of --task, up to --up-to.
func itemsByOption(ctx context.Context, s *cli.Call, st state.Store) ([]string, error) {
	var q state.Query
	if s.Opt.Has("task") {
		word := strings.TrimSpace(s.Opt.Text("task"))
		if word == "" || strings.Contains(word, "/") {
			return nil, problem.Of(problem.T("%s %s is not an ID of a task", problem.Option("task"),
				cli.Quote(word)), problem.T("one item is given as an argument: %s", problem.To("ack", "k7m2/3")))
		}
		tasks, failed, err := pickItems(ctx, s, st, []string{word})
		if err != nil {
			return nil, err
		}
		if len(failed) > 0 {
			return nil, failed[0].Problem
		}
		q.Tasks = tasks
	}
	last := ""
	if s.Opt.Has("up-to") {
		if last = strings.TrimSpace(s.Opt.Text("up-to")); last == "" || state.CheckCursor(last) != nil {
			return nil, problem.Of(problem.T("%s is %s, which is not a cursor of the inbox",
				problem.Option("up-to"), cli.Quote(last)), problem.T(`take the "cursor" of an answer of %s`,
				problem.To("inbox")))
		}
	}
	items, _, problems, err := st.Inbox(ctx, q)
	if err != nil {
		return nil, err
	}
	s.WarnUnreadable(problems)
	var ids []string
	for _, i := range items {
		if last == "" || i.Cursor <= last {
			ids = append(ids, i.ID)
		}
	}
	return ids, nil
}
