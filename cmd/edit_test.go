package cmd

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/ouro-timer/ouro-timer/cmd/cli"
	"github.com/ouro-timer/ouro-timer/cmd/clitest"
	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/state/files"
	"github.com/ouro-timer/ouro-timer/timer/clock/clocktest"
)

// call runs a command at an instant in the state that home is, and returns what it said to programs.
func call(t *testing.T, home string, now time.Time, words ...string) (code int, answer map[string]any) {
	t.Helper()
	w, out, _ := clitest.World(t, clocktest.NewManual(now))
	w.Getenv = func(name string) string {
		return map[string]string{"OURO_HOME": home, "TZ": "Europe/Warsaw", "OURO_AUTOSTART": "0", "HOME": home, "PATH": "/usr/bin:/bin"}[name]
	}
	w.Environ = func() []string { return nil }
	code = Main(append([]string{""}, words...), w) // by no name that could be found
	if err := json.NewDecoder(bytes.NewReader(out.Bytes())).Decode(&answer); err != nil {
		t.Fatalf("%q answers %q: %v", words, out.String(), err)
	}
	return code, answer
}

// TestEditTime is the timetable of edits: a task that is made, when it is edited and with which words, and when it is due
// then, or why not.
func TestEditTime(t *testing.T) {
	clocktest.Alone(t)
	const spring, autumn = "2026-03-20T12:00:00+01:00", "2026-10-20T12:00:00+02:00"
	for _, tt := range []struct {
		name          string
		made, at, now string // the words for at, and when edit is called: the empty now is made
		edit, want    string
	}{
		{"a time of day keeps the date", spring, "2026-03-25 09:00", "", "15:00", "2026-03-25T15:00:00+01:00"},
		{"so does an earlier one", spring, "2026-03-25 09:00", "", "0:30", "2026-03-25T00:30:00+01:00"},
		{"and midnight, its first instant", spring, "2026-03-25 09:00", "", "midnight", "2026-03-25T00:00:00+01:00"},
		{"today's time that has passed is refused", spring, "today 18:00", "", "11:00", "time_in_past"},
		{"with a day it is that day", spring, "today 18:00", "", "tomorrow 11:00", "2026-03-21T11:00:00+01:00"},
		{"in a gap it moves forward by the gap", spring, "2026-03-29 09:00", "", "2:30", "2026-03-29T03:30:00+02:00"},
		{"in a repeated hour it is the first pass", autumn, "2026-10-25 09:00", "", "2:30", "2026-10-25T02:30:00+02:00"},
		{"a day keeps the time on the wall", spring, "2026-03-28 09:00", "", "+1 day", "2026-03-29T09:00:00+02:00"},
		{"back as well", spring, "2026-03-29 09:00", "", "-1 day", "2026-03-28T09:00:00+01:00"},
		{"24 hours are elapsed", spring, "2026-03-28 09:00", "", "+24h", "2026-03-29T10:00:00+02:00"},
		{"back as well", spring, "2026-03-29 09:00", "", "-24h", "2026-03-28T08:00:00+01:00"},
		{"a day back into a gap moves forward", spring, "2026-03-30 02:30", "", "-1 day", "2026-03-29T03:30:00+02:00"},
		{"an hour after the second pass", autumn, "2026-10-25T02:30:00+01:00", "", "+1h", "2026-10-25T03:30:00+01:00"},
		{"an hour before it is the first", autumn, "2026-10-25T02:30:00+01:00", "", "-1h", "2026-10-25T02:30:00+02:00"},
		{"a month has its own length", spring, "2026-03-31 09:00", "", "-1 month", "time_in_past"},
		{"the last day of a shorter month", spring, "2026-05-31 09:00", "", "-1 month", "2026-04-30T09:00:00+02:00"},
		{"a length of time counts from now", spring, "2026-03-25 09:00", "", "2h", "2026-03-20T14:00:00+01:00"},
		{"what nobody ran can still be moved", spring, "today 18:00", "2026-03-21T10:00:00+01:00", "+1 day", "2026-03-21T18:00:00+01:00"},
		{"but not into the past", spring, "today 18:00", "2026-03-21T10:00:00+01:00", "+1h", "time_in_past"},
		{"now is now", spring, "today 18:00", "", "now", spring},
		{"every 2 h from now on", spring, "2026-03-25 09:00", "", "every 2h", "2026-03-20T14:00:00+01:00"},
		{"the old rhythm in the same words", spring, "every 2h", "2026-03-20T15:00:00+01:00", "every 2h", "2026-03-20T14:00:00+01:00"},
		{"a new rhythm begins now", spring, "every 2h", "2026-03-20T13:00:00+01:00", "every 3h", "2026-03-20T16:00:00+01:00"},
		{"a single time for what recurs", spring, "every 2h", "", "18:00", "time_ambiguous"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			home := t.TempDir() + "/home"
			made, err := time.Parse(time.RFC3339, tt.made)
			if err != nil {
				t.Fatal(err)
			}
			code, answer := call(t, home, made, "at", tt.at, "--json", "--task", "tea")
			if code != 0 {
				t.Fatalf("at: %v", answer)
			}
			now := made
			if tt.now != "" {
				if now, err = time.Parse(time.RFC3339, tt.now); err != nil {
					t.Fatal(err)
				}
			}
			was := answer["due"]
			_, answer = call(t, home, now, "edit", answer["id"].(string), tt.edit, "--json")
			got, _ := answer["due"].(string)
			if e, ok := answer["error"].(map[string]any); ok {
				got = e["code"].(string)
			}
			if got != tt.want {
				t.Fatalf("edit %s is %s, want %s", tt.edit, got, tt.want)
			}
			if answer["error"] == nil && (answer["due_before"] == nil) != (was == got) {
				t.Errorf("was due %v, is due %v, and due_before is %v", was, got, answer["due_before"])
			}
		})
	}
}

