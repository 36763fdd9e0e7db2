package cmd

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/state/files"
)

func ackCommand() command {
	return command{
		name: "ack", args: "<item>... | [--task <id>] [--up-to <cursor>]", short: "acknowledge what is in the inbox: it is gone for good",
		long: `
Ends items (k7m2/3) for good, whoever has taken them; what happened stays in the log. Of the task's ID a unique beginning
is enough. Every item is tried: one that is not there, because it was acknowledged already or never was, is told on
standard error, the others are ended, and the exit code is 3.

--task ends all items of a task, --up-to all that came up to a cursor of ouro-timer inbox, that item included, and both
together those of the task up to it. When there is none, that is no failure.`,
		examples: []string{"ouro-timer ack k7m2/3 x3p9/1", "ouro-timer ack --task k7m2", "ouro-timer ack --up-to 20261123T080000.000000000Z"},
		ids:      "item",
		flags: []cli.Flag{
			&cli.StringFlag{Name: "task", Usage: "all items of the task `ID`"},
			&cli.StringFlag{Name: "up-to", Usage: "all items that came up to `CURSOR`, with the one that has it"},
			quietFlag("print nothing but errors"), zoneFlag(), jsonFlag(),
		},
		run: runAck,
	}
}

// acked is an item that was ended.
type acked struct {
	ID string `json:"id"`
}

func runAck(ctx context.Context, s *session) error {
	many := s.cli.IsSet("task") || s.cli.IsSet("up-to")
	switch {
	case many && len(s.args) > 0:
		return usage("--task and --up-to name items already; what is "+quote(s.args[0])+"?", "give the items, or the options")
	case !many && len(s.args) == 0:
		return usage("which item? ouro-timer ack needs one, such as k7m2/3", "ouro-timer inbox shows them")
	}
	st, err := s.open()
	if err != nil {
		return err
	}
	var ids []string
	var failed []pickError
	if many {
		ids, err = s.manyItems(ctx, st)
	} else {
		ids, failed, err = s.namedItems(ctx, st)
	}
	if err != nil {
		return err
	}
	done := []acked{}
	for i, err := range st.Ack(ctx, ids) {
		switch {
		case err == nil:
			done = append(done, acked{ids[i]})
		case errors.Is(err, state.ErrNotFound) && many: // somebody else came first
		case errors.Is(err, state.ErrNotFound):
			failed = append(failed, *noItem(ids[i]))
		case ctx.Err() != nil:
			return ctx.Err()
		default:
			p := failedBy(ids[i], err)
			p.Message = "item " + ids[i] + ": " + explain(err).message
			failed = append(failed, p)
		}
	}
	switch {
	case s.json:
		s.emit(struct {
			Now          time.Time   `json:"now"`
			Acknowledged []acked     `json:"acknowledged"`
			Errors       []pickError `json:"errors"`
		}{s.stamp(), done, orEmpty(failed)})
	case s.cli.Bool("quiet"):
	case many && len(done) == 0:
		s.talk("There was nothing to acknowledge.")
	default:
		for _, a := range done {
			s.line("acknowledged %s", visible(a.ID))
		}
	}
	return s.tellPicks(failed)
}

func noItem(id string) *pickError {
	p := pickFailed(id, "not_found", "no item "+quote(id)+" in the inbox: it was acknowledged already, or never was there")
	p.Hint = "ouro-timer inbox --all shows what is there"
	return p
}

// namedItems are the whole IDs of the items that the arguments name, each once.
func (s *session) namedItems(ctx context.Context, st *files.Store) (ids []string, failed []pickError, err error) {
	var items []state.Item // read when a beginning is to be completed
	for _, word := range s.args {
		word = strings.TrimSpace(word)
		name, rest, part := strings.Cut(word, "/")
		name = strings.ToLower(name)
		if !part || rest == "" {
			p := noItem(word)
			p.Code, p.Message = "not_found", quote(word)+" names no item; an item is named as in "+orElse(name, "k7m2")+"/3"
			p.Hint = "ouro-timer inbox shows them; all items of a task: ouro-timer ack --task " + shellQuote(orElse(name, "ID"))
			failed = append(failed, *p)
			continue
		}
		if !state.WholeID(name) {
			if items == nil {
				if items, _, _, err = st.Inbox(ctx, state.Query{}); err != nil {
					return nil, nil, err
				}
			}
			var fit []string
			for _, i := range items {
				task, itemRest, _ := strings.Cut(i.ID, "/")
				if state.MatchID(task, name) && itemRest == rest && !slices.Contains(fit, i.ID) {
					fit = append(fit, i.ID)
				}
			}
			switch {
			case len(fit) == 0:
				failed = append(failed, *noItem(word))
				continue
			case len(fit) > 1:
				p := pickFailed(word, "id_ambiguous", "the beginning "+quote(word)+" fits "+plural(len(fit), "item"))
				p.Hint = "it could be " + strings.Join(fit, ", ")
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

// manyItems are the items of --task, up to --up-to.
func (s *session) manyItems(ctx context.Context, st *files.Store) ([]string, error) {
	var q state.Query
	if s.cli.IsSet("task") {
		word := strings.TrimSpace(s.cli.String("task"))
		if word == "" || strings.Contains(word, "/") {
			return nil, usage("--task "+quote(word)+" is no ID of a task", "one item is given as an argument: ouro-timer ack k7m2/3")
		}
		tasks, failed, err := s.pickItems(ctx, st, []string{word})
		if err != nil {
			return nil, err
		}
		if len(failed) > 0 {
			return nil, pickFailure(failed[0])
		}
		q.Tasks = tasks
	}
	last := ""
	if s.cli.IsSet("up-to") {
		if last = strings.TrimSpace(s.cli.String("up-to")); last == "" || state.CheckCursor(last) != nil {
			return nil, usage("--up-to is "+quote(last)+", no cursor of the inbox", `take the "cursor" of an answer of ouro-timer inbox`)
		}
	}
	items, _, problems, err := st.Inbox(ctx, q)
	if err != nil {
		return nil, err
	}
	s.warnOf(problems)
	var ids []string
	for _, i := range items {
		if last == "" || i.Cursor <= last {
			ids = append(ids, i.ID)
		}
	}
	return ids, nil
}
