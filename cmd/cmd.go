// Package cmd is the command line: words in, words out, an exit code. Standard output is the answer and nothing else,
// standard error is the talk. Nothing below it reads flags, the environment or the process's streams.
package cmd

import (
	"bufio"
	"context"
	"errors"
	"io"
	"os"
	"os/signal"
	"os/user"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	// flags, environment and the table of commands; asked for by the user

	"github.com/ouro-timer/ouro-timer/cmd/option"
	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/state/settings"
	"github.com/ouro-timer/ouro-timer/timer/clock"
	"github.com/ouro-timer/ouro-timer/timer/needs"
	"github.com/ouro-timer/ouro-timer/timer/problem"
	"github.com/ouro-timer/ouro-timer/timer/proc"
)

// World is the outside as the commands see it. Real is this process's; tests make their own.
type World struct {
	In       io.Reader
	Out, Err io.Writer
	Getenv   func(string) string
	Environ  func() []string
	Getwd    func() (string, error)
	Clock    clock.Clock
	// Raise ends the process by the signal, as a shell expects of a program that was interrupted.
	Raise func(os.Signal)
}

// Real is the world of this process.
func Real() World {
	return World{
		In: os.Stdin, Out: os.Stdout, Err: os.Stderr,
		Getenv: os.Getenv, Environ: os.Environ, Getwd: os.Getwd,
		Clock: clock.System,
		Raise: raise,
	}
}

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

// table is every command, in the order the help shows them.
func table() []command {
	return []command{
		waitCommand(), atCommand(), lsCommand(), showCommand(), logCommand(), rmCommand(), restoreCommand(), editCommand(),
		pauseCommand(), resumeCommand(), fireCommand(), stopCommand(), inboxCommand(), ackCommand(),
		runCommand(), serviceCommand(), healthWaitCommand(), notifyCommand(), whenCommand(), simulateCommand(), doctorCommand(),
		mcpCommand(), guideCommand(), completionCommand(), versionCommand(), completeCommand(), desktopCommand(),
	}
}

