package audit_test

import (
	"slices"
	"testing"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/timer/audit"
)

// fault is a ledger, and what the audit finds in it: nothing, or each fault that was planted there.
type fault struct{ name, ledger, want string }

// faults audits ledgers.
func faults(t *testing.T, rows []fault) {
	for _, c := range rows {
		list := lines(t, c.ledger)
		if got := found(auditOf(list, audit.Options{})); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
		// Which accounts are packed after each line makes no difference, nor do other tasks between the lines.
		restore := audit.Recent(1)
		if got := found(auditOf(list, audit.Options{})); got != c.want {
			t.Errorf("%s: packed %q, want %q", c.name, got, c.want)
		}
		restore()
		var more []state.Line
		for i, l := range list {
			other := state.Entry{Task: state.Task{ID: state.ID(uint64(1000 + i)), Revision: 1, When: tasks["once"].When}, Due: day("23:00")}
			more = append(more, state.TaskLine(other, state.EventCreated, l.At), l)
		}
		if got := found(auditOf(more, audit.Options{})); got != c.want {
			t.Errorf("%s: among others %q, want %q", c.name, got, c.want)
		}
	}
}

// TestOneOutcome: each instant has one outcome, and one-shots have one run.
func TestOneOutcome(t *testing.T) {
	faults(t, []fault{
		{"all is well", `
			09:00 created every 09:05
			09:05 ok 1 09:05
			09:10 ok 2 09:10
			09:12 removed 09:15 given 2`, ""},
		{"an instant without an outcome", `
			09:00 created every 09:05
			09:05 ok 1 09:05
			09:20 ok 2 09:20`, "none x2 09:10"},
		{"an instant without an outcome before a removal", `
			09:00 created every 09:05
			09:05 ok 1 09:05
			09:20 removed 09:20 given 1`, "none x2 09:10"},
		{"another occurrence of the same instant", `
			09:00 created every 09:05
			09:05 ok 1 09:05
			09:06 ok 2 09:05`, "twice/2 09:05"},
		{"another occurrence of an instant a while ago", `
			09:00 created every 09:05
			09:05 ok 1 09:05
			09:20 missed 2 09:10..09:20 x3
			09:25 ok 5 09:25
			09:26 ok 6 09:15`, "twice/6 09:15"},
		{"the same line again", `
			09:00 created every 09:05
			09:05 ok 1 09:05
			09:10 ok 2 09:10
			09:11 ok 1 09:05`, "twice/1 09:05"},
		{"a one-shot that runs again", `
			09:00 created once 09:30
			09:30 ok 1 09:30
			09:40 ok 2 09:30`, "twice/2 09:30"},
		{"attempts of one occurrence are one run", `
			09:00 created once 09:30
			09:39 failed 1 09:30 attempts 3`, ""},
		{"ends come in another order", `
			09:00 created every 09:05
			09:11 ok 2 09:10
			09:16 ok 3 09:15
			09:17 ok 1 09:05
			09:20 ok 4 09:20`, ""},
		{"one of them twice", `
			09:00 created every 09:05
			09:11 ok 2 09:10
			09:16 ok 3 09:15
			09:17 ok 4 09:10
			09:20 ok 1 09:05`, "twice/4 09:10"},
	})
}

