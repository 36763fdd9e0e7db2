package state_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
)

// The rules, as a table that reads like a timetable. A task is written as its phase, when it is
// due, and what is beside that:
//
//	pending 9      in the queue, due at 9
//	paused 9 >12   paused, and to be resumed at 12
//	ended 9        its last instant was 9
//	removed 9      removed; it was due at 9
//	+8#3           a claim of the instant 8 is open, and is number 3;  +8#3! one by hand
//	=8/3           the last instant that ended was 8, and the last number was 3
//
// Hours are those of one day. What the ledger gets is written as the event, or the outcome with the
// instant and the number.

var day = time.Date(2026, 11, 23, 0, 0, 0, 0, time.UTC)

func hour(n int) time.Time { return day.Add(time.Duration(n) * time.Hour) }

func at(t time.Time) string {
	if t.IsZero() {
		return "never"
	}
	return fmt.Sprint(t.Sub(day).Hours())
}

// task is the one that the table is about: it recurs, and its text is long enough to be kept.
var task = state.Task{ID: state.ID(7), Format: 1, Revision: 4, Created: day, Key: "k", When: state.Timing{Text: "every 1h", Kind: "interval", Zone: "UTC", Start: day}}

func parse(t *testing.T, text string) state.Doc {
	t.Helper()
	d := state.Doc{Task: task}
	for i, word := range strings.Fields(text) {
		var n, number int
		switch {
		case i == 0:
			d.Phase = state.Phase(word)
			if d.Phase == state.Removed {
				d.RemovedAt = hour(1)
			}
		case word[0] == '>':
			fmt.Sscanf(word, ">%d", &n)
			d.Resume = hour(n)
		case word[0] == '+':
			if _, err := fmt.Sscanf(word, "+%d#%d", &n, &number); err != nil {
				t.Fatal(text, err)
			}
			d.Open = append(d.Open, state.Record{Task: task, Due: hour(n), Number: number, Manual: strings.HasSuffix(word, "!")})
		case word[0] == '=':
			if _, err := fmt.Sscanf(word, "=%d/%d", &n, &d.Tally.Number); err != nil {
				t.Fatal(text, err)
			}
			d.Tally.LastDue = hour(n)
		default:
			if _, err := fmt.Sscanf(word, "%d", &n); err != nil {
				t.Fatal(text, err)
			}
			d.Due = hour(n)
		}
	}
	return d
}

func show(d state.Doc) string {
	words := []string{string(d.Phase), at(d.Due)}
	if !d.Resume.IsZero() {
		words = append(words, ">"+at(d.Resume))
	}
	for _, r := range d.Open {
		word := fmt.Sprintf("+%s#%d", at(r.Due), r.Number)
		if r.Manual {
			word += "!"
		}
		words = append(words, word)
	}
	if d.Tally.Number > 0 {
		words = append(words, fmt.Sprintf("=%s/%d", at(d.Tally.LastDue), d.Tally.Number))
	}
	return strings.Join(words, " ")
}

func said(lines []state.Line) string {
	var words []string
	for _, l := range lines {
		switch {
		case l.Type == state.LineTask:
			words = append(words, l.Event)
		case l.Type == state.LineManual:
			words = append(words, fmt.Sprintf("%s#%d by hand", l.Outcome, l.Number))
		default:
			word := fmt.Sprintf("%s#%d %s", l.Outcome, l.Number, at(*l.Due))
			if l.DueLast != nil {
				word += "-" + at(*l.DueLast)
			}
			words = append(words, word)
		}
	}
	return strings.Join(words, ", ")
}

var (
	never   = time.Time{}
	claimer = state.Ident{PID: 42}
)

func ends(o state.Outcome) state.Line { return state.Line{At: hour(10), Outcome: o} }

// missed are the instants from one to another.
func missed(from, to int) state.Line {
	first, last := hour(from), hour(to)
	return state.Line{At: hour(10), Outcome: state.Missed, Due: &first, DueLast: &last, Count: to - from + 1}
}

func of(due int) state.Record { return state.Record{Task: task, Due: hour(due)} }

// edited is the task with other words, read at a revision.
func edited(revision int64) state.Task {
	t := task
	t.Revision, t.Description, t.Key = revision, "other", "taken away"
	return t
}