// session is one call of one command.
type session struct {
	World
	cmd   *command
	opt   option.Values
	args  []string // the arguments, options taken out
	tail  []string // what followed "--", for a command with a tail
	dash  bool     // there was a "--"
	after int      // how many of the arguments followed it, for a command without a tail
	json  bool
	dry   bool // --dry-run: say what would be done
	// surface is where the call came from, in whose words problems are told; nil: a command line.
	surface problem.Surface
	// would says what would become of changes, once a dry run has asked. It is one for the whole call: what earlier drafts would have
	// taken is taken.
	would state.Changes
	// called is the name that the program was called by, with its folder if that was given.
	called string
	out    *bufio.Writer // standard output; flush reports what went wrong with it

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

// Main runs the program and returns its exit code. args[0] is the program's name.
func Main(args []string, w World) int {
	cmds := table()
	w = w.settled()
	s := &session{World: w, json: asksJSON(args), out: bufio.NewWriterSize(w.Out, 32<<10), hangup: &hangup{}}
	if len(args) > 0 {
		s.called = args[0]
	}
	err := dispatch(s, args, cmds)
	proc.AbandonStarts()
	code := conclude(s, err)
	var sig *signalled
	if errors.As(err, &sig) {
		w.Raise(sig.signal)
		return 128 + int(sig.number())
	}
	return code
}

// conclude tells the error, if there is one that is not a signal, sends the answer on its way and returns the exit code.
func conclude(s *session, err error) int {
	code := exitOK
	var sig *signalled
	if !errors.As(err, &sig) {
		code = report(s, err)
	}
	if lost := s.flush(); lost != nil {
		s.json = false // there is no telling it on standard output
		if told := report(s, lost); code == exitOK {
			code = told
		}
	}
	return code
}

// dispatch finds the command, puts its words in order and runs it until it has ended, or a signal ends it.
func dispatch(s *session, args []string, cmds []command) error {
	return dispatchIn(s, args, cmds, func() (context.Context, func()) { return withSignals(context.Background(), s.heed) })
}

// dispatchIn is dispatch in the context that begin makes once a command is known to run.
func dispatchIn(s *session, args []string, cmds []command, begin func() (context.Context, func())) error {
	words := leading(args[min(1, len(args)):])
	if len(words) == 0 {
		return help(s, nil, cmds)
	}
	switch words[0] {
	case "-h", "--help", "help":
		if names := slices.DeleteFunc(slices.Clone(words[1:]), func(w string) bool { return w == "--json" }); len(names) > 0 {
			c := find(cmds, names[0])
			if c == nil {
				return unknownCommand(names[0], cmds)
			}
			return help(s, c, cmds)
		}
		return help(s, nil, cmds)
	case "-v", "--version":
		words[0] = "version"
	}
	c := find(cmds, words[0])
	if c == nil {
		if err := timeFirst(words, s.Clock.Now(), cmds); err != nil {
			return err
		}
		return unknownCommand(words[0], cmds)
	}
	s.cmd = c
	line, err := c.syntax().Words(words[1:])
	if err != nil && c.hidden {
		return nil // a shell asked, at every TAB: nothing to offer is the whole answer
	}
	if err != nil {
		return err
	}
	if line.Help {
		return help(s, c, cmds)
	}
	ctx, stop := begin()
	defer stop()
	err = perform(ctx, s, line)
	if sig := caught(ctx); sig != nil && (err == nil || errors.Is(err, context.Canceled)) {
		return sig
	}
	return err
}

// perform runs the command of the call with what the call says.
func perform(ctx context.Context, s *session, line option.Line) error {
	s.opt, s.args, s.tail, s.dash, s.after = line.Values, line.Args, line.Tail, line.Dash, line.After
	s.json, s.dry = s.opt.Bool("json"), s.opt.Bool("dry-run")
	if err := s.environment(); err != nil && !s.cmd.hidden && !s.cmd.always {
		return err
	}
	err := s.cmd.run(ctx, s)
	setAside(s)
	return err
}

// leading puts flags that every command has behind the command when they stand before it.
func leading(words []string) []string {
	n := 0
	for n < len(words) && (words[n] == "--json" || words[n] == "-q" || words[n] == "--quiet") {
		n++
	}
	if n == 0 || n == len(words) {
		return words
	}
	return append(append([]string{words[n]}, words[:n]...), words[n+1:]...)
}

// setAside says, whatever the command was, that task files lie aside because they could not be read.
func setAside(s *session) {
	if s.store == nil || s.json || s.cmd.hidden {
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

// Common flags. Each command lists those it has; a flag that is parsed is never ignored.
func jsonFlag() option.Option {
	return option.Option{Name: "json", Kind: option.Flag, OfCall: true, Help: "answer with one JSON object on standard output, errors included"}
}

func quietFlag(usage string) option.Option {
	return option.Option{Name: "quiet", Aliases: []string{"q"}, Kind: option.Flag, OfCall: true, Help: usage}
}

func zoneFlag() option.Option {
	return option.Option{Name: "tz", Kind: option.Zone, Env: "OURO_TZ", Help: "ZONE that times are meant in, such as Europe/Warsaw (default: OURO_TZ, the config, TZ, the machine's)"}
}

// settled is the world with an OURO_HOME that names the same folder from everywhere: commands are run in other folders than the one that
// they are scheduled in. A relative one counts from the present folder; where that cannot be told, home refuses it.
func (w World) settled() World {
	const name = "OURO_HOME"
	dir := w.Getenv(name)
	if dir == "" || filepath.IsAbs(dir) {
		return w
	}
	wd, err := w.Getwd()
	if err != nil {
		return w
	}
	dir = filepath.Join(wd, dir)
	getenv, environ := w.Getenv, w.Environ
	w.Getenv = func(asked string) string {
		if asked == name {
			return dir
		}
		return getenv(asked)
	}
	w.Environ = func() []string {
		list := slices.Clone(environ())
		for i, pair := range list {
			if strings.HasPrefix(pair, name+"=") {
				list[i] = name + "=" + dir
			}
		}
		return list
	}
	return w
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

// asksJSON looks for --json where a flag may stand, so that errors in the arguments are told in the form asked for.
func asksJSON(args []string) bool {
	for _, a := range args[min(1, len(args)):] {
		if a == "--" {
			return false
		}
		if a == "--json" || a == "-json" || a == "--json=true" {
			return true
		}
	}
	return false
}

// signalled is the end of a command by a signal. It is no error of ours: the shell is told by dying of it.
type signalled struct{ signal os.Signal }

func (s *signalled) Error() string { return "ended by " + s.signal.String() }

func (s *signalled) number() syscall.Signal {
	n, ok := s.signal.(syscall.Signal)
	if !ok {
		return 2
	}
	return n
}

// endings are the signals that end a command in good order.
var endings = []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGQUIT, syscall.SIGHUP}

// withSignals returns a context that INT, TERM, QUIT and HUP cancel, with the signal as its cause. Those that heed takes cancel nothing.
func withSignals(parent context.Context, heed func(os.Signal) bool) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(parent)
	c := make(chan os.Signal, 2)
	for _, sig := range endings {
		// One that our parent had us ignore, as a shell does with INT for a command it starts with &, stays ignored.
		if !signal.Ignored(sig) {
			signal.Notify(c, sig)
		}
	}
	go func() {
		for {
			select {
			case sig := <-c:
				if heed(sig) {
					continue
				}
				cancel(&signalled{sig})
			case <-ctx.Done():
			}
			return
		}
	}()
	return ctx, func() { signal.Stop(c); cancel(nil) }
}

// caught returns the signal that cancelled the context, or nil.
func caught(ctx context.Context) error {
	var sig *signalled
	if errors.As(context.Cause(ctx), &sig) {
		return sig
	}
	return nil
}
