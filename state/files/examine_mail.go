package files

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/state/files/ledger"
	"github.com/ouro-timer/ouro-timer/state/plain"
)

// lookAtMail reads every item and every notice, and checks the other names in their folders.
func (s *Store) lookAtMail(ctx context.Context, tell func(state.Finding)) string {
	foreign := func(dir, what string, ours func(file string) bool) {
		files, _ := readNames(s.path(dir)) // the readers of mail report why it cannot be read
		slices.Sort(files)
		for _, file := range files {
			if path := s.path(dir + "/" + file); !strings.HasPrefix(file, tempPrefix) && !ours(file) {
				tell(state.Finding{Level: state.Odd, Reason: isForeign, Subject: path, Text: path + " has no " + what + "'s name, so it is ignored",
					Hint: "look at it, and move it away: mv " + quoted(path) + " ~/"})
			}
		}
	}
	faults := func(dir string, problems []state.Problem, err error) {
		if err != nil {
			tell(s.fault(s.path(dir), err))
		}
		for _, p := range problems {
			tell(s.mailFault(dir+"/"+path.Base(p.Path), p))
		}
	}
	items, _, problems, err := s.Inbox(ctx, state.Query{})
	faults(inboxDir, problems, err)
	foreign(inboxDir, "item", func(file string) bool { _, ok := parseItem(file); return ok })
	notices, _, problems, err := s.Outbox(ctx, time.Unix(1<<40, 0), 0)
	faults(outboxDir, problems, err)
	foreign(outboxDir, "notice", func(file string) bool { _, ok := parseNotice(file); return ok })
	return plain.Plural(len(items), "item") + " of the inbox and " + plain.Plural(len(notices), "notice") +
		" to be delivered can be read"
}

// mailFault turns a problem of an item or a notice into a finding.
func (s *Store) mailFault(place string, p state.Problem) state.Finding {
	f := s.fault(p.Path, p.Err)
	if f.Reason != isDamaged {
		return f
	}
	f.Hint = "the ledger does not have it either; when it is not wanted: rm " + quoted(p.Path)
	if data, err := s.mailAnew(place); err == nil && !errors.Is(p, errOdd) {
		f.Hint = "it can be made anew of the ledger: ouro-timer doctor --fix"
		f.Mend = s.mending(nil, func(t *tx) (string, error) {
			if err := t.readMail(place); err == nil || missing(err) {
				return p.Path + " can be read, or is gone", nil
			}
			return "made " + p.Path + " anew of the ledger", replace(t.disk, p.Path, data)
		})
	}
	return f
}

// readMail reads an item or a notice.
func (s *Store) readMail(place string) (err error) {
	dir, file := path.Dir(place), path.Base(place)
	if n, ok := parseItem(file); ok && dir == inboxDir {
		_, err = s.readItem(n)
	} else if n, ok := parseNotice(file); ok {
		_, err = s.readNotice(n)
	}
	return err
}

// mailAnew returns the content of an item's or a notice's file as the ledger implies it.
// state.ErrNotFound: the ledger does not have its line.
func (s *Store) mailAnew(place string) (data []byte, err error) {
	id, own := mailKey(place)
	pick := func(l state.Line) []byte {
		files, _ := mailOf(l, stampOf(l.At))
		for _, f := range files {
			if _, key := mailKey(f.place); key == own {
				return f.data
			}
		}
		return nil
	}
	var of *state.Line
	err = s.history(id, func(e ledger.Entry) bool {
		if e.HasMail() && pick(e.Line) != nil {
			of = &e.Line
		}
		return of == nil
	})
	if err != nil {
		return nil, err
	}
	if of == nil {
		return nil, state.ErrNotFound
	}
	l, err := s.spelled(*of)
	return pick(l), err
}

// mailKey returns the part of an item's or a notice's name that never changes: the task's ID, and
// the whole part as one text.
func mailKey(place string) (id, key string) {
	dir, file := path.Dir(place), path.Base(place)
	if n, ok := parseItem(file); ok && dir == inboxDir {
		return n.id, fmt.Sprint(dir, " ", n.id, n.number, n.channel)
	}
	n, _ := parseNotice(file)
	return n.id, fmt.Sprint(dir, " ", n.id, n.number, n.channel)
}
