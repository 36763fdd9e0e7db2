package cmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/urfave/cli/v2"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/timer/proc"
	"github.com/ouro-timer/ouro-timer/timer/when"
)

func atCommand() command {
	return command{
		name: "at", args: "<when>... [--task <text>] [-c <shell text> | -f <file> | -- <command>...]",
		short: "schedule a command or a message",
		long: `
All words before the options or -- are the time, quoted or not. What happens then is one of
  -- COMMAND ARG...   the command, executed directly, in this folder and with this umask
  -c 'SHELL TEXT'     a line for /bin/sh
  -f FILE             a script for /bin/sh, read now; -f - reads it from standard input
  --task TEXT alone   a message: to the terminal it was set from, and into the log
With a command, --task TEXT is handed to it as OURO_TASK. A runner is started in the background when none lives; it ends
when nothing is pending. A one-shot that falls due while the machine is off runs late, once; of a recurring task only
the latest missed instant does. Output is kept: ouro-timer log ID

The command sees PATH, HOME, USER, LOGNAME, SHELL, LANG, LC_*, TZ, TMPDIR, XDG_RUNTIME_DIR and DBUS_SESSION_BUS_ADDRESS as
they are now, what --env names, and OURO_TASK_ID, OURO_TASK, OURO_DUE, OURO_OCCURRENCE, OURO_ATTEMPT, OURO_LAST_OUTCOME.`,
		examples: []string{
			`ouro-timer at tomorrow 10am -- make backup`,
			`ouro-timer at in 20 minutes --task "call Bob"`,
			`ouro-timer at every weekday at 9am -c 'fetch-news | mail -s news me'`,
			`id=$(ouro-timer at 2h -q -- ./deploy.sh)`,
		},
		tail: true,
		flags: append(append([]cli.Flag{
			&cli.StringFlag{Name: "task", Usage: "a message's `TEXT`, or the payload for the command"},
			&cli.StringFlag{Name: "description", Aliases: []string{"d"}, Usage: "what it is, in a few words (`TEXT`), for lists and confirmations"},
			&cli.StringFlag{Name: "c", Usage: "run `TEXT` by the shell"},
			&cli.StringFlag{Name: "file", Aliases: []string{"f"}, Usage: "run the script in `FILE`, or from standard input with -"},
			&cli.StringFlag{Name: "shell", Usage: "the shell, `PROGRAM`, for -c and -f (default: the config, or /bin/sh)"},
			&cli.StringSliceFlag{Name: "env", Usage: "also pass the variable `NAME` as it is now, or NAME=VALUE; may be repeated"},
		}, whenFlags()...), append(boundFlags(),
			append(policyFlags(),
				&cli.StringFlag{Name: "jitter", Usage: "be late by up to `DURATION`, dealt once and kept: tasks that share a time do not start at once"},
				&cli.StringFlag{Name: "expect", Usage: "refuse when the first instant is not `INSTANT` (RFC 3339)"},
				noAutostartFlag(),
				quietFlag("print the ID alone"),
				zoneFlag(), jsonFlag())...)...),
		run: runAtWords,
	}
}

func noAutostartFlag() cli.Flag {
	return &cli.BoolFlag{Name: "no-autostart", Usage: "do not start a runner (also: OURO_AUTOSTART=0, or autostart = false under [run] in the config)"}
}

// atOptions is a call of at, read: what, when, and in which surroundings.
type atOptions struct {
	task  state.Task
	sched *when.Schedule
	due   time.Time
	read  time.Time // the present that the time was read against
	// warnings are things that would keep the task from running if it were due now.
	warnings []string
}

// leastInterval is the shortest interval of a task: below it, claiming and starting take longer than the pause.
const leastInterval = time.Second

// scriptMost bounds a script, as every text of a task is bounded.
const scriptMost = 1 << 20

func runAtWords(ctx context.Context, s *session) error {
	o, err := s.readAt(ctx)
	if err != nil {
		return err
	}
	return runAt(ctx, s, o)
}