// TestEditZone has tasks whose zone is gone: they can be edited, and --tz gives them another.
func TestEditZone(t *testing.T) {
	home := t.TempDir() + "/home"
	st, err := files.Open(home, files.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ kind, text, wall, due string }{
		{"once", "9am", "2026-01-01T09:00:00", "2026-01-01T09:00:00+09:00"},
		{"cron", "0 9 * * *", "", "2026-01-01T09:00:00+09:00"},
	} {
		now, _ := time.Parse(time.RFC3339, "2025-12-31T12:00:00Z")
		timing := state.Timing{Text: tt.text, Kind: tt.kind, Zone: "Atlantis/Poseidonis", Wall: tt.wall, Start: now}
		e, err := st.Add(t.Context(), state.Task{Text: "tea", When: timing}, now.Add(20*time.Hour))
		if err != nil {
			t.Fatal(err)
		}
		id := e.Task.ID
		if code, answer := call(t, home, now, "edit", id, "--json", "--description", "x"); code != 0 || answer["tz"] != "Atlantis/Poseidonis" {
			t.Errorf("%s: edit --description: exit %d, %v", tt.kind, code, answer)
		}
		if code, answer := call(t, home, now, "edit", id, "--json", "10:00"); code != cli.ExitUsage || answer["error"].(map[string]any)["code"] != "zone_unknown" {
			t.Errorf("%s: edit 10:00: exit %d, %v", tt.kind, code, answer)
		}
		if code, answer := call(t, home, now, "edit", id, "--json", "--tz", "Asia/Tokyo"); code != 0 || answer["due"] != tt.due {
			t.Errorf("%s: edit --tz: exit %d, due %v, want %s", tt.kind, code, answer["due"], tt.due)
		}
	}
}

// TestRestoreKey has two tasks that want the same key.
func TestRestoreKey(t *testing.T) {
	now := clitest.Noon
	home := t.TempDir() + "/home"
	st, err := files.Open(home, files.Options{})
	if err != nil {
		t.Fatal(err)
	}
	add := func(text string) string {
		e, err := st.Add(t.Context(), state.Task{Key: "backup", Text: text, When: state.Timing{Text: "1h", Kind: "once", Zone: "UTC", Start: now}}, now.Add(time.Hour))
		if err != nil {
			t.Fatal(err)
		}
		return e.Task.ID
	}
	first := add("first")
	if code, _ := call(t, home, now, "rm", first, "--json"); code != 0 {
		t.Fatal("rm:", code)
	}
	second := add("second")
	code, answer := call(t, home, now, "restore", first, "--json")
	rows := answer["errors"].([]any)
	if code != cli.ExitFailed || len(rows) != 1 {
		t.Fatalf("restore: exit %d, %v", code, answer)
	}
	row := rows[0].(map[string]any)
	if row["code"] != "failed" || !strings.Contains(row["message"].(string), second) || !strings.HasPrefix(row["hint"].(string), "ouro-timer rm "+second) {
		t.Errorf("restore says %v", row)
	}
	call(t, home, now, "rm", second, "--json")
	if code, answer := call(t, home, now, "restore", first, "--json"); code != 0 {
		t.Errorf("after rm, restore: exit %d, %v", code, answer)
	}
}
