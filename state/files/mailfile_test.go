package files

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/state/codec"
	"github.com/ouro-timer/ouro-timer/state/files/ledger"
)

// FuzzMailNames: what is read as the name of an item or of a notice is written the same, and every name that is written can be read.
func FuzzMailNames(f *testing.F) {
	at, id := day0.Format(stamp), state.ID(0)
	for _, file := range []string{
		itemName{at: at, id: id, number: 3}.file(),
		itemName{at: at, id: id, number: 3, lease: at}.file(),
		itemName{at: at, id: id, number: 1 << 30, channel: "desktop"}.file(),
		itemName{at: at, id: id, number: 3, channel: state.ChannelForm("https://example.org"), lease: at}.file(),
		noticeName{due: at, id: id, number: 3, channel: "desktop"}.file(),
		noticeName{due: at, id: id, number: 3, attempts: 12, channel: state.ChannelForm("email:me@example.org")}.file(),
		at + "." + id + ".03.json", at + "." + id + ".-1.json", at + "." + id + ".3.." + at + ".json", at + "." + id + ".3.json.json",
		at + "." + id + ".3.0.toml", at + "." + id + ".json", at + ".json", ".json", at + "." + id + ".3." + at + "." + at + ".json",
		at + "." + id + ".3.0.A.json", at + "." + id + ".3.x+0123456789abcdeg.json", at + "." + id + ".3.0.a/b.json",
	} {
		f.Add(file, "desktop")
	}
	f.Add("", "slack://token-a/token-b")
	f.Add("", "email:Zoë@example.org")
	f.Add("", strings.Repeat("x", 300))
	f.Add("", "../../x")
	f.Add("", "a+0123456789abcdef")
	f.Fuzz(func(t *testing.T, file, channel string) {
		if n, ok := parseItem(file); ok && n.file() != file {
			t.Errorf("item %q is read as %q", file, n.file())
		}
		if n, ok := parseNotice(file); ok && n.file() != file {
			t.Errorf("notice %q is read as %q", file, n.file())
		}
		form := state.ChannelForm(channel)
		if !isChannelForm(form) || filepath.Base(form) != form || len(form) > 40 {
			t.Errorf("channel %q is written as %q", channel, form)
		}
		if again := state.ChannelForm(form); strings.Contains(channel, ":") && again == form {
			t.Errorf("channel %q has the form %q, which is that of another", channel, form)
		}
		for _, lease := range []string{"", at} {
			n := itemName{at, id, 7, form, lease}
			if got, ok := parseItem(n.file()); !ok || got != n {
				t.Errorf("%q is read as %+v, %v", n.file(), got, ok)
			}
		}
		n := noticeName{at, id, 7, 2, form}
		if got, ok := parseNotice(n.file()); !ok || got != n {
			t.Errorf("%q is read as %+v, %v", n.file(), got, ok)
		}
	})
}

// withMail ends a run of a new task with a line that is an item and is told by two channels.
func withMail(t testing.TB, s *Store, at time.Time) (item string) {
	t.Helper()
	e := must[state.Entry](t)(s.Add(ctx, once("n"), at))
	r := must[state.Record](t)(s.Claim(ctx, e.Task.ID, at, time.Time{}, state.Ident{}, at))
	err := s.End(ctx, r, state.Line{At: at, Outcome: state.Failed, Inbox: state.ItemFailure, Tell: []string{"desktop", "ntfy://example.org/x"}})
	if err != nil {
		t.Fatal(err)
	}
	return state.OccurrenceID(e.Task.ID, r.Number)
}

