package cli

import (
	"bufio"
	"context"
	"errors"
	"os"
	"os/user"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/ouro-timer/ouro-timer/cmd/option"
	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/state/settings"
	"github.com/ouro-timer/ouro-timer/timer/needs"
	"github.com/ouro-timer/ouro-timer/timer/problem"
	"github.com/ouro-timer/ouro-timer/timer/tasks"
)

// Command is one row of the table of commands.
type Command struct {
	Name  string
	Args  string // the arguments, as the line of use shows them
	Short string // what it does, in one line
	Long  string // what it does, in paragraphs
	// Examples are real calls. The first is the one to learn.
	Examples []string
	// Arguments does not have what follows "--". Options may stand in the place of those that are
	// not required.
	Arguments []option.Argument
	Options   option.Rows
	Tail      bool // what follows "--" is a command, and not more arguments
	// Ids says which tasks the arguments name, for completion: live, paused, running, removed or
	// any; items or item of the inbox; empty for none.
	Ids     string
	Answers []Shape // the shapes of its answers in JSON, without errors
	Exits   []int   // the exit codes that ExitsOf does not know
	Passes  bool    // it ends with the exit code of a command that it runs
	Hidden  bool
	Always  bool // it runs even when settings in the environment are wrong
	// Brief commands are soon over and say nothing about their progress. A signal ends them as it
	// ends any program, unless they wait for something.
	Brief bool
	Run   func(ctx context.Context, s *Call) error
}

// Table has all commands in the order of the help. Each is made when it is needed, because making
// all of them is most of the work of a short call.
type Table []Row

// Row is a command that is not made yet.
type Row struct {
	Name string
	Make func() Command
}

// Find returns the command of that name, or nil.
func (t Table) Find(name string) *Command {
	for _, row := range t {
		if row.Name == name {
			c := row.Make()
			return &c
		}
	}
	return nil
}

// All makes every command.
func (t Table) All() []Command {
	list := make([]Command, len(t))
	for i, row := range t {
		list[i] = row.Make()
	}
	return list
}

// Syntax is what the command takes.
func (c *Command) Syntax() option.Syntax {
	return option.Syntax{Command: c.Name, Options: c.Options, Tail: c.Tail}
}

// Shape is one form of the answers of a command in JSON.
type Shape struct {
	// Name is the name of its schema, docs/schemas/NAME.json. One name is one type, whichever
	// commands answer so.
	Name   string
	Of     any    // a value of its type
	Says   string // what the answer is, or to which calls, in one line
	Stream bool   // there is an object on a line for each event
	// Given names the options that a call has to have, or not to have (!NAME), to be answered so.
	// Empty means any call.
	Given string
}

// fits reports whether a call with these options can be answered so.
func (a Shape) fits(given option.Values) bool {
	for _, name := range strings.Fields(a.Given) {
		absent, no := strings.CutPrefix(name, "!")
		if given.Has(absent) == no {
			return false
		}
	}
	return true
}

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
	// Present is the instant at which times are read, when several share one. When it is zero, the
	// clock says.
	Present time.Time
	Share   *tasks.Share // the part of a span by which the task is delayed
	// Awaited finds the tasks that a task waits for, if they are not in the store.
	Awaited tasks.Awaited
	Around  *tasks.Surroundings
	// OwnZone is the zone of times without --tz, when many lines share it.
	OwnZone *time.Location
	Sample  bool // the call is an example for others whose command is not known
	// CameOf is the origin of new tasks, if it is not that of the environment.
	CameOf     string
	config     state.Config
	configRead bool
	Store      state.Store
	Finder     *needs.Finder // what was found out about programs
	// Remote are the warnings that the state is on a network file system, for answers in JSON.
	Remote  []Warning
	Single  bool            // the caller takes one answer, and not a stream
	Unread  []state.Problem // what could not be read, when the call names all tasks
	Further problem.Call    // the call that goes on with this one, if there is one
	Hangup  *Hangup         // the effect of HUP; nil means that it ends the call
}

