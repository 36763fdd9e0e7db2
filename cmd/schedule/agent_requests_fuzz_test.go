package schedule

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/ouro-timer/ouro-timer/cmd/cli"
	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/timer/agent"
)

// FuzzAsked: whatever stands in the params of a request is done, or refused by an error of JSON-RPC. What makes a task is left out as far as that
// is seen at once: it takes long.
func FuzzAsked(f *testing.F) {
	for _, params := range []string{``, `null`, `{}`, `[]`, `{"title":7}`, `{"title":null,"when":""}`, `{"titel":"x"}`, `{"id":"rem_"}`, `{"id":"\ud800"}`, `{"id":"\u0000"}`,
		`{"when":"now"}`, `{"project_id":"p","rrule":"FREQ=DAILY"}`} {
		f.Add(params)
	}
	home := f.TempDir()
	w := cli.Real()
	w.Getenv = func(name string) string { return map[string]string{"OURO_HOME": home, "TZ": "UTC"}[name] }
	a := NewAgentRequests(cli.NewCall(w), false)
	r := state.Record{Task: state.Task{ID: state.ID(1), When: state.Timing{Zone: "UTC"}, Run: state.Job{Agent: []string{"a"}, Dir: "/"}}}
	f.Fuzz(func(t *testing.T, params string) {
		if params != "" && !json.Valid([]byte(params)) || !utf8.ValidString(params) || strings.Contains(params, "title") {
			return // else agent.parse lets nothing of that through
		}
		params = strings.TrimSpace(params)
		for _, method := range []string{"reminders.create", "reminders.cancel", "reminders.list", "no.such"} {
			_, err := a.Answer(context.Background(), r, method, json.RawMessage(params))
			var told *agent.Error
			switch {
			case err == nil && method != "no.such":
			case !errors.As(err, &told) || told.Message == "" || told.Code > -32000:
				t.Errorf("%s %s: %v", method, params, err)
			case !utf8.ValidString(told.Message):
				t.Errorf("%s %s: %q is not text", method, params, told.Message)
			}
		}
	})
}
