package rules

import (
	"strings"
	"testing"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
)

// ends are ways in which a run ends, by the names of the columns below. Output that is "new" is another than the last ok's.
var ends = map[string]state.Line{
	"ok":          {Outcome: state.OK, StdoutSum: "same"},
	"wrote":       {Outcome: state.OK, StdoutSum: "same", Stderr: state.Output{Bytes: 1}},
	"own":         {Outcome: state.OK, StdoutSum: "same", Stdout: state.Output{Bytes: 9, Own: 9}, Stderr: state.Output{Bytes: 1, Own: 1}},
	"mixed":       {Outcome: state.OK, StdoutSum: "same", Stdout: state.Output{Bytes: 9, Own: 9}, Stderr: state.Output{Bytes: 2, Own: 1}},
	"new":         {Outcome: state.OK, StdoutSum: "new", Stdout: state.Output{Bytes: 1}},
	"failed":      {Outcome: state.Failed, Stderr: state.Output{Bytes: 1}},
	"timeout":     {Outcome: state.TimedOut, Stdout: state.Output{Bytes: 1}},
	"interrupted": {Outcome: state.Interrupted},
	"cancelled":   {Outcome: state.Cancelled, Stdout: state.Output{Bytes: 1}},
	"skipped":     {Outcome: state.Skipped, Reason: reasonGate},
}

func TestWhoIsToldOfTheEndOfACommand(t *testing.T) {
	const timetable = `
on        before    ok        own       mixed     wrote     new       failed    timeout   interrupted  cancelled  skipped
-         fine      -         -         output    output    output    failure   failure   failure      -          -
-         failing   recovery  recovery  recovery  recovery  recovery  -         -         -            -          -
output    fine      -         -         output    output    output    failure   failure   failure      -          -
output    failing   recovery  recovery  recovery  recovery  recovery  -         -         -            -          -
always    fine      outcome   outcome   outcome   outcome   outcome   failure   failure   failure      -          -
always    failing   recovery  recovery  recovery  recovery  recovery  outcome   outcome   outcome      -          -
failure   fine      -         -         -         -         -         failure   failure   failure      -          -
failure   failing   recovery  recovery  recovery  recovery  recovery  -         -         -            -          -
change    fine      -         -         -         -         change    failure   failure   failure      -          -
change    failing   recovery  recovery  recovery  recovery  recovery  -         -         -            -          -
change    first     -         -         -         -         -         failure   failure   failure      -          -
recovery  fine      -         -         -         -         -         -         -         -            -          -
recovery  failing   recovery  recovery  recovery  recovery  recovery  -         -         -            -          -
never     fine      -         -         -         -         -         -         -         -            -          -
never     failing   -         -         -         -         -         -         -         -            -          -
rubbish   fine      -         -         output    output    output    failure   failure   failure      -          -
`
	rows := strings.Split(strings.TrimSpace(timetable), "\n")
	names := strings.Fields(rows[0])
	for _, row := range rows[1:] {
		cells := strings.Fields(row)
		was := map[string]state.Tally{"fine": {Output: "same"}, "failing": {Failing: true, Output: "same"}, "first": {}}[cells[1]]
		on := strings.TrimPrefix(cells[0], "-")
		for i, want := range cells[2:] {
			name := names[i+2]
			for _, standing := range []bool{false, true} { // the word is the task's, or that of those that have none
				task := state.Task{Run: state.Job{Argv: []string{"true"}}, Policy: state.Policy{Notify: []string{"a"}, NotifyOn: on}}
				usual := TellDefaults{On: "never"}
				if standing || on == "" {
					task.Policy.NotifyOn, usual.On = "", on
				}
				l := ends[name]
				Inform(state.Record{Task: task}, was, usual, &l)
				if got := orDash(l.News); got != want || (len(l.Tell) > 0) != (want != "-") {
					t.Errorf("on %s, %s before, then %s (standing: %v): told %v because of %s, not %s", cells[0], cells[1], name, standing, l.Tell, got, want)
				}
			}
		}
	}
}