// NewCall returns a call of which only the world is known.
func NewCall(w World) *Call {
	s := &Call{World: w}
	said := new(spoken)
	s.Words.program = sync.OnceValue(func() string { return programOf(s) })
	s.Stdout, s.spoken, s.world = bufio.NewWriterSize(counting{w.Out, &said.out}, 32<<10), said, &s.World
	return s
}

// Conclude reports the error unless it is a signal, sends the answer and returns the exit code.
func Conclude(s *Call, err error) int {
	code := ExitOK
	var sig *Signalled
	if !errors.As(err, &sig) {
		code = report(s, err)
	}
	if lost := s.Flush(); lost != nil {
		s.InJSON = false // standard output cannot be written
		if told := report(s, lost); code == ExitOK {
			code = told
		}
	}
	if code == ExitOK {
		s.Own()
	}
	return code
}

// Perform runs the command of the call with the words that were read.
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
	if err := s.Environment(); err != nil && !s.Cmd.Hidden && !s.Cmd.Always {
		return err
	}
	err := s.Cmd.Run(ctx, s)
	tellQuarantined(s)
	return err
}

// tellQuarantined warns on every command that files of tasks are in the quarantine.
func tellQuarantined(s *Call) {
	if s.Store == nil || s.InJSON || s.Cmd.Hidden {
		return
	}
	switch names, err := s.Store.Quarantined(context.Background()); {
	case err != nil || len(names) == 0:
	case len(names) == 1:
		s.Warn("warning: a task file could not be read and was set aside: mend or delete %s", Visible(names[0]))
	default:
		s.Warn("warning: %d task files could not be read and were set aside: mend or delete what is in %s",
			len(names), Visible(filepath.Dir(names[0])))
	}
}

// Home is the folder of the state: OURO_HOME, or .ouro in the home of the user.
func (s *Call) Home() (string, error) {
	if dir := s.Getenv("OURO_HOME"); dir != "" {
		if !filepath.IsAbs(dir) {
			return "", problem.New(problem.Unusable,
				problem.T("OURO_HOME is %s, and the present folder cannot be told", Quote(dir)),
				problem.T("set OURO_HOME to an absolute path, or change to a folder that exists"))
		}
		return filepath.Clean(dir), nil
	}
	dir := s.Getenv("HOME")
	if dir == "" { // without HOME, as under env -i, the user database is asked
		if u, err := user.Current(); err == nil {
			dir = u.HomeDir
		}
	}
	unusable := func(why string) (string, error) {
		return "", problem.New(problem.Unusable, problem.T("%s, so there is no place to keep the state in", why),
			problem.T("set HOME, or OURO_HOME to a folder of yours"))
	}
	switch _, err := os.Stat(dir); {
	case dir == "":
		return unusable("HOME is not set")
	case !filepath.IsAbs(dir):
		return unusable("HOME is " + Quote(dir) + ", no absolute path")
	case os.IsNotExist(err):
		return unusable("the home folder " + Quote(dir) + " does not exist")
	}
	return filepath.Join(dir, ".ouro"), nil
}

// Settings returns config.toml, read once.
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
		return state.Config{}, problem.Of(problem.T(err.Error()), problem.T("mend config.toml, or move it away"))
	}
	s.configRead = true
	return s.config, nil
}

// Now is the instant of this call in a zone. Every answer refers to it.
func (s *Call) Now(zone *time.Location) time.Time {
	if !s.Present.IsZero() {
		return s.Present.In(zone)
	}
	return s.Clock.Now().In(zone)
}

// Environment refuses settings in the environment that cannot be followed.
func (s *Call) Environment() error {
	if v := s.Getenv("OURO_AUTOSTART"); v != "" && v != "0" && v != "1" {
		return problem.Of(problem.T("OURO_AUTOSTART is %s", Quote(v)), problem.T("set it to 0 or 1"))
	}
	return nil
}
