// Package handover says who runs what was scheduled, who is told about it, and what may prevent
// that. It starts a runner when none lives.
package handover

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ouro-timer/ouro-timer/cmd/cli"
	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/state/plainfile"
	"github.com/ouro-timer/ouro-timer/timer/clock"
	"github.com/ouro-timer/ouro-timer/timer/problem"
	"github.com/ouro-timer/ouro-timer/timer/proc"
	"github.com/ouro-timer/ouro-timer/timer/runner"
)

// These say who runs a task that was just scheduled.
const (
	RunnerAlive   = "alive"   // a runner holds the lock
	RunnerStarted = "started" // one was started for it
	RunnerStopped = "stopped" // a runner holds the lock, but was sent SIGSTOP
	RunnerNone    = "none"    // no runner lives, and none was started
)

// RunnerState says who runs what is pending.
type RunnerState struct {
	Runner  string
	Pid     int
	there   bool         // Pid is a number of another container
	Nodes   []string     // in a fleet, the other machines whose runners may run it
	offBy   problem.Text // the setting that kept a runner from being started
	problem problem.Text // why no runner could be started
	only    []string     // in a fleet, where alone it may run, if no runner lives there
	denied  bool         // the key of this machine does not permit a runner
	living  []string     // with denied: the machines whose runners live
	taskID  string       // with denied: the task, if it is only one
	// in a fleet: a runner by the name of this machine seems to live on another one. If it does,
	// the runner that was started here ends.
	twins []cli.Warning
	dry   bool // a dry run: a runner would be started

	survives func() bool // computes Survives; nil means false
}

// Survives reports whether a runner starts by itself after a reboot, because the service is
// installed.
func (h RunnerState) Survives() bool { return h.survives != nil && h.survives() }

// Process names a process by its number, and says when that is one of another container: here it
// means nothing, or another process.
func Process(pid int, elsewhere bool) string {
	if elsewhere {
		return fmt.Sprintf("pid %d of another container", pid)
	}
	return fmt.Sprintf("pid %d", pid)
}

// noRunner says that no runner could be started.
func noRunner(err error) RunnerState {
	return RunnerState{Runner: RunnerNone, problem: cli.Explain(err).Message}
}

// Who returns the sentence of a confirmation.
func (h RunnerState) Who() string {
	switch h.Runner {
	case RunnerAlive:
		if len(h.Nodes) > 0 {
			return fmt.Sprintf("The runner of %s runs it.", cli.Visible(strings.Join(h.Nodes, " or ")))
		}
		return fmt.Sprintf("The runner (%s) runs it.", Process(h.Pid, h.there))
	case RunnerStopped:
		return fmt.Sprintf("The runner (pid %d) was stopped by SIGSTOP, and runs it once it goes on (kill -CONT %d).",
			h.Pid, h.Pid)
	case RunnerStarted:
		if h.dry {
			return "A runner would be started in the background for it."
		}
		return "A runner was started in the background for it."
	}
	return "Nobody runs it yet."
}

// Started reports whether a process was started that is a runner, or may become one.
func (h RunnerState) Started() bool {
	return h.Runner == RunnerStarted || h.Runner == RunnerNone && len(h.twins) > 0 && !h.dry
}

// Warnings says what to do when nobody runs what is pending. There are none when somebody does, or
// when nothing is pending.
func (h RunnerState) Warnings() []cli.Warning {
	switch {
	case h.Runner != RunnerNone:
		return nil
	case len(h.twins) > 0:
		return h.twins
	}
	return []cli.Warning{{Kind: cli.WarnRunner, Text: h.advice()}}
}