// TestClockPutBack: instants that come again have another outcome, but what ran does not run again.
func TestClockPutBack(t *testing.T) {
	faults(t, []fault{
		{"a run after the clock was put back", `
			09:00 created every 09:05
			09:05 ok 1 09:05
			09:55 missed 2 09:10..09:55 x10
			10:00 ok 12 10:00
			09:07 clock every 09:10 given 12
			09:10 ok 13 09:10`, ""}, // it had been missed
		{"a run of what ran, after the clock was put back", `
			09:00 created every 09:05
			09:05 ok 1 09:05
			09:10 ok 2 09:10
			09:15 ok 3 09:15
			09:07 clock every 09:10 given 3
			09:10 ok 4 09:10`, "twice/4 09:10"},
		{"a second run after the clock was put back", `
			09:00 created once 09:30
			09:30 ok 1 09:30
			05:00 clock once 09:30 given 1
			09:30 ok 2 09:30`, "twice/2 09:30"},
		{"a run that began before the clock was put back, and its task was removed", `
			09:00 created every 09:05
			09:05 ok 1 09:05
			04:01 removed every 09:10 given 2
			04:08 ok 2 09:10`, ""},
		{"instants that are missed again after the clock was put back", `
			09:00 created every 09:05
			09:05 ok 1 09:05
			09:55 missed 2 09:10..09:55 x10
			10:00 ok 12 10:00
			09:07 clock every 09:10 given 12
			10:00 missed 13 09:10..10:00 x11
			10:05 ok 24 10:05`, ""},
		{"and then one of them runs", `
			09:00 created every 09:05
			09:10 ok 1 09:05
			09:10 ok 2 09:10
			09:02 clock every 09:05 given 2
			09:05 missed 3 09:05
			09:10 ok 4 09:10
			09:15 ok 5 09:15`, "twice/4 09:10"},
		{"what was claimed before the clock was put back", `
			09:00 created every 09:05
			09:05 ok 1 09:05
			09:01 clock every 09:05 given 2
			09:10 ok 2 09:10
			09:10 missed 3 09:05..09:10 x2
			09:15 ok 5 09:15`, ""},
		{"two runs after an edit after the clock was put back", `
			09:00 created every 09:05
			09:30 ok 1 09:05
			09:30 missed 2 09:10..09:25 x4
			09:30 ok 6 09:30
			09:08 clock every 09:10 given 6
			09:10 missed 7 09:10
			09:11 edited again 09:15 given 7
			09:15 ok 8 09:15`, ""}, // it had been missed, and nothing was run for it
		{"a run of what was missed, twice", `
			09:00 created every 09:05
			09:30 ok 1 09:05
			09:30 missed 2 09:10..09:25 x4
			09:30 ok 6 09:30
			09:08 clock every 09:10 given 6
			09:10 ok 7 09:10
			09:15 ok 8 09:15
			09:07 clock every 09:10 given 8
			09:10 ok 9 09:10
			09:15 missed 10 09:15`, "twice/9 09:10"},
	})
}

// TestNumberedOnce: a number is given to one occurrence, and to one run by hand.
func TestNumberedOnce(t *testing.T) {
	faults(t, []fault{
		{"a number that was given before", `
			09:00 created every 09:05
			09:05 ok 1 09:05
			09:10 ok 2 09:10
			09:15 ok 2 09:15`, "number/2 09:15"},
		{"a number of a range that was given before", `
			09:00 created every 09:05
			09:15 missed 1 09:05..09:15 x3
			09:20 ok 3 09:20`, "number/3 09:20"},
		{"a number that a run by hand has", `
			09:00 created every 09:05
			09:02 ok 1 09:02 manual
			09:05 ok 1 09:05`, "number/1 09:05"},
		{"a run by hand with a number that was given", `
			09:00 created every 09:05
			09:05 ok 1 09:05
			09:06 ok 1 09:06 manual`, "number/1 09:06"},
		{"a number that is gone", `
			09:00 created every 09:05
			09:05 ok 1 09:05
			09:06 edited again 09:15 given 2
			09:15 ok 3 09:15`, "lacking/2 09:05"},
	})
}

