package runner_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/timer/clock/clocktest"
	"github.com/ouro-timer/ouro-timer/timer/runner"
)

// TestAuditFindsEachLine takes single lines out of ledgers that balance, and puts them in twice.
func TestAuditFindsEachLine(t *testing.T) {
	clocktest.Alone(t)
	tried := 0
	for seed := uint64(1); seed < 60; seed++ {
		s := write(seed)
		if !s.calm {
			continue
		}
		p := perform(s, hooks{})
		entries, _, err := p.w.Store.List(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		whole := p.lines
		if found := p.audit(entries).Findings; len(found) > 0 {
			t.Fatalf("seed %d: %+v in books that balance", seed, found)
		}
		for i := 0; i < len(whole); i += 1 + len(whole)/20 {
			l := whole[i]
			if l.Type != state.LineOccurrence {
				continue
			}
			tried++
			p.lines = slices.Delete(slices.Clone(whole), i, i+1)
			if found := p.audit(entries).Findings; len(found) != 1 || found[0].Kind != runner.FoundNone || !found[0].First.Equal(*l.Due) || found[0].Count != l.Count {
				t.Errorf("seed %d: without number %d of %s (%d): %+v", seed, l.Number, l.TaskID, l.Count, found)
			}
			p.lines = slices.Insert(slices.Clone(whole), len(whole), l)
			if found := p.audit(entries).Findings; len(found) != 1 || found[0].Kind != runner.FoundTwice || found[0].Number != l.Number {
				t.Errorf("seed %d: with number %d of %s twice: %+v", seed, l.Number, l.TaskID, found)
			}
		}
	}
	if tried < 200 {
		t.Errorf("%d lines were tried", tried)
	}
}

// TestAuditOfPartOfALedger: when the making of a task is no longer there, its outcomes are held against the schedule it has; where it
// was changed since, nothing is said of what was before. A period leaves out what was before it.
func TestAuditOfPartOfALedger(t *testing.T) {
	day := func(clock string) time.Time {
		at, err := time.Parse("2006-01-02 15:04", "2026-11-21 "+clock)
		if err != nil {
			t.Fatal(err)
		}
		return at
	}
	timing := state.Timing{Text: "every 5m", Kind: "interval", Zone: "UTC", Start: day("09:00")}
	line := func(n int, clock string) state.Line {
		due := day(clock)
		return state.Line{Type: state.LineOccurrence, At: due, TaskID: "cczu", Number: n, Due: &due, Count: 1, Outcome: state.OK}
	}
	task := state.Task{ID: "cczu", When: timing}
	entry := state.Entry{Task: task, Due: day("09:40"), Phase: state.Pending}
	edited := state.TaskLine(task, state.EventEdited, day("09:30"), day("09:26"))
	for _, c := range []struct {
		name    string
		lines   []state.Line
		since   string
		want    int // findings
		unknown bool
		count   int
	}{
		{"its making is gone", []state.Line{line(3, "09:20"), line(4, "09:25"), line(5, "09:30"), line(6, "09:35")}, "", 0, false, 4},
		{"its making is gone, and a line", []state.Line{line(3, "09:20"), line(5, "09:30"), line(6, "09:35")}, "", 1, false, 3},
		{"its making is gone, and it was edited", []state.Line{line(3, "09:20"), edited, line(4, "09:30"), line(5, "09:35")}, "", 0, true, 2},
		{"a line before an edit", []state.Line{line(3, "09:20"), edited, line(5, "09:30"), line(6, "09:35")}, "", 1, true, 2},
		{"a hole before the period", []state.Line{line(3, "09:20"), line(5, "09:30"), line(6, "09:35")}, "09:28", 0, false, 2},
		{"the last one is missing", []state.Line{line(3, "09:20"), line(4, "09:25"), line(5, "09:30")}, "", 1, false, 3},
	} {
		var a runner.Auditor
		for _, l := range slices.Backward(c.lines) {
			a.Add(l)
		}
		var since time.Time
		if c.since != "" {
			since = day(c.since)
		}
		r := a.Result([]state.Entry{entry}, since)
		if len(r.Findings) != c.want || (len(r.Unknown) > 0) != c.unknown || r.Instants != c.count {
			t.Errorf("%s: %+v", c.name, r)
		}
		if want := c.lines[0].At; !r.Known.Equal(want) {
			t.Errorf("%s: known since %v, want %v", c.name, r.Known, want)
		}
	}
}

// TestAuditOfNumbers: what was given out has its line, whatever else the ledger lacks.
func TestAuditOfNumbers(t *testing.T) {
	start := time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC)
	at := func(n int) time.Time { return start.Add(time.Duration(n) * 5 * time.Minute) }
	task := state.Task{ID: "cczu", Created: start, When: state.Timing{Text: "every 5m", Kind: "interval", Zone: "UTC", Start: start}}
	line := func(n, instant int) state.Line {
		due := at(instant)
		return state.Line{Type: state.LineOccurrence, At: due, TaskID: task.ID, Number: n, Due: &due, Count: 1, Outcome: state.OK}
	}
	manual := line(3, 2)
	manual.Type = state.LineManual
	odd := line(2, 2)
	odd.Outcome = "bogus"
	created := state.TaskLine(task, state.EventCreated, at(1), start)
	edited := state.TaskLine(task, state.EventEdited, at(3), at(2).Add(time.Minute)) // number 2 went with the instant before it
	other := state.Line{Type: state.LineTask, Event: state.EventPaused, At: at(1), TaskID: "k7m2"}
	stand := func(next, number int, open ...state.Record) []state.Entry {
		tally := state.Tally{Number: number, LastDue: at(number), LastEnd: at(number).Add(time.Second)}
		return []state.Entry{{Task: task, Due: at(next), Phase: state.Pending, Tally: tally, Open: open}}
	}
	fired := stand(3, 3)
	fired[0].Tally.Fired = 2
	for _, c := range []struct {
		name    string
		whole   bool
		lines   []state.Line
		entries []state.Entry
		want    string // kind and number
	}{
		{"all of it", true, []state.Line{created, line(1, 1), line(2, 2), line(3, 3)}, stand(4, 3), ""},
		{"an edit follows", true, []state.Line{created, line(1, 1), edited, line(3, 3)}, stand(4, 3), "lacking 2"},
		{"an edit follows, of a task that is no more", true, []state.Line{created, line(1, 1), edited, line(3, 3)}, nil, "lacking 2"},
		{"given back under a manual run", true, []state.Line{created, line(1, 1), manual, line(4, 2)}, stand(3, 4), ""},
		{"one that fired under a manual run is missing", true, []state.Line{created, line(1, 1), edited, manual}, fired, "lacking 2"},
		{"the manual run is missing", true, []state.Line{created, line(1, 1), line(2, 2), line(4, 3)}, stand(4, 4), "lacking 3"},
		{"number 2 is open", true, []state.Line{created, line(1, 1), line(3, 3)}, stand(4, 3, state.Record{Task: task, Number: 2, Due: at(2)}), ""},
		{"given out since the tasks were read", true, []state.Line{created, line(1, 1), line(3, 2)}, stand(2, 1), ""},
		{"the head is cut", true, []state.Line{line(2, 2), line(3, 3)}, stand(4, 3), "unmade 0, lacking 1"},
		{"the head was pruned", false, []state.Line{line(2, 2), line(3, 3)}, stand(4, 3), ""},
		{"its last is missing", true, []state.Line{created, line(1, 1), line(2, 2), edited}, stand(3, 3), "lacking 3"},
		{"the ledger is empty", true, nil, stand(4, 3), "unmade 0, lacking 1"},
		{"it is younger than the pruned ledger", false, []state.Line{other}, []state.Entry{{Task: state.Task{ID: "cczu", Created: at(2)}}}, "unmade 0"},
		{"it ended in the pruned ledger", false, []state.Line{other}, stand(4, 3), "lacking 3"},
		{"it ended before the pruned ledger", false, []state.Line{other}, stand(2, 0), ""},
		{"no outcome", true, []state.Line{created, line(1, 1), odd}, stand(3, 2), "outcome 2"},
	} {
		a := runner.Auditor{Whole: c.whole}
		for _, l := range slices.Backward(c.lines) {
			a.Add(l)
		}
		var got []string
		for _, f := range a.Result(c.entries, time.Time{}).Findings {
			got = append(got, fmt.Sprint(f.Kind, " ", f.Number))
		}
		if text := strings.Join(got, ", "); text != c.want {
			t.Errorf("%s: %q, want %q", c.name, text, c.want)
		}
	}
}