// readAt turns the words of the call into options, and refuses what would not do what it looks like.
func (s *session) readAt(ctx context.Context) (atOptions, error) {
	var o atOptions
	opts, err := s.options()
	if err != nil {
		return o, err
	}
	if err := s.bounds(&opts); err != nil {
		return o, err
	}
	text, form, forcedForm, err := s.forced()
	switch {
	case err != nil:
		return o, err
	case forcedForm && len(s.args) > 0:
		return o, s.wordsBeside(form)
	case forcedForm:
		opts.Form = form
	case len(s.args) == 0:
		return o, usage("when? ouro-timer at needs a time", `try ouro-timer at "tomorrow at 10:00" -- make backup`)
	default:
		text = strings.Join(s.args, " ")
	}
	sched, err := when.Parse(text, opts)
	if err != nil {
		if !forcedForm && !s.dash && !s.cli.IsSet("task") && !s.cli.IsSet("c") && !s.cli.IsSet("file") {
			if better := s.notTime(opts, err); better != nil {
				return o, better
			}
		}
		return o, err
	}
	due, err := firstDue(sched, opts.Now)
	if err != nil {
		return o, err
	}
	if err := s.expect(due); err != nil {
		return o, err
	}
	jitter, delay, err := s.jitter(sched)
	if err != nil {
		return o, err
	}
	due = due.Add(delay)
	o.sched, o.due, o.read = sched, due, opts.Now
	o.task = state.Task{
		Description: s.cli.String("description"),
		Text:        s.cli.String("task"),
		When:        timing(sched, opts, due, jitter, delay),
	}
	if err := s.readJob(ctx, &o); err != nil {
		return o, err
	}
	return o, s.readPolicy(&o.task)
}

// jitter deals the task its share of --jitter, to the millisecond. It is dealt once and kept with the task, so that the task
// keeps its rhythm and what comes next can be told.
func (s *session) jitter(sched *when.Schedule) (span, delay time.Duration, err error) {
	if !s.cli.IsSet("jitter") {
		return 0, 0, nil
	}
	if span, err = when.Duration(s.cli.String("jitter")); err != nil {
		f := *explain(err)
		f.message = "--jitter: " + f.message
		return 0, 0, &f
	}
	if span < time.Millisecond {
		return 0, 0, usage("--jitter "+s.cli.String("jitter")+" is no span to spread over", "give 1ms or more, such as --jitter 10m")
	}
	if sched.Every > 0 && span >= sched.Every {
		return 0, 0, usage("a jitter of "+span.String()+" is as long as the interval", "give less than "+sched.Every.String())
	}
	return span, time.Duration(rand.Int64N(span.Milliseconds())) * time.Millisecond, nil
}

// expect refuses when the reading differs from what the caller thinks it is. The comparison is to the second.
func (s *session) expect(due time.Time) error {
	if !s.cli.IsSet("expect") {
		return nil
	}
	want, err := time.Parse(time.RFC3339, s.cli.String("expect"))
	if err != nil {
		return usage("--expect is "+quote(s.cli.String("expect"))+", not an instant with offset", "write it as "+due.Format(time.RFC3339))
	}
	if !want.Truncate(time.Second).Equal(due.Truncate(time.Second)) {
		return &failure{exit: exitUsage, code: "time_differs",
			message: "the first instant is " + due.Format(time.RFC3339) + ", not " + s.cli.String("expect"),
			hint:    "say the time otherwise, or expect " + due.Format(time.RFC3339) + "; ouro-timer when shows how words are read"}
	}
	return nil
}

// wordsBeside refuses words beside a flag that already gives the time.
func (s *session) wordsBeside(form when.Form) error {
	words := strings.Join(s.args, " ")
	if s.dash || s.cli.IsSet("task") || s.cli.IsSet("c") || s.cli.IsSet("file") {
		return usage("--"+string(form)+" gives the time already; what is "+quote(words)+"?", "leave one of them out")
	}
	return usage("--"+string(form)+" gives the time already; what is "+quote(words)+"?",
		"a message: --task "+shellQuote(words)+"; a line for the shell: -c "+shellQuote(words)+"; a command: -- "+shellLine(s.args))
}

