// Package schedule has the commands that make and change tasks: at, edit and when.
package schedule

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/ouro-timer/ouro-timer/cmd/cli"
	"github.com/ouro-timer/ouro-timer/cmd/handover"
	"github.com/ouro-timer/ouro-timer/cmd/option"
	"github.com/ouro-timer/ouro-timer/cmd/view"
	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/timer/needs"
	"github.com/ouro-timer/ouro-timer/timer/problem"
	"github.com/ouro-timer/ouro-timer/timer/tasks"
	"github.com/ouro-timer/ouro-timer/timer/when"
	"github.com/ouro-timer/ouro-timer/timer/when/fault"
)

// AtCommand is the command at.
func AtCommand() cli.Command {
	return cli.Command{
		Name: "at", Args: "<when>... [--task <text>] [-c <shell text> | -f <file> | -- <command>...]",
		Short: "schedule a command or a message",
		Long: `
All words before the options or -- are the time, quoted or not. What happens then is one of
  -- COMMAND ARG...   the command, executed directly, in this folder and with this umask
  -c 'SHELL TEXT'     a line for /bin/sh
  -f FILE             a script for /bin/sh, read now; -f - reads it from standard input
  --task TEXT alone   a message: to the terminal it was set from, and into the inbox
  --agent 'PROG ARG'  tell the agent process PROG, by JSON-RPC on its standard input; it stays for what comes next
With a command, --task TEXT is handed to it as OURO_TASK. A runner is started in the background when none lives; it ends
when nothing is pending. A one-shot that falls due while the machine is off runs late, once; of a recurring task only
the latest missed instant does. Output is kept: ouro-timer log ID

The command sees PATH, HOME, USER, LOGNAME, SHELL, LANG, LC_*, TZ, TMPDIR, XDG_RUNTIME_DIR, DBUS_SESSION_BUS_ADDRESS,
OURO_HOME and OURO_STORE as they are now, what --env names, and OURO_TASK_ID, OURO_TASK, OURO_DUE, OURO_OCCURRENCE,
OURO_ATTEMPT, OURO_LAST_OUTCOME, OURO_ORIGIN; in a fleet OURO_FENCE, too, which grows with each run: what is written to
may refuse one that comes late.
With --on or --each it starts in the home of the user whose runner runs it, with that user's HOME, USER, LOGNAME and
LANG, the paths of the system and what --env names.

--notify names who is told: desktop, terminal, email:bob@example.org, or a channel of config.toml (ouro-timer notify --list);
without it the channels of the config are told, or for a message, if there are none, the terminal it was set from. A message
is told when it is due. A command tells when it has written something, and of failures in a row only the first and the
recovery; --notify-on changes that. Whether somebody is told or not, messages, failures and output wait in the inbox
until ouro-timer ack ends them.

An agent is told reminder.fire with --title, --description, --project, --priority and the time, and has --timeout (30s) to
answer; it is told up to three times, after 1 s and 2 s (--retries, --backoff). In its turn it may schedule.

In a fleet, --each LABEL makes one task for each machine that lives and has the label, all at once; with --key NAME they
have the keys NAME@MACHINE. A machine that comes later gets none: call again, with a key.

--wait waits for the end of the task's first run, and answers how it ended and the last of what it wrote. It exits with 0
when the run went well, 124 when its --timeout ended it, else 1. When --max comes first it exits with 75; the command
goes on, and the answer says how to wait for it again.

--key NAME makes the task once, however often the call is made: while it lives it is kept, and the answer says what the
call says differently; with --replace it is changed instead. --stdin jsonl schedules an object a line, with keys such as
when, command (a list), shell, task, description, env and the options below with _ for -; --stdin lines a line for the
shell each, at one WHEN or spread out from then on by --spread; --stdin json a single object.`,
		Examples: []string{
			`ouro-timer at tomorrow 10am -- make backup`,
			`ouro-timer at in 20 minutes --task "call Bob"`,
			`ouro-timer at every weekday at 9am -c 'fetch-news | mail -s news me'`,
			`id=$(ouro-timer at 2h -q -- ./deploy.sh)`,
			`ouro-timer at every day at 3am --key backup --notify desktop --notify-on failure -- ./backup`,
			`ouro-timer at every day at 6pm --agent "python3 agent.py" --title "Self-review"`,
			`ouro-timer at now --wait --max 110s --json -- make test`,
			`ouro-timer at every sunday at 4am --each build --key gc -c 'docker system prune -f'`,
			`ouro-timer at 22:00 --stdin lines --spread 1h < jobs`,
		},
		Tail:      true,
		Exits:     []int{problem.ExitNotFound, cli.ExitTimedOut},
		Arguments: []option.Argument{{Name: "when", Kind: option.Time, Many: true}},
		Options: slices.Concat(option.Rows{
			option.Option{Name: "task", Kind: option.Text, Help: "a message's TEXT, or the payload for the command"},
			option.Option{Name: "description", Aliases: []string{"d"}, Kind: option.Text,
				Help: "what it is, in a few words (TEXT)"},
			onFlag.WithHelp("run it on the fleet's node or label NAME, or any"),
			option.Option{Name: "each", Kind: option.Name, Value: "LABEL", OfCall: true,
				Help: "a task for each living node with LABEL; any: all"},
			cli.TagFlag.WithHelp("mark it NAME, for ls --tag and rm --tag; may be repeated"),
			option.Option{Name: "c", Kind: option.Text, Key: "shell", Help: "run TEXT by the shell"},
			option.Option{Name: "file", Aliases: []string{"f"}, Kind: option.File,
				Help: "run the script in FILE, or from standard input with -"},
			option.Option{Name: "shell", Kind: option.File, Value: "PROGRAM", Key: "program",
				Default: needs.Shell, Help: "the shell for -c and -f; the config may say another default"},
			option.Option{Name: "env", Kind: option.Name, Many: true, Pairs: true, Like: "NAME=VALUE",
				Help: "also pass NAME as it is now, or NAME=VALUE; may be repeated"},
		}.In(cli.GroupWhat), taskFlags(), option.Rows{
			option.Option{Name: "jitter", Kind: option.Duration, Group: cli.GroupWhen,
				Help: "be late by a random share of DURATION, chosen once, so that not all start at once"},
			option.Option{Name: "key", Kind: option.Name, Group: cli.GroupWhat,
				Help: "name the task NAME: while one of that name lives, nothing is added"},
			option.Option{Name: "replace", Kind: option.Flag, Group: cli.GroupWhat,
				Help: "with --key: change the task that has it to what this call says"},
			option.Option{Name: "stdin", Kind: option.Word, Value: "FORM",
				Choices: []string{FormJSONL, formLines, formJSON}, OfCall: true,
				Help: "schedule many tasks from standard input, as jsonl, lines or json (FORM)"},
			option.Option{Name: "spread", Kind: option.Duration, OfCall: true,
				Help: "with --stdin: spread the tasks evenly over DURATION, the first at WHEN"},
			cli.WaitFlag.WithHelp("wait for its first run, and answer how it ended; the task outlives the call"), cli.MaxFlag,
			option.Option{Name: "expect", Kind: option.Timestamp,
				Help: "refuse when the first instant is not TIMESTAMP (RFC 3339)"},
			cli.NoAutostartFlag, cli.DryFlag,
			cli.QuietFlag.WithHelp("print the ID alone"),
			cli.ZoneFlag, cli.JSONFlag, cli.FieldsFlag,
		}),
		Answers: append([]cli.Shape{
			{Name: "at", Of: atJSON{}, Given: "!wait !each, dry-run !each",
				Means: "the task that was scheduled, or that its key kept"},
			{Name: "at-each", Of: eachJSON{}, Given: "each", Means: "--each: a task a node"},
			{Name: "at-batch", Of: batchJSON{}, Given: "stdin quiet", Means: "--stdin with --quiet: all lines at once"},
			{Name: "at-line", Of: atLineJSON{}, Given: "stdin",
				Means: "--stdin: a line that was scheduled", Stream: true},
			{Name: "at-line-error", Of: lineFailedJSON{}, Given: "stdin",
				Means: "--stdin: a line that was refused", Stream: true},
		}, view.EndedShapes...),
		Brief: true,
		Run:   runAtWords,
	}
}

