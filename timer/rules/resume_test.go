package rules

import (
	"fmt"
	"testing"

	"github.com/ouro-timer/ouro-timer/state"
)

// TestResume is the timetable of tasks whose pause ends: what is skipped, when they are next due, whether they are over.
func TestResume(t *testing.T) {
	for _, tt := range []struct {
		name             string
		kind, when, from string
		count            int
		due, now         string
		skipped, next    string
	}{
		{"a one-shot still to come", "once", "10:00", "2026-11-20 08:00", 0, "2026-11-21 10:00", "2026-11-21 09:59:59", "none", "21 10:00 +01"},
		{"a one-shot whose time has passed", "once", "10:00", "2026-11-20 08:00", 0, "2026-11-21 10:00", "2026-11-22 08:00", "21 10:00 +01 x1", "over"},
		{"a one-shot at its very instant", "once", "10:00", "2026-11-20 08:00", 0, "2026-11-21 10:00", "2026-11-21 10:00", "21 10:00 +01 x1", "over"},
		{"nothing passed", "interval", "every 10m", "2026-11-21 09:00", 0, "2026-11-21 09:30", "2026-11-21 09:29", "none", "21 09:30 +01"},
		{"one instant passed", "interval", "every 10m", "2026-11-21 09:00", 0, "2026-11-21 09:30", "2026-11-21 09:39:59", "21 09:30 +01 x1", "21 09:40 +01"},
		{"the phase is kept", "interval", "every 10m", "2026-11-21 09:03", 0, "2026-11-21 09:33", "2026-11-22 09:36", "21 09:33 +01 .. 22 09:33 +01 x145", "22 09:43 +01"},
		{"an instant at the end of the pause is skipped", "interval", "every 10m", "2026-11-21 09:00", 0, "2026-11-21 09:30", "2026-11-21 09:50", "21 09:30 +01 .. 21 09:50 +01 x3", "21 10:00 +01"},
		{"days keep the wall through a clock change", "cron", "0 9 * * *", "2026-03-20 10:00", 0, "2026-03-28 09:00", "2026-03-30 08:00", "28 09:00 +01 .. 29 09:00 +02 x2", "30 09:00 +02"},
		{"the night without the hour", "cron", "30 2 * * *", "2026-03-20 10:00", 0, "2026-03-28 02:30", "2026-03-29 12:00", "28 02:30 +01 .. 29 03:00 +02 x2", "30 02:30 +02"},
		{"skipped instants count for the count", "interval", "every 1h", "2026-11-21 08:00", 5, "2026-11-21 10:00", "2026-11-21 11:30", "21 10:00 +01 .. 21 11:00 +01 x2", "21 12:00 +01"},
		{"and use it up", "interval", "every 1h", "2026-11-21 08:00", 5, "2026-11-21 10:00", "2026-11-22 08:00", "21 10:00 +01 .. 21 13:00 +01 x4", "over"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			e := entry(t, tt.kind, tt.when, tt.from, tt.due)
			e.Held, e.Phase, e.Task.When.Count = true, state.Paused, tt.count
			sched, err := Schedule(e.Task)
			if err != nil {
				t.Fatal(err)
			}
			line, next, over := Resume(e, sched, at(t, tt.now))
			const layout = "02 15:04 -07"
			zone := at(t, tt.now).Location()
			got, then := "none", "over"
			if line != nil {
				got = line.Due.In(zone).Format(layout)
				if line.DueLast != nil {
					got += " .. " + line.DueLast.In(zone).Format(layout)
				}
				got += fmt.Sprintf(" x%d", line.Count)
				if line.Outcome != state.Skipped || line.Reason != "paused" || line.Type != state.LineOccurrence {
					t.Errorf("the line says %s, %s, %s", line.Type, line.Outcome, line.Reason)
				}
			}
			if !over {
				then = next.In(zone).Format(layout)
			}
			if over != next.IsZero() {
				t.Errorf("over is %v and next %v", over, next)
			}
			if got != tt.skipped || then != tt.next {
				t.Errorf("skipped %s, next %s; want %s, %s", got, then, tt.skipped, tt.next)
			}
		})
	}
}
