package cmd

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/ouro-timer/ouro-timer/cmd/option"
	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/timer/problem"
)

func ackCommand() command {
	return command{
		name: "ack", args: "<item>... | [--task <id>] [--up-to <cursor>]", short: "acknowledge what is in the inbox: it is gone for good",
		long: `
Ends items (k7m2/3) for good, whoever has taken them; what happened stays in the log. Of the task's ID a unique beginning
is enough. Every item is tried: one that is not there, because it was acknowledged already or never was, is told on
standard error, the others are ended, and the exit code is 3.

--task ends all items of a task, --up-to all that came up to a cursor of ouro-timer inbox, that item included, and both
together those of the task up to it. When there is none, that is no failure.

k7m2/3/CHANNEL ends also what is still to be told by that channel: it is tried no more, and the log says so. --task and
--up-to leave that alone.`,
		examples:  []string{"ouro-timer ack k7m2/3 x3p9/1", "ouro-timer ack --task k7m2", "ouro-timer ack --up-to 20261123T080000.000000000Z"},
		ids:       "item",
		arguments: []option.Argument{{Name: "item", Kind: option.ID, Many: true}},
		options: option.Rows{
			option.Option{Name: "task", Kind: option.ID, Help: "all items of the task ID"},
			option.Option{Name: "up-to", Kind: option.Cursor, Help: "all items that came up to CURSOR, with the one that has it"},
			dryFlag(), quietFlag("print nothing but errors"), zoneFlag(), jsonFlag(),
		},
		answers: []answer{{name: "ack", of: ackJSON{}, says: "what was acknowledged"}},
		run:     runAck,
	}
}

// acked is an item that was ended.
type acked struct {
	ID string `json:"id"`
}

// ackJSON is the answer of ack.
type ackJSON struct {
	Now          time.Time       `json:"now"`
	Acknowledged []acked         `json:"acknowledged"`
	Errors       []pickErrorJSON `json:"errors"`
	DryRun       bool            `json:"dry_run" jsonschema:"nothing was changed: this is what would have been done"`
}

func runAck(ctx context.Context, s *session) error {
	many := s.opt.Has("task") || s.opt.Has("up-to")
	switch {
	case many && len(s.args) > 0:
		return problem.Of(problem.T("%s name items already; what is %s?", problem.Options(" and ", "task", "up-to"), quote(s.args[0])), problem.T("give the items, or the options"))
	case !many && len(s.args) == 0:
		return problem.Of(problem.T("which item? %s needs one, such as k7m2/3", problem.To("ack")), problem.T("%s shows them", problem.To("inbox")))
	}
	st, err := s.open()
	if err != nil {
		return err
	}
	var ids []string
	var failed []pickError
	if many {
		ids, err = manyItems(ctx, s, st)
	} else {
		ids, failed, err = namedItems(ctx, s, st)
	}
	if err != nil {
		return err
	}
	done := []acked{}
	end := st.Ack
	if s.dryRun {
		end = func(ctx context.Context, ids []string) []error { return wouldAck(ctx, s, st, ids) }
	}
	for i, err := range end(ctx, ids) {
		if errors.Is(err, state.ErrNotFound) && !many && !s.dryRun {
			err = endNotice(ctx, s, st, ids[i])
		}
		switch {
		case err == nil:
			done = append(done, acked{ids[i]})
		case errors.Is(err, state.ErrNotFound) && many: // somebody else came first
		case errors.Is(err, state.ErrNotFound):
			failed = append(failed, *noItem(ids[i]))
		default:
			failed = append(failed, pickError{ID: ids[i], Problem: explain(err).About("item " + ids[i])})
		}
	}
	for _, a := range done {
		if !s.inJSON && !s.opt.Bool("quiet") {
			s.line("%s %s", deed(s, "acknowledged"), visible(a.ID))
		}
	}
	return answered(ctx, s, ackJSON{s.stamp(), done, pickErrors(s, failed), s.dryRun}, len(done), "There was nothing to acknowledge.", failed, nil)
}

// wouldAck says what ack would answer of each item, or of what is still to be told by its name.
func wouldAck(ctx context.Context, s *session, st state.Mail, ids []string) []error {
	errs := make([]error, len(ids))
	there, err := endable(ctx, s, st)
	for i, id := range ids {
		if errs[i] = err; err == nil && !slices.Contains(there, id) {
			errs[i] = state.ErrNotFound
		}
	}
	return errs
}

// ackedWaiting is the reason of a notice that was acknowledged while it waited to be delivered.
const ackedWaiting = "acknowledged before it was delivered"