// Draft is the task that a call makes, with warnings about what would keep it from running now.
type Draft struct {
	*tasks.Change
	warnings []cli.Warning
}

// runAtWords runs at, by the form of the call: --stdin, --each or one task.
func runAtWords(ctx context.Context, s *cli.Call) error {
	size := s.Opt.Size()
	for _, w := range slices.Concat(s.Args, s.Tail) {
		size += len(w)
	}
	switch {
	case size > state.TaskLimit:
		return tooLarge("the call")
	case s.Opt.Bool("wait") && s.Opt.Has("stdin"):
		return problem.Of(problem.T("%s waits for one run, and cannot be used with %s", problem.Option("wait"),
			problem.Option("stdin")), cli.GiveOneOfThem)
	case s.Opt.Has("max") && !s.Opt.Bool("wait"):
		return cli.NeedsOption("max", problem.Set("wait", true))
	case s.Opt.Has("each") && s.Opt.Has("stdin"):
		return problem.Of(problem.T("%s cannot be used with %s", problem.Option("each"),
			problem.Option("stdin")),
			problem.T("call once for each task, or give each line the machine it is for, %s",
				problem.Set("on", "build-1")))
	case s.Opt.Has("stdin"):
		return runAtStdin(ctx, s)
	case s.Opt.Has("spread"):
		return problem.Of(problem.T("%s spreads out many tasks, and this is one", problem.Option("spread")),
			problem.T("give many on standard input with %s or %s; %s delays one task",
				problem.Set("stdin", formLines), problem.Set("stdin", FormJSONL), problem.Option("jitter")))
	}
	if s.Opt.Has("each") {
		return runAtEach(ctx, s)
	}
	if s.Opt.Bool("wait") {
		if _, err := cli.Bound(s); err != nil {
			return err // nothing is scheduled yet
		}
	}
	draft, err := readAt(ctx, s)
	if err != nil {
		return err
	}
	return addOne(ctx, s, draft)
}

