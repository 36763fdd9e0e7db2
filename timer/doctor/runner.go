package doctor

import (
	"context"
	"fmt"
	"path/filepath"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/state/plain"
	"github.com/ouro-timer/ouro-timer/timer/rules"
	"github.com/ouro-timer/ouro-timer/timer/runner"
	"github.com/ouro-timer/ouro-timer/timer/when/say"
)

// tail returns a command that shows the log of a background runner.
func (d *Doctor) tail() string { return "tail " + quoted(filepath.Join(d.Home, "runs", "runner.log")) }

// checkClaims finds runs whose end nobody will see.
func (d *Doctor) checkClaims(ctx context.Context, tell report) string {
	open, problems, err := d.Store.Open(ctx)
	if err != nil {
		tell(d.Failed(err))
		return ""
	}
	self, err := runner.Self()
	if err != nil {
		tell(d.Failed(err))
		return ""
	}
	again := d.Program + " run --background "
	if d.led {
		again = d.Program + " run --stop, then " + d.Program + " run --background, which "
	}
	for _, p := range problems {
		tell(wrong(Damaged, p.Path, p.Error(), d.Program+" run --background ends it as interrupted"))
	}
	alive := 0
	for _, r := range open {
		id := state.OccurrenceID(r.Task.ID, r.Number)
		name := id + " (" + summary(r.Task) + ")"
		switch {
		case r.Number == 0: // its record is damaged, which is reported elsewhere
		case runner.Alive(r.Runner) || runner.Alive(r.Child) || d.led && r.Runner == d.leader.Ident:
			alive++
		case runner.InOtherContainer(r.Runner):
			tell(odd(Elsewhere, id, name+" was begun in another container, and nobody here can tell whether it runs", "ask there: "+d.Program+" doctor"))
		case !r.Retry.IsZero():
			tell(wrong(Resting, id, name+" was to be tried again at "+stamp(r.Retry.In(d.Zone))+", and its runner is gone", again+d.prospect(r, self)))
		case r.Starting.IsZero() && r.Started.IsZero() && r.Attempt == 0:
			tell(wrong(Claimed, id, name+" was claimed and perhaps not begun; its runner is gone", again+d.prospect(r, self)))
		default:
			tell(wrong(Interrupted, id, name+" was interrupted: its runner and its command are gone", again+d.prospect(r, self)))
		}
	}
	agents, err := runner.LeftAgents(ctx, d.Store)
	if err != nil {
		tell(odd(Damaged, "", err.Error(), "nothing: it is written anew by the next runner"))
	}
	for _, a := range agents {
		for _, p := range a.Processes {
			tell(wrong(LeftAgent, "", fmt.Sprintf("the agent %s (pid %d) outlived its runner (pid %d)", p.Program, p.PID, a.Runner.PID), again+"ends it"))
		}
	}
	return plain.Plural(alive, "run") + " going on, each with a live process"
}

// prospect returns what a runner will do about a claim whose runner is gone, as the rest of a
// sentence.
func (d *Doctor) prospect(r state.Record, self state.Ident) string {
	next := max(r.Attempt, 1) + 1
	switch runner.ProspectOf(r, self) {
	case rules.ToAdopt:
		return "waits for its command"
	case rules.ToRelease:
		return "starts it late, as --window and --overlap have it, unless the task was changed meanwhile"
	case rules.ToRest:
		at := "at once"
		if r.Retry.After(d.Now) {
			at = "at that time"
		}
		return fmt.Sprintf("makes attempt %d of at most %d %s", next, r.Task.Policy.Retries+1, at)
	case rules.ToTell:
		return "tells it, perhaps for the second time"
	case rules.ToRerun:
		return fmt.Sprintf("starts it again at once (--rerun-interrupted), as attempt %d", next)
	}
	outcome := "interrupted"
	if r.Halt != "" {
		outcome = "cancelled"
	}
	if r.Task.Told() || r.Task.Type() == state.TypeAgent {
		return "ends it as " + outcome
	}
	return "ends it as " + outcome + "; it is not started again"
}