func TestRules(t *testing.T) {
	pass := func(from, to int) *state.Line { l := missed(from, to); return &l }
	for _, c := range []struct {
		before string
		name   string
		rule   state.Rule
		after  string // empty: as it was
		ledger string
		err    error
	}{
		// An occurrence is claimed once, in the queue, at its instant; a claim has no line.
		{"pending 9", "claim 9, then 10", state.Claim(hour(9), hour(10), claimer, hour(9)), "pending 10 +9#1", "", nil},
		{"pending 9", "claim 9, the last", state.Claim(hour(9), never, claimer, hour(9)), "ended 9 +9#1", "", nil},
		{"pending 9 +8#3 =7/2", "claim 9 beside a run", state.Claim(hour(9), hour(10), claimer, hour(9)), "pending 10 +8#3 +9#4 =7/2", "", nil},
		{"pending 9 +9#4 =7/3", "claim 9, which goes on", state.Claim(hour(9), hour(10), claimer, hour(9)), "pending 10 +9#4 =7/3", "", nil},
		{"pending 9 +8#0 =7/2", "claim 9 beside a damaged record", state.Claim(hour(9), hour(10), claimer, hour(9)), "pending 10 +8#0 +9#4 =7/2", "", nil},
		{"pending 9", "claim 8", state.Claim(hour(8), hour(10), claimer, hour(9)), "", "", state.ErrTaken},
		{"paused 9", "claim 9", state.Claim(hour(9), hour(10), claimer, hour(9)), "", "", state.ErrTaken},
		{"ended 9", "claim 9", state.Claim(hour(9), hour(10), claimer, hour(9)), "", "", state.ErrTaken},
		{"removed 9", "claim 9", state.Claim(hour(9), hour(10), claimer, hour(9)), "", "", state.ErrTaken},
		{"pending 9", "claim 9, then 9", state.Claim(hour(9), hour(9), claimer, hour(9)), "", "", state.ErrInvalid},
		// What has ended never runs again: the task only moves on.
		{"pending 9 =9/3", "claim what has ended", state.Claim(hour(9), hour(10), claimer, hour(9)), "pending 10 =9/3", "", nil},
		{"pending 9 =9/3", "claim the last, which has ended", state.Claim(hour(9), never, claimer, hour(9)), "ended 9 =9/3", "", nil},

		// A claim ends once.
		{"pending 10 +9#4 =8/3", "end", state.End(of(9), ends(state.OK)), "pending 10 =9/4", "ok#4 9", nil},
		{"removed 10 +9#4 =8/3", "end under a removed task", state.End(of(9), ends(state.Failed)), "removed 10 =9/4", "failed#4 9", nil},
		{"pending 10 +9#4! =8/3", "end a run by hand", state.End(of(9), ends(state.OK)), "pending 10 =8/4", "ok#4 by hand", nil},
		{"pending 10 +9#0 =8/3", "end a claim whose record is damaged", state.End(of(9), ends(state.Interrupted)), "pending 10 =9/4", "interrupted#4 9", nil},
		{"pending 10 =9/4", "end again", state.End(of(9), ends(state.OK)), "", "", state.ErrEnded},
		{"pending 10 +9#4", "end with no outcome", state.End(of(9), ends("")), "", "", state.ErrInvalid},

		// A claim is given back as long as nothing else has happened to the task.
		{"pending 10 +9#4 =8/3", "release", state.Release(of(9)), "pending 9 =8/3", "", nil},
		{"ended 9 +9#4 =8/3", "release the last", state.Release(of(9)), "pending 9 =8/3", "", nil},
		{"pending 11 +9#4 +10#5 =8/3", "release the earlier of two", state.Release(of(9)), "", "", state.ErrTaken},
		{"pending 10 +9#4 =9/5", "release what something ended after", state.Release(of(9)), "", "", state.ErrTaken},
		{"paused 10 +9#4", "release under a pause", state.Release(of(9)), "", "", state.ErrTaken},
		{"removed 10 +9#4", "release under a removed task", state.Release(of(9)), "", "", state.ErrTaken},
		{"pending 10 +9#4! =8/3", "release a run by hand", state.Release(of(9)), "pending 10 =8/3", "", nil},
		{"pending 10 =9/4", "release what has ended", state.Release(of(9)), "", "", state.ErrEnded},

		// By hand a task runs in every phase but removed, at an instant of its own.
		{"pending 10 =8/3", "fire", state.Fire(claimer, hour(9)), "pending 10 +9#4! =8/3", "", nil},
		{"ended 8 =8/3", "fire what has ended", state.Fire(claimer, hour(9)), "ended 8 +9#4! =8/3", "", nil},
		{"removed 10", "fire what was removed", state.Fire(claimer, hour(9)), "", "", state.ErrEnded},

		// What is skipped has an outcome, once.
		{"pending 9 =8/3", "skip 9", state.Skip(hour(9), hour(10), ends(state.Missed)), "pending 10 =9/4", "missed#4 9", nil},
		{"pending 7 =6/3", "skip three", state.Skip(hour(7), hour(10), missed(7, 9)), "pending 10 =9/6", "missed#4 7-9", nil},
		{"pending 9", "skip the last", state.Skip(hour(9), never, ends(state.Skipped)), "ended 9 =9/1", "skipped#1 9", nil},
		{"paused 9 >12", "skip under a pause", state.Skip(hour(9), hour(10), ends(state.Skipped)), "paused 10 >12 =9/1", "skipped#1 9", nil},
		{"pending 9 =9/4", "skip what has ended", state.Skip(hour(9), hour(10), ends(state.Missed)), "pending 10 =9/4", "", nil},
		{"pending 9", "skip as ok", state.Skip(hour(9), hour(10), ends(state.OK)), "", "", state.ErrInvalid},
		{"pending 9", "skip 8", state.Skip(hour(8), hour(10), ends(state.Missed)), "", "", state.ErrTaken},
		{"ended 9", "skip what has ended", state.Skip(hour(9), hour(10), ends(state.Missed)), "", "", state.ErrTaken},

		// A pause keeps the due instant.
		{"pending 9", "pause", state.Pause(never, hour(8)), "paused 9", "paused", nil},
		{"pending 9", "pause until 12", state.Pause(hour(12), hour(8)), "paused 9 >12", "paused", nil},
		{"paused 9 >12", "pause until 14", state.Pause(hour(14), hour(8)), "paused 9 >14", "paused", nil},
		{"pending 10 +9#4", "pause what runs", state.Pause(never, hour(9)), "paused 10 +9#4", "paused", nil},
		{"ended 9 +9#4", "pause the last run", state.Pause(never, hour(9)), "", "", state.ErrEnded},
		{"removed 9", "pause what was removed", state.Pause(never, hour(9)), "", "", state.ErrEnded},
		{"paused 9 >12", "resume", state.Resume(hour(8)), "pending 9", "resumed", nil},
		{"paused 9 +9#4", "resume at an instant that is claimed", state.Resume(hour(8)), "", "", state.ErrTaken},
		{"paused 9 =9/4", "resume at an instant that has ended", state.Resume(hour(8)), "", "", state.ErrTaken},
		{"pending 9", "resume what is not paused", state.Resume(hour(8)), "", "", state.ErrTaken},
		{"removed 9", "resume what was removed", state.Resume(hour(8)), "", "", state.ErrEnded},
		{"paused 7 =6/3", "go on, 7 to 9 being over", state.GoOn(missed(7, 9), hour(10), hour(9)), "pending 10 =9/6", "missed#4 7-9, resumed", nil},
		{"paused 7 =6/3", "go on, all being over", state.GoOn(missed(7, 9), never, hour(9)), "ended 7 =9/6", "missed#4 7-9", nil},
		{"paused 7 =9/6", "go on, when they have ended", state.GoOn(missed(7, 9), hour(10), hour(9)), "", "", state.ErrTaken},
		{"paused 8", "go on from another instant", state.GoOn(missed(7, 9), hour(10), hour(9)), "", "", state.ErrTaken},
		{"pending 7", "go on when it was resumed", state.GoOn(missed(7, 9), hour(10), hour(9)), "", "", state.ErrTaken},

		// Removed is removed, and can be restored at an instant that is free.
		{"pending 9", "remove", state.Remove(hour(8)), "removed 9", "removed", nil},
		{"paused 9 >12", "remove what is paused", state.Remove(hour(8)), "removed 9", "removed", nil},
		{"ended 9 +9#4", "remove the last run", state.Remove(hour(9)), "removed 9 +9#4", "removed", nil},
		{"ended 9", "remove what has ended", state.Remove(hour(9)), "", "", state.ErrEnded},
		{"removed 9", "remove again", state.Remove(hour(9)), "", "", state.ErrEnded},
		{"removed 9", "restore", state.Restore(hour(11), hour(10)), "pending 11", "restored", nil},
		{"removed 10 +9#4", "restore at the instant of a run", state.Restore(hour(9), hour(10)), "", "", state.ErrTaken},
		{"removed 10 +9#4!", "restore before a run by hand", state.Restore(hour(8), hour(10)), "pending 8 +9#4!", "restored", nil},
		{"removed 9 =9/4", "restore at an instant that has ended", state.Restore(hour(9), hour(10)), "", "", state.ErrTaken},
		{"pending 9", "restore what is there", state.Restore(hour(9), hour(10)), "", "", state.ErrEnded},
		{"pending 9", "finish", state.Finish("until_ok", hour(8)), "ended 9", "finished", nil},
		{"paused 9 >12", "finish what is paused", state.Finish("until_ok", hour(8)), "ended 9", "finished", nil},
		{"ended 9", "finish again", state.Finish("until_ok", hour(8)), "", "", state.ErrEnded},

		// Another due instant.
		{"pending 9 =8/3", "move", state.Move(hour(9), hour(10), hour(8)), "pending 10 =8/3", "moved", nil},
		{"pending 9 =8/3", "move to what has ended", state.Move(hour(9), hour(8), hour(8)), "", "", state.ErrTaken},
		{"pending 9", "move from another instant", state.Move(hour(8), hour(10), hour(8)), "", "", state.ErrTaken},
		{"paused 9", "move what is paused", state.Move(hour(9), hour(10), hour(8)), "", "", state.ErrTaken},

		// An edit is of the revision that was read, and keeps ID, key and creation.
		{"pending 9", "edit", state.Update(edited(4), never, hour(8), nil), "pending 9", "edited", nil},
		{"pending 9 =7/1", "edit to 8", state.Update(edited(4), hour(8), hour(6), nil), "pending 8 =7/1", "edited", nil},
		{"paused 9 >12", "edit what is paused to 8", state.Update(edited(4), hour(8), hour(6), nil), "paused 8 >12", "edited", nil},
		{"pending 9", "edit what was edited since", state.Update(edited(3), never, hour(8), nil), "", "", state.ErrConflict},
		{"pending 9 =8/3", "edit to what has ended", state.Update(edited(4), hour(8), hour(6), nil), "", "", state.ErrTaken},
		{"pending 10 +9#4", "edit to what is claimed", state.Update(edited(4), hour(9), hour(6), nil), "", "", state.ErrTaken},
		{"ended 9 +9#4", "edit the last run", state.Update(edited(4), never, hour(6), nil), "", "", state.ErrEnded},
		{"pending 7 =6/3", "edit, 7 to 9 being over", state.Update(edited(4), hour(11), hour(10), pass(7, 9)), "pending 11 =9/6", "missed#4 7-9, edited", nil},
		{"pending 7 =6/3", "edit, 7 to 9 being over, and stay", state.Update(edited(4), never, hour(10), pass(7, 9)), "", "", state.ErrTaken},
		{"pending 8", "edit, another instant being over", state.Update(edited(4), hour(11), hour(10), pass(7, 9)), "", "", state.ErrTaken},

		// What is known of a claim.
		{"pending 10 +9#4", "note", state.Note(of(9)), "pending 10 +9#4", "", nil},
		{"pending 10", "note what has ended", state.Note(of(9)), "", "", state.ErrEnded},
		{"pending 10", "halt what has ended", state.Halt(of(9), "why"), "", "", state.ErrEnded},
		{"pending 10", "started, what has ended", state.Started(of(9)), "", "", state.ErrEnded},
	} {
		before := parse(t, c.before)
		was := show(before)
		after, lines, err := c.rule(before)
		if !errors.Is(err, c.err) {
			t.Errorf("%s: %s: %v, want %v", c.before, c.name, err, c.err)
			continue
		}
		if show(before) != was {
			t.Errorf("%s: %s: has changed what it was given to %s", c.before, c.name, show(before))
		}
		if err != nil {
			continue
		}
		if got := show(after); got != c.after {
			t.Errorf("%s: %s: it is %s, want %s", c.before, c.name, got, c.after)
		}
		if got := said(lines); got != c.ledger {
			t.Errorf("%s: %s: the ledger gets %q, want %q", c.before, c.name, got, c.ledger)
		}
		if id := after.Task.ID; id != task.ID || after.Task.Key != task.Key || !after.Task.Created.Equal(task.Created) {
			t.Errorf("%s: %s: it is task %s with key %q", c.before, c.name, id, after.Task.Key)
		}
	}
}