// endNotice ends what is still to be told by a channel, as its item would be called. state.ErrNotFound when nothing is. An attempt that
// is being made goes on; nothing comes of it but what the receiver got.
func endNotice(ctx context.Context, s *session, st state.Mail, id string) error {
	for range attempts { // the runner may postpone it between the look and the end
		list, err := notices(ctx, s, st)
		if err != nil {
			return err
		}
		at := slices.IndexFunc(list, func(n state.Notice) bool { return noticeID(n) == id })
		if at < 0 {
			return state.ErrNotFound
		}
		n := list[at]
		err = st.Told(ctx, n, state.Line{At: s.Clock.Now(), Description: n.Line.Description, News: n.Line.News, Due: n.Line.Due, Attempts: n.Attempts, Reason: ackedWaiting})
		if !errors.Is(err, state.ErrNotFound) {
			return err
		}
	}
	return state.ErrNotFound
}

// notices are all that are still to be told, as far as they can be read.
func notices(ctx context.Context, s *session, st state.Mail) ([]state.Notice, error) {
	list, _, _, err := st.Outbox(ctx, endOfTime, 0)
	return list, err
}

// noticeID is what the item of a notice would be called, were it given up.
func noticeID(n state.Notice) string { return state.ItemID(n.Of(state.Line{})) }

func noItem(id string) *pickError {
	p := pickFailed(id, problem.NotFound, problem.T("no item %s in the inbox: it was acknowledged already, or never was there", quote(id)))
	p.Hint = problem.T("%s shows what is there", problem.To("inbox").With("all", true))
	return p
}

// namedItems are the whole IDs of the items that the arguments name, each once.
func namedItems(ctx context.Context, s *session, st state.Mail) (ids []string, failed []pickError, err error) {
	var there []string // the IDs of all that can be ended, read when a beginning is to be completed
	for _, word := range s.args {
		word = strings.TrimSpace(word)
		name, rest, part := strings.Cut(word, "/")
		name = strings.ToLower(name)
		if !part || rest == "" {
			p := noItem(word)
			p.Code, p.Message = problem.NotFound, problem.T("%s names no item; an item is named as in %s/3", quote(word), orElse(name, "k7m2"))
			p.Hint = problem.T("%s shows them; all items of a task: %s", problem.To("inbox"), problem.To("ack").With("task", orElse(name, "ID")))
			failed = append(failed, *p)
			continue
		}
		if number, channel, ok := strings.Cut(rest, "/"); ok && channel != "" && !strings.Contains(channel, "+") {
			rest = number + "/" + state.ChannelForm(channel) // mail:bob@example.org, as it was given
		}
		if !state.WholeID(name) {
			if there == nil {
				if there, err = endable(ctx, s, st); err != nil {
					return nil, nil, err
				}
			}
			var fit []string
			for _, id := range there {
				task, itemRest, _ := strings.Cut(id, "/")
				if state.MatchID(task, name) && itemRest == rest && !slices.Contains(fit, id) {
					fit = append(fit, id)
				}
			}
			switch {
			case len(fit) == 0:
				failed = append(failed, *noItem(word))
				continue
			case len(fit) > 1:
				p := pickFailed(word, problem.IDAmbiguous, problem.T("the beginning %s fits %s", quote(word), plural(len(fit), "item")))
				p.Hint = problem.T("it could be %s", strings.Join(fit, ", "))
				failed = append(failed, *p)
				continue
			}
			word = fit[0]
		} else {
			word = name + "/" + rest
		}
		if !slices.Contains(ids, word) {
			ids = append(ids, word)
		}
	}
	return ids, failed, nil
}

// endable are the IDs of the items, and of what is still to be told.
func endable(ctx context.Context, s *session, st state.Mail) (ids []string, err error) {
	items, _, _, err := st.Inbox(ctx, state.Query{})
	if err != nil {
		return nil, err
	}
	notices, err := notices(ctx, s, st)
	for _, i := range items {
		ids = append(ids, i.ID)
	}
	for _, n := range notices {
		ids = append(ids, noticeID(n))
	}
	return ids, err
}

// manyItems are the items of --task, up to --up-to.
func manyItems(ctx context.Context, s *session, st state.Store) ([]string, error) {
	var q state.Query
	if s.opt.Has("task") {
		word := strings.TrimSpace(s.opt.Text("task"))
		if word == "" || strings.Contains(word, "/") {
			return nil, problem.Of(problem.T("%s %s is no ID of a task", problem.Option("task"), quote(word)), problem.T("one item is given as an argument: %s", problem.To("ack", "k7m2/3")))
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
	if s.opt.Has("up-to") {
		if last = strings.TrimSpace(s.opt.Text("up-to")); last == "" || state.CheckCursor(last) != nil {
			return nil, problem.Of(problem.T("%s is %s, no cursor of the inbox", problem.Option("up-to"), quote(last)), problem.T(`take the "cursor" of an answer of %s`, problem.To("inbox")))
		}
	}
	items, _, problems, err := st.Inbox(ctx, q)
	if err != nil {
		return nil, err
	}
	warnOf(s, problems)
	var ids []string
	for _, i := range items {
		if last == "" || i.Cursor <= last {
			ids = append(ids, i.ID)
		}
	}
	return ids, nil
}
