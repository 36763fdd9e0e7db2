package cmd

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/ouro-timer/ouro-timer/cmd/option"
	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/timer/needs"
	"github.com/ouro-timer/ouro-timer/timer/problem"
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
  --task TEXT alone   a message: to the terminal it was set from, and into the inbox
  --agent 'PROG ARG'  tell the agent process PROG, by JSON-RPC on its standard input; it stays for what comes next
With a command, --task TEXT is handed to it as OURO_TASK. A runner is started in the background when none lives; it ends
when nothing is pending. A one-shot that falls due while the machine is off runs late, once; of a recurring task only
the latest missed instant does. Output is kept: ouro-timer log ID

The command sees PATH, HOME, USER, LOGNAME, SHELL, LANG, LC_*, TZ, TMPDIR, XDG_RUNTIME_DIR and DBUS_SESSION_BUS_ADDRESS as
they are now, what --env names, and OURO_TASK_ID, OURO_TASK, OURO_DUE, OURO_OCCURRENCE, OURO_ATTEMPT, OURO_LAST_OUTCOME,
OURO_ORIGIN.

--notify names who is told: desktop, terminal, email:bob@example.org, or a channel of config.toml (ouro-timer notify --list);
without it those of the config are, and of a message the terminal. A message is told when it comes. A command tells when
it has written something, and of a row of failures the first and the recovery; --notify-on changes that. Whoever is
told or not: messages, failures and output wait in the inbox until ouro-timer ack ends them.

An agent is told reminder.fire with --title, --description, --project, --priority and the time, and has --timeout (30s) to
answer; it is told up to three times, after 1 s and 2 s (--retries, --backoff). In its turn it may schedule.

