package cmd

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/state/plainfile"
	"github.com/ouro-timer/ouro-timer/state/settings"
	"github.com/ouro-timer/ouro-timer/timer/proc"
	"github.com/ouro-timer/ouro-timer/timer/runner"
)

// led reports whether a runner holds the runner lock. What keeps it from being told is told of the runner.
func (d *doctor) led() bool { return d.hasLeader }

// lookForLeader asks for the runner, once and before the tasks are looked at.
func (d *doctor) lookForLeader(ctx context.Context) {
	d.leader, d.hasLeader, d.leaderErr = d.st.Led(ctx)
}

// logPath is where a runner in the background says what it does.
func (d *doctor) logPath() string { return filepath.Join(d.home, "runs", "runner.log") }

// parallel is how many commands run at once.
func (d *doctor) parallel() int {
	if r, err := settings.Read(d.home); err == nil && r.Config.Run.MaxParallel > 0 {
		return r.Config.Run.MaxParallel
	}
	return parallel
}

func identityOf(i state.Ident) proc.Identity {
	return proc.Identity{PID: i.PID, Start: i.Start, Boot: i.Boot, PIDNS: i.NS}
}

// lookAtClaims looks for runs that nobody will see the end of.
func (d *doctor) lookAtClaims(ctx context.Context) {
	f := few{d: d, name: "claims"}
	open, problems, err := d.st.Open(ctx)
	if err != nil {
		d.fail("claims", err)
		return
	}
	self, err := runner.Self()
	if err != nil {
		d.fail("claims", err)
		return
	}
	again := "ouro-timer run --background "
	if d.led() {
		again = "ouro-timer run --stop, then ouro-timer run --background, which "
	}
	for _, p := range problems {
		f.say(state.Wrong, p.Error(), "ouro-timer run --background ends it as interrupted")
	}
	alive := 0
	for _, r := range open {
		name := state.OccurrenceID(r.Task.ID, r.Number) + " (" + fit(describe(r.Task), 40) + ")"
		here := identityOf(r.Runner).Here()
		switch {
		case r.Number == 0: // its record is damaged, and was told
		case runAlive(r):
			alive++
		case !here && identityOf(r.Runner).SameBoot():
			f.say(state.Odd, name+" was begun in another container, and nobody here can tell whether it runs", "ask there: ouro-timer doctor")
		case !r.Retry.IsZero():
			f.say(state.Wrong, name+" was to be tried again at "+stamp(r.Retry.In(d.zone))+", and its runner is gone", again+d.prospect(r, self))
		case r.Starting.IsZero() && r.Started.IsZero() && r.Attempt == 0:
			f.say(state.Wrong, name+" was claimed and perhaps not begun; its runner is gone", again+d.prospect(r, self))
		default:
			f.say(state.Wrong, name+" was interrupted: its runner and its command are gone", again+d.prospect(r, self))
		}
	}
	agents, err := runner.LeftAgents(ctx, d.st)
	if err != nil {
		f.say(state.Odd, err.Error(), "nothing: it is written anew by the next runner")
	}
	for _, a := range agents {
		for _, p := range a.Processes {
			f.say(state.Wrong, fmt.Sprintf("the agent %s (pid %d) outlived its runner (pid %d)", p.Program, p.PID, a.Runner.PID), again+"ends it")
		}
	}
	f.end(plural(alive, "run") + " going on, each with a live process")
}

