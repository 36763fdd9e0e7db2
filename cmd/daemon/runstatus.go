package daemon

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/ouro-timer/ouro-timer/cmd/cli"
	"github.com/ouro-timer/ouro-timer/cmd/handover"
	"github.com/ouro-timer/ouro-timer/cmd/view"
	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/timer/runner"
)

// runStatusJSON is the answer of run --status.
type runStatusJSON struct {
	Now         time.Time      `json:"now"`
	Runner      string         `json:"runner"`
	Who         *runnerProcess `json:"process,omitempty" jsonschema:"absent: none is alive, or it has just started"`
	Standby     []int          `json:"standby,omitempty" jsonschema:"processes that wait for the lock"`
	SteppedDown []int          `json:"stepped_down,omitempty" jsonschema:"older runners that see their commands to the end"`
	Others      []otherRunner  `json:"others,omitempty" jsonschema:"in a fleet: the runners of other machines, by their heartbeats"`
	Left        int            `json:"left" jsonschema:"runs and further attempts whose runner has ended"`
	Elsewhere   int            `json:"elsewhere,omitempty" jsonschema:"runs and further attempts of other containers, which may have ended"`
	Next        *time.Time     `json:"next,omitempty"`
	NextTold    *time.Time     `json:"next_told,omitempty" jsonschema:"when the next attempt is made to tell somebody; absent: nobody waits to be told"`
	ToTell      int            `json:"to_tell" jsonschema:"how many notices wait"`

	Delays []delayJSON    `json:"put_off,omitempty" jsonschema:"tasks that the runner cannot start for now, and tries again, the longest first"`
	Agents []agentProcess `json:"agents,omitempty" jsonschema:"agent processes that runners keep, each until 5 minutes to an hour after its last reminder"`
}

// delayJSON is a task whose start is postponed.
type delayJSON struct {
	TaskID string    `json:"task_id"`
	Since  time.Time `json:"since"`
	Why    string    `json:"why"`
}

// runnerProcess is the process that is the runner.
type runnerProcess struct {
	PID       int       `json:"pid"`
	Since     time.Time `json:"since"`
	Version   string    `json:"version"`
	Mode      string    `json:"mode"`
	Elsewhere bool      `json:"elsewhere,omitempty" jsonschema:"it is in another container, and pid is its number there"`
}

// otherRunner is a runner of another machine of a fleet.
type otherRunner struct {
	Node    string    `json:"node"`
	PID     int       `json:"pid" jsonschema:"on that machine"`
	Since   time.Time `json:"since"`
	Running int       `json:"running" jsonschema:"its open claims"`
	Twin    bool      `json:"twin,omitempty" jsonschema:"it has the name of this machine"`

	ident state.Ident
}

// agentProcess is an agent process that a runner keeps.
type agentProcess struct {
	PID     int    `json:"pid"`
	Program string `json:"program" jsonschema:"as a line for a shell"`
	Runner  int    `json:"runner_pid"`
}

// runStatus answers which runner is alive, which others wait or are ending, and what is next.
func runStatus(ctx context.Context, s *cli.Call, st state.Store) error {
	zone, err := s.Zone()
	if err != nil {
		return err
	}
	leader, led, err := runner.Led(ctx, st)
	if err != nil {
		return err
	}
	next, pending, err := state.Next(ctx, st, time.Time{})
	if err != nil {
		return err
	}
	others, err := otherRunners(ctx, st, leader, zone)
	if err != nil {
		return err
	}
	open, err := steppedDown(ctx, st, leader, others)
	if err != nil {
		return err
	}
	notices, _, _, err := st.Outbox(ctx, state.EndOfTime, 0)
	if err != nil {
		return err
	}
	answer := runStatusJSON{Now: s.Now(zone), Runner: handover.RunnerNone, Standby: cli.OrEmpty(st.Standby(ctx)),
		SteppedDown: []int{}, Others: others, Left: open.left, Elsewhere: open.elsewhere, ToTell: len(notices),
		Delays: []delayJSON{}, Agents: keptAgents(ctx, s, st)}
	for _, i := range open.ending {
		answer.SteppedDown = append(answer.SteppedDown, i.PID)
	}
	for _, d := range leader.Delays {
		answer.Delays = append(answer.Delays, delayJSON{d.TaskID, d.Since.In(zone), d.Why})
	}
	suspended := led && runner.Suspended(leader.Ident)
	if led {
		answer.Runner = handover.RunnerAlive
	}
	if led && leader.Ident.PID != 0 {
		answer.Who = &runnerProcess{leader.Ident.PID, leader.Since.In(zone), leader.Version, leader.Mode,
			runner.InOtherContainer(leader.Ident)}
	}
	if suspended {
		answer.Runner = handover.RunnerStopped
	}
	if pending {
		answer.Next = cli.Instant(next, zone)
	}
	if len(notices) > 0 {
		answer.NextTold = cli.Instant(notices[0].Due, zone)
	}
	s.Answer(answer)
	if (!led || suspended) && (pending || open.left+open.elsewhere > 0 || len(notices) > 0) {
		return cli.ExitCode(cli.ExitFailed)
	}
	return nil
}

