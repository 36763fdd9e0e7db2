package files

import (
	"encoding/json"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/timer/clock/clocktest"
)

// tea is a message that has no name but its text.
func tea(kind string) state.Task {
	t := once("")
	t.When.Kind, t.Run, t.Text = kind, state.Job{}, "the tea is ready\nand the cake"
	return t
}

// The changes of a message, whose text is in the ledger once, among the operations that crash at every step: what the log, the inbox and
// the outbox say of it is the same, whoever finishes the change.
func init() {
	type op = func(*Store, state.Record) error
	says := func(r state.Record, o state.Outcome) state.Line {
		return state.Line{At: r.Due, Outcome: o, Description: r.Task.Summary(), Text: r.Task.Said(), Started: &r.Due, Inbox: state.ItemMessage, Tell: []string{"desktop"}}
	}
	claimed := func(t *testing.T, s *Store) state.Record {
		e := must[state.Entry](t)(s.Add(ctx, keyed(tea("cron"), key), day0))
		return must[state.Record](t)(s.Claim(ctx, e.Task.ID, day0, day1, state.Ident{PID: 1}, day0))
	}
	three := func(t *testing.T, s *Store) (r state.Record) {
		for i, k := range []string{key, "k2", "k3"} {
			task := keyed(tea("once"), k)
			task.Text += strings.Repeat("!", i)
			e := must[state.Entry](t)(s.Add(ctx, task, day0))
			r = must[state.Record](t)(s.Claim(ctx, e.Task.ID, day0, time.Time{}, state.Ident{PID: 1}, day0))
		}
		return r
	}
	end := func(s *Store, r state.Record) error { return s.End(ctx, r, says(r, state.OK)) }
	endOf := func(ids ...string) op {
		return func(s *Store, _ state.Record) error {
			open, _, err := s.Open(ctx)
			if err != nil {
				return err
			}
			var ends []state.Ending
			for _, id := range ids {
				i := slices.IndexFunc(open, func(r state.Record) bool { return r.Task.ID == id })
				if i < 0 {
					return state.ErrEnded
				}
				ends = append(ends, state.Ending{Record: open[i], Line: says(open[i], state.OK)})
			}
			return errors.Join(s.EndAll(ctx, ends)...)
		}
	}
	edit := func(s *Store, r state.Record) error {
		r.Task.Text = "the coffee is ready"
		_, err := s.Update(ctx, r.Task, time.Time{}, day0, nil)
		return err
	}
	edited := func(t *testing.T, s *Store) state.Record { // while it is claimed
		r := claimed(t, s)
		if err := edit(s, r); err != nil {
			t.Fatal(err)
		}
		return r
	}
	added := func(t *testing.T, s *Store) state.Record {
		e := must[state.Entry](t)(s.Add(ctx, keyed(tea("cron"), key), day0))
		return state.Record{Task: e.Task, Due: day0}
	}
	skip := func(s *Store, r state.Record) error {
		l := says(r, state.Missed)
		l.Due, l.Started, l.Text = &r.Due, nil, ""
		return s.Skip(ctx, r.Task.ID, day0, day1, l)
	}
	undelivered := func(s *Store, _ state.Record) error {
		due, _, _, err := s.Outbox(ctx, day0.AddDate(100, 0, 0), 1)
		if err != nil || len(due) == 0 {
			return errors.Join(err, state.ErrNotFound)
		}
		l := state.Line{At: day1, Attempts: 9, Reason: "refused", Inbox: state.ItemUndelivered, Description: due[0].Line.Description}
		return s.Told(ctx, due[0], l)
	}
	gone := []error{state.ErrTaken, state.ErrEnded}
	scenarios = append(scenarios,
		scenario{name: "a message is told", prepare: claimed, op: end, twice: gone},
		scenario{name: "a message is told that was edited since", prepare: edited, op: end, twice: gone},
		scenario{name: "three messages are told", prepare: three, op: endOf(firstID, secondID, thirdID), twice: gone,
			parts: []op{endOf(firstID), endOf(secondID), endOf(thirdID)}},
		scenario{name: "a message is missed", prepare: added, op: skip, twice: gone},
		scenario{name: "a message is edited", prepare: added, op: edit, twice: []error{state.ErrConflict}},
		scenario{name: "a message is told in vain", op: undelivered, twice: []error{state.ErrNotFound}, prepare: func(t *testing.T, s *Store) state.Record {
			r := claimed(t, s)
			if err := end(s, r); err != nil {
				t.Fatal(err)
			}
			return r
		}},
	)
}

