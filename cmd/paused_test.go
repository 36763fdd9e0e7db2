package cmd

import (
	"testing"
	"time"

	"github.com/ouro-timer/ouro-timer/timer/clock/clocktest"
)

// TestPausedDue has tasks that are paused, and looks at them later: what is due is what comes, and
// beside it stands what would come if the pause ended now. ls, show and the command that pauses say
// the same.
func TestPausedDue(t *testing.T) {
	clocktest.Alone(t)
	const made = "2026-03-20T12:00:00+01:00"
	for _, tt := range []struct {
		name         string
		at           []string
		resume, now  string // empty: the pause has no end; it is looked at when it was made
		due, resumed any
	}{
		{"a one-shot until somebody resumes it", []string{"2026-03-25 09:00"}, "", "", nil, "2026-03-25T09:00:00+01:00"},
		{"whose time has passed", []string{"2026-03-25 09:00"}, "", "2026-03-26T12:00:00+01:00", nil, nil},
		{"a one-shot after its pause", []string{"2026-03-25 09:00"}, "2026-03-24 00:00", "", "2026-03-25T09:00:00+01:00", "2026-03-25T09:00:00+01:00"},
		{"a one-shot that the pause outlasts", []string{"2026-03-25 09:00"}, "2026-03-26 00:00", "", nil, "2026-03-25T09:00:00+01:00"},
		{"a daily one until somebody resumes it", []string{"every day at 9:00"}, "", "", nil, "2026-03-21T09:00:00+01:00"},
		{"whose time has passed", []string{"every day at 9:00"}, "", "2026-04-02T12:00:00+02:00", nil, "2026-04-03T09:00:00+02:00"},
		{"a daily one after its pause", []string{"every day at 9:00"}, "2026-03-29 12:00", "2026-03-26T12:00:00+01:00", "2026-03-30T09:00:00+02:00", "2026-03-27T09:00:00+01:00"},
		{"a rhythm keeps its phase", []string{"every 2h"}, "2026-03-21 00:30", "2026-03-20T15:10:00+01:00", "2026-03-21T02:00:00+01:00", "2026-03-20T16:00:00+01:00"},
		{"those that pass count", []string{"every day at 9:00", "--count", "3"}, "2026-03-28 00:00", "2026-03-22T12:00:00+01:00", nil, "2026-03-23T09:00:00+01:00"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			home := t.TempDir() + "/home"
			now, err := time.Parse(time.RFC3339, made)
			if err != nil {
				t.Fatal(err)
			}
			_, answer := call(t, home, now, append([]string{"at", "--json", "--task", "tea"}, tt.at...)...)
			pause := []string{"pause", "--json", answer["id"].(string)}
			if tt.resume != "" {
				pause = append(pause, "--resume-at", tt.resume)
			}
			_, answer = call(t, home, now, pause...)
			paused := answer["paused"].([]any)[0].(map[string]any)
			if tt.now == "" {
				tt.now = made
			}
			later, err := time.Parse(time.RFC3339, tt.now)
			if err != nil {
				t.Fatal(err)
			}
			_, shown := call(t, home, later, "show", "--json", paused["id"].(string))
			_, list := call(t, home, later, "ls", "--json")
			row := list["tasks"].([]any)[0].(map[string]any)
			if paused["due"] != tt.due {
				t.Errorf("pause says it is due at %v, want %v", paused["due"], tt.due)
			}
			for name, task := range map[string]map[string]any{"show": shown, "ls": row} {
				if task["due"] != tt.due || task["due_if_resumed"] != tt.resumed {
					t.Errorf("%s says it is due at %v, and if resumed at %v; want %v and %v", name, task["due"], task["due_if_resumed"], tt.due, tt.resumed)
				}
			}
			next, _ := shown["next"].([]any)
			if len(next) > 0 != (tt.due != nil) || len(next) > 0 && next[0] != tt.due {
				t.Errorf("the next ones are %v, and it is due at %v", next, tt.due)
			}
			_, resumed := call(t, home, later, "resume", "--json", "--dry-run", paused["id"].(string))
			if going := resumed["resumed"].([]any); len(going) > 0 != (tt.resumed != nil) || len(going) > 0 && going[0].(map[string]any)["due"] != tt.resumed {
				t.Errorf("resumed it is %v, and should be due at %v", going, tt.resumed)
			}
		})
	}
}