// TestRemoved: nothing runs after a removal but what it found going on.
func TestRemoved(t *testing.T) {
	faults(t, []fault{
		{"a run after a removal", `
			09:00 created every 09:05
			09:05 ok 1 09:05
			09:07 removed 09:10 given 1
			09:10 ok 2 09:10`, "removed/2 09:10"},
		{"a message after a removal", `
			09:00 created once 09:30
			09:07 removed 09:30 given 0
			09:30 ok 1 09:30 message`, "removed/1 09:30"},
		{"an instant at once after the removal", `
			09:00 created once 09:30
			09:30:01 removed 09:30 given 0
			09:30:01 ok 1 09:30 started 09:30:01`, "removed/1 09:30"},
		{"something is missed after a removal", `
			09:00 created every 09:05
			09:07 removed 09:05 given 0
			09:10 missed 1 09:05`, "removed/1 09:05"},
		{"a run by hand after a removal", `
			09:00 created every 09:05
			09:04 removed 09:05 given 0
			09:10 ok 1 09:10 manual`, "removed/1 09:10"},
		{"a run that a removal found going on", `
			09:00 created every 09:05
			09:07 removed 09:10 given 1
			09:20 ok 1 09:05`, ""},
		{"a claim that a removal found, and that began at once", `
			09:00 created every 09:05
			09:04:59 removed 09:10 given 1
			09:20 ok 1 09:05 started 09:05`, ""},
		{"a claim that a removal found, and that began much later", `
			09:00 created every 09:05
			09:07 removed 09:10 given 1
			09:20 ok 1 09:05 started 09:19`, "removed/1 09:05"},
		{"a message that was claimed before a removal is told, however late", `
			09:00 created every 09:05
			09:07 removed 09:10 given 1
			09:50 ok 1 09:05 started 09:50 message`, ""},
		{"a run under a removal, after which the task was restored", `
			09:00 created every 09:05
			09:05 ok 1 09:05
			09:07 removed 09:10 given 1
			09:14 restored 09:15 given 2
			09:16 ok 2 09:10
			09:16 ok 3 09:15`, "removed/2 09:10"},
		{"and its instant again", `
			09:00 created once 09:30
			09:07 removed 09:30 given 0
			09:30 ok 1 09:30
			09:31 restored 09:30 given 1
			09:32 ok 2 09:30`, "removed/1 09:30, twice/2 09:30"},
		{"a restored task", `
			09:00 created every 09:05
			09:05 ok 1 09:05
			09:07 removed 09:10 given 1
			09:27 restored 09:30 given 1
			09:30 ok 2 09:30`, ""},
		{"removed by an older version, and run much later", `
			09:00 created every 09:05
			09:05 ok 1 09:05
			09:07 removed 09:10
			09:10 ok 2 09:10`, "removed/2 09:10"},
		{"removed by an older version while it ran", `
			09:00 created every 09:05
			09:05:01 removed 09:10
			09:10 ok 1 09:05`, ""},
	})
}

// TestFinished: nothing runs after the stop condition was met, unless by hand.
func TestFinished(t *testing.T) {
	faults(t, []fault{
		{"a run after the stop condition was met", `
			09:00 created every 09:05
			09:05 ok 1 09:05
			09:05 finished 09:10 given 1
			09:10 ok 2 09:10`, "finished/2 09:10"},
		{"a run by hand after the stop condition was met", `
			09:00 created every 09:05
			09:05 ok 1 09:05
			09:05 finished 09:10 given 1
			09:10 ok 2 09:10 manual`, ""},
	})
}

// TestPaused: nothing runs in a pause but what it found going on.
func TestPaused(t *testing.T) {
	faults(t, []fault{
		{"a run in a pause", `
			09:00 created every 09:05
			09:05 ok 1 09:05
			09:07 paused 09:10 given 1
			09:10 ok 2 09:10`, "paused/2 09:10"},
		{"a run that began in a pause and ended after it", `
			09:00 created every 09:05
			09:05 ok 1 09:05
			09:07 paused 09:10 given 1
			09:12 resumed 09:15 given 2
			09:13 ok 2 09:10
			09:15 ok 3 09:15`, "paused/2 09:10"},
		{"instants that passed in a pause", `
			09:00 created every 09:05
			09:05 ok 1 09:05
			09:07 paused 09:10 given 1
			09:22 skipped 2 09:10..09:20 x3
			09:22 resumed 09:25 given 4
			09:25 ok 5 09:25`, ""},
		{"a run that a pause found going on", `
			09:00 created every 09:05
			09:05:30 paused 09:10 given 1
			09:06 ok 1 09:05
			09:07 ok 2 09:07 manual`, ""},
		{"a run after a pause was edited", `
			09:00 created every 09:05
			09:03 paused 09:05 given 0
			09:04 edited hourly 10:00 given 0
			10:00 ok 1 10:00`, "paused/1 10:00"},
		{"paused by an older version, and run much later", `
			09:00 created every 09:05
			09:07 paused 09:05
			09:12 ok 1 09:05 started 09:12`, "paused/1 09:05"},
	})
}

