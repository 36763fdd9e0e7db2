package runner

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/timer/agent"
	"github.com/ouro-timer/ouro-timer/timer/clock"
	"github.com/ouro-timer/ouro-timer/timer/proc"
	"github.com/ouro-timer/ouro-timer/timer/relay"
	"github.com/ouro-timer/ouro-timer/timer/rules"
)

const (
	// agentsMost is the most deliveries to agents at a time. They take no place of a command. Most
	// of them wait for their turn, because a program is told of one reminder at a time.
	agentsMost = 256
	// orphanGrace is how long an agent that outlived its runner has before it is killed.
	orphanGrace = 2 * time.Second
)

// ProgramOf is the agent process that a task tells. What the agent schedules itself, as a command
// would, has the origin of the task for which it was started. What it asks for has the origin of
// the reminder that it was last told.
func ProgramOf(t state.Task) agent.Program {
	t = atHome(t)
	env := make([]string, 0, len(t.Run.Env))
	for name, value := range t.Run.Env {
		if name != OriginVariable {
			env = append(env, name+"="+value)
		}
	}
	slices.Sort(env)
	return agent.Program{Argv: t.Run.Agent, Dir: t.Run.Dir, Env: env, Umask: t.Run.Umask, Also: []string{OriginVariable + "=" + t.ChildOrigin()}}
}

// reminderPrefix stands before a task's ID in the ID of a reminder.
const reminderPrefix = "rem_"

// ReminderID names a task as agents do.
func ReminderID(taskID string) string { return reminderPrefix + taskID }

// TaskOf is the ID of the task that an agent names.
func TaskOf(reminderID string) string { return strings.TrimPrefix(reminderID, reminderPrefix) }

// reminderOf is what an agent is told about a claim. prefix is the configured one.
func reminderOf(r state.Record, prefix string) agent.Reminder {
	t := r.Task
	if t.Policy.Prefix != "" || t.Policy.NoPrefix {
		prefix = t.Policy.Prefix
	}
	orNull := func(text string) *string {
		if text == "" {
			return nil
		}
		return &text
	}
	told := agent.Reminder{
		ID: ReminderID(t.ID), Title: prefix + t.Said(), Description: orNull(t.Description), Due: agent.Due(r.Due.In(rules.TaskZone(t))),
		Project: orNull(t.Reminder.Project), Priority: t.Reminder.Priority, Occurrence: occurrence(r), Origin: t.ChildOrigin(),
	}
	if told.Priority == "" {
		told.Priority = state.PriorityMedium
	}
	return told
}

// newPool makes the pool of a runner's agent processes.
func newPool(o Options) *agent.Pool {
	ready := make(chan struct{})
	go func() {
		defer close(ready)
		endLeft(o)
	}()
	return agent.NewPool(agent.Options{Clock: o.Clock, Awake: o.Awake, Say: o.Say, Warn: o.Warn, Stderr: o.AgentStderr, Ready: ready, Changed: func(list []agent.Alive) { noteAgents(o, list) },
		Needed: func(ctx context.Context, p agent.Program) (needed bool) {
			_, err := state.Each(ctx, o.Store, func(e state.Entry) bool {
				needed = e.Task.Type() == state.TypeAgent && (e.Phase != state.Running || len(e.Open) > 0) && ProgramOf(e.Task).Equal(p)
				return !needed
			}, state.Pending, state.Running, state.Paused)
			return needed || err != nil
		}})
}

// noteAgents notes the agents that this runner keeps.
func noteAgents(o Options, list []agent.Alive) {
	note := state.Agents{Runner: o.Self}
	for _, a := range list {
		note.Processes = append(note.Processes, state.AgentProcess{Ident: ident(a.Identity), Program: state.ShellLine(a.Argv)})
	}
	if err := o.Store.NoteAgents(context.Background(), note); err != nil {
		o.warn("%v", err)
	}
}

// leftMost is how long to wait for the agents of a dead runner to end before others are started.
const leftMost = 10 * time.Second

// LeftAgents returns, by runner, the agent processes that outlived their runners. A runner may have
// none.
func LeftAgents(ctx context.Context, from state.Presence) ([]state.Agents, error) {
	all, err := from.Agents(ctx)
	left := []state.Agents{}
	for _, a := range all {
		if who := identity(a.Runner); who.Alive() || !who.Here() && (who.SameBoot() || a.Runner.Node != "" && a.Runner.Node != proc.Node()) {
			continue // it keeps them, or may keep them in its container or on its machine
		}
		a.Processes = slices.DeleteFunc(a.Processes, func(p state.AgentProcess) bool { return !identity(p.Ident).Alive() })
		left = append(left, a)
	}
	return left, err
}

