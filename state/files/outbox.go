package files

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
)

// Outbox reads the names, and then the notices it returns. One that cannot be read does not take another's place.
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
		end, err := s.readTail()
		names = nil
		for _, f := range files {
			if n, ok := parseNotice(f); ok && !slices.Contains(forms, n.channel) && !end.ends(n.place()) {
				names = append(names, n)
			}
		}
		return err
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
		return v, fmt.Errorf("%w: %w", errDecode, err)
	}
	v = state.Notice{Line: f.Line, Channel: f.Channel, Attempts: n.attempts, Due: n.time(), Last: f.Last, Place: n.file()}
	if f.Line.TaskID != n.id || f.Line.Number != n.number || state.ChannelForm(f.Channel) != n.channel {
		return v, fmt.Errorf("%w: its name says %s by %s, and it is another", errDecode, state.OccurrenceID(n.id, n.number), n.channel)
	}
	return v, nil
}

// notice is the name of a notice as Outbox returned it. state.ErrNotFound when it has another by now.
func (t *turn) notice(v state.Notice) (n noticeName, err error) {
	n, ok := parseNotice(v.Place)
	if !ok {
		return n, state.ErrNotFound
	}
	if _, err := os.Lstat(t.path(n.place())); err != nil {
		return n, state.ErrNotFound
	}
	return n, nil
}

// Postpone writes the last error into the file, and then renames it. Whatever is left of that by a crash is the notice, due as it was or as
// it is.
func (s *Store) Postpone(ctx context.Context, v state.Notice) error {
	if err := state.CheckDue(v.Due); err != nil {
		return err
	}
	t, err := s.begin(ctx)
	if err != nil {
		return err
	}
	defer t.done()
	n, err := t.notice(v)
	if err != nil {
		return err
	}
	was, err := t.readNotice(n)
	if err != nil {
		return fail("reading a notice", err)
	}
	if err := t.noteLast(n, was, v.Last); err != nil {
		return err
	}
	to := n
	to.due, to.attempts = stampOf(v.Due), max(v.Attempts, 0)
	if to == n {
		return nil
	}
	return fail("postponing a notice", t.move(n.place(), to.place()))
}

// noteLast keeps the last error of a notice.
func (t *turn) noteLast(n noticeName, was state.Notice, last string) error {
	if last == was.Last {
		return nil
	}
	data, err := json.Marshal(noticeFile{Channel: was.Channel, Last: last, Line: was.Line})
	if err != nil {
		return fmt.Errorf("%w: %w", state.ErrInvalid, err)
	}
	return fail("postponing a notice", replace(t.disk, t.path(n.place()), append(data, '\n')))
}

// Told appends the line, makes its item if it is one, and removes the notice.
func (s *Store) Told(ctx context.Context, v state.Notice, line state.Line) error {
	t, err := s.begin(ctx)
	if err != nil {
		return err
	}
	defer t.done()
	n, err := t.notice(v)
	if err != nil {
		return err
	}
	was, err := t.readNotice(n)
	if err != nil {
		return fail("reading a notice", err)
	}
	line = was.Of(line)
	if line.At.IsZero() {
		line.At = time.Now()
	}
	line.Revision = was.Line.Revision
	return t.change(lean(line, was.Line.Said(), redo{IDs: t.end.ids, From: n.place()}))
}
