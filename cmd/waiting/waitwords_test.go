package waiting

import (
	"strings"
	"testing"

	"github.com/ouro-timer/ouro-timer/cmd/cli"
	"github.com/ouro-timer/ouro-timer/cmd/clitest"
	"github.com/ouro-timer/ouro-timer/timer/clock/clocktest"
	"github.com/ouro-timer/ouro-timer/timer/when"
)

func TestWaitForms(t *testing.T) {
	for _, tt := range []struct {
		words string // split at spaces; _ is a space inside a word
		due   string // on the wall in Warsaw
		task  string
		kind  when.Kind
		clock string // elapsed or wall
	}{
		{"3s check the oven", "11-21 12:00:03", "check the oven", when.Once, "elapsed"},
		{"3s check_the_oven", "11-21 12:00:03", "check the oven", when.Once, "elapsed"},
		{"3s", "11-21 12:00:03", "", when.Once, "elapsed"},
		{"90 tea", "11-21 12:01:30", "tea", when.Once, "elapsed"},
		{"1.5 tea", "11-21 12:00:01.5", "tea", when.Once, "elapsed"},
		{"0 tea", "11-21 12:00:00", "tea", when.Once, "wall"},
		{"now tea", "11-21 12:00:00", "tea", when.Once, "wall"},
		{"tomorrow_at_9am call Bob", "11-22 09:00:00", "call Bob", when.Once, "wall"},
		{"call Bob --until tomorrow_at_9am", "11-22 09:00:00", "call Bob", when.Once, "wall"},
		{"--delay 30 call Bob", "11-21 12:00:30", "call Bob", when.Once, "elapsed"},
		{"--delay 2h30m", "11-21 14:30:00", "", when.Once, "elapsed"},
		{"--every 5m tea", "11-21 12:05:00", "tea", when.Interval, "elapsed"},
		{"--interval 5m tea", "11-21 12:05:00", "tea", when.Interval, "elapsed"},
		{"--interval 5m --start 2026-11-21T11:58:00+01:00 tea", "11-21 12:03:00", "tea", when.Interval, "wall"},
		{"every_5m tea", "11-21 12:05:00", "tea", when.Interval, "elapsed"},
		{"0_9_*_*_1-5 fetch", "11-23 09:00:00", "fetch", when.Cron, "wall"},
		{"--cron 0_9_*_*_1-5 fetch", "11-23 09:00:00", "fetch", when.Cron, "wall"},
		{"--cron 0_9_*_*_* --tz Asia/Tokyo fetch", "11-22 01:00:00", "fetch", when.Cron, "wall"},
		{"--rrule FREQ=DAILY;BYHOUR=18;BYMINUTE=0;BYSECOND=0 walk", "11-21 18:00:00", "walk", when.RRule, "wall"},
		{"every_weekday_at_9am fetch", "11-23 09:00:00", "fetch", when.RRule, "wall"},
		{"5m --expect 2026-11-21T11:05:00Z tea", "11-21 12:05:00", "tea", when.Once, "elapsed"},
		{"5 -- minutes tea", "11-21 12:00:05", "minutes tea", when.Once, "elapsed"},
		{"--delay 5 -- minutes tea", "11-21 12:00:05", "minutes tea", when.Once, "elapsed"},
		{"5m -- --dashed -v", "11-21 12:05:00", "--dashed -v", when.Once, "elapsed"},
		{"-- 5m tea", "11-21 12:05:00", "tea", when.Once, "elapsed"},

		// The older form: mode, value, task.
		{"delay 30 tea", "11-21 12:00:30", "tea", when.Once, "elapsed"},
		{"delay 0.25 tea", "11-21 12:00:00.25", "tea", when.Once, "elapsed"},
		{"delay 1e3 tea", "11-21 12:16:40", "tea", when.Once, "elapsed"},
		{"delay 0 tea", "11-21 12:00:00", "tea", when.Once, "wall"},
		{"delay 5m tea", "11-21 12:05:00", "tea", when.Once, "elapsed"},
		{"interval 300 check the oven", "11-21 12:05:00", "check the oven", when.Interval, "elapsed"},
		{"interval 0.5 tea", "11-21 12:00:00.5", "tea", when.Interval, "elapsed"},
		{"interval 5m tea", "11-21 12:05:00", "tea", when.Interval, "elapsed"},
		{"cron 0_9_*_*_* tea", "11-22 09:00:00", "tea", when.Cron, "wall"},
		{"cron 0_9_*_*_* 2030 report", "11-22 09:00:00", "2030 report", when.Cron, "wall"},
		{"cron @daily tea", "11-22 00:00:00", "tea", when.Cron, "wall"},
		{"3s delay 30", "11-21 12:00:03", "delay 30", when.Once, "elapsed"},
	} {
		t.Run(tt.words, func(t *testing.T) {
			o, _, err := readWait(t, clocktest.NewManual(clitest.Noon), split(tt.words)...)
			if err != nil {
				t.Fatal(err)
			}
			if got := o.first.In(clitest.Noon.Location()).Format("01-02 15:04:05.999"); got != tt.due {
				t.Errorf("due %s, want %s", got, tt.due)
			}
			if o.task != tt.task {
				t.Errorf("task %q, want %q", o.task, tt.task)
			}
			if o.schedule.Kind != tt.kind {
				t.Errorf("kind %s, want %s", o.schedule.Kind, tt.kind)
			}
			if got := map[bool]string{true: "elapsed", false: "wall"}[o.elapsed]; got != tt.clock {
				t.Errorf("waits by %s, want %s", got, tt.clock)
			}
		})
	}
}