// TestEdited: what was planned before an edit does not run after it, unless it had begun.
func TestEdited(t *testing.T) {
	faults(t, []fault{
		{"the old rhythm after an edit", `
			09:00 created every 09:05
			09:05 ok 1 09:05
			09:06 edited hourly 10:00 given 1
			09:10 ok 2 09:10`, "edited/2 09:10"},
		{"what was planned before an edit, at an instant that it still has", `
			09:00 created every 09:05
			09:06 edited again 09:05 given 0
			09:06 ok 1 09:05 rev 1`, "edited/1 09:05"},
		{"and then as it was edited", `
			09:00 created every 09:05
			09:06 edited again 09:05 given 0
			09:06 ok 1 09:05 rev 1
			09:07 ok 2 09:05 rev 2`, "edited/1 09:05, twice/2 09:05"},
		{"a run that an edit found going on", `
			09:00 created every 09:05
			09:06 edited hourly 10:00 given 1
			09:07 ok 1 09:05 rev 1
			10:00 ok 2 10:00`, ""},
		{"an attempt much later, of what was claimed before an edit", `
			09:00 created every 09:05
			09:06 edited hourly 10:00 given 1
			09:30 failed 1 09:05 started 09:20 rev 1 attempts 2`, ""},
		{"a claim that an edit found, and that began much later", `
			09:00 created every 09:05
			09:06 edited hourly 10:00 given 1
			09:30 failed 1 09:05 started 09:20 rev 1`, "edited/1 09:05"},
		{"edited by an older version while it ran", `
			09:00 created every 09:05
			09:06 edited hourly 10:00
			09:07 ok 1 09:05 rev 0
			10:00 ok 2 10:00 rev 0`, ""},
		{"instants that an edit took away", `
			09:00 created every 09:05
			09:05 ok 1 09:05
			09:21 missed 2 09:10..09:20 x3
			09:21 edited hourly 10:00 given 4
			10:00 ok 5 10:00`, ""},
	})
}

// TestUnscheduled: an outcome is one of the known, at instants that the schedule has.
func TestUnscheduled(t *testing.T) {
	faults(t, []fault{
		{"an instant that is none", `
			09:00 created every 09:05
			09:05 ok 1 09:05
			09:07 ok 2 09:07`, "unscheduled/2 09:07"},
		{"an instant after the last", `
			09:00 created twelve 09:05
			09:05 ok 1 09:05
			09:10 ok 2 09:10
			09:15 ok 3 09:15`, "unscheduled/3 09:15"},
		{"a range that counts otherwise", `
			09:00 created every 09:05
			09:20 missed 1 09:05..09:20 x3`, "count/1 x4 09:05"},
		{"an outcome that is none", `
			09:00 created every 09:05
			09:05 bogus 1 09:05`, "outcome/1 09:05"},
		{"no making", `
			09:05 ok 1 09:05`, ""},
	})
}

