package tasks

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
)

func TestDiffersFrom(t *testing.T) {
	noon := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	once := state.Task{Text: "x", When: state.Timing{Text: "2h", Kind: "once", Zone: "UTC", Start: noon}}
	wall := state.Task{Text: "x", When: state.Timing{Text: "tomorrow 10:00", Kind: "once", Zone: "UTC", Wall: "2026-11-22T10:00:00", Start: noon}}
	every := state.Task{Run: state.Job{Argv: []string{"true"}}, When: state.Timing{Text: "every 5m", Kind: "interval", Zone: "UTC", Start: noon}}
	for _, c := range []struct {
		name string
		have state.Task
		call func(*state.Task)
		want string
	}{
		{"the same", once, func(*state.Task) {}, ""},
		{"later, in the same words", once, func(t *state.Task) { t.When.Start = noon.Add(time.Hour) }, ""},
		{"case and space", once, func(t *state.Task) { t.When.Text = " 2H " }, ""},
		{"other words", once, func(t *state.Task) { t.When.Text = "3h" }, "when"},
		{"the same words, read otherwise", wall, func(t *state.Task) { t.When.Form = "until" }, "when"},
		{"an elapsed time in another zone", once, func(t *state.Task) { t.When.Zone = "Asia/Tokyo" }, ""},
		{"a wall time in another zone", wall, func(t *state.Task) { t.When.Zone = "Asia/Tokyo" }, "tz"},
		{"a wall time another day", wall, func(t *state.Task) { t.When.Wall = "2026-11-23T10:00:00" }, ""},
		{"the phase, when nobody gave one", every, func(t *state.Task) { t.When.Start = noon.Add(time.Minute) }, ""},
		{"a start", every, func(t *state.Task) { t.When.Given = true }, "start"},
		{"bounds", every, func(t *state.Task) { t.When.Count, t.When.End = 3, noon.Add(time.Hour) }, "end count"},
		{"the span of a jitter, not what was dealt", every, func(t *state.Task) { t.When.Jitter, t.When.Delay = "1m0s", "7s" }, "jitter"},
		{"what was dealt", every, func(t *state.Task) { t.When.Delay = "7s" }, ""},
		{"what is done", every, func(t *state.Task) { t.Run.Argv, t.Run.Dir = []string{"false"}, "/tmp" }, "command dir"},
		{"a policy", every, func(t *state.Task) { t.Policy.Retries = 3 }, "retries"},
		{"words", once, func(t *state.Task) { t.Description, t.Text = "d", "y" }, "description task"},
		{"another terminal", once, func(t *state.Task) { t.Terminal = "/dev/pts/9" }, ""},
	} {
		call := c.have
		c.call(&call)
		if got := differsFrom(c.have, call); !slices.Equal(got, strings.Fields(c.want)) {
			t.Errorf("%s: %q, not %q", c.name, got, c.want)
		}
	}
}