// TestTextIsThereOnce: however often a message is told, its text is in the ledger once, and once more when an edit changes it. What is said of
// each of its runs is what it was then, also when the task is no more.
func TestTextIsThereOnce(t *testing.T) {
	clocktest.Alone(t)
	s := open(t, t.TempDir())
	task := tea("cron")
	task.Text = strings.Repeat("The tea is ready. ", 12_000) // 216 kB
	e := must[state.Entry](t)(s.Add(ctx, task, day0))
	at, n := day0, 0
	tell := func(times int) {
		for range times {
			next := at.Add(time.Second)
			r := must[state.Record](t)(s.Claim(ctx, e.Task.ID, at, next, state.Ident{}, at))
			l := state.Line{At: at, Outcome: state.OK, Started: &at, Ended: &at, Attempts: 1, Description: r.Task.Summary(), Text: r.Task.Said(), Tell: []string{"me"}}
			if err := s.End(ctx, r, l); err != nil {
				t.Fatal(err)
			}
			due, _, _, err := s.Outbox(ctx, at, 0)
			if err != nil || len(due) != 1 || due[0].Line.Text != r.Task.Text {
				t.Fatalf("%v, notices %d", err, len(due))
			}
			if err := s.Told(ctx, due[0], state.Line{At: at, Delivered: true, Attempts: 1, Description: due[0].Line.Description}); err != nil {
				t.Fatal(err)
			}
			at, n = next, n+1
		}
	}
	count := func(word string) (lines int) {
		data, err := os.ReadFile(s.path(ledgerFile))
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(data)) {
			if strings.Contains(line, word) {
				lines++
			}
		}
		return lines
	}
	size := func() int64 { return must[os.FileInfo](t)(os.Stat(s.path(ledgerFile))).Size() }
	before := size()
	tell(20)
	if got := count("tea"); got != 1 {
		t.Errorf("%d lines have the text", got)
	}
	if grown := size() - before; grown > 20*2*1000 {
		t.Errorf("20 messages took %d bytes", grown)
	}
	e = must[[]state.Entry](t)(s.Find(ctx, e.Task.ID))[0]
	e.Task.Policy.Window = "5m" // says nothing else
	e = must[state.Entry](t)(s.Update(ctx, e.Task, time.Time{}, at, nil))
	must[state.Entry](t)(s.Pause(ctx, e.Task.ID, time.Time{}, at))
	must[state.Entry](t)(s.Resume(ctx, e.Task.ID, at))
	tell(2)
	if got := count("tea"); got != 1 {
		t.Errorf("after an edit of something else %d lines have the text", got)
	}
	e = must[[]state.Entry](t)(s.Find(ctx, e.Task.ID))[0]
	e.Task.Text = "coffee"
	e = must[state.Entry](t)(s.Update(ctx, e.Task, time.Time{}, at, nil))
	tell(3)
	if tea, coffee := count("tea"), count("coffee"); tea != 1 || coffee != 1 {
		t.Errorf("%d lines have the old text, %d the new one", tea, coffee)
	}

	check := func(when string) {
		t.Helper()
		var lines []state.Line
		_, problems, err := s.Log(ctx, "", func(l state.Line) bool { lines = append(lines, l); return true })
		if err != nil || len(problems) > 0 {
			t.Fatal(err, problems)
		}
		if err := s.Spell(ctx, lines); err != nil {
			t.Fatal(err)
		}
		runs := 0
		for _, l := range lines {
			said := task.Text
			if l.Revision > 2 {
				said = "coffee"
			}
			want := state.Task{Text: said}.Summary()
			if l.Description != want || l.Type == state.LineOccurrence && l.Text != said {
				data, _ := json.Marshal(l)
				t.Errorf("%s: %.300s", when, data)
			}
			if l.Type == state.LineOccurrence {
				runs++
			}
		}
		if runs != n {
			t.Errorf("%s: %d runs, want %d", when, runs, n)
		}
	}
	check("while the task is there")
	must[state.Entry](t)(s.Remove(ctx, e.Task.ID, at))
	check("after its removal")
	for _, f := range must[[]string](t)(readNames(s.path(removedDir))) {
		if err := os.Remove(s.path(removedDir + "/" + f)); err != nil {
			t.Fatal(err)
		}
	}
	check("when it is forgotten")
}