// TestDamagedMail: what cannot be read is told and hides nothing, a foreign file is nobody's, and neither is lost. A damaged item can be
// acknowledged.
func TestDamagedMail(t *testing.T) {
	s := open(t, t.TempDir())
	var ids []string
	for i := range 4 {
		ids = append(ids, withMail(t, s, day0.Add(time.Duration(i)*time.Hour)))
	}
	var files []string
	for _, dir := range []string{inboxDir, outboxDir} {
		names := must[[]string](t)(readNames(s.path(dir)))
		slices.Sort(names)
		for _, n := range names[:2] {
			files = append(files, s.path(dir+"/"+n))
		}
		foreign := []string{"notes.txt", "." + names[0] + ".swp", names[0] + "~", strings.Replace(names[0], ".json", ".toml", 1)}
		for _, f := range foreign {
			if err := os.WriteFile(s.path(dir+"/"+f), []byte("{}"), 0o600); err != nil {
				t.Fatal(err)
			}
			files = append(files, s.path(dir+"/"+f))
		}
	}
	for i, path := range []string{files[0], files[1], files[6], files[7]} { // the first items and notices: cut, empty, another's, zeros
		data := must[[]byte](t)(os.ReadFile(path))
		data = [][]byte{data[:len(data)/2], nil, []byte(`{"line":{"type":"occurrence"}}`), make([]byte, len(data))}[i]
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	items, more, problems, err := s.Inbox(ctx, state.Query{Limit: 1})
	if err != nil || len(items) != 1 || items[0].ID != ids[2] || more != 1 || len(problems) != 2 || !errors.Is(problems[0].Err, codec.ErrBroken) {
		t.Errorf("inbox: %v, %d more, %v %v", items, more, problems, err)
	}
	due, next, problems, err := s.Outbox(ctx, day2, 1)
	if err != nil || len(due) != 1 || due[0].ID() != ids[1] || !next.Equal(day0.Add(time.Hour)) || len(problems) != 2 || !errors.Is(problems[1].Err, codec.ErrBroken) {
		t.Errorf("outbox: %v, %v, %v %v", due, next, problems, err)
	}
	items, more, problems, err = s.Take(ctx, state.Query{Limit: 2}, day1, day2)
	if err != nil || len(items) != 2 || items[0].ID != ids[2] || items[1].ID != ids[3] || more != 0 || len(problems) != 2 {
		t.Errorf("take: %v, %d more, %v %v", items, more, problems, err)
	}
	if items, _, problems, err = s.Take(ctx, state.Query{}, day1, day2); err != nil || len(items)+len(problems) != 0 {
		t.Errorf("take again: %v %v %v", items, problems, err)
	}
	if err := errors.Join(s.Ack(ctx, ids[:1])...); err != nil {
		t.Error(err)
	}
	if _, err := s.Prune(ctx, state.Keep{Ended: month, Items: 1, Inbox: 1}, day2.Add(10*month)); err != nil {
		t.Error(err)
	}
	for _, f := range files[2:6] {
		if _, err := os.Lstat(f); err != nil {
			t.Error(err)
		}
	}
	for _, f := range files[6:] {
		if _, err := os.Lstat(f); err != nil {
			t.Error(err)
		}
	}
}

// TestCursorsGoOn: a cursor is greater than all before it also when the ledger goes on in a new file, was removed, or was written by a
// version that knew no inbox, and whatever the clock says.
func TestCursorsGoOn(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	last, at := "", day2
	come := func(what string) {
		t.Helper()
		at = at.Add(-time.Hour) // the clock is put back
		id := withMail(t, open(t, dir), at)
		items, _, _, err := s.Inbox(ctx, state.Query{Since: last})
		if err != nil || len(items) != 1 || items[0].ID != id {
			t.Fatalf("%s: %s came, and after %s there is %v, %v", what, id, last, items, err)
		}
		last = items[0].Cursor
	}
	acked := func() {
		t.Helper()
		items, _, _, err := s.Inbox(ctx, state.Query{})
		if err != nil {
			t.Fatal(err)
		}
		for _, i := range items {
			if err := s.Ack(ctx, []string{i.ID})[0]; err != nil {
				t.Fatal(err)
			}
		}
	}
	rotated := func() {
		t.Helper()
		s := must[*Store](t)(Open(dir, Options{PartMost: 1}))
		must[state.Entry](t)(s.Add(ctx, once("n"), day0))
	}
	come("the first")
	come("the second")
	acked()
	come("after all were acknowledged")
	acked()
	rotated()
	come("after a rotation")
	acked()
	rotated()
	rotated()
	come("after two")
	acked()
	if err := os.Remove(s.path(commitsFile)); err != nil {
		t.Fatal(err)
	}
	come("after the log of commits was removed")
	if err := os.Remove(s.path(ledgerFile)); err != nil {
		t.Fatal(err)
	}
	come("after the end of the ledger was removed, and one is in the inbox")
	for _, n := range must[[]int](t)(s.ledger.Parts()) {
		os.Remove(s.path(runsDir + "/" + ledger.PartName(n)))
	}
	if err := os.Remove(s.path(ledgerFile)); err != nil {
		t.Fatal(err)
	}
	come("after all of the ledger was removed, and one is in the inbox")
}

// TestQuietEndsCostNothing: ends without mail make nothing in the inbox and the outbox, and many with it wait for the disk once, as those
// without it do.
func TestQuietEndsCostNothing(t *testing.T) {
	const burst = 32
	waits := map[string]int{}
	for _, with := range []string{"nothing", "items", "items and notices"} {
		dir := filepath.Join(scratch(t), "state")
		d := &recorder{root: dir}
		s := lazy(t, dir, d)
		var ends []state.Ending
		for range burst {
			e := must[state.Entry](t)(s.Add(ctx, once("n"), day0))
			r := must[state.Record](t)(s.Claim(ctx, e.Task.ID, day0, time.Time{}, state.Ident{}, day0))
			l := state.Line{At: day0, Outcome: state.Failed}
			if with != "nothing" {
				l.Inbox = state.ItemFailure
			}
			if with == "items and notices" {
				l.Tell = []string{"desktop"}
			}
			ends = append(ends, state.Ending{Record: r, Line: l})
		}
		d.steps = nil
		if err := errors.Join(s.EndAll(ctx, ends)...); err != nil {
			t.Fatal(err)
		}
		mail := 0
		for _, step := range d.steps {
			if strings.Contains(step.path, "/"+inboxDir) || strings.Contains(step.path, "/"+outboxDir) {
				mail++
			}
			if step.waits() {
				waits[with]++
			}
		}
		if files := map[string]int{"items": burst, "items and notices": 2 * burst}[with]; mail < 2*files || files == 0 && mail > 0 {
			t.Errorf("%s: %d steps in the inbox and the outbox", with, mail)
		}
	}
	if waits["nothing"] != 1 || waits["items"] != 1 || waits["items and notices"] != 1 {
		t.Errorf("waits for the disk: %v", waits)
	}
}