// TestPartOfALedger: when the making of a task is no longer there, its outcomes are held against the schedule it has; where that was edited
// since, nothing is said of what was before. A period leaves out what was before it.
func TestPartOfALedger(t *testing.T) {
	entry := state.Entry{Task: every, Due: day("09:40"), Phase: state.Pending}
	edited := entry
	edited.Task.Revision = 2
	for _, c := range []struct {
		name    string
		ledger  string
		entry   state.Entry
		since   string
		want    string
		unknown bool
		count   int
	}{
		{"its making is gone", `
			09:20 ok 3 09:20
			09:25 ok 4 09:25
			09:30 ok 5 09:30
			09:35 ok 6 09:35`, entry, "", "", false, 4},
		{"by an older version", `
			09:20 ok 3 09:20 rev 0
			09:25 ok 4 09:25 rev 0
			09:30 ok 5 09:30 rev 0
			09:35 ok 6 09:35 rev 0`, entry, "", "", false, 4},
		{"its making is gone, and a line", `
			09:20 ok 3 09:20
			09:30 ok 5 09:30
			09:35 ok 6 09:35`, entry, "", "none 09:25", false, 3},
		{"its making is gone, and it was edited", `
			09:20 ok 3 09:20
			09:26 edited again 09:30 given 3
			09:30 ok 4 09:30
			09:35 ok 5 09:35`, edited, "", "", true, 2},
		{"a line before an edit", `
			09:20 ok 3 09:20
			09:25 ok 4 09:25
			09:26 edited again 09:30 given 5
			09:30 ok 6 09:30
			09:35 ok 7 09:35`, edited, "", "lacking/5 09:25", true, 2},
		{"edited before the ledger begins", `
			09:20 paused again 09:25 given 3
			09:21 resumed again 09:25 given 3
			09:25 ok 4 09:25
			09:30 ok 5 09:30
			09:35 ok 6 09:35`, edited, "", "", false, 3},
		{"a hole before the period", `
			09:20 ok 3 09:20
			09:30 ok 5 09:30
			09:35 ok 6 09:35`, entry, "09:28", "", false, 2},
		{"the last one is missing", `
			09:20 ok 3 09:20
			09:25 ok 4 09:25
			09:30 ok 5 09:30`, entry, "", "none 09:35", false, 3},
		{"an earlier one ends late", `
			09:20 ok 3 09:20
			09:25 ok 4 09:25
			09:27 ok 2 09:15
			09:30 ok 5 09:30
			09:35 ok 6 09:35`, entry, "", "", false, 5},
		{"removed", `
			09:20 removed every 09:25 given 3
			09:26 ok 4 09:25`, state.Entry{}, "", "removed/4 09:25", false, 0},
	} {
		o := audit.Options{Dropped: true}
		if c.since != "" {
			o.Since = day(c.since)
		}
		list := lines(t, c.ledger)
		var entries []state.Entry
		if c.entry.Task.ID != "" {
			entries = []state.Entry{c.entry}
		}
		r := auditOf(list, o, entries...)
		if got := found(r); got != c.want || (len(r.Unknown) > 0) != c.unknown || r.Instants != c.count {
			t.Errorf("%s: %q, want %q; unknown %v, %d instants", c.name, got, c.want, r.Unknown, r.Instants)
		}
		if !r.Known.Equal(list[0].At) {
			t.Errorf("%s: known since %v", c.name, r.Known)
		}
	}
}