// TestMailOfAMessageAnew: an item that was damaged is made anew with the text of its task, which the line in the ledger does not have.
func TestMailOfAMessageAnew(t *testing.T) {
	s := open(t, t.TempDir())
	e := must[state.Entry](t)(s.Add(ctx, tea("once"), day0))
	r := must[state.Record](t)(s.Claim(ctx, e.Task.ID, day0, time.Time{}, state.Ident{}, day0))
	l := state.Line{At: day0, Outcome: state.OK, Description: r.Task.Summary(), Text: r.Task.Said(), Inbox: state.ItemMessage, Tell: []string{"me"}}
	if err := s.End(ctx, r, l); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{inboxDir, outboxDir} {
		file := must[[]string](t)(readNames(s.path(dir)))[0]
		was := must[[]byte](t)(os.ReadFile(s.path(dir + "/" + file)))
		data, err := s.mailAnew(dir + "/" + file)
		if err != nil || string(data) != string(was) || !strings.Contains(string(data), "and the cake") {
			t.Errorf("%s: %v\n%s\nwas\n%s", dir, err, data, was)
		}
	}
}

// TestTextOfAnOlderLedger: lines of a version that had the text in each are shown as they are, and where an edit of it says no text its
// description stands in.
func TestTextOfAnOlderLedger(t *testing.T) {
	s := open(t, t.TempDir())
	id := state.ID(0)
	must[state.Entry](t)(s.Add(ctx, once("another"), day0)) // makes the folders
	ledger := strings.ReplaceAll(`{"type":"task","at":"2026-11-23T08:00:00Z","task_id":"ID","event":"created","revision":1,"description":"tea","store":{"ids":1}}
{"type":"occurrence","at":"2026-11-23T09:00:00Z","task_id":"ID","number":1,"count":1,"outcome":"ok","description":"tea","text":"as it was","store":{"ids":1}}
{"type":"occurrence","at":"2026-11-23T09:00:00Z","task_id":"ID","number":2,"count":1,"outcome":"ok","revision":1,"store":{"ids":1}}
{"type":"task","at":"2026-11-23T10:00:00Z","task_id":"ID","event":"edited","revision":2,"description":"coffee","store":{"ids":1}}
{"type":"occurrence","at":"2026-11-23T11:00:00Z","task_id":"ID","number":3,"count":1,"outcome":"ok","revision":2,"store":{"ids":1}}
{"type":"occurrence","at":"2026-11-23T11:00:00Z","task_id":"ID","number":4,"count":1,"outcome":"ok","revision":1,"store":{"ids":1}}
`, "ID", id)
	if err := os.WriteFile(s.path(ledgerFile), []byte(ledger), 0o600); err != nil {
		t.Fatal(err)
	}
	var lines []state.Line
	if _, _, err := s.Log(ctx, "", func(l state.Line) bool { lines = append(lines, l); return true }); err != nil {
		t.Fatal(err)
	}
	for _, f := range must[[]string](t)(readNames(s.path(queueDir))) {
		if strings.HasSuffix(f, suffix) {
			os.Remove(s.path(queueDir + "/" + f))
		}
	}
	if err := s.Spell(ctx, lines); err != nil {
		t.Fatal(err)
	}
	slices.Reverse(lines)
	var got []string
	for _, l := range lines {
		got = append(got, l.Description+": "+l.Text)
	}
	if want := []string{"tea: ", "tea: as it was", "tea: tea", "coffee: ", "coffee: coffee", "tea: tea"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