// advice says what to do when nobody runs what is pending.
func (h RunnerState) advice() problem.Text {
	start := problem.To("run").With("background", true)
	switch {
	case len(h.only) > 0:
		return problem.T("no living runner may run it: it runs on %s only; start one there with %s",
			strings.Join(h.only, " or "), start)
	case h.denied && len(h.living) > 0:
		return problem.T("the key of this machine does not permit a runner, and the task may run nowhere else; %s lets %s run it",
			problem.To("edit", cmp.Or(h.taskID, "ID")).With("on", state.AnyNode), strings.Join(h.living, " or "))
	case h.denied:
		return problem.T("the key of this machine does not permit a runner, and no runner of another machine lives; start one there with %s",
			start)
	case !h.problem.Empty():
		return problem.T("no runner could be started (%s); start one with %s", h.problem, problem.To("run"))
	case !h.offBy.Empty():
		return problem.T("no runner is alive and autostart is off (%s); start one with %s", h.offBy, start)
	}
	return problem.T("no runner is alive; start one with %s", start)
}

// HandOver makes sure that a runner lives: it starts one in the background when there is none. It
// is called after the task was written. A runner that ends looks for tasks once more after it gave
// up the lock, so a runner that is seen alive here sees the task. An error does not undo the task;
// the result says why nobody runs it.
//
// When entries are given, and runners of other machines of a fleet may run all of them, no runner
// is started here.
func HandOver(ctx context.Context, s *cli.Call, st state.Leases, entries ...state.Entry) RunnerState {
	h, elsewhere, err := findElsewhere(ctx, st, entries)
	if err == nil && !elsewhere {
		h, err = findRunner(ctx, s, st)
	}
	if err != nil {
		h = noRunner(err)
	}
	if h.denied && len(entries) == 1 {
		h.taskID = entries[0].Task.ID
	}
	// whether it starts after a reboot is not known of another machine, and not warned of
	h.survives = func() bool { return elsewhere || cli.Survives(s) }
	return h
}

// findElsewhere returns who in a fleet runs tasks that this machine does not have to run.
func findElsewhere(ctx context.Context, st state.Leases, entries []state.Entry) (h RunnerState, elsewhere bool,
	err error) {
	shared, ok := state.SharedBy(st)
	if !ok || len(entries) == 0 {
		return h, false, nil
	}
	here := shared.Here()
	living, err := shared.Living(ctx)
	if err != nil {
		return h, false, err
	}
	h.Runner = RunnerAlive
	for _, e := range entries {
		var nodes []string
		for _, n := range living {
			if n.Fits(e.Task.On) {
				nodes = append(nodes, n.Name)
			}
		}
		switch {
		case len(e.Task.On) == 0, slices.Contains(nodes, here.Name), len(nodes) == 0 && here.Fits(e.Task.On):
			return h, false, nil
		case len(nodes) == 0:
			h.Runner, h.only = RunnerNone, e.Task.On
		}
		h.Nodes = append(h.Nodes, nodes...)
	}
	h.Nodes = slices.Compact(slices.Sorted(slices.Values(h.Nodes)))
	return h, true, nil
}

// findRunner returns the runner of this machine, and starts one when none lives.
func findRunner(ctx context.Context, s *cli.Call, st state.Leases) (RunnerState, error) {
	leader, led, err := runner.Led(ctx, st)
	if err != nil {
		return RunnerState{}, err
	}
	off, err := autostartOff(s)
	if err != nil {
		return RunnerState{}, err
	}
	if led && off.Empty() && !s.DryRun && leader.Yields && newerVersion(cli.Version, leader.Version) &&
		!runner.Suspended(leader.Ident) {
		led = !supersede(ctx, s.Clock, st, leader)
	}
	switch {
	case led && runner.Suspended(leader.Ident):
		return RunnerState{Runner: RunnerStopped, Pid: leader.Ident.PID}, nil
	case led:
		return RunnerState{Runner: RunnerAlive, Pid: leader.Ident.PID,
			there: runner.InOtherContainer(leader.Ident)}, nil
	}
	if h, err := keyDenies(ctx, st); err != nil || h.denied {
		return h, err
	}
	if !off.Empty() {
		return RunnerState{Runner: RunnerNone, offBy: off}, nil
	}
	twins, err := TwinWarnings(ctx, s, st)
	if err != nil {
		return RunnerState{}, err
	}
	h := RunnerState{Runner: RunnerStarted, dry: s.DryRun, twins: twins}
	if len(twins) > 0 {
		// It waits until the other one's heartbeat is gone, and ends if that lives. The other one
		// may have ended, as before a reboot, so it is started all the same.
		h.Runner = RunnerNone
	}
	if !s.DryRun {
		id, err := startRunner(s)
		if err != nil {
			return noRunner(err), nil
		}
		h.Pid = id.PID
		awaitLead(ctx, s, st, id)
	}
	return h, nil
}

