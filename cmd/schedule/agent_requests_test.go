package schedule

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/ouro-timer/ouro-timer/cmd/cli"
	"github.com/ouro-timer/ouro-timer/cmd/clitest"
	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/timer/agent"
	"github.com/ouro-timer/ouro-timer/timer/clock/clocktest"
	"github.com/ouro-timer/ouro-timer/timer/problem"
)

// TestAgentAsks: params are read as forgivingly as MCP's, a refusal says at once what there is, in the words of an agent, and nobody
// gets at what another program was to be told.
func TestAgentAsks(t *testing.T) {
	clocktest.Alone(t)
	home := t.TempDir() + "/home"
	w, _, _ := clitest.World(t, clocktest.NewManual(time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC)))
	w.Getenv = func(name string) string {
		return map[string]string{"OURO_HOME": home, "TZ": "Europe/Warsaw", "OURO_AUTOSTART": "0", "HOME": home, "PATH": "/usr/bin:/bin"}[name]
	}
	asks := NewAgentRequests(cli.NewCall(w), false)
	about := func(program string) state.Record {
		return state.Record{Task: state.Task{ID: state.ID(7), When: state.Timing{Zone: "Europe/Warsaw"}, Run: state.Job{Agent: []string{program}, Dir: "/", Env: map[string]string{"PATH": "/usr/bin:/bin"}}}}
	}
	ask := func(program, method, params string) (answer string, refused *agent.Error) {
		got, err := asks.Answer(t.Context(), about(program), method, json.RawMessage(params))
		if err != nil && !errors.As(err, &refused) {
			t.Fatalf("%s %s: %v", method, params, err)
		}
		text, _ := json.Marshal(got)
		return string(text), refused
	}
	for _, c := range []struct{ method, params, want string }{ // parts of the answer, or of the error with its hint
		{"reminders.create", `{"title":"a","when":"2h","rrule":"None","webhook_url":"null","process_name":"","description":"none","project_id":7,"priority":null}`,
			`"due_date":"2026-11-21T12:00:00+01:00"`},
		{"reminders.create", `"{\"title\":\"b\",\"when\":\"3h\"}"`, `"id":"rem_`},
		{"reminders.list", `{"project_id":"None"}`, `"project_id":"7"`},
		{"reminders.list", `null`, `"more":0`},
		{"reminders.create", `{"titel":"x","when":"1h"}`, `-32602 reminders.create has no argument "titel"; did you mean "title"? reminders.create takes title, when, rrule,`},
		{"reminders.create", `{"foo":["x"]}`, `-32602 reminders.create has no argument "foo"; reminders.create takes title, when,`},
		{"reminders.cancel", `{"foo":1}`, `-32602 reminders.cancel has no argument "foo"; reminders.cancel takes id`},
		{"reminders.create", `{"title":{"a":1},"when":"1h"}`, `-32602 "title" is an object, and takes a text`},
		{"reminders.create", `["x"]`, `-32602 the arguments of reminders.create are a list, not an object; send an object such as "params": {"title"`},
		{"reminders.create", `{"title":"None","when":"1h"}`, `-32602 "title" is missing`},
		{"reminders.create", `{"title":"x","when":"1h call Bob"}`, `could not understand the time expression "1h call Bob"; "call" is not`},
		{"reminders.create", `{"title":"x","when":"1h","process_name":"a 'b"}`, `has a quote that is not closed; close it, as in "process_name": "python3 'my agent.py'"`},
		{"reminders.create", `{"title":"x","when":"every day at 9am","except":"weekends, 23 nov"}`, `"due_date":"2026-11-24T09:00:00+01:00"`},
		{"reminders.create", `{"title":"x","when":"every day at 9am","except":"banana"}`, `"except": could not understand the days "banana"; name days, as in`},
		{"reminders.create", `{"title":"x","when":"2h","except":"weekends"}`, `days are left out of recurrences, and "2h" comes once; give a recurrence, or leave out "except"`},
		{"reminders.create", `{"title":"x","when":"1h","rrule":"FREQ=DAILY"}`, `"when": "1h" is a duration, and an instant is asked for; say "in 1h", or name one`},
		{"reminders.create", `{"title":"\ud83d","when":"1h"}`, `-32602 it has half of a character, \ud83d`},
		{"reminders.create", `{"title":"x","when":"@reboot"}`, `"due_date":null`},
		{"reminders.list", `{}`, `"when":"@reboot","due_date":null`},
		{"reminders.steal", `{}`, `-32601 there is no method "reminders.steal"`},
	} {
		answer, refused := ask("./one", c.method, c.params)
		if refused != nil {
			hint := refused.Data.(refusedData).Hint
			answer = fmt.Sprint(refused.Code, " ", refused.Message)
			if hint != nil {
				answer += "; " + *hint
			}
		}
		if !strings.Contains(answer, c.want) || strings.Contains(answer, "ouro-timer at") {
			t.Errorf("%s %s is answered\n%s, not\n%s", c.method, c.params, answer, c.want)
		}
	}
	answer, _ := ask("./one", "reminders.create", `{"title":"mine","when":"4h"}`)
	var made createdReminder
	if err := json.Unmarshal([]byte(answer), &made); err != nil {
		t.Fatal(err)
	}
	if in, _ := ask("./one", "reminders.create", `{"title":"due as it will be told","when":"2027-01-01T00:00:00.1234Z"}`); !strings.Contains(in, `"due_date":"2027-01-01T01:00:00.123+01:00"`) {
		t.Errorf("an instant is answered as %s", in)
	}
	if _, refused := ask("./other", "reminders.cancel", `{"id":"`+made.ID+`"}`); refused == nil || refused.Data.(refusedData).Code != problem.NotFound {
		t.Errorf("another program's reminder: %v", refused)
	}
	if list, _ := ask("./other", "reminders.list", ``); !strings.Contains(list, `"reminders":[]`) {
		t.Errorf("another program's reminders: %s", list)
	}
	if got, _ := ask("./one", "reminders.cancel", `{"id":"`+made.ID+`"}`); !strings.Contains(got, `"cancelled":true`) {
		t.Errorf("its own: %s", got)
	}
	if _, refused := ask("./one", "reminders.cancel", `{"id":"`+made.ID+`"}`); refused == nil ||
		!strings.Contains(*refused.Data.(refusedData).Hint, "lists those to come") {
		t.Errorf("its own, again: %v", refused)
	}
	told := cli.Explain(&state.LimitError{Setting: state.SettingPending, Origin: "k7m2"}).Hint.In(reminders{})
	if strings.Contains(told, "ouro-timer") || !strings.HasPrefix(told, "end some of them: reminders.list, reminders.cancel; or raise pending") {
		t.Errorf("the hint is %q", told)
	}
}