// tooLarge is the problem of a task that is larger than any store keeps.
func tooLarge(what string) error {
	return problem.New(problem.Limit, problem.T("%s is longer than 1 MiB, and no task is", what),
		problem.T("keep what is long in a file, and schedule a command that reads it"))
}

// readAt makes a draft of the words of the call. When they are refused, the error helps with two
// mistakes: letters that mean something else to at(1), and a command or a message without its
// option.
func readAt(ctx context.Context, s *cli.Call) (Draft, error) {
	spec, err := specOf(s)
	if err != nil {
		return Draft{}, err
	}
	draft, err := drafted(ctx, s, spec)
	if err != nil {
		return Draft{}, hintForUnmarked(s, spec, hintForAt1(s, spec, err))
	}
	return draft, nil
}

// drafted makes a draft of a request, with warnings about what would keep the task from running.
func drafted(ctx context.Context, s *cli.Call, spec tasks.Spec) (Draft, error) {
	c := tasks.Adding(WorldOf(s), spec)
	if err := c.Apply(ctx); err != nil {
		return Draft{}, err
	}
	return Draft{c, append(handover.CannotRun(ctx, s, c.Task), shebangWarning(c)...)}, nil
}

// shebangWarning warns of a script whose first line names another program than the one that will
// run it.
func shebangWarning(c *tasks.Change) []cli.Warning {
	if c.Interpreter == "" {
		return nil
	}
	return []cli.Warning{{Kind: cli.WarnShell,
		Text: problem.T("the script names %s in its first line, and %s will run it; %s changes that",
			cli.Quote(c.Interpreter), c.Task.Run.Prog, problem.Option("shell"))}}
}