// checkRunner checks whether somebody runs what is due.
func (d *Doctor) checkRunner(ctx context.Context, tell report) (fine string) {
	next, pending, err := state.Next(ctx, d.Store, time.Time{})
	if d.leaderErr != nil {
		err = d.leaderErr
	}
	if err != nil {
		tell(d.Failed(err))
		return ""
	}
	first := "nothing is pending"
	if pending {
		first = "the next wake is " + say.Echo(next.In(d.Zone).Truncate(time.Second), d.Now)
	}
	anew := d.Program + " run --stop, then " + d.Program + " run --background"
	lock := "fuser " + quoted(filepath.Join(d.Home, "runs", "runner.lock"))
	who := fmt.Sprintf("the runner (pid %d)", d.leader.Ident.PID)
	about := fmt.Sprint(d.leader.Ident.PID)
	switch {
	case !d.led && pending:
		tell(wrong(NoRunner, "", "no runner is alive; "+first, d.Program+" run --background"))
	case !d.led:
		fine = "no runner is alive, and none is needed: " + first
	case d.leader.Ident.PID == 0:
		tell(odd(Unnamed, "", "a runner holds the lock and has not said who it is", "call again in a moment; "+lock+" finds it"))
	case runner.InOtherContainer(d.leader.Ident):
		tell(odd(Elsewhere, about, who+" runs in another container", "ask there: "+d.Program+" doctor"))
	case !runner.Alive(d.leader.Ident):
		tell(wrong(LockKept, about, who+" is gone, and something keeps its lock", "find it: "+lock))
	case runner.Suspended(d.leader.Ident):
		tell(wrong(Stopped, about, who+" is stopped: it is alive and does nothing", fmt.Sprintf("kill -CONT %d", d.leader.Ident.PID)))
	case d.leader.Version != d.Version:
		tell(odd(OtherVersion, about, fmt.Sprintf("%s is of version %s, and this is %s", who, d.leader.Version, d.Version), anew))
	default:
		fine = fmt.Sprintf("%s is alive, in the %s, since %s; %s", who, d.leader.Mode, stamp(d.leader.Since.In(d.Zone)), first)
	}
	if fine != "" {
		tell(state.Finding{Level: state.Fine, Text: fine})
	}
	d.checkTrouble(ctx, tell)
	// A runner in the foreground was started by somebody, who may start it again.
	if n := d.tasks.recurring; n > 0 && (!d.led || d.leader.Mode == "background") && !d.Survives() {
		waits := "1 recurring task waits"
		if n > 1 {
			waits = plain.Plural(n, "recurring task") + " wait"
		}
		tell(odd(NoReboot, "", "after a reboot "+waits+" until ouro-timer is called again", "ouro-timer service install"))
	}
	return ""
}

// checkTrouble reports recent errors of a runner, and a runner that has ended without a record.
func (d *Doctor) checkTrouble(ctx context.Context, tell report) {
	since := d.Now.Add(-24 * time.Hour)
	if d.led {
		since = d.leader.Since.Truncate(time.Second) // errors of earlier runners are past
	}
	if !d.led && runner.HasEnded(d.leader.Ident) {
		tell(odd(Died, fmt.Sprint(d.leader.Ident.PID),
			fmt.Sprintf("the runner before (pid %d) has ended without a word: it was killed, or has crashed", d.leader.Ident.PID), d.tail()))
	}
	trouble, err := d.Store.Trouble(ctx) // trouble that cannot be read counts as none
	if err == nil && trouble.At.After(since) {
		tell(odd(Trouble, "", "a runner complained at "+stamp(trouble.At.In(d.Zone))+": "+plain.Cut(trouble.Text, 200), d.tail()))
	}
}
