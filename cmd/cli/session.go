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
	Long  string // what it does, for reading; paragraphs of up to 100 columns
	// Examples are real calls; the first is the one to learn.
	Examples []string
	// but for what follows "--"; options may stand in the place of those that are not required
	Arguments []option.Argument
	Options   option.Rows
	Tail      bool // what follows "--" is a command, not further arguments
	// which tasks the arguments name, for completion: live, paused, running, removed, any; items or
	// item of the inbox; empty for none
	Ids     string
	Answers []Shape // the shapes of what it answers with --json; errors are answered alike by all
	Exits   []int   // what it can end with beside exitsOf, in order; see there
	Passes  bool    // it passes on the exit code of a command that it runs
	Hidden  bool
	Always  bool // it runs however wrong the settings in the environment are
	// it is soon over, and tells nothing of how far it came: until it waits for something a signal
	// ends it as it does any program
	Brief bool
	Run   func(ctx context.Context, s *Call) error
}

// Table is all commands, in the order the help shows them. Each is made when it is asked for: a
// call needs one, and all of them are most of what a short call would do.
type Table []Row

// Row is a command that was not made yet.
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

// Shape is one shape of what a command answers with --json.
type Shape struct {
	// of its schema, docs/schemas/NAME.json: one name is one type, whichever commands answer so
	Name   string
	Of     any    // a value of its type
	Says   string // what it answers, or on which calls: in one line, lower case
	Stream bool   // one such object on a line for each thing that happens
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
	Table Table // all commands, for what tells of them
	Opt   option.Values
	Args  []string // the arguments, options taken out
	Tail  []string // what followed "--", for a command with a tail
	Dash  bool     // there was a "--"
	After int      // how many of the arguments followed it, for a command without a tail
	// Called is the name that the program was called by, with its folder if that was given.
	Called string

	Reference time.Time // what answers call now, when the call names it; else zero
	// what times are read against when they share one present; else zero, and the clock tells
	Present time.Time
	Share   *tasks.Share // of a span that many tasks are dealt out over
	// finds what is waited for, where that is not the state; nil: the state
	Awaited tasks.Awaited
	Around  *tasks.Surroundings
	// where times are meant that no --tz is given with, once that was found out for many of them
	OwnZone *time.Location
	Sample  bool // the call stands for others, whose command is not known yet
	// the origin of what the call makes, when it is not that of the environment
	CameOf     string
	config     state.Config
	configRead bool
	Store      state.Store
	Finder     *needs.Finder // what was found of programs
	// what the answers in JSON are to warn of: the state is on a network file system
	Remote  []Warning
	Single  bool            // whoever called takes one answer, and no stream of them
	Unread  []state.Problem // what could not be read among all tasks, when the call takes all
	Further problem.Call    // how the call goes on, when its answer says so
	Hangup  *Hangup         // what becomes of HUP; nil: it ends the call
}

// NewCall is a call that nothing is known of yet but its world.
func NewCall(w World) *Call {
	s := &Call{World: w}
	said := new(spoken)
	s.Words.program = sync.OnceValue(func() string { return programOf(s) })
	s.Stdout, s.spoken, s.world = bufio.NewWriterSize(counting{w.Out, &said.out}, 32<<10), said, &s.World
	return s
}

// Conclude tells the error, if there is one that is not a signal, sends the answer on its way and
// returns the exit code.
func Conclude(s *Call, err error) int {
	code := ExitOK
	var sig *Signalled
	if !errors.As(err, &sig) {
		code = report(s, err)
	}
	if lost := s.Flush(); lost != nil {
		s.InJSON = false // there is no telling it on standard output
		if told := report(s, lost); code == ExitOK {
			code = told
		}
	}
	if code == ExitOK {
		s.Own()
	}
	return code
}

// Perform runs the command of the call with what the call says.
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

// tellQuarantined says, whatever the command was, that task files lie aside because they could not
// be read.
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

// Home is the folder of the state: OURO_HOME, or .ouro in the user's home.
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
	if dir == "" { // as under env -i: the user database knows
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

// Now is the instant of this call, to which every answer refers, in the given zone.
func (s *Call) Now(zone *time.Location) time.Time {
	if !s.Present.IsZero() {
		return s.Present.In(zone)
	}
	return s.Clock.Now().In(zone)
}

// Environment refuses settings in the environment that could not be honoured.
func (s *Call) Environment() error {
	if v := s.Getenv("OURO_AUTOSTART"); v != "" && v != "0" && v != "1" {
		return problem.Of(problem.T("OURO_AUTOSTART is %s", Quote(v)), problem.T("set it to 0 or 1"))
	}
	return nil
}