// extraWords returns the error for words beside an option that already gives the time. When the
// call does not say what to run, the hint takes the words for that.
func extraWords(s *cli.Call, form when.Form) error {
	words := strings.Join(s.Args, " ")
	message := problem.T("%s already gives the time; what is %s?", problem.Option(form), cli.Quote(words))
	if s.Dash || s.Cmd.Options.Named("task") == nil ||
		slices.ContainsFunc([]string{"task", "c", "file", "agent", "stdin"}, s.Opt.Has) {
		if form != when.DelayForm && form != when.UntilForm {
			return problem.Of(message, problem.T("leave one of them out; when it begins is said by %s", problem.Set("start", "WHEN")))
		}
		return problem.Of(message, problem.T("leave one of them out"))
	}
	return problem.Of(message, problem.T("a message: %s; a line for the shell: %s; a command: %s",
		problem.Set("task", words), problem.Set("c", words), problem.Set(problem.Command, s.Args)))
}

// isQueue reports whether a word is what at(1) calls a queue.
func isQueue(word string) bool {
	return len(word) == 1 && (word[0] >= 'a' && word[0] <= 'z' || word[0] >= 'A' && word[0] <= 'Z')
}

// hintForAt1 adds a hint to err when the call uses letters with the meaning that they have for
// at(1): -q QUEUE, -c JOB and -d JOB.
func hintForAt1(s *cli.Call, spec tasks.Spec, err error) error {
	typed := s.Opt.Typed()
	var e *fault.Error
	if typed["quiet"] == "q" && len(s.Args) > 0 && isQueue(s.Args[0]) && errors.As(err, &e) &&
		e.Code == fault.CodeNotUnderstood {
		at := append(s.Args[1:], "10:00")
		return problem.New(problem.NotUnderstood, problem.T("%s is not part of a time", cli.Quote(s.Args[0])),
			problem.T("-q prints the ID alone, and there are no queues: %s",
				problem.To("at", at[:max(1, len(s.Args)-1)]...).Running("COMMAND")))
	}
	refused := problem.As(err)
	if spec.When != nil || refused == nil || refused.Code != problem.Usage {
		return err
	}
	isJob := func(text string) bool {
		return text != "" && strings.Trim(text, "0123456789") == "" || state.WholeID(text)
	}
	switch {
	case isJob(s.Opt.Text("c")):
		return refused.Advising(problem.T("to see a task: %s; to schedule a line for the shell, give a time, too",
			problem.To("show", "ID")))
	case typed["description"] == "d" && isJob(s.Opt.Text("description")):
		return refused.Advising(problem.T("to remove a task: %s; to schedule one with a description, give a time, too",
			problem.To("rm", "ID")))
	}
	return err
}

// hintForUnmarked explains err when the words are an object, or the first ones are a time and the
// others are not: they may be a command or a message without its option. Otherwise it returns err.
func hintForUnmarked(s *cli.Call, spec tasks.Spec, err error) error {
	var e *fault.Error
	if !errors.As(err, &e) || e.Code != fault.CodeNotUnderstood || spec.Form != when.Any || s.Dash ||
		slices.ContainsFunc([]string{"task", "c", "file", "agent"}, s.Opt.Has) {
		return err
	}
	if strings.HasPrefix(s.Args[0], "{") {
		return problem.As(err).Advising(problem.T("an object is read from standard input: %s",
			problem.To("at").With("stdin", "json")))
	}
	opts, failed := s.TimeOptions()
	if failed != nil {
		return err
	}
	for n := len(s.Args) - 1; n > 0; n-- {
		head := strings.Join(s.Args[:n], " ")
		if _, err := when.Parse(head, opts); err != nil {
			continue
		}
		rest := s.Args[n:]
		words := strings.Join(rest, " ")
		at := problem.To("at", head)
		hint := problem.T("as a message: %s; as a command: %s, or for the shell with %s", at.With("task", words),
			at.Running(rest...), problem.Set("c", words))
		if len(rest) == 1 && tasks.ForShell(rest[0]) {
			hint = problem.T("as a message: %s; for the shell: %s", at.With("task", words), at.With("c", words))
		}
		return problem.New(problem.NotUnderstood, problem.T("%s is not part of the time %s", cli.Quote(words),
			cli.Quote(head)), hint)
	}
	return err
}