func split(words string) []string {
	fields := strings.Fields(words)
	for i, f := range fields {
		fields[i] = strings.ReplaceAll(f, "_", " ")
	}
	return fields
}

func TestWaitRefuses(t *testing.T) {
	for _, tt := range []struct {
		words, code, message, hint string // message and hint: a part of it
	}{
		{"", "usage", "no time is given", `ouro-timer wait 5m 'check the oven'`},
		{"banana", "time_not_understood", "banana", ""},
		{"banana tea", "time_not_understood", "banana", ""},
		{"2026-11-20T10:00:00Z tea", "time_in_past", "", ""},
		{"-5m tea", "time_in_past", "is in the past", ""},
		{"nan tea", "time_not_understood", "nan", ""},

		// A time of several words, not quoted.
		{"5 minutes tea", "time_ambiguous", `"5 minutes" is a time as well`, `did you mean ouro-timer wait '5 minutes' tea?`},
		{"5 minutes", "time_ambiguous", `"5 minutes"`, `did you mean ouro-timer wait '5 minutes'?`},
		{"-- 5 minutes tea", "time_ambiguous", `"5 minutes" is a time as well`, ""},
		{"5 minutes ago", "time_ambiguous", "5 minutes ago", ""},
		{"tomorrow at 9am tea for_two", "time_ambiguous", "tomorrow at 9am", `wait 'tomorrow at 9am' tea 'for two'?`},
		{"in 5 minutes tea", "time_not_understood", `"in" is not a time`, `wait 'in 5 minutes' tea?`},
		{"every 5m tea", "time_not_understood", `"every" is not a time`, `wait 'every 5m' tea?`},
		{"at 9 tea", "time_ambiguous", "", "9:00am"},
		{"next friday tea", "time_not_understood", "", `wait 'next friday' tea?`},
		{"delay 5 minutes tea", "time_ambiguous", "", `ouro-timer wait delay '5 minutes' tea?`},
		{"interval 5 minutes tea", "", "", `ouro-timer wait interval '5 minutes' tea?`},
		{"--delay 5 minutes tea", "time_ambiguous", "", `ouro-timer wait --delay '5 minutes' tea?`},

		// The older form.
		{"delay abc tea", "usage", `"abc" is not a number`, "ouro-timer wait delay 30"},
		{"delay -5 tea", "usage", "is negative", "ouro-timer wait delay 30"},
		{"delay -5m tea", "usage", "is negative", "ouro-timer wait delay 30"},
		{"delay nan tea", "usage", "is not a length of time", "delay 30"},
		{"delay inf tea", "usage", "is not a length of time", "delay 30"},
		{"delay 1e999 tea", "usage", "is not a length of time", "delay 30"},
		{"delay 1e300 tea", "usage", "is too long", "delay 30"},
		{"delay 0x10 tea", "usage", "is not a number", "delay 30"},
		{"interval 0 tea", "usage", "not a wait at all", "interval 300"},
		{"interval 0.0 tea", "usage", "not a wait at all", "interval 300"},
		{"interval 1e-12 tea", "usage", "not a wait at all", "interval 300"},
		{"interval -1 tea", "usage", "is negative", "interval 300"},
		{"interval 0s tea", "", "", ""},
		{"cron 61_9_*_*_* tea", "time_not_understood", "61", ""},
		{"cron banana tea", "time_not_understood", "banana", ""},
		{"cron 0 9 * * * tea", "time_not_understood", `"0" is not a cron line`, `ouro-timer wait cron '0 9 * * *' tea?`},
		{"delay", "usage", "wait delay needs a value", "delay 30"},
		{"cron", "usage", "wait cron needs a value", "cron '0 9 * * *'"},
		{"later 30 tea", "usage", `unknown mode "later"`, "Use 'delay', 'interval', or 'cron'."},
		{"weekly 30 tea", "usage", `unknown mode "weekly"`, "Use 'delay', 'interval', or 'cron'. Give a task that begins with a number after --: ouro-timer wait weekly -- 30 tea"},
		{"Daily 1.5 tea", "usage", `unknown mode "Daily"`, "Use 'delay'"},
		{"every 300 tea", "usage", `unknown mode "every"`, "Use 'delay', 'interval', or 'cron'."},
		{"chron 0_9_*_*_* tea", "usage", `unknown mode "chron"`, "Use 'delay', 'interval', or 'cron'."},

		// Flags.
		{"--delay 5m --every 5m tea", "usage", "--delay and --every exclude each other", ""},
		{"--delay 5m --interval 5m tea", "usage", "--delay and --every exclude each other", ""},
		{"--every 300 tea", "", "300", ""},
		{"--every 0s tea", "", "", ""},
		{"--until banana tea", "time_not_understood", "banana", ""},
		{"--cron 0_9_*_* tea", "time_not_understood", "", ""},
		{"--count 2 5m tea", "usage", "--count is for a recurrence", "--every"},
		{"--start 10:00 5m tea", "usage", "bound recurrences", "leave them out"},
		{"--end 23:00 5m tea", "usage", "bound recurrences", "leave them out"},
		{"--count -1 --every 5m tea", "usage", "--count is negative", "0 for no end"},
		{"--raw --json 5m tea", "usage", "exclude each other", ""},
		{"--tz Mars/Base 5m tea", "zone_unknown", "Mars/Base", ""},
		{"--expect tomorrow 5m tea", "usage", "not an instant with offset", "2026-11-21T12:05:00+01:00"},
		{"--expect 2026-11-21T12:06:00+01:00 5m tea",
			"time_differs", "12:05:00", "--expect 2026-11-21T12:05:00+01:00"},
		{"--every 5m --start 2026-11-21T10:00:00+01:00 --end 2026-11-21T11:00:00+01:00 tea",
			"time_never", "does not come again", "--end"},

		// A bound that is none.
		{"--max soon 10s tea", "usage", `--max is "soon", not a duration`, "30s"},
	} {
		t.Run(tt.words, func(t *testing.T) {
			o, _, err := readWait(t, clocktest.NewManual(clitest.Noon), split(tt.words)...)
			if err == nil {
				t.Fatalf("understood as %s, due %v, task %q", o.schedule.Canonical, o.first, o.task)
			}
			f := cli.Explain(err)
			if f.ExitCode() != cli.ExitUsage || tt.code != "" && string(f.Code) != tt.code {
				t.Errorf("exit %d with code %s, want 2 with %s", f.ExitCode(), f.Code, tt.code)
			}
			if !strings.Contains(f.Message.String(), tt.message) {
				t.Errorf("message %q lacks %q", f.Message, tt.message)
			}
			if !strings.Contains(f.Hint.String(), tt.hint) || f.Hint.Empty() {
				t.Errorf("hint %q lacks %q", f.Hint, tt.hint)
			}
		})
	}
}