func TestWhoIsToldOfAMessage(t *testing.T) {
	for on, want := range map[string]string{"": "message", "always": "message", "output": "message", "change": "message", "never": "", "failure": "", "recovery": ""} {
		for _, was := range []state.Tally{{}, {Failing: true}} {
			l := state.Line{Outcome: state.OK}
			r := state.Record{Task: state.Task{Text: "tea", Policy: state.Policy{NotifyOn: on, Notify: []string{"a"}}}}
			if Inform(r, was, TellDefaults{On: "never"}, &l); l.News != want || l.Inbox != state.ItemMessage {
				t.Errorf("on %q: %+v", on, l)
			}
		}
	}
	for _, o := range []state.Outcome{state.Cancelled, state.Skipped} {
		l := state.Line{Outcome: o}
		if Inform(state.Record{Task: state.Task{Text: "tea"}}, state.Tally{}, TellDefaults{Channels: []string{"a"}}, &l); l.News != "" || l.Inbox != "" {
			t.Errorf("a message that was %s: %+v", o, l)
		}
	}
}

func TestByWhichChannels(t *testing.T) {
	command := state.Job{Argv: []string{"true"}}
	for _, c := range []struct {
		name     string
		task     state.Task
		standing []string
		want     string
	}{
		{"its own", state.Task{Policy: state.Policy{Notify: []string{"b", "a"}}}, []string{"c"}, "b a"},
		{"each once", state.Task{Policy: state.Policy{Notify: []string{"b", "a", "b", ""}}}, nil, "b a"},
		{"those of the configuration", state.Task{Run: command}, []string{"c"}, "c"},
		{"those of the configuration before the terminal", state.Task{Terminal: "/dev/pts/3"}, []string{"c"}, "c"},
		{"the terminal it was set from", state.Task{Terminal: "/dev/pts/3"}, nil, "terminal:/dev/pts/3"},
		{"its own before the terminal", state.Task{Terminal: "/dev/pts/3", Policy: state.Policy{Notify: []string{"a"}}}, nil, "a"},
		{"a command has no terminal", state.Task{Run: command, Terminal: "/dev/pts/3"}, nil, ""},
		{"nobody", state.Task{}, nil, ""},
	} {
		l := state.Line{Outcome: state.OK, Stdout: state.Output{Bytes: 1}}
		Inform(state.Record{Task: c.task}, state.Tally{}, TellDefaults{Channels: c.standing}, &l)
		if got := strings.Join(l.Tell, " "); got != c.want || (got == "") != (l.News == "") {
			t.Errorf("%s: %q because of %q, not %q", c.name, got, l.News, c.want)
		}
	}
}

func TestWhatIsInTheInbox(t *testing.T) {
	for name, want := range map[string]string{"ok": "", "wrote": state.ItemResult, "new": state.ItemResult, "failed": state.ItemFailure, "timeout": state.ItemFailure,
		"interrupted": state.ItemFailure, "cancelled": "", "skipped": ""} {
		for _, on := range []string{"", state.NotifyNever, state.NotifyAlways} { // it is there whoever is told
			r := state.Record{Task: state.Task{Run: state.Job{Argv: []string{"true"}}, Policy: state.Policy{NotifyOn: on}}}
			l := ends[name]
			if Inform(r, state.Tally{}, TellDefaults{}, &l); l.Inbox != want {
				t.Errorf("%s: %q, not %q", name, l.Inbox, want)
			}
			r.Manual = true
			l = ends[name]
			if Inform(r, state.Tally{}, TellDefaults{Channels: []string{"a"}}, &l); l.Inbox != "" || l.News != "" || l.Tell != nil {
				t.Errorf("%s by hand: %+v", name, l)
			}
		}
	}
}