// Text writes a line for each part of the answer.
func (a runStatusJSON) Text(o *cli.Out) {
	if who := a.Who; who != nil {
		o.Line("runner %s: %s, in the %s, since %s", a.Runner, handover.Process(who.PID, who.Elsewhere), who.Mode,
			view.Stamp(who.Since))
	} else if a.Runner != handover.RunnerNone {
		o.Line("runner %s: it has not written yet who it is", a.Runner)
	} else if len(a.Others) > 0 {
		o.Line("no runner is alive on this machine")
	} else {
		o.Line("no runner is alive")
	}
	for _, pid := range a.Standby {
		o.Line("standing by: pid %d", pid)
	}
	for _, pid := range a.SteppedDown {
		o.Line("stepped down, and waits for its commands to end: pid %d", pid)
	}
	for _, r := range a.Others {
		twin := ""
		if r.Twin {
			twin = "; it is another machine than this one, which has its name, too"
		}
		o.Line("alive on %s, by its heartbeat: pid %d, since %s, with %s%s", cli.Visible(r.Node), r.PID, view.Stamp(r.Since),
			cli.Plural(r.Running, "run"), twin)
	}
	if a.Left > 0 {
		o.Line("left by a runner that has ended: %s to account for or to try again", cli.Plural(a.Left, "run"))
	}
	if a.Elsewhere > 0 {
		o.Line("begun in another container by another runner; nobody here sees whether it goes on: %s",
			cli.Plural(a.Elsewhere, "run"))
	}
	for _, d := range a.Delays {
		o.Line("postponed since %s, and tried again: %s: %s", view.Stamp(d.Since), d.TaskID, cli.Visible(d.Why))
	}
	for _, p := range a.Agents {
		o.Line("agent process: pid %d, %s; it is ended 5 minutes to an hour after its last reminder, and the runner "+
			"stays until then", p.PID, cli.Visible(p.Program))
	}
	switch {
	case a.Next == nil:
		o.Line("nothing is pending")
	case a.Next.Before(a.Now):
		o.Line("next: since %s", view.Echo(*a.Next, a.Now))
	default:
		o.Line("next: %s", view.Echo(*a.Next, a.Now))
	}
	switch {
	case a.NextTold == nil:
	case a.NextTold.Before(a.Now):
		o.Line("to be told: %s, the next since %s", cli.Plural(a.ToTell, "notice"), view.Echo(*a.NextTold, a.Now))
	default:
		o.Line("to be told: %s, the next at %s", cli.Plural(a.ToTell, "notice"), view.Echo(*a.NextTold, a.Now))
	}
	if a.Runner == handover.RunnerNone && (a.Next != nil || a.Left+a.Elsewhere > 0 || a.NextTold != nil) {
		o.Hint("%s run --background", o.Program())
	}
	if a.Runner == handover.RunnerStopped {
		o.Hint("it was sent SIGSTOP, and does nothing until: kill -CONT %d", a.Who.PID)
	}
}

// otherRunners returns the runners of the other machines of a fleet, in order of their names.
func otherRunners(ctx context.Context, st state.Store, own state.Leader, zone *time.Location) ([]otherRunner, error) {
	list := []otherRunner{}
	shared, ok := state.SharedBy(st)
	if !ok {
		return list, nil
	}
	leaders, err := shared.Leaders(ctx)
	for _, node := range slices.Sorted(maps.Keys(leaders)) {
		if l := leaders[node]; l.Ident != own.Ident && !(node == shared.Here().Name && runner.HasEnded(l.Ident)) {
			list = append(list, otherRunner{Node: node, PID: l.Ident.PID, Since: l.Since.In(zone),
				Twin: node == shared.Here().Name, ident: l.Ident})
		}
	}
	return list, err
}

// openClaims are the open claims that no living runner with the lock has.
type openClaims struct {
	ending    []state.Ident // the runners that live, have some and do not hold the lock
	left      int           // how many have no living runner
	elsewhere int           // how many have a runner of which nobody here sees whether it lives
}

// steppedDown finds out whose the open claims are. Runs of fire do not count. Those of other
// machines are counted in others.
func steppedDown(ctx context.Context, st state.Claims, leader state.Leader, others []otherRunner) (c openClaims,
	err error) {
	open, _, err := st.Open(ctx)
	for _, r := range open {
		i := slices.IndexFunc(others, func(o otherRunner) bool { return o.ident == r.Runner })
		switch alive := runner.Alive(r.Runner); {
		case i >= 0:
			others[i].Running++
		case r.Runner == leader.Ident: // it has the lock, also where it cannot be seen
		case !alive && r.Node == "" && runner.InOtherContainer(r.Runner):
			c.elsewhere++
		case !alive:
			c.left++
		case !r.Manual && !slices.Contains(c.ending, r.Runner):
			c.ending = append(c.ending, r.Runner)
		}
	}
	return c, err
}

// keptAgents returns the agent processes that living runners keep.
func keptAgents(ctx context.Context, s *cli.Call, st state.Store) []agentProcess {
	agents, err := st.Agents(ctx)
	if err != nil {
		s.Warn("warning: %s", cli.Visible(err.Error()))
	}
	kept := []agentProcess{}
	for _, a := range agents {
		for _, p := range a.Processes {
			if runner.Alive(a.Runner) && runner.Alive(p.Ident) {
				kept = append(kept, agentProcess{p.PID, p.Program, a.Runner.PID})
			}
		}
	}
	return kept
}
