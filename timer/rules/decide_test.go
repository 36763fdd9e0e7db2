package rules

import (
	"strings"
	"testing"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
)

// Plan writes steps as a timetable: "skip 09:00..09:10 x3 coalesced -> 09:15; run 09:15 -> 09:20".
func timetable(t *testing.T, p Plan) string {
	var parts []string
	show := func(x time.Time) string {
		if x.IsZero() {
			return "end"
		}
		return x.In(at(t, "2026-01-01 00:00").Location()).Format("02 15:04 -07")
	}
	if p.Waits {
		parts = append(parts, "held")
	}
	for _, s := range p.Steps {
		switch s.Kind {
		case StepRun:
			parts = append(parts, "run "+show(s.Due)+" -> "+show(s.Next))
			continue
		case StepHalt:
			parts = append(parts, "halt "+s.Why)
			continue
		case StepResume:
			parts = append(parts, "resume "+show(s.Due))
			continue
		case StepFinish:
			parts = append(parts, "finish "+s.Why)
			continue
		}
		text := string(s.Skip.Outcome) + " " + show(*s.Skip.Due)
		if s.Skip.DueLast != nil {
			text += ".." + show(*s.Skip.DueLast)
		}
		parts = append(parts, text+" x"+itoa(s.Skip.Count)+" "+s.Skip.Reason+" -> "+show(s.Next))
	}
	return strings.Join(parts, "; ")
}

func itoa(n int) string {
	if n < 10 {
		return string(rune('0' + n))
	}
	return itoa(n/10) + string(rune('0'+n%10))
}

func TestDecide(t *testing.T) {
	for _, row := range []struct{ name, kind, when, start, due, now, want string }{
		{"not due", "once", "10:00", "2026-11-21 09:00", "2026-11-21 10:00", "2026-11-21 09:59:59", ""},
		{"one-shot on time", "once", "10:00", "2026-11-21 09:00", "2026-11-21 10:00", "2026-11-21 10:00", "run 21 10:00 +01 -> end"},
		{"one-shot a week late still runs", "once", "10:00", "2026-11-14 09:00", "2026-11-14 10:00", "2026-11-21 10:00", "run 14 10:00 +01 -> end"},
		{"interval on time", "interval", "every 5m", "2026-11-21 09:00", "2026-11-21 09:05", "2026-11-21 09:05", "run 21 09:05 +01 -> 21 09:10 +01"},
		{"a late run keeps the phase", "interval", "every 5m", "2026-11-21 09:00", "2026-11-21 09:05", "2026-11-21 09:09", "run 21 09:05 +01 -> 21 09:10 +01"},
		{"down over one more instant: one run, for the latest", "interval", "every 5m", "2026-11-21 09:00", "2026-11-21 09:05", "2026-11-21 09:12", "missed 21 09:05 +01 x1 coalesced -> 21 09:10 +01; run 21 09:10 +01 -> 21 09:15 +01"},
		{"down for an hour: one run, the others are missed", "interval", "every 5m", "2026-11-21 09:00", "2026-11-21 09:05", "2026-11-21 10:02", "missed 21 09:05 +01..21 09:55 +01 x11 coalesced -> 21 10:00 +01; run 21 10:00 +01 -> 21 10:05 +01"},
		{"cron over the spring night", "cron", "30 2 * * *", "2026-03-27 12:00", "2026-03-28 02:30", "2026-03-29 03:00", "missed 28 02:30 +01 x1 coalesced -> 29 03:00 +02; run 29 03:00 +02 -> 30 02:30 +02"},
	} {
		e := entry(t, row.kind, row.when, row.start, row.due)
		sched, err := Schedule(e.Task)
		if err != nil {
			t.Errorf("%s: %v", row.name, err)
			continue
		}
		if got := timetable(t, Decide(e, sched, at(t, row.now))); got != row.want {
			t.Errorf("%s:\n got %s\nwant %s", row.name, got, row.want)
		}
	}
}

