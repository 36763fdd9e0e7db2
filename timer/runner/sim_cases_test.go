package runner_test

import (
	"testing"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/timer/runner/sim"
)

// TestSimulationCases are worlds in which the engine once went wrong, as they were when they had been shrunk.
func TestSimulationCases(t *testing.T) {
	begin := time.Date(2026, 6, 30, 0, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		name string
		s    script
		want func(p *play) string // beyond what is true of every world
	}{
		{"a further attempt does not wait for its instant again, nor is its claim given back", script{
			tasks: []draft{{text: "every 40m", takes: time.Minute, failing: 100, salt: 1, policy: state.Policy{Retries: 3, Backoff: "15m"}}},
			events: []happening{{at: 40*time.Minute + 10*time.Second, what: "back", d: time.Hour},
				{at: 70 * time.Minute, what: "stop", d: time.Minute}},
		}, func(p *play) string { return p.begunBefore(65*time.Minute, 2) }},
		{"a task that runs while the clock is put back by hours goes on from there when it has ended", script{
			tasks: []draft{{text: "every 40m", takes: 100 * time.Minute, exact: true, salt: 1}},
			events: []happening{{at: 41 * time.Minute, what: "forward", d: 30 * time.Hour},
				{at: 45 * time.Minute, what: "back", d: 30 * time.Hour}, {at: 46 * time.Minute, what: "synced"}},
		}, func(p *play) string { return p.begunBefore(5*time.Hour, 3) }},
		{"a third runner does not take over again what the second has taken over", script{
			tasks: []draft{{text: "every 3h", takes: time.Hour, salt: 1, policy: state.Policy{Rerun: true}}},
			events: []happening{{at: 3*time.Hour + time.Minute, what: "killall", d: time.Second}, {at: 3*time.Hour + 5*time.Minute, what: "second", d: 10 * time.Minute},
				{at: 3*time.Hour + 20*time.Minute, what: "second", d: time.Hour}},
		}, nil},
		{"two runners rest before the same attempt once only", script{
			tasks:  []draft{{text: "every 3h", takes: time.Minute, failing: 100, salt: 1, policy: state.Policy{Retries: 2, Backoff: "30m"}}},
			events: []happening{{at: 3*time.Hour + 10*time.Minute, what: "kill", d: time.Second}, {at: 3*time.Hour + 12*time.Minute, what: "second", d: 2 * time.Hour}},
		}, nil},
		{"what another process left open is seen to when it dies", script{
			tasks:  []draft{{text: "every 31m", takes: 20 * time.Minute, salt: 1, policy: state.Policy{Overlap: state.OverlapAllow}}},
			events: []happening{{at: 10 * time.Minute, what: "second", d: 30 * time.Minute}, {at: 20 * time.Minute, what: "fire", d: 20*time.Minute + 1}},
		}, nil},
		{"what was before is not forgotten of runs that a run of another process came between", script{
			tasks: []draft{{text: "every 10m", takes: 10 * time.Minute, failing: 40, salt: 9,
				policy: state.Policy{Overlap: state.OverlapAllow, Notify: []string{"a"}, NotifyOn: state.NotifyFailure}}},
			events: []happening{{at: 65 * time.Minute, what: "fire", d: 29 * time.Minute}, {at: 245 * time.Minute, what: "fire", d: 29 * time.Minute}},
		}, nil},
	} {
		c.s.start, c.s.length = begin, 8*time.Hour
		for i := range c.s.tasks {
			c.s.tasks[i].zone = "UTC"
		}
		p, text := try(c.s, hooks{})
		if text == "" && c.want != nil {
			text = c.want(p)
		}
		if text != "" {
			t.Errorf("%s: %s", c.name, tell(c.s, text, hooks{}))
		}
	}
}

// begunBefore says what is wrong unless so many attempts were begun by then.
func (p *play) begunBefore(at time.Duration, want int) string {
	n := 0
	for _, h := range p.seen {
		if h.what == sim.Starts && h.awake < at {
			n++
		}
	}
	if n < want {
		return "too little was begun"
	}
	return ""
}