// notTime looks for the mistake of giving the command or the message without saying so: the first words are a time, the
// others are not.
func (s *session) notTime(opts when.Options, err error) error {
	var e *when.Error
	if !errors.As(err, &e) || e.Code != when.CodeNotUnderstood {
		return nil
	}
	for n := len(s.args) - 1; n > 0; n-- {
		head := strings.Join(s.args[:n], " ")
		if _, err := when.Parse(head, opts); err != nil {
			continue
		}
		rest := s.args[n:]
		words := strings.Join(rest, " ")
		return &failure{exit: exitUsage, code: when.CodeNotUnderstood,
			message: quote(words) + " is no part of the time " + quote(head),
			hint: "to be told it: ouro-timer at " + shellQuote(head) + " --task " + shellQuote(words) +
				"; to run it: ouro-timer at " + shellQuote(head) + " -- " + shellLine(rest) +
				", or by the shell with -c " + shellQuote(words)}
	}
	return nil
}

// readJob reads what is to happen: a command, a line for the shell, a script, or nothing but a message.
func (s *session) readJob(ctx context.Context, o *atOptions) error {
	ways := []string{}
	for _, w := range []struct {
		name string
		set  bool
	}{{"-c", s.cli.IsSet("c")}, {"-f", s.cli.IsSet("file")}, {"--", s.dash}} {
		if w.set {
			ways = append(ways, w.name)
		}
	}
	if len(ways) > 1 {
		return usage(strings.Join(ways, " and ")+" exclude each other", "give the command once")
	}
	if len(ways) == 0 {
		if strings.TrimSpace(o.task.Text) == "" {
			what := shellQuote(o.sched.Text)
			return usage("nothing to do at that time", "a command: ouro-timer at "+what+" -- make backup; a line for the shell: -c 'make backup'; a message: --task \"call Bob\"")
		}
		for _, flag := range []string{"shell", "env"} {
			if s.cli.IsSet(flag) {
				return usage("--"+flag+" is for commands, and this is a message", "leave it out, or give a command after --")
			}
		}
		o.task.Terminal = ownTerminal(s.World)
		return nil
	}
	job := &o.task.Run
	dir, err := s.Getwd()
	if err != nil {
		return &failure{exit: exitFailed, code: "failed", message: "the present folder cannot be told: " + err.Error(), hint: "change to a folder that exists"}
	}
	job.Dir, job.Umask = dir, proc.Umask()
	if job.Env, err = s.capture(); err != nil {
		return err
	}
	switch ways[0] {
	case "--":
		if len(s.tail) == 0 || s.tail[0] == "" {
			return usage("no command after --", "ouro-timer at "+shellQuote(o.sched.Text)+" -- make backup")
		}
		if s.cli.IsSet("shell") {
			return usage("--shell is for -c and -f; a command after -- runs without a shell", "use -c "+shellQuote(strings.Join(s.tail, " ")))
		}
		job.Argv = s.tail
		return o.checkProgram(s.tail)
	case "-c":
		if job.Shell = s.cli.String("c"); strings.TrimSpace(job.Shell) == "" {
			return usage("-c has no text", "ouro-timer at "+shellQuote(o.sched.Text)+" -c 'make backup'")
		}
	case "-f":
		if job.Script, err = s.readScript(ctx, s.cli.String("file")); err != nil {
			return err
		}
	}
	return s.chooseShell(o)
}

// checkProgram points out a program that could not be started now. One word with a space in it that is no program was
// meant for the shell.
func (o *atOptions) checkProgram(argv []string) error {
	job := o.task.Run
	_, err := proc.LookPath(argv[0], job.Env["PATH"], job.Dir)
	if err == nil {
		return nil
	}
	if len(argv) == 1 && strings.ContainsAny(argv[0], " \t\n") {
		return usage("there is no program called "+quote(argv[0]), "without the quotes: -- "+argv[0]+"; or for the shell: -c "+shellQuote(argv[0]))
	}
	why := "there is no program " + quote(argv[0]) + " now"
	if !errors.Is(err, os.ErrNotExist) {
		why = quote(argv[0]) + " cannot be run now"
		var se *proc.StartError
		if errors.As(err, &se) {
			why += " (" + se.Err.Error() + ")"
		}
	}
	o.warnings = append(o.warnings, why+"; the task will fail unless that changes by then")
	return nil
}

