package runner_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/timer/runner/sim"
)

// TestSimulationClocks are worlds whose clocks are wrong, each in a way that clocks are. All that
// is true of every world is: no instant runs twice, whatever the clock shows, and the audit finds
// each that the clock has come by.
func TestSimulationClocks(t *testing.T) {
	const day, year = 24 * time.Hour, 365 * 24 * time.Hour
	begin := time.Date(2026, 6, 1, 0, 0, 0, 0, time.UTC)
	daily, often := draft{text: "0 9 * * *", takes: time.Minute}, draft{text: "every 5m", takes: time.Second}
	// reboots are the machine off from then on for ten minutes, after which its clock shows by more
	// than it should.
	reboots := func(at, by time.Duration) []happening {
		return []happening{{at: at, what: "power", d: 10 * time.Minute}, {at: at + time.Minute, what: "back", d: -by}}
	}
	// corrected is a clock that a time server sets.
	corrected := func(at, by time.Duration) []happening {
		return []happening{{at: at, what: "back", d: -by}, {at: at + time.Second, what: "synced"}}
	}
	for _, c := range []struct {
		name   string
		length time.Duration
		task   draft
		events [][]happening
		want   []wanted
	}{
		{"the runner is started by a clock that is wrong for a minute", 5 * day, daily, [][]happening{
			reboots(9*time.Hour+40*time.Minute, -5*time.Hour), corrected(10*time.Hour, 5*time.Hour),
		}, []wanted{{by: 5 * day, runs: 5}}},
		{"and by one that is wrong until it has shown the instant again", 5 * day, daily, [][]happening{
			reboots(9*time.Hour+40*time.Minute, -5*time.Hour), corrected(15*time.Hour, 5*time.Hour),
		}, []wanted{{by: 5 * day, runs: 5, left: 1}}},
		{"and by one that is wrong until right before", 5 * day, daily, [][]happening{
			reboots(9*time.Hour+40*time.Minute, -5*time.Hour), corrected(13*time.Hour+50*time.Minute, 5*time.Hour),
		}, []wanted{{by: 5 * day, runs: 5, left: 1}}},
		{"a clock is wrong for less than an hour while the runner runs", 2 * day, often, [][]happening{
			{{at: 20 * time.Hour, what: "back", d: 10 * time.Hour}}, corrected(20*time.Hour+50*time.Minute, 10*time.Hour),
		}, []wanted{{by: 20 * time.Hour, runs: 239}, {by: 2 * day, runs: 239 + 336 - 9}}},
		{"a clock goes to and fro", 3 * day, often, [][]happening{
			{{at: day, what: "back", d: 9 * time.Hour}, {at: day + 25*time.Minute, what: "forward", d: 9 * time.Hour},
				{at: day + 50*time.Minute, what: "back", d: 9 * time.Hour}, {at: day + 75*time.Minute, what: "forward", d: 9 * time.Hour},
				{at: day + 100*time.Minute, what: "back", d: 9 * time.Hour}, {at: day + 125*time.Minute, what: "forward", d: 9 * time.Hour}},
		}, []wanted{{by: day, runs: 287}}},
		{"a clock is set back by three days for good: what has run is left out, and says so", 20 * day, daily, [][]happening{
			{{at: 10*day + 12*time.Hour, what: "back", d: 3 * day}},
		}, []wanted{{by: 10*day + 12*time.Hour, runs: 11}, {by: 13*day + 12*time.Hour, runs: 11, left: 3}, {by: 20 * day, runs: 17, left: 3}}},
		{"a clock is set back by a year for good, to before the task was made: it goes on within an hour", 30 * day, often, [][]happening{
			{{at: 10 * day, what: "back", d: year}},
		}, []wanted{{by: 10 * day, runs: 2879}, {by: 10*day + 61*time.Minute, runs: 2880}, {by: 30*day - 1, runs: 2879 + 20*288 - 12}}},
		{"the same of a daily one, whose runner is started again and again meanwhile", 30 * day, daily, [][]happening{
			{{at: 10 * day, what: "back", d: year}}, reboots(10*day+15*time.Minute, 0), reboots(10*day+40*time.Minute, 0), reboots(10*day+65*time.Minute, 0),
		}, []wanted{{by: 10 * day, runs: 10}, {by: 30 * day, runs: 30}}},
		{"a clock was ahead by a year, and a time server sets it right", 380 * day, daily, [][]happening{
			reboots(10*day, year), corrected(10*day+20*time.Minute, -year),
		}, []wanted{{by: 10*day + 15*time.Minute, runs: 11}, {by: 20 * day, runs: 21}, {by: 374 * day, runs: 375}, {by: 376 * day, runs: 376, left: 1}, {by: 380 * day, runs: 380, left: 1}}},
		{"a clock was ahead by a year, and somebody sets it right", 380 * day, daily, [][]happening{
			reboots(10*day, year), {{at: 10*day + 20*time.Minute, what: "back", d: year}},
		}, []wanted{{by: 10*day + 15*time.Minute, runs: 11}, {by: 20 * day, runs: 21}, {by: 380 * day, runs: 380, left: 1}}},
		{"a clock was ahead for two days, which it lived", 10 * day, daily, [][]happening{
			reboots(2*day, day), corrected(4*day, -day),
		}, []wanted{{by: 4 * day, runs: 5}, {by: 5 * day, runs: 5, left: 1}, {by: 10 * day, runs: 10, left: 1}}},
		{"a clock was ahead by twelve years when the task was made", 10 * day, draft{at: time.Hour, text: "30 * * * *", takes: time.Second}, [][]happening{
			{{at: time.Second, what: "forward", d: 12 * year}}, corrected(6*time.Hour, -12*year),
		}, []wanted{{by: 6 * time.Hour, runs: 5}, {by: 10 * day, runs: 5 + 234}}},
		{"the hardware clock has the local time of somewhere in the east: each morning begins eight hours ahead", 5 * day, daily, [][]happening{
			reboots(8*time.Hour, 8*time.Hour), corrected(8*time.Hour+12*time.Minute, -8*time.Hour),
			reboots(32*time.Hour, 8*time.Hour), corrected(32*time.Hour+12*time.Minute, -8*time.Hour),
			reboots(56*time.Hour, 8*time.Hour), corrected(56*time.Hour+12*time.Minute, -8*time.Hour),
		}, []wanted{{by: 5 * day, runs: 5, left: 3}}},
		{"the same of one that comes often: all but what has run comes when it is time", 2 * day, often, [][]happening{
			reboots(8*time.Hour+2*time.Minute, 8*time.Hour), corrected(8*time.Hour+14*time.Minute, -8*time.Hour),
		}, []wanted{{by: 2*day - 1, runs: 575 - 2, left: 1}}}, // two came while it was off
		{"the hardware clock has the local time of somewhere in the west", 5 * day, daily, [][]happening{
			reboots(10*time.Hour, -8*time.Hour), corrected(10*time.Hour+12*time.Minute, 8*time.Hour),
			reboots(34*time.Hour, -8*time.Hour), corrected(34*time.Hour+12*time.Minute, 8*time.Hour),
		}, []wanted{{by: 5 * day, runs: 5}}},
		{"a board without a clock of its own shows the same night whenever it starts", 4 * day, often, [][]happening{
			reboots(day, -day), reboots(2*day, -day), reboots(3*day, -day),
		}, []wanted{{by: day, runs: 287}, {by: 4 * day, runs: 287, left: 856}}},
		{"a virtual machine goes on, and learns what time it has become", 3 * day, daily, [][]happening{
			{{at: 8 * time.Hour, what: "suspend", d: 0}, {at: 8 * time.Hour, what: "forward", d: 30 * time.Hour}},
		}, []wanted{{by: 3 * day, runs: 3, coalesced: 1}}},
		{"the machine sleeps while its clock is back", 5 * day, daily, [][]happening{
			reboots(9*time.Hour+40*time.Minute, -5*time.Hour), {{at: 10 * time.Hour, what: "suspend", d: 3 * time.Hour}}, corrected(10*time.Hour+time.Minute, 5*time.Hour),
		}, []wanted{{by: 4 * day, runs: 4}}},
		{"a run goes on while the clock is ahead, and ends then", 4 * day, draft{text: "0 */2 * * *", takes: 5 * time.Hour, exact: true}, [][]happening{
			{{at: 27 * time.Hour, what: "forward", d: year}}, corrected(31*time.Hour+30*time.Minute, -year),
		}, []wanted{{by: 4 * day, runs: 16}}},
	} {
		s := script{start: begin, length: c.length, tasks: []draft{c.task}}
		s.tasks[0].zone, s.tasks[0].salt = "UTC", 1
		for _, list := range c.events {
			s.events = append(s.events, list...)
		}
		slices.SortStableFunc(s.events, func(a, b happening) int { return int(max(-1, min(1, a.at-b.at))) })
		p, text := try(s, hooks{})
		if text != "" {
			t.Errorf("%s: %s", c.name, tell(s, text, hooks{}))
			continue
		}
		for _, w := range c.want {
			got := p.by(w.by)
			if w.coalesced == 0 {
				got.coalesced = 0
			}
			if got != w {
				t.Errorf("%s: %v, want %v", c.name, got, w)
			}
		}
	}
}

// wanted is what has become of the instants of a world when its machine has been awake for so long.
type wanted struct {
	by        time.Duration
	runs      int // that were begun
	left      int // that were left out because the clock showed them again
	coalesced int // that a later run stands for; 0: however many
}

func (w wanted) String() string {
	return fmt.Sprintf("by +%v %d were begun, %d left out, %d coalesced", w.by, w.runs, w.left, w.coalesced)
}

// by is what has become of them.
func (p *play) by(at time.Duration) wanted {
	w := wanted{by: at}
	for _, h := range p.seen {
		if h.what == sim.Starts && h.awake <= at {
			w.runs++
		}
	}
	for _, e := range p.ended {
		switch {
		case e.awake > at || e.line.Outcome != state.Missed:
		case e.line.Reason == "clock_back":
			w.left += e.line.Count
		case e.line.Reason == "coalesced":
			w.coalesced += e.line.Count
		}
	}
	return w
}
