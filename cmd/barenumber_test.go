package cmd

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/ouro-timer/ouro-timer/cmd/cli"
	"github.com/ouro-timer/ouro-timer/cmd/clitest"
	"github.com/ouro-timer/ouro-timer/cmd/schedule"
	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/timer/agent"
	"github.com/ouro-timer/ouro-timer/timer/clock/clocktest"
)

// TestBareNumbers: a number alone is so many seconds to wait, wherever one waits, and no time of a task on any surface, but that four
// digits in a text are a time of day, as in at(1).
func TestBareNumbers(t *testing.T) {
	t.Parallel()
	c := dialMCP(t, nil)
	typed := func(in string, words ...string) string {
		var out bytes.Buffer
		w := atWorld(t, strings.NewReader(in), &out, &out)
		Main(append([]string{"ouro-timer"}, words...), w)
		return out.String()
	}
	asks := func(params string) string {
		w, _, _ := clitest.World(t, clocktest.NewManual(clitest.Noon))
		r := state.Record{Task: state.Task{ID: state.ID(7), When: state.Timing{Zone: "UTC"}, Run: state.Job{Agent: []string{"./one"}, Dir: "/"}}}
		answer, err := schedule.NewAgentRequests(cli.NewCall(w), false).Answer(t.Context(), r, "reminders.create", json.RawMessage(params))
		if refused := (*agent.Error)(nil); errors.As(err, &refused) {
			return refused.Message
		} else if err != nil {
			t.Fatal(err)
		}
		text, _ := json.Marshal(answer)
		return string(text)
	}
	tool := func(name, args string) string {
		_, text, _ := c.call(name, args)
		return text
	}
	for _, n := range []string{"0", "5", "30", "2.5", "90000"} {
		for surface, text := range map[string]string{
			"at":                           typed("", "at", n, "--task", "x"),
			"when":                         typed("", "when", n),
			"at --until":                   typed("", "at", "--until", n, "--task", "x"),
			"jsonl, a text":                typed(`{"when":"`+n+`","task":"x"}`, "at", "--stdin", "jsonl"),
			"jsonl, a number":              typed(`{"when":`+n+`,"task":"x"}`, "at", "--stdin", "jsonl"),
			"reminders.create, a text":     asks(`{"title":"x","when":"` + n + `"}`),
			"reminders.create, a number":   asks(`{"title":"x","when":` + n + `}`),
			"schedule_task, a text":        tool("schedule_task", `{"task":"x","when":"`+n+`"}`),
			"schedule_task, a number":      tool("schedule_task", `{"task":"x","when":`+n+`}`),
			"schedule_task, until":         tool("schedule_task", `{"task":"x","until":`+n+`}`),
			"explain_time, a text":         tool("explain_time", `{"when":"`+n+`"}`),
			"explain_time, a number":       tool("explain_time", `{"when":`+n+`}`),
			"edit_task, pause to a number": tool("edit_task", `{"id":"zzzz","action":"pause","resume_at":`+n+`}`),
		} {
			if !strings.Contains(text, "needs a unit") && !strings.Contains(text, "takes a text") && !strings.Contains(text, "has no unit") {
				t.Errorf("%s: %s is answered %s", surface, n, text)
			}
		}
		for surface, text := range map[string]string{
			"wait":           typed("", "wait", n, "--dry-run"),
			"wait --delay":   typed("", "wait", "--delay", n, "--dry-run"),
			"at --delay":     typed("", "at", "--delay", n, "--dry-run", "--task", "x"),
			"jsonl, a delay": typed(`{"delay":"`+n+`","task":"x"}`, "at", "--stdin", "jsonl", "--dry-run"),
		} {
			if !strings.Contains(text, "ould ") {
				t.Errorf("%s: %s is answered %s", surface, n, text)
			}
		}
	}
	for _, args := range []string{`{"when":"1"}`, `{"when":1}`, `{"mode":"delay","value":1}`} {
		if answer := c.must("wait", args); answer["status"] != "triggered" {
			t.Errorf("wait %s is answered %v", args, answer)
		}
	}
	for surface, text := range map[string]string{
		"at":               typed("", "at", "1800", "--task", "x", "--dry-run"),
		"jsonl":            typed(`{"when":"1800","task":"x"}`, "at", "--stdin", "jsonl", "--dry-run"),
		"reminders.create": asks(`{"title":"x","when":"1800"}`),
		"schedule_task":    tool("schedule_task", `{"task":"x","when":"1800","dry_run":true}`),
	} {
		if !strings.Contains(text, "18:00:00") {
			t.Errorf("%s: 1800 is answered %s", surface, text)
		}
	}
}
