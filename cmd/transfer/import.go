package transfer

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"os/exec"
	"os/user"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/ouro-timer/ouro-timer/cmd/cli"
	"github.com/ouro-timer/ouro-timer/cmd/option"
	"github.com/ouro-timer/ouro-timer/timer/problem"
)

// These are the kinds of sources beside jsonl.
const (
	kindCrontab = "crontab"
	kindAt      = "at"
	kindSystemd = "systemd"
)

// kinds are these kinds, each with the function that reads a source.
var kinds = []struct {
	name string
	read func(context.Context, *cli.Call) (source, error)
}{{kindCrontab, readCrontab}, {kindAt, readAtJobs}, {kindSystemd, readTimers}}

// kindNames are the names of all kinds.
func kindNames() (names []string) {
	for _, k := range kinds {
		names = append(names, k.name)
	}
	return append(names, kindJSONL)
}

// ImportCommand is the command import.
func ImportCommand() cli.Command {
	return cli.Command{
		Name: "import", Args: "crontab {<file> | - | --user} | systemd [<file>... | --user] | at | jsonl <file>",
		Short: "make the tasks that another scheduler has",
		Long: `
Shows the tasks that the lines of a crontab become, and what is refused and why: nothing is written without --write. The
instants of the coming year are compared one by one with those that cron(8) has by its own rules, in the zone of this
machine or of --tz; those that differ, at a clock change for example, are listed.

The form is that of Debian's cron and of cronie: names, ranges, lists, steps, @daily and the like, variables, CRON_TZ,
MAILTO, RANDOM_DELAY, % for standard input. Commands have a user before them in /etc/crontab, in files of a folder
cron.d, and in a table that has root there; --system says so of other tables. The SHELL of the table runs them, in HOME,
with the variables of cron and of the table, and no others.

systemd reads timers, from files, from folders or from systemctl, and the services that they start. A setting that has
no counterpart is refused by its name if the schedule or the command needs it, and else left out with a note. at reads
the jobs that atq lists. jsonl reads what ouro-timer export jsonl has written: it makes the same tasks, with new IDs,
where they are not there already.

Each task has a key, made of the name of the file and the command. So a second import changes what has changed and
leaves the others as they are; --prune removes what the file does not have any more. Delete the lines from the crontab
once the tasks are made, or both run them.`,
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
				Help: "read what you have: the crontab of crontab -l, the timers of systemctl --user"},
			option.Option{Name: "system", Kind: option.Flag, OfCall: true,
				Help: "each command has a user before it, as in /etc/crontab"},
			option.Option{Name: "as-me", Kind: option.Flag, OfCall: true,
				Help: "run as you also what the source runs as other users"},
		}, groupFlags()...), cli.NoAutostartFlag, cli.DryFlag, cli.QuietFlag.WithHelp("print nothing but errors"),
			cli.ZoneFlag, cli.JSONFlag, cli.FieldsFlag),
		Answers: []cli.Shape{{Name: "plan", Of: planJSON{}, Means: "what becomes of each task of the source"}},
		Run:     runImport,
	}
}

func runImport(ctx context.Context, s *cli.Call) error {
	if len(s.Args) > 0 && s.Args[0] == kindJSONL {
		return importJSONL(ctx, s)
	}
	for _, k := range kinds {
		if len(s.Args) > 0 && s.Args[0] == k.name {
			from, err := k.read(ctx, s)
			if err != nil {
				return err
			}
			return carryOut(ctx, s, from, false)
		}
	}
	message := problem.T("import needs a kind of source")
	if len(s.Args) > 0 {
		message = problem.T("%s is not a kind of source", cli.Quote(s.Args[0]))
	}
	return problem.Of(message, problem.T("%s; or %s",
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

// currentUser returns the user who calls.
func currentUser() (*user.User, error) {
	me, err := user.Current()
	if err != nil {
		return nil, problem.New(problem.Failed, problem.T("the user who calls cannot be found: %v", err),
			problem.T("call as a user of this machine"))
	}
	return me, nil
}

// otherUser returns a user as whom a source runs something, and who is not the one who calls. Only
// root can make such tasks.
func otherUser(me *user.User, name string) (*user.User, error) {
	other, err := user.Lookup(name)
	if err != nil {
		other, err = user.LookupId(name)
	}
	switch {
	case err != nil:
		return nil, problem.Of(problem.T("it runs as %s, and there is no such user here", cli.Quote(name)),
			problem.T("make the user first; %s has it run as you", problem.Option("as-me")))
	case me.Uid != "0":
		return nil, problem.New(problem.NotAllowed, problem.T("it runs as %s, and you are %s", name, me.Username),
			problem.T("import it as that user, or as root; %s has it run as you", problem.Option("as-me")))
	}
	return other, nil
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

// programHints are the hints for programs of other schedulers that fail.
var programHints = sync.OnceValue(func() map[string]problem.Text {
	return map[string]problem.Text{
		"crontab":   problem.T("give a file: %s", problem.To("import", kindCrontab, "/etc/crontab")),
		"systemctl": problem.T("give files, or folders of them: %s", problem.To("import", kindSystemd, unitDirs[0])),
		"atq":       problem.T("call as a user who may use at, where it is installed"),
		"at":        problem.T("call as a user who may use at, where it is installed"),
	}
})

// outputOf returns the output of the program of another scheduler.
func outputOf(ctx context.Context, name string, args ...string) (string, error) {
	return outputWith(ctx, nil, name, args...)
}

// outputWith is outputOf with more environment variables than those of the call.
func outputWith(ctx context.Context, env []string, name string, args ...string) (string, error) {
	c := exec.CommandContext(ctx, name, args...)
	c.Env = append(c.Environ(), env...)
	c.WaitDelay = time.Second // what it has left behind may hold its output open
	out, err := c.Output()
	hint := programHints()[name]
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
