package cli

import (
	"bufio"
	"context"
	"errors"
	"os"
	"os/user"
	"path/filepath"
	"sync"
	"time"

	"github.com/ouro-timer/ouro-timer/cmd/option"
	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/state/settings"
	"github.com/ouro-timer/ouro-timer/timer/needs"
	"github.com/ouro-timer/ouro-timer/timer/problem"
	"github.com/ouro-timer/ouro-timer/timer/tasks"
)

// Call is one call of one command.
type Call struct {
	World
	Out
	Cmd   *Command
	Table Table // all commands, for help and guide
	Opt   option.Values
	Args  []string // the arguments, options taken out
	Tail  []string // what followed "--", for a command with a tail
	Dash  bool     // there was a "--"
	After int      // how many of the arguments followed it, for a command without a tail
	// Called is the name by which the program was called, with its folder if that was given.
	Called string

	Reference time.Time // the instant that answers call now, if the call names one
	// Present is the instant from which times count, when several calls share one. When it is zero,
	// the clock gives it.
	Present time.Time
	Share   *tasks.Share // the part of a span by which the task is delayed
	// Awaited finds the tasks that a task waits for, if they are not in the store.
	Awaited tasks.Awaited
	// Surroundings are the folder, umask and variables for a command, once they are known.
	Surroundings *tasks.Surroundings
	// DefaultZone is the zone of times without --tz, when many lines share it.
	DefaultZone *time.Location
	Sample      bool // the call stands for others whose command is not known yet
	// ChildOrigin is the origin of new tasks, if it is not the one in the environment.
	ChildOrigin string
	Leaving     int    // how many waiting tasks the call removes later
	home        string // the folder of the state, once it is known
	homeGiven   string // what OURO_HOME was then
	config      state.Config
	configRead  bool
	Store       state.Store
	Finder      *needs.Finder // it finds programs, and remembers them
	// NetworkWarnings are the warnings that the state is on a network file system, for answers in
	// JSON.
	NetworkWarnings []Warning
	OneAnswer       bool            // the caller takes one answer and not a stream
	Unreadable      []state.Problem // what could not be read, when the call names all tasks
	Continuation    problem.Call    // the call that continues this one, if there is one
	Hangup          *Hangup         // the effect of HUP; nil means that it ends the call
}

// NewCall returns a call that has only its world.
func NewCall(w World) *Call {
	s := &Call{World: w}
	own := new(ownBytes)
	s.Wording.program = sync.OnceValue(func() string { return programOf(s) })
	s.Stdout, s.ownBytes, s.world = bufio.NewWriterSize(counting{w.Out, &own.out}, 32<<10), own, &s.World
	return s
}

// Conclude reports the error unless a signal is its cause, sends the answer, and returns the exit
// code.
func Conclude(s *Call, err error) int {
	code := ExitOK
	var sig *Signalled
	if !errors.As(err, &sig) {
		code = report(s, err)
	}
	if lost := s.Flush(); lost != nil {
		if reported := report(s, lost); code == ExitOK {
			code = reported
		}
	}
	if code == ExitOK {
		s.MarkOwnOutput()
	}
	return code
}

// Perform runs the command of the call with a command line that was read.
func Perform(ctx context.Context, s *Call, line option.Line) error {
	s.Opt, s.Args, s.Tail, s.Dash, s.After = line.Values, line.Args, line.Tail, line.Dash, line.After
	s.typed = s.Opt.Typed()
	s.InJSON, s.DryRun, s.Quiet = s.Opt.Bool("json") || s.Opt.Has("fields"), s.Opt.Bool("dry-run"), s.Opt.Bool("quiet")
	s.full = s.Opt.Text("json") == jsonFull
	if s.Opt.Has("fields") {
		var err error
		if s.fields, err = readFields(s.Cmd, s.Opt); err != nil {
			return err
		}
	}
	if err := s.CheckEnvironment(); err != nil && !s.Cmd.Hidden && !s.Cmd.InAnyEnvironment {
		return err
	}
	err := s.Cmd.Run(ctx, s)
	warnQuarantined(s)
	return err
}

// warnQuarantined warns, after any command, of task files in the quarantine.
func warnQuarantined(s *Call) {
	if s.Store == nil || s.InJSON || s.Cmd.Hidden {
		return
	}
	switch names, err := s.Store.Quarantined(context.Background()); {
	case err != nil || len(names) == 0:
	case len(names) == 1:
		s.Warn("warning: a task file cannot be read and is in quarantine: repair or delete %s", Visible(names[0]))
	default:
		s.Warn("warning: %d task files cannot be read and are in quarantine: repair or delete those in %s",
			len(names), Visible(filepath.Dir(names[0])))
	}
}

// Home is the folder of the state: OURO_HOME, or .ouro in the home of the user. It is looked for
// once for a call, unless the call gets another OURO_HOME.
func (s *Call) Home() (home string, err error) {
	if given := s.Getenv("OURO_HOME"); s.home == "" || given != s.homeGiven {
		s.home, err = findHome(s.World)
		s.homeGiven = given
	}
	return s.home, err
}

func findHome(w World) (string, error) {
	if dir := w.Getenv("OURO_HOME"); dir != "" {
		if !filepath.IsAbs(dir) {
			return "", problem.New(problem.Unusable,
				problem.T("OURO_HOME is %s, a relative path, and the current folder is not known", Quote(dir)),
				problem.T("set OURO_HOME to an absolute path, or change to a folder that exists"))
		}
		return filepath.Clean(dir), nil
	}
	dir := w.Getenv("HOME")
	if dir == "" { // as under env -i: the user database has it
		if u, err := user.Current(); err == nil {
			dir = u.HomeDir
		}
	}
	unusable := func(why string) (string, error) {
		return "", problem.New(problem.Unusable, problem.T("%s, so there is no place for the state", why),
			problem.T("set HOME, or OURO_HOME to a folder of yours"))
	}
	switch _, err := os.Stat(dir); {
	case dir == "":
		return unusable("HOME is not set")
	case !filepath.IsAbs(dir):
		return unusable("HOME is " + Quote(dir) + ", which is not an absolute path")
	case os.IsNotExist(err):
		return unusable("the home folder " + Quote(dir) + " does not exist")
	}
	return filepath.Join(dir, ".ouro"), nil
}

// Settings returns config.toml, which is read once for a call.
func (s *Call) Settings() (state.Config, error) {
	if s.configRead {
		return s.config, nil
	}
	dir, err := s.Home()
	if err != nil {
		return state.Config{}, err
	}
	s.config, err = settings.Load(dir)
	if errors.Is(err, state.ErrUnusable) {
		return state.Config{}, err
	}
	if err != nil {
		return state.Config{}, problem.Of(problem.T(err.Error()), problem.T("correct config.toml, or move it away"))
	}
	s.configRead = true
	return s.config, nil
}

// Now is the instant of this call in a zone. Every relative time counts from it.
func (s *Call) Now(zone *time.Location) time.Time {
	if !s.Present.IsZero() {
		return s.Present.In(zone)
	}
	return s.Clock.Now().In(zone)
}

// CheckEnvironment refuses variables whose value means nothing.
func (s *Call) CheckEnvironment() error {
	if v := s.Getenv("OURO_AUTOSTART"); v != "" && v != "0" && v != "1" {
		return problem.Of(problem.T("OURO_AUTOSTART is %s", Quote(v)), problem.T("set it to 0 or 1"))
	}
	return nil
}
