package files

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/state/files/ledger"
)

// lookAtMail reads every item and every notice.
func (s *Store) lookAtMail(ctx context.Context, tell func(state.Finding) bool) {
	var odd []state.Finding
	count := map[string]int{}
	for _, dir := range []string{inboxDir, outboxDir} {
		var list []string
		err := s.share(ctx, func() (err error) {
			list, err = readNames(s.path(dir))
			return err
		})
		if err != nil {
			tell(wrong(err, "chmod u+rwx "+quoted(s.path(dir))))
			continue
		}
		slices.Sort(list)
		for _, file := range list {
			if ctx.Err() != nil {
				return
			}
			if strings.HasPrefix(file, tempPrefix) {
				continue // looked at with the leftovers
			}
			ours, err := s.readMail(dir, file)
			path := s.path(dir + "/" + file)
			switch {
			case !ours:
				what := map[string]string{inboxDir: "item", outboxDir: "notice"}[dir]
				odd = append(odd, state.Finding{Level: state.Odd, Text: path + " has no " + what + "'s name, so it is ignored", Hint: "look at it, and move it away: mv " + quoted(path) + " ~/"})
			case missing(err): // it has moved since
			case err != nil:
				odd = append(odd, s.mailFinding(dir, file, err))
			default:
				count[dir]++
			}
		}
	}
	if !tellMany(odd, "more files of the inbox and the outbox have something wrong", tell) || len(odd) > 0 {
		return
	}
	tell(state.Finding{Level: state.Fine, Text: fmt.Sprintf("%d items of the inbox and %d notices to be delivered can be read", count[inboxDir], count[outboxDir])})
}

// readMail reads an item or a notice; ours says that the name is one.
func (s *Store) readMail(dir, file string) (ours bool, err error) {
	if dir == inboxDir {
		n, ok := parseItem(file)
		if ok {
			_, err = s.readItem(n)
		}
		return ok, err
	}
	n, ok := parseNotice(file)
	if ok {
		_, err = s.readNotice(n)
	}
	return ok, err
}

// mailFinding tells of an item or a notice that cannot be read.
func (s *Store) mailFinding(dir, file string, err error) state.Finding {
	path := s.path(dir + "/" + file)
	f := state.Finding{Level: state.Wrong, Text: path + ": " + reasonOf(err, path), Hint: adviceOn(err, "look at it: ls -l "+quoted(path))}
	switch {
	case errors.Is(err, os.ErrPermission):
		info, _ := os.Lstat(path)
		f.Hint, f.Mend = "chmod u+rw "+quoted(path), givenBack(path, info)
	case garbled(err):
		f.Hint = "the ledger does not have it either; when it is not wanted: rm " + quoted(path)
		if data, bad := s.mailAnew(dir, file); bad == nil && !errors.Is(err, errOdd) {
			f.Hint = "it can be made anew of the ledger: ouro-timer doctor --fix"
			f.Mend = s.mending(func(t *tx) (string, error) {
				if _, err := t.readMail(dir, file); err == nil || missing(err) {
					return path + " can be read, or is gone", nil
				}
				return "made " + path + " anew of the ledger", replace(t.disk, path, data)
			})
		}
	}
	return f
}

// mailAnew is what belongs into the file of an item or a notice, by the ledger. state.ErrNotFound when its line is not there.
func (s *Store) mailAnew(dir, file string) (data []byte, err error) {
	item, isItem := parseItem(file)
	isItem = isItem && dir == inboxDir
	notice, _ := parseNotice(file)
	id := notice.id
	if isItem {
		id = item.id
	}
	var of *state.Line
	channel := ""
	err = s.history(id, func(e ledger.Entry) bool {
		l := e.Line
		if isItem {
			if hasMail(l) && l.Inbox != "" && state.ItemID(l) == item.item().ID {
				of = &l
			}
			return of == nil
		}
		for _, c := range l.Channels() {
			if hasMail(l) && l.Number == notice.number && state.ChannelForm(c) == notice.channel {
				of, channel = &l, c
			}
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
	if err != nil {
		return nil, err
	}
	var v any = l
	if !isItem {
		v = noticeFile{Channel: channel, Line: l}
	}
	if data, err = json.Marshal(v); err != nil {
		return nil, err
	}
	return append(data, '\n'), nil
}