// leadMost is how long a call waits until the runner that it has started has the lock, and leadStep
// how often that is looked at. The start of a process takes a few times leadStep.
const leadMost, leadStep = time.Second, 4 * time.Millisecond

// awaitLead waits a moment until a runner that was just started has the lock, or has ended because
// another one has it. Calls that follow would say that no runner is alive. In a fleet a runner may
// have to wait for more than the lock, so there nobody waits for it.
func awaitLead(ctx context.Context, s *cli.Call, st state.Leases, id proc.Identity) {
	alone, ok := st.(interface{ LastLed() state.Leader })
	started := state.Ident{PID: id.PID, Start: id.Start, Boot: id.Boot, NS: id.PIDNS}
	for waited := time.Duration(0); ok && waited < leadMost && runner.Alive(started); waited += leadStep {
		if alone.LastLed().Ident.PID == id.PID || s.Clock.For(ctx, leadStep) != nil {
			return
		}
	}
}

// keyDenies returns who may run tasks of a fleet when the key of this machine does not permit a
// runner. Otherwise the result is not denied.
func keyDenies(ctx context.Context, st state.Leases) (h RunnerState, err error) {
	shared, ok := state.SharedBy(st)
	if !ok {
		return h, nil
	}
	may, err := shared.MayLead(ctx)
	if err != nil || may {
		return h, err
	}
	living, err := shared.Living(ctx)
	h = RunnerState{Runner: RunnerNone, denied: true}
	for _, n := range living {
		h.living = append(h.living, n.Name)
	}
	return h, err
}

// supersede asks a runner of an older build to step down, and reports whether the lock is free. A
// runner that does not answer, such as one stopped by SIGSTOP, stays.
func supersede(ctx context.Context, c clock.Clock, st state.Leases, old state.Leader) bool {
	if runner.AskToYield(old.Ident) != nil {
		return false
	}
	const maxWait, step = time.Second, 5 * time.Millisecond
	for waited := time.Duration(0); waited < maxWait; waited += step {
		leader, led, err := st.Led(ctx)
		if err != nil || led && leader.Ident.PID != 0 && leader.Ident != old.Ident {
			return false // another runner was first
		}
		if !led {
			return true
		}
		if c.For(ctx, step) != nil {
			return false
		}
	}
	return false
}

// autostartOff names the setting that forbids starting a runner; empty for none. An option takes
// precedence over the environment, and that over config.toml.
func autostartOff(s *cli.Call) (off problem.Text, err error) {
	if s.Opt.Bool("no-autostart") {
		return problem.T("%s", problem.Option("no-autostart")), nil
	}
	switch s.Getenv("OURO_AUTOSTART") {
	case "0":
		return problem.T("OURO_AUTOSTART=0"), nil
	case "1":
		return off, nil
	}
	config, err := s.Settings()
	if err == nil && config.Run.Autostart != nil && !*config.Run.Autostart {
		off = problem.T("autostart in config.toml")
	}
	return off, err
}

