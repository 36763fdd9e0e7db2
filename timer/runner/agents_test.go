package runner

import (
	"encoding/json"
	"errors"
	"io/fs"
	"strings"
	"testing"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/timer/agent"
	"github.com/ouro-timer/ouro-timer/timer/proc"
	"github.com/ouro-timer/ouro-timer/timer/rules"
)

// agentRecord is a claim on an occurrence that an agent is told.
func agentRecord(t *testing.T) state.Record {
	t.Helper()
	at, err := time.Parse(time.RFC3339, "2026-11-23T08:00:00Z")
	if err != nil {
		t.Fatal(err)
	}
	return state.Record{Number: 3, Due: at, Claimed: at, Attempt: 1, Task: state.Task{ID: "k7m2", When: state.Timing{Text: "x", Kind: "once", Zone: "Europe/Warsaw"},
		Description: "long", Run: state.Job{Agent: []string{"a.py"}, Env: map[string]string{"B": "2", "A": "1", OriginVariable: "zzzz"}, Dir: "/d", Umask: 0o22},
		Reminder: state.Reminder{Title: "Tea", Project: "p"}, Policy: state.Policy{Timeout: "30s", Retries: 2, Backoff: "1s"}}}
}

func TestWhatAnAgentIsTold(t *testing.T) {
	r := agentRecord(t)
	told, err := json.Marshal(reminderOf(r, "[here] "))
	if err != nil {
		t.Fatal(err)
	}
	want := `{"reminder_id":"rem_k7m2","title":"[here] Tea","description":"long","due_date":"2026-11-23T09:00:00+01:00","project_id":"p","priority":"medium","occurrence_id":"k7m2/3","origin":"k7m2"}`
	if string(told) != want {
		t.Errorf("told %s\nwant %s", told, want)
	}
	r.Task.Policy.Prefix, r.Task.Description, r.Task.Reminder = "[own] ", "", state.Reminder{Priority: state.PriorityLow}
	if got := reminderOf(r, "[here] "); got.Title != "[own] a.py" || got.Description != nil || got.Project != nil || got.Priority != "low" {
		t.Errorf("%+v", got)
	}
	r.Task.Policy.Prefix, r.Task.Policy.NoPrefix = "", true
	if got := reminderOf(r, "[here] "); got.Title != "a.py" {
		t.Errorf("%+v", got)
	}
	if TaskOf(ReminderID("k7m2")) != "k7m2" || TaskOf("k7m2") != "k7m2" {
		t.Error("a reminder's ID is not its task's")
	}
}

// TestOneProcessForTasksOfOneProgram: the process is shared by what is alike, wherever it came from.
func TestOneProcessForTasksOfOneProgram(t *testing.T) {
	a, b := agentRecord(t).Task, agentRecord(t).Task
	b.ID, b.Origin, b.Reminder.Title = "n3vc", "p9xw", "other"
	p := ProgramOf(a)
	if !p.Equal(ProgramOf(b)) {
		t.Error("two tasks of one program have two processes")
	}
	if strings.Join(p.Env, " ") != "A=1 B=2" || p.Also[0] != OriginVariable+"=k7m2" || ProgramOf(b).Also[0] != OriginVariable+"=p9xw" {
		t.Errorf("%+v", p)
	}
	for name, change := range map[string]func(*state.Job){
		"argv":  func(j *state.Job) { j.Agent = []string{"a.py", ""} },
		"dir":   func(j *state.Job) { j.Dir = "/e" },
		"umask": func(j *state.Job) { j.Umask = 0o77 },
		"env":   func(j *state.Job) { j.Env = map[string]string{"A": "1 B=2"} },
	} {
		c := agentRecord(t).Task
		change(&c.Run)
		if p.Equal(ProgramOf(c)) {
			t.Errorf("another %s is the same program", name)
		}
	}
}

