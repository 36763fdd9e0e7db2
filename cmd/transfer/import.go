package transfer

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/ouro-timer/ouro-timer/cmd/cli"
	"github.com/ouro-timer/ouro-timer/cmd/option"
	"github.com/ouro-timer/ouro-timer/timer/problem"
)

// These are the kinds of sources.
const (
	kindCrontab = "crontab"
	kindAt      = "at"
	kindSystemd = "systemd"
)

// kinds are all kinds, each with what makes a source of it.
var kinds = []struct {
	name string
	of   func(context.Context, *cli.Call) (source, error)
}{{kindCrontab, crontabOf}, {kindAt, jobsOf}, {kindSystemd, timersOf}}

// kindNames are their names.
func kindNames() (names []string) {
	for _, k := range kinds {
		names = append(names, k.name)
	}
	return append(names, kindJSONL)
}

func ImportCommand() cli.Command {
	return cli.Command{
		Name: "import", Args: "crontab {<file> | - | --user} | systemd [<file>... | --user] | at | jsonl <file>",
		Short: "take over what another scheduler has",
		Long: `
Shows the tasks that the lines of a crontab become, and what is refused and why: nothing is written without --write. The
instants of the coming year are compared one by one with those that cron(8) has by its own rules, in the zone of this
machine or of --tz; those that differ, at a clock change say, are listed.

The form is that of Debian's cron and of cronie: names, ranges, lists, steps, @daily and the like, variables, CRON_TZ,
MAILTO, RANDOM_DELAY, % for standard input. /etc/crontab, what is in a folder cron.d, and a table that names root in front
of a command have a user there; --system says so of others. Commands run by the SHELL of the table, in HOME, with cron's
variables and those of the table, and no others.

systemd reads units of timers, in files and folders or those that systemctl names, and the services that they start; what
has no counterpart is refused by its name. at takes the jobs that atq lists. jsonl puts back what ouro-timer export jsonl
has written: the same tasks, with new IDs, where they are not there already.

Each task has a key, from the name of the file and the command. So a second import changes what has changed and leaves
the others as they are; --prune removes what the file does not have any more. Take the lines out of the crontab when
the tasks are there, or both run them.`,
		Examples: []string{
			"ouro-timer import crontab --user",
			"ouro-timer import systemd /etc/systemd/system/backup.timer",
			"ouro-timer import crontab --user --write",
			"ouro-timer import crontab /etc/cron.d/sysstat --json",
			"crontab -l | ouro-timer import crontab - --group mine --write --prune",
		},
		Arguments: []option.Argument{{Name: "kind", Kind: option.Word, Required: true, Choices: kindNames()},
			{Name: "file", Kind: option.File, Many: true}},
		Options: append(append(option.Rows{
			option.Option{Name: "user", Kind: option.Flag, OfCall: true,
				Help: "what the user who calls has: the crontab of crontab -l, the timers of systemctl --user"},
			option.Option{Name: "system", Kind: option.Flag, OfCall: true,
				Help: "a user stands in front of each command, as in /etc/crontab"},
			option.Option{Name: "as-me", Kind: option.Flag, OfCall: true,
				Help: "run as who calls, too, what the table has run as other users"},
		}, groupFlags()...), cli.NoAutostartFlag(), cli.DryFlag(), cli.QuietFlag("print nothing but errors"),
			cli.ZoneFlag(), cli.JSONFlag(), cli.FieldsFlag()),
		Answers: []cli.Shape{{Name: "plan", Of: planJSON{}, Means: "what becomes of each task of the source"}},
		Run:     runImport,
	}
}

func runImport(ctx context.Context, s *cli.Call) error {
	if len(s.Args) > 0 && s.Args[0] == kindJSONL {
		return putBack(ctx, s)
	}
	for _, k := range kinds {
		if len(s.Args) > 0 && s.Args[0] == k.name {
			from, err := k.of(ctx, s)
			if err != nil {
				return err
			}
			return carryOut(ctx, s, from, false)
		}
	}
	return problem.Of(problem.T("import what?"), problem.T("%s; or %s",
		problem.To("import", kindCrontab).With("user", true), strings.Join(kindNames()[1:], ", ")))
}

// sourceMost is the most bytes of a source.
const sourceMost = 16 << 20

// readSource reads a file, or standard input, whole.
func readSource(ctx context.Context, s *cli.Call, name string) (string, error) {
	b, err := cli.ReadInput(ctx, s, name, sourceMost)
	if ctx.Err() != nil {
		return "", ctx.Err()
	}
	if err != nil {
		return "", problem.Of(problem.T("%s cannot be read: %v", cli.Quote(name), err),
			problem.T("give a file that can be read, or - for standard input"))
	}
	if len(b) > sourceMost {
		return "", problem.New(problem.Limit, problem.T("%s is longer than 16 MiB", cli.Quote(name)),
			problem.T("give it in parts"))
	}
	return string(b), nil
}

// groupOf returns the beginning of the keys of a source: its kind, and the name that the call gives
// it, or else that of the file.
func groupOf(s *cli.Call, kind, file string) string {
	name := strings.TrimSpace(s.Opt.Text("group"))
	if name == "" {
		name = filepath.Base(file)
	}
	if file == "-" && !s.Opt.Has("group") {
		name = "stdin"
	}
	return kind + ":" + name + ":"
}

// instead is what to type when the program of another scheduler does not answer.
var instead = map[string]problem.Text{
	"crontab":   problem.T("give a file: %s", problem.To("import", kindCrontab, "/etc/crontab")),
	"systemctl": problem.T("give files, or folders of them: %s", problem.To("import", kindSystemd, unitDirs[0])),
	"atq":       problem.T("call as a user who may use at, where it is installed"),
	"at":        problem.T("call as a user who may use at, where it is installed"),
}

// answerOf returns the output of the program of another scheduler.
func answerOf(ctx context.Context, name string, args ...string) (string, error) {
	return answerIn(ctx, nil, name, args...)
}

// answerIn is answerOf with more variables than those of the call.
func answerIn(ctx context.Context, env []string, name string, args ...string) (string, error) {
	c := exec.CommandContext(ctx, name, args...)
	c.Env = append(c.Environ(), env...)
	out, err := c.Output()
	hint := instead[name]
	var failed *exec.ExitError
	switch {
	case ctx.Err() != nil:
		return "", ctx.Err()
	case errors.As(err, &failed):
		why, _, _ := strings.Cut(string(bytes.TrimSpace(failed.Stderr)), "\n")
		return "", problem.New(problem.Failed, problem.T("%s failed: %s",
			cli.ShellLine(append([]string{name}, args...)), cli.Visible(cmp.Or(why, failed.Error()))), hint)
	case err != nil:
		return "", problem.New(problem.Failed, problem.T("%s could not be started: %v", name, err), hint)
	}
	return string(out), nil
}
