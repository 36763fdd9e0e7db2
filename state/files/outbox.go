package files

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/state/codec"
)

// Outbox reads the names, and then the notices that it returns. One that cannot be read does not
// count for the limit.
func (s *Store) Outbox(ctx context.Context, by time.Time, limit int, except ...string) (due []state.Notice, next time.Time, problems []state.Problem, err error) {
	var forms []string
	for _, c := range except {
		forms = append(forms, state.ChannelForm(c))
	}
	var names []noticeName
	err = s.share(ctx, func() error {
		files, err := readNames(s.path(outboxDir))
		if err != nil || len(files) == 0 {
			return err
		}
		names = nil
		for _, f := range files {
			if n, ok := parseNotice(f); ok && !slices.Contains(forms, n.channel) {
				names = append(names, n)
			}
		}
		return nil
	})
	if err != nil {
		return nil, next, nil, err
	}
	slices.SortFunc(names, func(a, b noticeName) int {
		return cmp.Or(strings.Compare(a.due, b.due), strings.Compare(a.id, b.id), a.number-b.number, strings.Compare(a.channel, b.channel))
	})
	until := stampOf(by)
	for _, n := range names {
		if n.due > until || limit > 0 && len(due) == limit {
			return due, n.time(), problems, nil
		}
		if err := ctx.Err(); err != nil {
			return nil, next, nil, err
		}
		notice, err := s.readNotice(n)
		switch {
		case missing(err): // told or postponed since
		case err != nil:
			problems = append(problems, s.mailProblem(n.place(), err))
		default:
			due = append(due, notice)
		}
	}
	return due, time.Time{}, problems, nil
}

// readNotice reads a notice.
func (s *Store) readNotice(n noticeName) (v state.Notice, err error) {
	data, err := readFile(s.path(n.place()), mailLimit)
	if err != nil {
		return v, err
	}
	var f noticeFile
	if err := json.Unmarshal(data, &f); err != nil {
		return v, fmt.Errorf("%w: %w", codec.ErrBroken, err)
	}
	v = state.Notice{Line: f.Line, Channel: f.Channel, Attempts: n.attempts, Due: n.time(), Last: f.Last, Place: n.file()}
	if f.Line.TaskID != n.id || f.Line.Number != n.number || state.ChannelForm(f.Channel) != n.channel {
		return v, fmt.Errorf("%w: its name says %s by %s, and it is another", codec.ErrBroken, state.OccurrenceID(n.id, n.number), n.channel)
	}
	return v, nil
}

// notice reads a notice that Outbox returned. state.ErrNotFound: it now has another name.
func (t *tx) notice(v state.Notice) (n noticeName, was state.Notice, err error) {
	n, ok := parseNotice(v.Place)
	if !ok {
		return n, was, state.ErrNotFound
	}
	was, err = t.readNotice(n)
	if missing(err) {
		err = state.ErrNotFound
	}
	return n, was, fail("reading a notice", err)
}

// Postpone writes the last error into the file, and renames it.
func (s *Store) Postpone(ctx context.Context, v state.Notice) error {
	if err := state.CheckDue(v.Due); err != nil {
		return err
	}
	return s.transact(ctx, func(t *tx) error {
		n, was, err := t.notice(v)
		if err != nil {
			return err
		}
		if v.Last != was.Last {
			data, err := json.Marshal(noticeFile{Channel: was.Channel, Last: v.Last, Line: was.Line})
			if err != nil {
				return fmt.Errorf("%w: %w", state.ErrInvalid, err)
			}
			old, err := readFile(t.path(n.place()), mailLimit)
			if err != nil {
				return fail("postponing a notice", err)
			}
			t.put(n.place(), append(data, '\n'), old)
		}
		to := n
		to.due, to.attempts = stampOf(v.Due), max(v.Attempts, 0)
		t.move(n.place(), to.place(), nil)
		return nil
	})
}

// Told appends the line, makes its item if it has one, and removes the notice.
func (s *Store) Told(ctx context.Context, v state.Notice, line state.Line) error {
	return s.transact(ctx, func(t *tx) error {
		n, was, err := t.notice(v)
		if err != nil {
			return err
		}
		t.drop(n.place())
		return t.write(was.Of(line))
	})
}