// TestDecidePolicies is about a task that is due every five minutes from 09:05 on.
func TestDecidePolicies(t *testing.T) {
	open := func(e *state.Entry) {
		e.Open = []state.Record{{Task: e.Task, Due: e.Due.Add(-5 * time.Minute), Claimed: e.Due.Add(-5 * time.Minute)}}
	}
	busy := func(clock string) func(*state.Entry) {
		return func(e *state.Entry) { e.Tally.Busy = at(t, "2026-11-21 "+clock) }
	}
	overlap := func(how string) func(*state.Entry) { return func(e *state.Entry) { e.Task.Policy.Overlap = how } }
	catchup := func(how string) func(*state.Entry) { return func(e *state.Entry) { e.Task.Policy.Catchup = how } }
	window := func(d string) func(*state.Entry) { return func(e *state.Entry) { e.Task.Policy.Window = d } }
	message := func(e *state.Entry) { e.Task.Run = state.Job{} }
	type set []func(*state.Entry)
	for _, row := range []struct {
		name string
		set  set
		now  string
		want string
	}{
		{"a run goes on: nothing is written until it has ended", set{open}, "09:12", "held"},
		{"it ended at 09:11: what came meanwhile is skipped", set{busy("09:11")}, "09:11", "skipped 09:05..09:10 x2 overlap -> 09:15"},
		{"it ended at 09:11, and nobody looked until 09:17", set{busy("09:11")}, "09:17", "skipped 09:05..09:10 x2 overlap -> 09:15; run 09:15 -> 09:20"},
		{"it ended at 09:06, down until 09:22", set{busy("09:06")}, "09:22", "skipped 09:05 x1 overlap -> 09:10; missed 09:10..09:15 x2 coalesced -> 09:20; run 09:20 -> 09:25"},
		{"it ended before", set{busy("09:04")}, "09:05", "run 09:05 -> 09:10"},
		{"messages do not overlap", set{open, message}, "09:12", "missed 09:05 x1 coalesced -> 09:10; run 09:10 -> 09:15"},

		{"queue: held while a run goes on", set{overlap("queue"), open}, "09:12", "held"},
		{"queue: then the first, and the others found the place taken", set{overlap("queue"), busy("09:16")}, "09:16", "run 09:05 -> 09:10; skipped 09:10..09:15 x2 overlap -> 09:20"},
		{"queue: after a restart hours later it still runs", set{overlap("queue"), busy("09:06")}, "12:00",
			"run 09:05 -> 09:10; missed 09:10..11:55 x34 coalesced -> 12:00"},
		{"queue: what came while nothing ran is caught up with as without it", set{overlap("queue"), busy("09:11")}, "09:22",
			"run 09:05 -> 09:10; skipped 09:10 x1 overlap -> 09:15; missed 09:15 x1 coalesced -> 09:20"},
		{"queue: a window is for what is not held", set{overlap("queue"), window("3m"), busy("09:06")}, "09:24",
			"run 09:05 -> 09:10; missed 09:10..09:20 x3 window -> 09:25"},
		{"queue: all that came while nothing ran is worked off", set{overlap("queue"), catchup("all"), busy("09:06")}, "09:22", "run 09:05 -> 09:10"},
		{"allow: runs beside", set{overlap("allow"), open}, "09:05", "run 09:05 -> 09:10"},
		{"allow: what came meanwhile is not skipped", set{overlap("allow"), busy("09:06")}, "09:06", "run 09:05 -> 09:10"},
		{"replace: ends what runs", set{overlap("replace"), open}, "09:05", "held; halt replaced"},
		{"replace: and then the latest runs", set{overlap("replace"), busy("09:11")}, "09:11", "skipped 09:05 x1 overlap -> 09:10; run 09:10 -> 09:15"},
		{"replace: it ended at 09:06, down until 09:22", set{overlap("replace"), busy("09:06")}, "09:22", "skipped 09:05 x1 overlap -> 09:10; missed 09:10..09:15 x2 coalesced -> 09:20; run 09:20 -> 09:25"},
		{"replace: what came while nothing ran is worked off", set{overlap("replace"), catchup("all"), busy("09:06")}, "09:22", "skipped 09:05 x1 overlap -> 09:10; run 09:10 -> 09:15"},
		{"replace: a window that it is too late for", set{overlap("replace"), window("2m"), busy("09:09")}, "09:09", "missed 09:05 x1 window -> 09:10"},

		{"catch up with all: the oldest first", set{catchup("all")}, "09:22", "run 09:05 -> 09:10"},
		{"catch up with all: one after the other", set{catchup("all"), open}, "09:22", "held"},
		{"catch up with all: one after the other, even where overlap is allowed", set{catchup("all"), overlap("allow"), open}, "09:22", "held"},
		{"catch up with all: at most 100", set{catchup("all")}, "18:00", "missed 09:05..09:40 x8 cap -> 09:45; run 09:45 -> 09:50"},
		{"catch up with all, of the last six minutes", set{catchup("all"), window("6m")}, "09:22", "missed 09:05..09:15 x3 window -> 09:20; run 09:20 -> 09:25"},
		{"catch up with nothing", set{catchup("skip")}, "09:22", "missed 09:05..09:20 x4 catchup -> 09:25"},
		{"catch up with nothing: a busy minute is on time", set{catchup("skip")}, "09:21", "missed 09:05..09:15 x3 catchup -> 09:20; run 09:20 -> 09:25"},
		{"a window that all are too late for", set{window("1m")}, "09:22", "missed 09:05..09:20 x4 window -> 09:25"},
		{"a window that the latest is in time for", set{window("3m")}, "09:22", "missed 09:05..09:15 x3 window -> 09:20; run 09:20 -> 09:25"},
		{"a window to the second", set{window("2m")}, "09:22", "missed 09:05..09:15 x3 window -> 09:20; run 09:20 -> 09:25"},
		{"a message is never too late", set{window("1m"), message}, "09:22", "missed 09:05..09:15 x3 coalesced -> 09:20; run 09:20 -> 09:25"},

		{"a stop condition was met", set{func(e *state.Entry) { e.Tally.Stop = "until_ok" }}, "09:05", "finish until_ok"},
		{"paused", set{func(e *state.Entry) { e.Held = true }}, "09:22", ""},
		{"paused until 09:20", set{func(e *state.Entry) { e.Held, e.Resume = true, at(t, "2026-11-21 09:20") }}, "09:22", "skipped 09:05..09:20 x4 paused -> 09:25; resume 09:25"},
		{"paused until later", set{func(e *state.Entry) { e.Held, e.Resume = true, at(t, "2026-11-21 10:00") }}, "09:22", ""},
	} {
		e := entry(t, "interval", "every 5m", "2026-11-21 09:00", "2026-11-21 09:05")
		for _, f := range row.set {
			f(&e)
		}
		sched, err := Schedule(e.Task)
		if err != nil {
			t.Fatal(err)
		}
		got := timetable(t, Decide(e, sched, at(t, "2026-11-21 "+row.now)))
		got = strings.NewReplacer("21 09", "09", "21 10", "10", "21 11", "11", "21 12", "12", " +01", "").Replace(got)
		if got != row.want {
			t.Errorf("%s:\n got %s\nwant %s", row.name, got, row.want)
		}
	}
}