// chooseShell settles which program runs the text or the script.
func (s *session) chooseShell(o *atOptions) error {
	job := &o.task.Run
	job.Prog = "/bin/sh"
	config, err := s.settings()
	if err != nil {
		return err
	}
	if config.Run.Shell != "" {
		job.Prog = config.Run.Shell
	}
	given := s.cli.IsSet("shell")
	if given {
		job.Prog = s.cli.String("shell")
	}
	path, err := proc.LookPath(job.Prog, job.Env["PATH"], job.Dir)
	if err != nil {
		return usage("there is no shell "+quote(job.Prog), "--shell takes a program such as /bin/bash")
	}
	job.Prog = path
	if line, ok := strings.CutPrefix(job.Script, "#!"); ok && !given {
		line, _, _ = strings.Cut(line, "\n")
		if words := strings.Fields(line); len(words) > 0 && filepath.Base(words[len(words)-1]) != filepath.Base(job.Prog) {
			o.warnings = append(o.warnings, "the script names "+quote(words[len(words)-1])+" in its first line, and "+job.Prog+" will run it; --shell changes that")
		}
	}
	return nil
}

// readScript reads a script whole: what runs later is what was there when it was scheduled.
func (s *session) readScript(ctx context.Context, name string) (string, error) {
	var b []byte
	var err error
	read := make(chan struct{})
	go func() { // what it is read from may be a pipe that nobody writes to: the caller can still end us
		defer close(read)
		if name == "-" {
			b, err = io.ReadAll(io.LimitReader(s.In, scriptMost+1))
			return
		}
		var f *os.File
		if f, err = os.Open(s.path(name)); err == nil {
			defer f.Close()
			b, err = io.ReadAll(io.LimitReader(f, scriptMost+1))
		}
	}()
	select {
	case <-read:
	case <-ctx.Done():
		return "", ctx.Err()
	}
	switch {
	case err != nil:
		return "", usage("the script cannot be read: "+err.Error(), "-f takes a file, or - for standard input")
	case len(b) > scriptMost:
		return "", &failure{exit: exitUsage, code: "limit", message: "the script is longer than 1 MiB", hint: "keep it in a file and schedule that: -- /path/to/script"}
	case len(strings.TrimSpace(string(b))) == 0:
		return "", usage("the script is empty", "-f takes a file with commands, or - for standard input")
	case !utf8.Valid(b):
		return "", usage("the script is not valid UTF-8", "schedule the file itself: -- /path/to/script")
	}
	return string(b), nil
}

// path is a file name of the user's, made absolute.
func (s *session) path(name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	if dir, err := s.Getwd(); err == nil {
		return filepath.Join(dir, name)
	}
	return name
}