// TestLives: who keeps a key, who waits, and when a runner looks.
func TestLives(t *testing.T) {
	for _, c := range []struct {
		doc                string
		lives, waits, open bool
		wake               time.Time
	}{
		{"pending 9", true, true, false, hour(9)},
		{"pending 10 +9#1", true, true, true, hour(10)},
		{"paused 9", true, true, false, never},
		{"paused 9 >12", true, true, false, hour(12)},
		{"ended 9", false, false, false, never},
		{"ended 9 +9#1", true, false, true, never},
		{"ended 9 +10#1!", false, false, true, never},
		{"removed 9", false, false, false, never},
		{"removed 10 +9#1", false, false, false, never},
	} {
		d := parse(t, c.doc)
		if d.Lives() != c.lives || d.Waits() != c.waits || (d.Shown() == state.Running) != c.open || !d.Wake().Equal(c.wake) {
			t.Errorf("%s: lives %v, waits %v, is shown as %s, and wakes at %s", c.doc, d.Lives(), d.Waits(), d.Shown(), at(d.Wake()))
		}
	}
}

// TestAdmit: what limits bound, and what they do not.
func TestAdmit(t *testing.T) {
	from := func(d state.Doc, origin string) state.Doc { d.Task.Origin = origin; return d }
	origin := state.ID(99)
	wait := parse(t, "pending 9")
	wait.Task.Wait.Kind = "once"
	limits := state.Limits{Tasks: 10, Pending: 3, PerHour: 2}
	for _, c := range []struct {
		name   string
		before string // empty: it is made
		after  state.Doc
		have   census
		want   string // the setting
	}{
		{"room for one", "", parse(t, "pending 9"), census{waiting: 9}, ""},
		{"too many tasks", "", parse(t, "pending 9"), census{waiting: 10}, state.SettingTasks},
		{"a wait runs nothing", "", wait, census{waiting: 10}, ""},
		{"a wait in a run", "", from(wait, origin), census{pending: 3}, state.SettingPending},
		{"too many of an origin", "", from(parse(t, "pending 9"), origin), census{pending: 3}, state.SettingPending},
		{"too many in an hour", "", from(parse(t, "pending 9"), origin), census{made: []time.Time{hour(8), hour(8)}}, state.SettingPerHour},
		{"an hour later", "", from(parse(t, "pending 9"), origin), census{made: []time.Time{hour(1), hour(1)}}, ""},
		{"restored", "removed 9", parse(t, "pending 9"), census{waiting: 10}, state.SettingTasks},
		{"restored is not made", "removed 9", from(parse(t, "pending 9"), origin), census{made: []time.Time{hour(8), hour(8)}}, ""},
		{"given another origin", "pending 9", from(parse(t, "pending 9"), origin), census{waiting: 10, pending: 3}, state.SettingPending},
		{"given back", "ended 9 +9#1", parse(t, "pending 9"), census{waiting: 10}, ""},
		{"paused", "pending 9", parse(t, "paused 9"), census{waiting: 10}, ""},
	} {
		var before *state.Doc
		if c.before != "" {
			d := parse(t, c.before)
			before = &d
			if c.name != "given another origin" {
				before.Task.Origin = c.after.Task.Origin
			}
		}
		got := ""
		var refused *state.LimitError
		if err := limits.Admit(before, c.after, c.have, hour(8)); errors.As(err, &refused) {
			got = refused.Setting
		} else if err != nil {
			t.Fatal(err)
		}
		if got != c.want {
			t.Errorf("%s: refused by %q, want %q", c.name, got, c.want)
		}
	}
}