// inheritedVariables are the variables that a runner in the background gets from the call that
// starts it: those by which it finds its files, and those for telling somebody. Commands get only
// the variables that were captured with their task.
var inheritedVariables = []string{"PATH", "HOME", "USER", "LOGNAME", "LANG", "TZ", "OURO_TZ", "TMPDIR", "GOCOVERDIR",
	"OURO_STORE", "DBUS_SESSION_BUS_ADDRESS", "XDG_RUNTIME_DIR", "DISPLAY", "WAYLAND_DISPLAY", "RESEND_API_KEY",
	"RESEND_BASE_URL", "NOTIFY_EMAIL_FROM",
	"SSL_CERT_FILE", "SSL_CERT_DIR", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy"}

// startRunner starts a runner in a session of its own, which ends when nothing is pending. The
// runner has no descriptor of the caller, and writes to runs/runner.log.
func startRunner(s *cli.Call) (id proc.Identity, err error) {
	home, err := s.Home()
	if err != nil {
		return id, err
	}
	path, err := runnerLogPath(s)
	if err != nil {
		return id, err
	}
	if err := plainfile.MkdirAll(filepath.Dir(path)); err != nil {
		return id, fmt.Errorf("%w: %w", state.ErrUnusable, err)
	}
	log, err := plainfile.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if errors.Is(err, plainfile.ErrOdd) {
		return id, fmt.Errorf("%w: %s is not a plain file; look at it, then type: rm %s", state.ErrUnusable, path,
			cli.ShellQuote(path))
	}
	if err != nil {
		return id, fmt.Errorf("%w: %w", state.ErrUnusable, err)
	}
	defer log.Close()
	env := []string{"OURO_HOME=" + home}
	for _, name := range inheritedVariables {
		if v := s.Getenv(name); v != "" {
			env = append(env, name+"="+v)
		}
	}
	self, err := proc.Executable()
	if err != nil {
		return id, err
	}
	return proc.Detach([]string{self, "run", "--detached"}, env, log)
}

// TwinWarnings says that the runner of another machine of a fleet has the name of this one.
func TwinWarnings(ctx context.Context, s *cli.Call, st any) ([]cli.Warning, error) {
	shared, ok := state.SharedBy(st)
	if !ok {
		return nil, nil
	}
	l, yes, err := shared.Twin(ctx)
	if err != nil || !yes {
		return nil, err
	}
	return []cli.Warning{{Kind: cli.WarnRunner, Text: problem.T("the runner %s (pid %d there) is on another machine, and this one has its name, too; "+
		"give this one another name below [node] in %s", shared.Here().Name, l.Ident.PID, cli.ConfigPath(s))}}, nil
}

// UnrunnableWarnings warns about tasks of a fleet that no living runner may run.
func UnrunnableWarnings(ctx context.Context, st any) []cli.Warning {
	shared, ok := state.SharedBy(st)
	if !ok {
		return nil
	}
	ids, err := shared.Homeless(ctx)
	if err != nil || len(ids) == 0 {
		return nil
	}
	return []cli.Warning{{Kind: cli.WarnRunner,
		Text: problem.T("%s that no living runner may run, such as %s; start a runner there (%s), or let it run elsewhere (%s)", TasksWait(len(ids)), ids[0],
			problem.To("run").With("background", true), problem.To("edit", ids[0]).With("on", state.AnyNode))}}
}

// TasksWait returns the words for how many tasks wait.
func TasksWait(n int) string {
	if n == 1 {
		return "1 task waits"
	}
	return fmt.Sprint(n, " tasks wait")
}

// WarnNoRunner warns when nobody would run what the call waits for.
func WarnNoRunner(ctx context.Context, s *cli.Call, st state.Store) {
	if _, shared := state.SharedBy(st); shared {
		s.WarnAll(UnrunnableWarnings(ctx, st))
		return
	}
	if _, led, err := runner.Led(ctx, st); err != nil || led {
		return
	}
	if l, err := st.List(ctx, state.Pending, state.Running); err == nil && l.Len > 0 {
		s.WarnAll(RunnerState{Runner: RunnerNone}.Warnings())
	}
}