--key NAME makes the task once, however often the call is made: while it lives it is kept, and the answer says what the
call says differently; with --replace it is changed instead. --stdin jsonl schedules an object a line, with keys such as
when, command (a list), shell, task, description, env and the options below with _ for -; --stdin lines a line for the
shell each, at one WHEN or dealt out from then on by --spread; --stdin json a single object.`,
		examples: []string{
			`ouro-timer at tomorrow 10am -- make backup`,
			`ouro-timer at in 20 minutes --task "call Bob"`,
			`ouro-timer at every weekday at 9am -c 'fetch-news | mail -s news me'`,
			`id=$(ouro-timer at 2h -q -- ./deploy.sh)`,
			`ouro-timer at every day at 3am --key backup --notify desktop --notify-on failure -- ./backup`,
			`ouro-timer at every day at 6pm --agent "python3 agent.py" --title "Self-review" --priority high`,
			`ouro-timer at 22:00 --stdin lines --spread 1h < jobs`,
		},
		tail:      true,
		arguments: []option.Argument{{Name: "when", Kind: option.Time, Many: true}},
		options: append(append(option.Rows{
			option.Option{Name: "task", Kind: option.Text, Help: "a message's TEXT, or the payload for the command"},
			option.Option{Name: "description", Aliases: []string{"d"}, Kind: option.Text, Help: "what it is, in a few words (TEXT), for lists and confirmations"},
			option.Option{Name: "c", Kind: option.Text, Key: "shell", Help: "run TEXT by the shell"},
			option.Option{Name: "file", Aliases: []string{"f"}, Kind: option.File, Help: "run the script in FILE, or from standard input with -"},
			option.Option{Name: "shell", Kind: option.File, Value: "PROGRAM", Key: "program", Default: needs.Shell, Help: "the shell, PROGRAM, for -c and -f; the config may say another default"},
			option.Option{Name: "env", Kind: option.Name, Many: true, Pairs: true, Like: "NAME=VALUE", Help: "also pass the variable NAME as it is now, or NAME=VALUE; may be repeated"},
		}, append(agentFlags(), whenFlags()...)...), append(boundFlags(),
			append(policyFlags(),
				option.Option{Name: "jitter", Kind: option.Duration, Help: "be late by up to DURATION, dealt once and kept: tasks that share a time do not start at once"},
				option.Option{Name: "key", Kind: option.Name, Help: "name the task NAME: while one of that name lives it is kept, and nothing is added"},
				option.Option{Name: "replace", Kind: option.Flag, Help: "with --key: change the task that has the name to what this call says"},
				option.Option{Name: "stdin", Kind: option.Word, Value: "FORM", Choices: []string{formJSONL, formLines, formJSON}, OfCall: true, Help: "schedule many tasks from standard input, in the FORM jsonl, lines or json"},
				option.Option{Name: "spread", Kind: option.Duration, OfCall: true, Help: "with --stdin: deal the tasks out evenly over DURATION, the first at WHEN"},
				option.Option{Name: "expect", Kind: option.Timestamp, Help: "refuse when the first instant is not TIMESTAMP (RFC 3339)"},
				noAutostartFlag(), dryFlag(),
				quietFlag("print the ID alone"),
				zoneFlag(), jsonFlag())...)...),
		answers: []answer{
			{name: "at", of: atJSON{}, says: "the task that was scheduled, or that its key kept"},
			{name: "at-line", of: atLineJSON{}, says: "--stdin: a line that was scheduled", stream: true},
			{name: "at-line-error", of: lineFailedJSON{}, says: "--stdin: a line that was refused", stream: true},
		},
		run: runAtWords,
	}
}

// atOptions is a call of at, read: what, when, and in which surroundings.
type atOptions struct {
	task  state.Task
	sched *when.Schedule
	due   time.Time
	read  time.Time // the present that the time was read against
	// warnings are things that would keep the task from running if it were due now.
	warnings []warning
	replace  bool // the task that has the key already is to be changed
	spread   bool // its delay is a share of --spread, and not of a jitter
}

func runAtWords(ctx context.Context, s *session) error {
	switch {
	case size(s) > state.TaskLimit:
		return tooLarge("the call")
	case s.opt.Has("stdin"):
		return runAtStdin(ctx, s)
	case s.opt.Has("spread"):
		return problem.Of(problem.T("%s deals out many tasks, and this is one", problem.Option("spread")), problem.T("give them on standard input with %s or %s; %s puts off one task",
			problem.Set("stdin", formLines), problem.Set("stdin", formJSONL), problem.Option("jitter")))
	}
	o, err := readAt(ctx, s)
	if err != nil {
		return err
	}
	return runAt(ctx, s, o)
}

// size is how many bytes the call says.
func size(s *session) int {
	n := s.opt.Size()
	for _, words := range [][]string{s.args, s.tail} {
		for _, w := range words {
			n += len(w)
		}
	}
	return n
}

// tooLarge refuses a task that no store keeps, before anything else is done with it.
func tooLarge(what string) error {
	return problem.New(problem.Limit, problem.T("%s is longer than 1 MiB, and no task is", what), problem.T("keep what is long in a file, and schedule a command that reads it"))
}

// readAt turns the words of the call into options, and refuses what would not do what it looks like.
func readAt(ctx context.Context, s *session) (atOptions, error) {
	var o atOptions
	opts, err := s.options()
	if err != nil {
		return o, err
	}
	if err := bounds(s, &opts); err != nil {
		return o, err
	}
	text, form, forcedForm, err := forced(s)
	switch {
	case err != nil:
		return o, err
	case forcedForm && len(s.args) > 0:
		return o, wordsBeside(s, form)
	case forcedForm:
		opts.Form = form
	case len(s.args) == 0:
		return o, problem.Of(problem.T("when? a task needs a time"), problem.T("try %s", problem.To("at", "tomorrow at 10:00").Running("make", "backup")))
	default:
		text = strings.Join(s.args, " ")
	}
	sched, err := when.Parse(text, opts)
	if err != nil {
		if !forcedForm && !s.dash && !s.opt.Has("task") && !s.opt.Has("c") && !s.opt.Has("file") && !s.opt.Has("agent") {
			if better := notTime(s, opts, err); better != nil {
				return o, better
			}
		}
		return o, err
	}
	due, err := firstDue(sched, opts.Now)
	if err != nil {
		return o, err
	}
	if err := expect(s, due); err != nil {
		return o, err
	}
	jitter, delay, err := jitter(s, sched)
	if err != nil {
		return o, err
	}
	due = due.Add(delay)
	o.sched, o.due, o.read, o.spread = sched, due, opts.Now, s.share != nil
	o.task = state.Task{
		Description: s.opt.Text("description"),
		Text:        s.opt.Text("task"),
		When:        timing(sched, opts, due, jitter, delay),
	}
	if o.task.Origin, err = origin(s); err != nil {
		return o, err
	}
	if err := key(s, &o); err != nil {
		return o, err
	}
	if err := readJob(ctx, s, &o); err != nil {
		return o, err
	}
	if err := readReminder(s, &o.task); err != nil {
		return o, err
	}
	if o.task.Type() == state.TypeAgent {
		agentPolicy(&o.task.Policy)
	}
	if err := readPolicy(s, &o.task); err != nil {
		return o, err
	}
	if err := checkTime(s, o.task, sched, due, opts.Now); err != nil {
		return o, err
	}
	if err := checkAllowed(ctx, s, o.task); err != nil {
		return o, err
	}
	o.warnings = append(cannotRun(ctx, s, o.task), o.warnings...)
	return o, nil
}

// jitter deals the task its share of --jitter, to the millisecond. It is dealt once and kept with the task, so that the task
// keeps its rhythm and what comes next can be told.
func jitter(s *session, sched *when.Schedule) (span, delay time.Duration, err error) {
	if s.share != nil {
		return s.share.of(sched)
	}
	if !s.opt.Has("jitter") {
		return 0, 0, nil
	}
	if span, err = when.Duration(s.opt.Text("jitter")); err != nil {
		return 0, 0, explain(err).About(problem.Option("jitter"))
	}
	if span < time.Millisecond {
		return 0, 0, problem.Of(problem.T("%s is no span to spread over", problem.Set("jitter", s.opt.Text("jitter"))), problem.T("give 1ms or more, such as %s", problem.Set("jitter", "10m")))
	}
	if sched.Every > 0 && span >= sched.Every {
		return 0, 0, problem.Of(problem.T("a jitter of %s is as long as the interval", span), problem.T("give less than %s", sched.Every))
	}
	return span, time.Duration(rand.Int64N(span.Milliseconds())) * time.Millisecond, nil
}

// expect refuses when the reading differs from what the caller thinks it is. The comparison is to the second.
func expect(s *session, due time.Time) error {
	if !s.opt.Has("expect") {
		return nil
	}
	want, err := time.Parse(time.RFC3339, s.opt.Text("expect"))
	if err != nil {
		return noTimestamp("expect", s.opt.Text("expect"), due)
	}
	if !want.Truncate(time.Second).Equal(due.Truncate(time.Second)) {
		return problem.New(problem.Differs, problem.T("the first instant is %s, not %s", due.Format(time.RFC3339), s.opt.Text("expect")),
			problem.T("say the time otherwise, or expect %s; %s shows how words are read", due.Format(time.RFC3339), problem.To("when")))
	}
	return nil
}

// wordsBeside refuses words beside a flag that already gives the time. Where nothing else says what is to happen, they may be meant as that.
func wordsBeside(s *session, form when.Form) error {
	words := strings.Join(s.args, " ")
	said := problem.T("%s gives the time already; what is %s?", problem.Option(form), quote(words))
	if s.dash || s.cmd.options.Named("task") == nil || slices.ContainsFunc([]string{"task", "c", "file", "agent", "stdin"}, s.opt.Has) {
		return problem.Of(said, problem.T("leave one of them out"))
	}
	return problem.Of(said, problem.T("a message: %s; a line for the shell: %s; a command: %s",
		problem.Set("task", words), problem.Set("c", words), problem.Set(problem.Command, s.args)))
}

// notTime looks for the mistake of giving the command or the message without saying so: the first words are a time, the
// others are not.
func notTime(s *session, opts when.Options, err error) error {
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
		at := problem.To("at", head)
		return problem.New(problem.NotUnderstood, problem.T("%s is no part of the time %s", quote(words), quote(head)),
			problem.T("to be told it: %s; to run it: %s, or by the shell with %s", at.With("task", words), at.Running(rest...), problem.Set("c", words)))
	}
	return nil
}
