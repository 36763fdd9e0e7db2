package runner

import (
	"strings"
	"testing"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
)

// at reads an instant in Warsaw, where there is a spring night and an autumn night.
func at(t *testing.T, text string) time.Time {
	t.Helper()
	zone, err := time.LoadLocation("Europe/Warsaw")
	if err != nil {
		t.Fatal(err)
	}
	for _, layout := range []string{time.RFC3339, "2006-01-02 15:04:05", "2006-01-02 15:04"} {
		if at, err := time.ParseInLocation(layout, text, zone); err == nil {
			return at
		}
	}
	t.Fatalf("no instant: %q", text)
	return time.Time{}
}

// entry is a task with the schedule, made at the given instant, that is due.
func entry(t *testing.T, kind, when, start, due string) state.Entry {
	return state.Entry{
		Task: state.Task{ID: "k7m2", When: state.Timing{Text: when, Kind: kind, Zone: "Europe/Warsaw", Start: at(t, start)}, Run: state.Job{Argv: []string{"true"}}},
		Due:  at(t, due), Phase: state.Pending,
	}
}

// plan writes steps as a timetable: "skip 09:00..09:10 x3 coalesced -> 09:15; run 09:15 -> 09:20".
func plan(t *testing.T, steps []step) string {
	var parts []string
	show := func(x time.Time) string {
		if x.IsZero() {
			return "end"
		}
		return x.In(at(t, "2026-01-01 00:00").Location()).Format("02 15:04 -07")
	}
	for _, s := range steps {
		if s.skip == nil {
			parts = append(parts, "run "+show(s.due)+" -> "+show(s.next))
			continue
		}
		text := string(s.skip.Outcome) + " " + show(*s.skip.Due)
		if s.skip.DueLast != nil {
			text += ".." + show(*s.skip.DueLast)
		}
		parts = append(parts, text+" x"+itoa(s.skip.Count)+" "+s.skip.Reason+" -> "+show(s.next))
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
		if got := plan(t, decide(e, sched, at(t, row.now))); got != row.want {
			t.Errorf("%s:\n got %s\nwant %s", row.name, got, row.want)
		}
	}
}

func TestDecideOverlap(t *testing.T) {
	e := entry(t, "interval", "every 5m", "2026-11-21 09:00", "2026-11-21 09:05")
	e.Open = []state.Record{{}}
	sched, err := Schedule(e.Task)
	if err != nil {
		t.Fatal(err)
	}
	want := "skipped 21 09:05 +01..21 09:10 +01 x2 overlap -> 21 09:15 +01"
	if got := plan(t, decide(e, sched, at(t, "2026-11-21 09:12"))); got != want {
		t.Errorf("a command still running: got %s, want %s", got, want)
	}
	e.Task.Run = state.Job{}
	want = "missed 21 09:05 +01 x1 coalesced -> 21 09:10 +01; run 21 09:10 +01 -> 21 09:15 +01"
	if got := plan(t, decide(e, sched, at(t, "2026-11-21 09:12"))); got != want {
		t.Errorf("messages do not overlap: got %s, want %s", got, want)
	}
}

func TestDecideEnds(t *testing.T) {
	e := entry(t, "interval", "every 5m", "2026-11-21 09:00", "2026-11-21 09:10")
	e.Task.When.Count = 2
	sched, err := Schedule(e.Task)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := plan(t, decide(e, sched, at(t, "2026-11-21 09:10"))), "run 21 09:10 +01 -> end"; got != want {
		t.Errorf("the last of two: got %s, want %s", got, want)
	}
}
