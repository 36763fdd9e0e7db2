package cmd

import (
	"bufio"
	"context"
	"errors"
	"os"
	"os/user"
	"path/filepath"
	"time"

	"github.com/ouro-timer/ouro-timer/cmd/option"
	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/state/settings"
	"github.com/ouro-timer/ouro-timer/timer/needs"
	"github.com/ouro-timer/ouro-timer/timer/problem"
)

// command is one row of the table: what the library needs to know, and what it does not.
type command struct {
	name  string
	args  string // the arguments, as the line of use shows them
	short string // what it does, in one line
	long  string // what it does, for reading; paragraphs of up to 100 columns
	// examples are real calls; the first is the one to learn.
	examples  []string
	arguments []option.Argument // but for what follows "--"; options may stand in the place of those that are not required
	options   option.Rows
	tail      bool     // what follows "--" is a command, not further arguments
	ids       string   // which tasks the arguments name, for completion: live, paused, running, removed, any; items or item of the inbox; empty for none
	answers   []answer // the shapes of what it answers with --json; errors are answered alike by all
	exits     []int    // what it can end with beside exitsOf, in order; see there
	passes    bool     // it passes on the exit code of a command that it runs
	hidden    bool
	always    bool // it runs however wrong the settings in the environment are
	run       func(ctx context.Context, s *session) error
}

// syntax is what the command takes.
func (c *command) syntax() option.Syntax {
	return option.Syntax{Command: c.name, Options: c.options, Arguments: c.arguments, Tail: c.tail}
}

// answer is one shape of what a command answers with --json.
type answer struct {
	name   string // of its schema, docs/schemas/NAME.json: one name is one type, whichever commands answer so
	of     any    // a value of its type
	says   string // what it answers, or on which calls: in one line, lower case
	stream bool   // one such object on a line for each thing that happens
}

// session is one call of one command.
type session struct {
	World
	cmd    *command
	table  []command // all there are, for what tells of them
	opt    option.Values
	args   []string // the arguments, options taken out
	tail   []string // what followed "--", for a command with a tail
	dash   bool     // there was a "--"
	after  int      // how many of the arguments followed it, for a command without a tail
	inJSON bool
	dryRun bool // --dry-run: say what would be done
	// surface is where the call came from, in whose words problems are told; nil: a command line.
	surface problem.Surface
	// would says what would become of changes, once a dry run has asked. It is one for the whole call: what earlier drafts would have
	// taken is taken.
	would state.Changes
	// called is the name that the program was called by, with its folder if that was given.
	called string
	stdout *bufio.Writer // standard output; flush reports what went wrong with it

	reference  time.Time // what answers call now, when the call names it; else zero
	present    time.Time // what times are read against when they share one present; else zero, and the clock tells
	share      *share    // of a span that many tasks are dealt out over
	around     *surroundings
	ownZone    *time.Location // where times are meant that no --tz is given with, once that was found out for many of them
	sample     bool           // the call stands for others, whose command is not known yet
	cameOf     string         // the origin of what the call makes, when it is not that of the environment
	config     state.Config
	configRead bool
	store      state.Store
	finder     *needs.Finder   // what was found of programs
	remote     []warning       // what the answers in JSON are to warn of: the state is on a network file system
	single     bool            // whoever called takes one answer, and no stream of them
	unread     []state.Problem // what could not be read among all tasks, when the call takes all
	further    problem.Call    // how the call goes on, when its answer says so
	hangup     *hangup         // what becomes of HUP; nil: it ends the call
}

// conclude tells the error, if there is one that is not a signal, sends the answer on its way and returns the exit code.
func conclude(s *session, err error) int {
	code := exitOK
	var sig *signalled
	if !errors.As(err, &sig) {
		code = report(s, err)
	}
	if lost := s.flush(); lost != nil {
		s.inJSON = false // there is no telling it on standard output
		if told := report(s, lost); code == exitOK {
			code = told
		}
	}
	return code
}

// perform runs the command of the call with what the call says.
func perform(ctx context.Context, s *session, line option.Line) error {
	s.opt, s.args, s.tail, s.dash, s.after = line.Values, line.Args, line.Tail, line.Dash, line.After
	s.inJSON, s.dryRun = s.opt.Bool("json"), s.opt.Bool("dry-run")
	if err := s.environment(); err != nil && !s.cmd.hidden && !s.cmd.always {
		return err
	}
	err := s.cmd.run(ctx, s)
	setAside(s)
	return err
}

// setAside says, whatever the command was, that task files lie aside because they could not be read.
func setAside(s *session) {
	if s.store == nil || s.inJSON || s.cmd.hidden {
		return
	}
	switch names, err := s.store.Aside(context.Background()); {
	case err != nil || len(names) == 0:
	case len(names) == 1:
		s.warn("warning: a task file could not be read and was set aside: mend or delete %s", visible(names[0]))
	default:
		s.warn("warning: %d task files could not be read and were set aside: mend or delete what is in %s", len(names), visible(filepath.Dir(names[0])))
	}
}

// find returns the command of that name, or nil.
func find(cmds []command, name string) *command {
	for i := range cmds {
		if cmds[i].name == name {
			return &cmds[i]
		}
	}
	return nil
}

// home is the folder of the state: OURO_HOME, or .ouro in the user's home.
func (s *session) home() (string, error) {
	if dir := s.Getenv("OURO_HOME"); dir != "" {
		if !filepath.IsAbs(dir) {
			return "", problem.New(problem.Unusable, problem.T("OURO_HOME is %s, and the present folder cannot be told", quote(dir)),
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
		return "", problem.New(problem.Unusable, problem.T("%s, so there is no place to keep the state in", why), problem.T("set HOME, or OURO_HOME to a folder of yours"))
	}
	switch _, err := os.Stat(dir); {
	case dir == "":
		return unusable("HOME is not set")
	case !filepath.IsAbs(dir):
		return unusable("HOME is " + quote(dir) + ", no absolute path")
	case os.IsNotExist(err):
		return unusable("the home folder " + quote(dir) + " does not exist")
	}
	return filepath.Join(dir, ".ouro"), nil
}

// settings returns config.toml, read once.
func (s *session) settings() (state.Config, error) {
	if s.configRead {
		return s.config, nil
	}
	dir, err := s.home()
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

// now is the instant of this call, to which every answer refers, in the given zone.
func (s *session) now(zone *time.Location) time.Time {
	if !s.present.IsZero() {
		return s.present.In(zone)
	}
	return s.Clock.Now().In(zone)
}

// environment refuses settings in the environment that could not be honoured.
func (s *session) environment() error {
	if v := s.Getenv("OURO_AUTOSTART"); v != "" && v != "0" && v != "1" {
		return problem.Of(problem.T("OURO_AUTOSTART is %s", quote(v)), problem.T("set it to 0 or 1"))
	}
	return nil
}
