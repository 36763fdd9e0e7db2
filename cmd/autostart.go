package cmd

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/timer/proc"
)

// Who runs a task that was just scheduled.
const (
	runnerAlive   = "alive"   // a runner already holds the lock
	runnerStarted = "started" // one was started for it
	runnerNone    = "none"    // nobody: autostart is off, or could not be done
)

// hands says who will run what is pending.
type hands struct {
	runner  string
	pid     int
	off     string // why nothing was started: the setting that is off
	problem string // why nothing could be started
}

// who is the sentence of a confirmation.
func (h hands) who() string {
	switch h.runner {
	case runnerAlive:
		return fmt.Sprintf("The runner (pid %d) runs it.", h.pid)
	case runnerStarted:
		return "A runner was started in the background for it."
	}
	return "Nobody runs it yet."
}

// sentence says what to do when nobody runs what is pending.
func (h hands) sentence() string {
	switch {
	case h.problem != "":
		return "no runner could be started (" + h.problem + "); what is due runs when ouro-timer run is"
	case h.off != "":
		return "no runner is alive and autostart is off (" + h.off + "); start one with ouro-timer run --background"
	}
	return "no runner is alive; start one with ouro-timer run --background"
}

// handOver sees to it that a runner lives: it probes for one and starts one in the background when there is none. It is
// called after the task was written: a runner that is about to end looks once more after it has given up the lock, so
// whoever was seen alive here sees the task.
func (s *session) handOver(ctx context.Context, st state.Store) (hands, error) {
	leader, led, err := st.Led(ctx)
	if err != nil {
		return hands{}, err
	}
	if led {
		return hands{runner: runnerAlive, pid: leader.Ident.PID}, nil
	}
	if off, err := s.autostartOff(); err != nil || off != "" {
		return hands{runner: runnerNone, off: off}, err
	}
	pid, err := s.startRunner()
	if err != nil {
		return hands{runner: runnerNone, problem: err.Error()}, nil
	}
	return hands{runner: runnerStarted, pid: pid}, nil
}

// autostartOff names the setting that forbids starting a runner, or is empty: flag over environment over config.
func (s *session) autostartOff() (string, error) {
	if s.cli.Bool("no-autostart") {
		return "--no-autostart", nil
	}
	switch s.Getenv("OURO_AUTOSTART") {
	case "0":
		return "OURO_AUTOSTART=0", nil
	case "1":
		return "", nil
	}
	config, err := s.settings()
	if err != nil {
		return "", err
	}
	if config.Run.Autostart != nil && !*config.Run.Autostart {
		return "autostart in config.toml", nil
	}
	return "", nil
}

// logMost is the size at which a runner that starts puts the log of the ones before it aside.
const logMost = 1 << 20

// startRunner starts a detached runner that ends when nothing is pending. It has its own session, no descriptor of the
// caller's, and writes to runs/runner.log.
func (s *session) startRunner() (pid int, err error) {
	home, err := s.home()
	if err != nil {
		return 0, err
	}
	path := filepath.Join(home, "runs", "runner.log")
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return 0, fmt.Errorf("%w: %w", state.ErrUnusable, err)
	}
	if info, err := os.Stat(path); err == nil && info.Size() > logMost {
		_ = os.Rename(path, path+".1") // losing old talk is no reason not to run what is due
	}
	log, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return 0, fmt.Errorf("%w: %w", state.ErrUnusable, err)
	}
	defer log.Close()
	env := []string{"OURO_HOME=" + home}
	for _, name := range []string{"PATH", "HOME", "USER", "LOGNAME", "LANG", "TZ", "OURO_TZ", "TMPDIR", "GOCOVERDIR"} {
		if v := s.Getenv(name); v != "" {
			env = append(env, name+"="+v)
		}
	}
	self, err := proc.Executable()
	if err != nil {
		return 0, err
	}
	id, err := proc.Detach([]string{self, "run", "--detached"}, env, log)
	return id.PID, err
}