// prospect says what a runner does about a claim whose runner is gone, as the rest of a sentence about it.
func (d *doctor) prospect(r state.Record, self state.Ident) string {
	switch runner.ProspectOf(r, self) {
	case runner.Adopted:
		return "waits for its command"
	case runner.Runs:
		return "starts it late, as --window and --overlap have it, unless the task was changed meanwhile"
	case runner.Retried:
		attempt := fmt.Sprintf("makes attempt %d of at most %d", max(r.Attempt, 1)+1, r.Task.Policy.Retries+1)
		if r.Retry.After(d.now) {
			return attempt + " at that time"
		}
		return attempt + " at once"
	case runner.Told:
		return "tells it, perhaps for the second time"
	case runner.Reruns:
		return fmt.Sprintf("starts it again at once (--rerun-interrupted), as attempt %d", max(r.Attempt, 1)+1)
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

// lookAtRunner looks whether somebody does what is due.
func (d *doctor) lookAtRunner(ctx context.Context) {
	f := few{d: d, name: "runner"}
	fine := ""
	next, pending, err := state.Next(ctx, d.st, time.Time{})
	switch {
	case d.leaderErr != nil:
		d.fail("runner", d.leaderErr)
		return
	case err != nil:
		d.fail("runner", err)
		return
	}
	first := "nothing is pending"
	if pending {
		first = "the next wake is " + echo(next.In(d.zone), d.now)
	}
	const anew = "ouro-timer run --stop, then ouro-timer run --background"
	id := identityOf(d.leader.Ident)
	who := fmt.Sprintf("the runner (pid %d)", id.PID)
	switch {
	case !d.led() && pending:
		f.say(state.Wrong, "no runner is alive; "+first, "ouro-timer run --background")
	case !d.led():
		fine = "no runner is alive, and none is needed: " + first
	case id.PID == 0:
		f.say(state.Odd, "a runner holds the lock and has not said who it is", "call again in a moment; fuser "+shellQuote(filepath.Join(d.home, "runs", "runner.lock"))+" finds it")
	case !id.Here() && id.SameBoot():
		f.say(state.Odd, who+" runs in another container", "ask there: ouro-timer doctor")
	case !id.Alive():
		f.say(state.Wrong, who+" is gone, and something keeps its lock", "find it: fuser "+shellQuote(filepath.Join(d.home, "runs", "runner.lock")))
	case id.Suspended():
		f.say(state.Wrong, who+" is stopped: it is alive and does nothing", fmt.Sprintf("kill -CONT %d", id.PID))
	case d.leader.Version != Version:
		f.say(state.Odd, fmt.Sprintf("%s is of version %s, and this is %s", who, d.leader.Version, Version), anew)
	default:
		fine = fmt.Sprintf("%s is alive, in the %s, since %s; %s", who, d.leader.Mode, stamp(d.leader.Since.In(d.zone)), first)
	}
	since := d.now.Add(-24 * time.Hour)
	if d.led() {
		since = d.leader.Since.Truncate(time.Second) // what those before it complained of is past
	}
	if line, at := lastComplaint(d.logPath()); line != "" && at.After(since) {
		f.say(state.Odd, "a runner complained at "+stamp(at.In(d.zone))+": "+fit(line, 200), "tail "+shellQuote(d.logPath()))
	}
	// One in the foreground has somebody who started it, and may start it again.
	if d.tasks.recurring > 0 && (!d.led() || d.leader.Mode == "background") && !d.survives() {
		f.say(state.Odd, "after a reboot "+waits(d.tasks.recurring)+" until ouro-timer is called again", "ouro-timer service install")
	}
	if fine != "" && f.n > 0 {
		d.say("runner", state.Fine, fine, "")
	}
	f.end(fine)
}

// waits is what so many recurring tasks do.
func waits(n int) string {
	if n == 1 {
		return "1 recurring task waits"
	}
	return plural(n, "recurring task") + " wait"
}

// complaintMost is how much of the end of a runner's log is looked through.
const complaintMost = 64 << 10

// lastComplaint is the last line of a runner's log that tells of trouble, and when it was written: as the line says, or one
// before it, or else when the log was last written to.
func lastComplaint(path string) (line string, at time.Time) {
	f, err := plainfile.Open(path)
	if err != nil {
		return "", at
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return "", at
	}
	data := make([]byte, min(info.Size(), complaintMost))
	n, _ := f.ReadAt(data, info.Size()-int64(len(data)))
	said := time.Time{}
	for l := range bytes.Lines(data[:n]) {
		text := strings.TrimSpace(string(l))
		if len(text) > len(time.DateTime) {
			if t, err := time.ParseInLocation(time.DateTime, text[:len(time.DateTime)], time.Local); err == nil {
				said, text = t, text[len(time.DateTime)+1:]
			}
		}
		if complains(text) {
			line, at = text, said
			if at.IsZero() {
				at = info.ModTime()
			}
		}
	}
	return line, at
}

// complains reports whether a line of a runner's log tells of trouble of the runner's own. That a command has failed is none.
func complains(line string) bool {
	for _, start := range []string{"ouro-timer: ", "panic: ", "fatal error: "} {
		if strings.HasPrefix(line, start) {
			return true
		}
	}
	for _, words := range []string{" could not be ", " cannot be ", " keeps its due instant ", "the clock was put back"} {
		if strings.Contains(line, words) && !strings.Contains(line, " started (pid ") {
			return true
		}
	}
	return false
}
