package rules

import (
	"strings"
	"testing"
)

// TestDueNow gives tasks a due instant that older rules of Europe/Warsaw might have had.
func TestDueNow(t *testing.T) {
	for _, row := range []struct{ name, kind, when, wall, due, want string }{
		{"unchanged", "once", "", "2026-12-24T18:00:00", "2026-12-24 18:00", ""},
		{"elapsed time does not move", "once", "", "", "2026-12-24 19:00", ""},
		{"the reading stays, the instant moves", "once", "", "2026-12-24T18:00:00", "2026-12-24 19:00", "2026-12-24 18:00"},
		{"the second pass of a repeated hour is as good", "once", "", "2026-10-25T02:30:00", "2026-10-25T02:30:00+01:00", ""},
		{"a reading that was moved out of a gap", "once", "", "2026-03-29T02:30:00", "2026-03-29 03:30", ""},
		{"a recurrence that is right", "cron", "0 9 * * *", "", "2026-12-24 09:00", ""},
		{"a recurrence takes the nearest instant", "cron", "0 9 * * *", "", "2026-12-24 10:00", "2026-12-24 09:00"},
		{"or the one after", "cron", "0 9 * * *", "", "2026-12-24 08:00", "2026-12-24 09:00"},
		{"a zone without rules has nothing to follow", "once", "", "UTC 2026-12-24T18:00:00", "2026-12-24 19:00", ""},
		{"an interval has no rules to follow", "interval", "every 1h", "", "2026-12-24 10:00", ""},
	} {
		e := entry(t, row.kind, row.when, "2026-01-01 00:00", row.due)
		e.Task.When.Wall = row.wall
		if wall, ok := strings.CutPrefix(row.wall, "UTC "); ok {
			e.Task.When.Zone, e.Task.When.Wall = "UTC", wall
		}
		got, changed := DueNow(e)
		if want := row.want != ""; changed != want || want && !got.Equal(at(t, row.want)) {
			t.Errorf("%s: due %s becomes %s (%v), want %q", row.name, row.due, got, changed, row.want)
		}
	}
}