// TestNumbers: what was given has its line, whatever else the ledger lacks.
func TestNumbers(t *testing.T) {
	task := every
	stand := func(next string, number int, open ...state.Record) []state.Entry {
		tally := state.Tally{Number: number, LastDue: day("09:00").Add(time.Duration(number) * 5 * time.Minute)}
		tally.LastEnd = tally.LastDue.Add(time.Second)
		return []state.Entry{{Task: task, Due: day(next), Phase: state.Pending, Tally: tally, Open: open}}
	}
	fired := stand("09:15", 3)
	fired[0].Tally.Fired = 2
	const created = "09:00 created every 09:05\n"
	const one = "09:05 ok 1 09:05\n"
	const edited = "09:11 edited again 09:15 given 2\n" // number 2 went with the instant before it
	for _, c := range []struct {
		name    string
		dropped bool
		ledger  string
		entries []state.Entry
		want    string
	}{
		{"all of it", false, created + one + "09:10 ok 2 09:10\n09:15 ok 3 09:15", stand("09:20", 3), ""},
		{"an edit follows", false, created + one + edited + "09:15 ok 3 09:15", stand("09:20", 3), "lacking/2 09:05"},
		{"an edit follows, of a task that is no more", false, created + one + edited + "09:15 ok 3 09:15", nil, "lacking/2 09:05"},
		{"given back under a manual run", false, created + one + "09:10 ok 3 09:10 manual\n09:11 ok 4 09:10", stand("09:15", 4), ""},
		{"one that fired under a manual run is missing", false, created + one + edited + "09:10 ok 3 09:10 manual", fired, "lacking/2 09:05"},
		{"the manual run is missing", false, created + one + "09:10 ok 2 09:10\n09:15 ok 4 09:15", stand("09:20", 4), "lacking/3 09:10"},
		{"number 2 is open", false, created + one + "09:15 ok 3 09:15", stand("09:20", 3, state.Record{Task: task, Number: 2, Due: day("09:10")}), ""},
		{"claimed since the tasks were read", false, created + one + "09:15 ok 3 09:15", stand("09:10", 1), ""},
		{"the head is cut", false, "09:10 ok 2 09:10\n09:15 ok 3 09:15", stand("09:20", 3), "unmade 09:00, lacking/1 09:10"},
		{"the head was dropped", true, "09:10 ok 2 09:10\n09:15 ok 3 09:15", stand("09:20", 3), ""},
		{"its last is missing", false, created + one + "09:10 ok 2 09:10\n" + edited, stand("09:15", 3), "lacking/3 09:10"},
		{"the ledger is empty", false, "", stand("09:20", 3), "unmade 09:00, lacking/1 x3 09:15"},
		{"it ended before what is left", true, "09:50 paused every 09:55 given 9", stand("09:10", 0), ""},
		{"an outcome that is none", false, created + one + "09:10 bogus 2 09:10", stand("09:15", 2), "outcome/2 09:10"},
	} {
		if got := found(auditOf(lines(t, c.ledger), audit.Options{Dropped: c.dropped}, c.entries...)); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
	// Of a ledger that lost its beginning, what is younger than what is left must have its making, and what ended in it its line.
	other := lines(t, "09:05 paused every 09:10 given 0")
	other[0].TaskID = "k7m2"
	for _, c := range []struct {
		name  string
		entry state.Entry
		want  string
	}{
		{"it is younger", state.Entry{Task: state.Task{ID: "cczu", Created: day("09:10")}, Phase: state.Ended}, "unmade 09:10"},
		{"it ended in it", stand("09:20", 3)[0], "lacking/3 09:15"},
		{"it ended before it", stand("09:10", 0)[0], ""},
	} {
		if got := found(auditOf(other, audit.Options{Dropped: true}, c.entry)); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// TestMeanwhile: what happens while the tasks are read is accounted for by the lines that follow.
func TestMeanwhile(t *testing.T) {
	list := lines(t, `
		09:00 created every 09:05
		09:05 ok 1 09:05
		09:10 ok 2 09:10
		09:15 ok 3 09:15
		09:16 removed 09:20 given 3`)
	full := state.Entry{Task: every, Due: day("09:20"), Phase: state.Pending, Tally: state.Tally{Number: 3, Fired: 3}}
	open := state.Entry{Task: every, Due: day("09:15"), Phase: state.Running, Tally: state.Tally{Number: 1, Fired: 1},
		Open: []state.Record{{Task: every, Number: 2, Due: day("09:10")}}}
	gone := full
	gone.Phase = state.Removed
	for name, e := range map[string]state.Entry{"ended": full, "running": open, "removed": gone} {
		for k := range len(list) + 1 {
			a := audit.New(audit.Options{})
			for _, l := range list[:k] {
				a.Add(l)
			}
			a.Stand(e)
			for _, l := range list[k:] {
				a.Add(l)
			}
			if r := a.Result(); found(r) != "" || r.Instants != 3 || r.Open != 0 {
				t.Errorf("%s after %d lines: %q, %d instants, %d open", name, k, found(r), r.Instants, r.Open)
			}
		}
	}
	a := audit.New(audit.Options{})
	for _, l := range slices.Delete(slices.Clone(list), 2, 5) {
		a.Add(l)
	}
	a.Stand(open)
	if r := a.Result(); found(r) != "" || r.Instants != 2 || r.Open != 1 || len(r.Claims) != 1 || r.Claims[0].Number != 2 {
		t.Errorf("%q, %+v", found(r), r)
	}
}
