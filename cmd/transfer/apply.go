package transfer

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/ouro-timer/ouro-timer/cmd/cli"
	"github.com/ouro-timer/ouro-timer/cmd/option"
	"github.com/ouro-timer/ouro-timer/cmd/schedule"
	"github.com/ouro-timer/ouro-timer/state/codec"
	"github.com/ouro-timer/ouro-timer/timer/problem"
)

const kindApply = "apply"

// ApplyCommand is the command apply.
func ApplyCommand() cli.Command {
	return cli.Command{
		Exits: []int{cli.ExitNotFound},
		Name:  "apply", Args: "<file>", Short: "make the tasks that a file declares",
		Long: `
Reads a set of tasks in TOML and shows what it changes: what is made (+), changed (~) and, with --prune, removed (-).
Nothing is written without --write. A table is a task, and its name is the key. It has the keys of an object of at
--stdin jsonl: when, command (a list), shell, task, description, env, notify, and all options of at about a task with _
for -.

  [backup]
  when = "every day at 3am"
  command = ["./backup", "--all"]
  retries = 3

after = "build" (or "build:failed", "build:any", or a list of them) takes the place of a time: the task runs once [build]
has ended, wherever that is in the file. Commands run in the folder of the call, with its variables, as those of at. When
one task is wrong nothing is written. A task that stays as it was keeps its phase, its ID and its history.`,
		Examples: []string{
			"ouro-timer apply tasks.toml",
			"ouro-timer apply tasks.toml --write --prune",
		},
		Arguments: []option.Argument{{Name: "file", Kind: option.File, Required: true}},
		Options: append(groupFlags(), cli.NoAutostartFlag, cli.DryFlag, cli.QuietFlag.WithHelp("print nothing but errors"),
			cli.ZoneFlag, cli.JSONFlag, cli.FieldsFlag),
		Answers: []cli.Shape{{Name: "plan", Of: planJSON{}, Means: "what becomes of each task of the source"}},
		Run:     runApply,
	}
}

// fileBounds are the bounds of the structure of a file of tasks.
var fileBounds = codec.Bounds{Depth: 8, Keys: 100_000, Path: 1_000}

func runApply(ctx context.Context, s *cli.Call) error {
	if len(s.Args) != 1 {
		return problem.Of(problem.T("apply takes one file"), problem.T("%s", problem.To("apply", "tasks.toml")))
	}
	text, err := readSource(ctx, s, s.Args[0])
	if err != nil {
		return err
	}
	tree, keys, err := codec.Tree(text, fileBounds)
	if err != nil {
		return notTOML(s.Args[0], err)
	}
	from := source{name: s.Args[0], group: groupOf(s, kindApply, s.Args[0])}
	s.Surface = schedule.Objects(s, s.Table.Find("at"))
	seen := map[string]bool{}
	for _, key := range keys {
		name := key[0]
		if seen[name] {
			continue
		}
		seen[name] = true
		table, ok := tree[name].(map[string]any)
		var w sourceTask
		if !ok {
			w.err = problem.Of(problem.T("%s is not a table", cli.Quote(name)),
				problem.T("write [%s], and below it what the task is", name))
		} else {
			w = declaredTask(s, from.group+name, table)
		}
		w.text, w.label = "["+name+"]", "["+name+"]"
		from.list = append(from.list, w)
	}
	return carryOut(ctx, s, from, true)
}

// notTOML is the problem of a text that is not TOML.
func notTOML(name string, err error) error {
	hint := problem.T(`write it as TOML: [backup], and below it when = "every day at 3am" and command = ["./backup"]`)
	var wrong *codec.SyntaxError
	if !errors.As(err, &wrong) {
		return problem.Of(problem.T("%s cannot be read: %v", cli.Quote(name), err), hint)
	}
	what := "it is not TOML"
	if wrong.Twice {
		what = fmt.Sprintf("%s is there twice", wrong.After)
	} else if wrong.After != "" {
		what += ", after " + wrong.After
	}
	return problem.Of(problem.T("%s line %d: %s", cli.Quote(name), wrong.Line, what), hint)
}

// declaredTask returns the task of a table, which it reads as an object of at --stdin.
func declaredTask(s *cli.Call, key string, table map[string]any) (w sourceTask) {
	for _, own := range []string{"key", "replace"} {
		if _, has := table[own]; has {
			w.err = problem.Of(problem.T("%s does not belong in a table", cli.Quote(own)),
				problem.T("leave it out: the name of the table is the key, and apply changes what is different"))
			return w
		}
	}
	table = maps.Clone(table)
	for name, value := range table {
		if t, is := value.(time.Time); is {
			table[name] = t.Format(time.RFC3339Nano)
		}
	}
	data, err := json.Marshal(table)
	if err != nil {
		w.err = problem.Of(problem.T("it has a value that is not a number (nan or inf)"), problem.T("write a number"))
		return w
	}
	one := *s
	one.Args, one.Opt = nil, s.Opt.Without(groupOptions()...)
	w.spec, w.world, w.err = schedule.FromObject(&one, s.Table.Find("at"), data)
	w.spec.Key = &key
	return w
}

// groupOptions are the options about the whole set of tasks.
func groupOptions() (names []string) {
	for _, o := range groupFlags() {
		names = append(names, o.Name)
	}
	slices.Sort(names)
	return names
}