// endLeft ends the agents that outlived a runner. Two of the same program would both be told, or
// would both do what they do by themselves.
func endLeft(o Options) {
	working := context.Background()
	left, err := LeftAgents(working, o.Store)
	if err != nil {
		o.warn("%v", err)
	}
	if len(left) == 0 {
		return
	}
	ctx, stop := clock.WithTimeout(working, o.Awake, leftMost)
	defer stop()
	for _, a := range left {
		still := slices.DeleteFunc(a.Processes, func(p state.AgentProcess) bool {
			if err := proc.EndGroup(ctx, identity(p.Ident), o.Awake, orphanGrace); err != nil && identity(p.Ident).Alive() {
				o.warn("the agent %s (pid %d), which outlived its runner, cannot be ended: %v", p.Program, p.PID, err)
				return false
			}
			o.Say("the agent %s (pid %d), which outlived its runner, is ended", p.Program, p.PID)
			return true
		})
		if err := o.Store.NoteAgents(working, state.Agents{Runner: a.Runner, Processes: still}); err != nil {
			o.warn("%v", err)
		}
	}
}

// tellAgent is an attempt to tell an agent process. It is not noted before it begins, so an
// interrupted one is made again.
func (s *supervisor) tellAgent() rules.Result {
	r := s.r
	// a dead runner told it, and it may still live; this runner talks to a new one
	if r.Child.PID != 0 {
		if err := proc.EndGroup(s.ctx, identity(r.Child), s.Awake, orphanGrace); err != nil && s.ctx.Err() == nil {
			s.warn("%s: the agent of the runner before (pid %d) cannot be ended: %v", occurrence(r), r.Child.PID, err)
		}
		r.Child = state.Ident{}
	}
	about := r
	call := agent.Call{Program: ProgramOf(r.Task), Reminder: reminderOf(r, s.standing().Prefix), Timeout: rules.Span(r.Task.Policy.Timeout), Halt: s.halted.Done(), Kill: s.killed.Done(), Grace: stopGrace}
	if r.Task.Reminder.Request {
		call.ID = occurrence(r) + "." + strconv.Itoa(max(r.Attempt, 1))
	}
	stdout, stderr := s.Store.Output(r.Task.ID, r.Number)
	call.Stdout = func() (*os.File, error) { return stdout.Create(s.ctx) }
	call.Stderr = func() (*os.File, error) { return stderr.Create(s.ctx) }
	var copied *relay.Run
	call.Started = func(id proc.Identity) {
		copied = s.copyOutput(r, false, stdout, stderr)
		r.Child, r.Started = ident(id), s.Clock.Now()
		r.Starting, r.First = r.Started, rules.Begun(r, r.Started)
		if err := s.Store.Started(context.WithoutCancel(s.ctx), r); err != nil {
			s.warn("%s: its process could not be noted: %v", occurrence(r), err)
		}
		if !r.Manual {
			s.Say("%s is told to the agent with pid %d: %s", occurrence(r), r.Child.PID, r.Task.Summary())
		}
	}
	if s.Asked != nil {
		call.Serve = func(ctx context.Context, method string, params json.RawMessage) (any, error) {
			return s.Asked(ctx, about, method, params)
		}
	}
	got := s.agents.Fire(s.ctx, call)
	copied.End()
	if got.Err != nil && errors.Is(got.Err, s.ctx.Err()) {
		return rules.Result{Unstarted: true}
	}
	if proc.Passing(got.Err) && got.Sent.IsZero() {
		return rules.Result{Postponed: got.Err}
	}
	res := rules.Result{Started: got.Sent, Ended: got.Ended, TimedOut: got.TimedOut, Nearly: got.Nearly, Err: got.Err, Ignored: got.Ignored,
		Stdout: written(got.Stdout), Stderr: written(got.Stderr)}
	if got.Halted {
		res.Halted = why(s.halted)
	}
	switch {
	case got.Refused != nil:
		res.Err = got.Refused
	case res.Started.IsZero() && res.Halted == "":
		res.Started = res.Ended
	}
	return res
}

// written is what an agent wrote to a stream, in the form of the ledger.
func written(w agent.Written) state.Output {
	return state.Output{Bytes: w.Bytes, Truncated: w.Truncated}
}