// TestDecideOneShots is about a one-shot for ten o'clock.
func TestDecideOneShots(t *testing.T) {
	for _, row := range []struct {
		name, now, want string
		set             func(*state.Entry)
	}{
		{"a window that it is in time for", "10:05", "run 21 10:00 +01 -> end", func(e *state.Entry) { e.Task.Policy.Window = "5m" }},
		{"a window that it is too late for", "10:06", "missed 21 10:00 +01 x1 window -> end", func(e *state.Entry) { e.Task.Policy.Window = "5m" }},
		{"catch up with nothing", "10:06", "missed 21 10:00 +01 x1 catchup -> end", func(e *state.Entry) { e.Task.Policy.Catchup = "skip" }},
		{"fired by hand at the time: it waits", "10:00", "held", func(e *state.Entry) { e.Open = []state.Record{{Manual: true}} }},
		{"it was to go on before its time", "10:00", "resume 21 10:00 +01", func(e *state.Entry) {
			e.Held, e.Resume, e.Due = true, at(t, "2026-11-21 09:30"), at(t, "2026-11-21 10:00").Add(1)
		}},
		{"its time came while it was paused", "10:30", "skipped 21 10:00 +01 x1 paused -> end", func(e *state.Entry) { e.Held, e.Resume = true, at(t, "2026-11-21 10:30") }},
	} {
		e := entry(t, "once", "10:00", "2026-11-21 09:00", "2026-11-21 10:00")
		row.set(&e)
		if got := timetable(t, Decide(e, nil, at(t, "2026-11-21 "+row.now))); got != row.want {
			t.Errorf("%s:\n got %s\nwant %s", row.name, got, row.want)
		}
	}
}

func TestDecideEnds(t *testing.T) {
	e := entry(t, "interval", "every 5m", "2026-11-21 09:00", "2026-11-21 09:10")
	e.Task.When.Count = 2
	sched, err := Schedule(e.Task)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := timetable(t, Decide(e, sched, at(t, "2026-11-21 09:10"))), "run 21 09:10 +01 -> end"; got != want {
		t.Errorf("the last of two: got %s, want %s", got, want)
	}
}