type census struct {
	waiting, pending int
	made             []time.Time
}

func (c census) Waiting() (int, error)            { return c.waiting, nil }
func (c census) Pending(string) (int, error)      { return c.pending, nil }
func (c census) Made(string) ([]time.Time, error) { return c.made, nil }

// TestForgo ends a task that waits for another where it was found to wait in vain, and nothing
// else.
func TestForgo(t *testing.T) {
	line := state.Line{At: hour(9), Outcome: state.Skipped, Reason: "after_ended"}
	waits := parse(t, "pending 8")
	waits.Due = state.Unscheduled
	after, lines, err := state.Forgo(line, hour(9))(waits)
	if err != nil || after.Phase != state.Ended || !after.Due.Equal(hour(9)) || len(lines) != 2 || lines[0].Event != state.EventMoved || lines[1].Outcome != state.Skipped || !lines[1].Due.Equal(hour(9)) {
		t.Errorf("%+v %+v %v", after, lines, err)
	}
	for _, other := range []string{"pending 8", "paused 8", "ended 8", "removed 8"} {
		d := parse(t, other)
		if after, lines, err := state.Forgo(line, hour(9))(d); !errors.Is(err, state.ErrTaken) || len(lines) != 0 || after.Phase != d.Phase {
			t.Errorf("%s: %+v %+v %v", other, after, lines, err)
		}
	}
}