// What will not come is in the inbox when nothing stands in for it.
func TestWhatWasMissedIsInTheInbox(t *testing.T) {
	for _, c := range []struct {
		name   string
		kind   string
		policy state.Policy
		held   bool
		late   time.Duration
		want   string // of each line that is written
	}{
		{"a one-shot beyond its window", "once", state.Policy{Window: "10m"}, false, 2 * time.Hour, "missed"},
		{"a recurring one beyond its window", "interval", state.Policy{Window: "10m"}, false, 150 * time.Minute, "missed"},
		{"what a later one stands for", "interval", state.Policy{}, false, 3 * time.Hour, "-"},
		{"what is not caught up with", "interval", state.Policy{Catchup: state.CatchupSkip}, false, 150 * time.Minute, "-"},
		{"a one-shot that passed while paused", "once", state.Policy{}, true, time.Hour, "missed"},
		{"instants that passed while paused", "interval", state.Policy{}, true, 3 * time.Hour, "-"},
	} {
		e := entry(t, c.kind, "every 1h", "2026-11-21 09:00", "2026-11-21 10:00")
		e.Task.Policy, e.Held = c.policy, c.held
		sched, err := Schedule(e.Task)
		if err != nil {
			t.Fatal(err)
		}
		now := e.Due.Add(c.late)
		var lines []*state.Line
		if c.held {
			l, _, _ := Resume(e, sched, now)
			lines = append(lines, l)
		} else {
			for _, s := range Decide(e, sched, now).Steps {
				if s.Skip != nil {
					lines = append(lines, s.Skip)
				}
			}
		}
		if len(lines) == 0 {
			t.Errorf("%s: nothing was skipped", c.name)
		}
		for _, l := range lines {
			if got := orDash(l.Inbox); got != c.want || l.Tell != nil {
				t.Errorf("%s: %q, not %q; told %v", c.name, got, c.want, l.Tell)
			}
		}
	}
}

func orDash(text string) string {
	if text == "" {
		return "-"
	}
	return text
}

// TestHeartbeats are pinged for whatever has run, whenever people are told, and stand beside them.
func TestHeartbeats(t *testing.T) {
	began := time.Date(2026, 11, 23, 9, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		name     string
		notify   string
		on       string
		line     state.Line
		manual   bool
		want     string // told
		wantNews string
	}{
		{"ok, and nothing to tell", "hc", "", state.Line{Outcome: state.OK}, false, "hc", ""},
		{"a failure, which is told by who tells of all", "hc", "", state.Line{Outcome: state.Failed}, false, "desktop hc", "failure"},
		{"beside a person", "hc mail", "always", state.Line{Outcome: state.OK}, false, "mail hc", "outcome"},
		{"never is of people", "hc mail", "never", state.Line{Outcome: state.TimedOut}, false, "hc", ""},
		{"interrupted", "hc", "never", state.Line{Outcome: state.Interrupted}, false, "hc", ""},
		{"cancelled while it ran", "hc", "", state.Line{Outcome: state.Cancelled, Started: &began}, false, "hc", ""},
		{"cancelled before", "hc", "", state.Line{Outcome: state.Cancelled}, false, "", ""},
		{"skipped", "hc", "", state.Line{Outcome: state.Skipped}, false, "", ""},
		{"by hand", "hc", "", state.Line{Outcome: state.OK}, true, "", ""},
		{"twice", "hc hc", "", state.Line{Outcome: state.OK}, false, "hc", ""},
		{"one that is none", "mail", "", state.Line{Outcome: state.OK}, false, "", ""},
	} {
		task := state.Task{Run: state.Job{Argv: []string{"true"}}, Policy: state.Policy{Notify: strings.Fields(c.notify), NotifyOn: c.on}}
		l := c.line
		Inform(state.Record{Task: task, Manual: c.manual}, state.Tally{}, TellDefaults{Channels: []string{"desktop"}, Beats: []string{"other", "hc"}}, &l)
		if got := strings.Join(l.Tell, " "); got != c.want || l.News != c.wantNews {
			t.Errorf("%s: tells %q because of %q, not %q because of %q", c.name, got, l.News, c.want, c.wantNews)
		}
	}
}