func TestHowADeliveryToAnAgentEnds(t *testing.T) {
	r := agentRecord(t)
	at := r.Due
	for _, c := range []struct {
		name    string
		res     rules.Result
		outcome state.Outcome
		reason  string
		text    string
		again   bool
	}{
		{"answered", rules.Result{}, state.OK, "", "Tea", false},
		{"no answer", rules.Result{TimedOut: true}, state.TimedOut, "", "no answer within 30s", true},
		{"an error", rules.Result{Err: &agent.Error{Code: -3, Message: "busy"}}, state.Failed, rules.ReasonAgentError, "busy (-3)", true},
		{"a long error", rules.Result{Err: &agent.Error{Message: strings.Repeat("ż", 1000)}}, state.Failed, rules.ReasonAgentError, strings.Repeat("ż", rules.AgentTextMost-1) + "…", true},
		{"dead", rules.Result{Err: errors.New("broken pipe: it has ended (exit code 1)")}, state.Failed, rules.ReasonAgentEnded, "broken pipe: it has ended (exit code 1)", true},
		{"missing", rules.Result{Err: &proc.StartError{Op: "find", Path: "a.py", Err: fs.ErrNotExist}}, state.Failed, rules.ReasonNotStarted, `program "a.py" not found`, true},
		{"stopped", rules.Result{Halted: rules.Stopped}, state.Cancelled, rules.ReasonStopped, "", false},
		{"not allowed", rules.Result{Err: &rules.Refusal{Argv: []string{"a.py"}}}, state.Failed, rules.ReasonNotAllowed, `the command is not allowed by [run] allow: "a.py"`, false},
	} {
		c.res.Started, c.res.Ended, c.res.Ignored = at, at, 2
		l := rules.Judge(r, nil, c.res)
		if l.Outcome != c.outcome || l.Reason != c.reason || l.Text != c.text || l.Ignored != 2 {
			t.Errorf("%s: %s %s %q, %d ignored", c.name, l.Outcome, l.Reason, l.Text, l.Ignored)
		}
		pause, yes := rules.Again(r, nil, &l, at)
		if yes != c.again || yes && pause != time.Second {
			t.Errorf("%s: again %v after %v", c.name, yes, pause)
		}
	}
}

// TestAgentsOfARunnerThatDied are told once more: at least once, unless somebody asked for the end of it.
func TestAgentsOfARunnerThatDied(t *testing.T) {
	r := agentRecord(t)
	r.Attempt, r.Runner = 0, state.Ident{PID: 7, Boot: "b"}
	self := state.Ident{PID: 8, Boot: "b"}
	if got := rules.TakingOver(r, self, false); got != rules.ToRelease {
		t.Errorf("untouched: %d", got)
	}
	r.Started = r.Due
	for _, lives := range []bool{false, true} {
		if got := rules.TakingOver(r, self, lives); got != rules.ToTell {
			t.Errorf("told, its process lives %v: %d", lives, got)
		}
	}
	r.Retry = r.Due
	if got := rules.TakingOver(r, self, false); got != rules.ToRest {
		t.Errorf("between two attempts: %d", got)
	}
	r.Retry, r.Halt = time.Time{}, rules.Stopped
	if got := rules.TakingOver(r, self, true); got != rules.ToEnd {
		t.Errorf("stopped: %d", got)
	}
	r.Halt, r.Manual = "", true
	if got := rules.TakingOver(r, self, true); got != rules.ToEnd {
		t.Errorf("fired by hand: %d", got)
	}
}

// TestWhoElseIsTold: who is named beside an agent is told what it is told; else only of failures.
func TestWhoElseIsTold(t *testing.T) {
	standing := rules.TellDefaults{Channels: []string{"desktop"}, On: state.NotifyAlways}
	for _, c := range []struct {
		notify  []string
		on      string
		outcome state.Outcome
		failing bool
		news    string
		inbox   string
	}{
		{nil, "", state.OK, false, "", ""},
		{nil, "", state.Failed, false, state.NewsFailure, state.ItemFailure},
		{nil, "", state.TimedOut, true, "", state.ItemFailure},
		{nil, "", state.OK, true, state.NewsRecovery, ""},
		{[]string{"hook"}, "", state.OK, false, state.NewsMessage, ""},
		{[]string{"hook"}, "", state.Failed, true, state.NewsOutcome, state.ItemFailure},
		{[]string{"hook"}, state.NotifyNever, state.Failed, false, "", state.ItemFailure},
		{nil, state.NotifyAlways, state.OK, false, state.NewsMessage, ""},
	} {
		r := agentRecord(t)
		r.Task.Policy.Notify, r.Task.Policy.NotifyOn = c.notify, c.on
		l := state.Line{Outcome: c.outcome, Stderr: state.Output{Bytes: 5}}
		rules.Inform(r, state.Tally{Failing: c.failing}, standing, &l)
		if l.News != c.news || l.Inbox != c.inbox {
			t.Errorf("%v %q %s, failing before %v: news %q, in the inbox %q", c.notify, c.on, c.outcome, c.failing, l.News, l.Inbox)
		}
	}
}

// TestRoomForCommands: agents that wait for their turn leave the places of commands alone, unless there are very many.
func TestRoomForCommands(t *testing.T) {
	g := newEngine(Options{}, nil)
	r := agentRecord(t)
	for n := range agentsMost + 3 {
		r.Number = n + 1
		g.runs[claimOf(r)] = &run{r: r}
		if want := max(n+1-agentsMost, 0); g.busy() != want {
			t.Fatalf("%d agents take %d places", n+1, g.busy())
		}
	}
	g.runs[claim{"c", 1}] = &run{r: state.Record{Task: state.Task{ID: "c", Run: state.Job{Argv: []string{"x"}}}, Number: 1}}
	if g.busy() != 4 {
		t.Errorf("with a command %d places are taken", g.busy())
	}
}