// captured are the variables every command sees as they were when it was scheduled, beside LC_*.
var captured = []string{"PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "TZ", "TMPDIR", "XDG_RUNTIME_DIR", "DBUS_SESSION_BUS_ADDRESS", "OURO_HOME"}

// capture is the environment of a command: the captured variables that are set now, and what --env names.
func (s *session) capture() (map[string]string, error) {
	env := map[string]string{}
	for _, pair := range s.Environ() {
		name, value, _ := strings.Cut(pair, "=")
		if strings.HasPrefix(name, "LC_") && utf8.ValidString(pair) {
			env[name] = value
		}
	}
	for _, name := range captured {
		if value := s.Getenv(name); value != "" && utf8.ValidString(value) {
			env[name] = value
		}
	}
	for _, pair := range s.cli.StringSlice("env") {
		name, value, has := strings.Cut(pair, "=")
		if name == "" || strings.ContainsAny(name, " \t\n\x00") {
			return nil, usage("--env is "+quote(pair), "write --env NAME or --env NAME=VALUE")
		}
		if !has {
			set := false
			for _, have := range s.Environ() {
				if n, v, _ := strings.Cut(have, "="); n == name {
					value, set = v, true
				}
			}
			if !set {
				return nil, usage("--env "+name+": no such variable is set", "set it first, or write --env "+name+"=VALUE")
			}
		}
		if !utf8.ValidString(value) {
			return nil, usage("--env "+name+": the value is not valid UTF-8", notText)
		}
		env[name] = value
	}
	return env, nil
}

// confirmation is what at answers with --json: the task, and what became of the call.
type confirmation struct {
	Now time.Time `json:"now"`
	taskJSON
	Created        bool        `json:"created"`
	Reading        string      `json:"reading"`
	Notes          []string    `json:"notes"`
	Others         []candidate `json:"others"`
	JitterSeconds  *float64    `json:"jitter_seconds"`
	Start          *time.Time  `json:"start"`
	End            *time.Time  `json:"end"`
	Count          *int        `json:"count"`
	Tell           []string    `json:"tell"`
	Runner         string      `json:"runner"`
	SurvivesReboot bool        `json:"survives_reboot"`
	Warnings       []string    `json:"warnings"`
}

// runAt schedules the task, sees to it that somebody runs it, and confirms.
func runAt(ctx context.Context, s *session, o atOptions) error {
	st, err := s.open()
	if err != nil {
		return err
	}
	o.task.Created = o.read.UTC()
	e, err := st.Add(ctx, o.task, o.due)
	if err != nil {
		return err
	}
	// From here on the task is kept: whatever goes wrong is a warning.
	h, err := s.handOver(ctx, st)
	if err != nil {
		h = hands{runner: runnerNone, problem: err.Error()}
	}
	now := o.read.In(o.due.Location())
	reading := echo(o.due, now)
	tell := []string{"log"}
	if o.task.Terminal != "" {
		tell = []string{"terminal", "log"}
	}
	if o.sched.Kind != when.Once && h.runner != runnerNone {
		o.warnings = append(o.warnings, "after a reboot nothing runs until ouro-timer is called again (any at, or run --background)")
	}
	switch {
	case s.json:
		if h.runner == runnerNone {
			o.warnings = append(o.warnings, h.sentence())
		}
		c := confirmation{Now: now, taskJSON: asJSON(e), Created: true, Reading: reading, Notes: orEmpty(o.sched.Notes), Others: asCandidates(o.sched.Others), JitterSeconds: dealt(e.Task),
			Tell: tell, Runner: h.runner, Warnings: orEmpty(o.warnings)}
		c.Start, c.End, c.Count = bounded(e.Task)
		s.emit(c)
		return nil
	case s.cli.Bool("quiet"):
		s.line("%s", e.Task.ID)
	default:
		s.line("Scheduled %s for %s. (ID: %s)", quote(plainWords(e.Task)), reading, e.Task.ID)
		if e.Task.Type() == state.TypeMessage {
			if o.task.Terminal != "" {
				s.line("It will be told on this terminal (%s) and kept in the log. %s", o.task.Terminal, h.who())
			} else {
				s.line("It will be kept in the log (ouro-timer log %s); there is no terminal to tell it on. %s", e.Task.ID, h.who())
			}
		} else {
			s.line("%s Its output is kept: ouro-timer log %s", h.who(), e.Task.ID)
		}
		if d := o.task.When.Delay; d != "" {
			s.talk("note: later by %s, its share of the jitter of %s", d, o.task.When.Jitter)
		}
		for _, note := range o.sched.Notes {
			s.talk("note: %s", visible(note))
		}
	}
	if err := s.flush(); err != nil {
		f := *explain(err)
		f.message = "task " + e.Task.ID + " was scheduled, but " + f.message
		return &f
	}
	for _, w := range o.warnings {
		s.warn("warning: %s", visible(w))
	}
	if h.runner == runnerNone {
		s.warn("warning: %s", h.sentence())
	}
	return nil
}

// plainWords is what a confirmation calls the task.
func plainWords(t state.Task) string {
	text := describe(t)
	if t.Type() == state.TypeCommand && t.Description == "" && t.Text != "" && len(t.Run.Argv) > 0 {
		return fmt.Sprintf("%s (%s)", text, visible(t.Text))
	}
	return text
}
