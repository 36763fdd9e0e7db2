// Package guide has the commands about the commands themselves (help, guide, completion, version),
// and the tools of MCP.
package guide

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ouro-timer/ouro-timer/cmd/cli"
	"github.com/ouro-timer/ouro-timer/cmd/option"
	"github.com/ouro-timer/ouro-timer/cmd/schema"
	"github.com/ouro-timer/ouro-timer/timer/problem"
	"github.com/ouro-timer/ouro-timer/timer/runner"
	"github.com/ouro-timer/ouro-timer/timer/tasks"
)

// guidePage is the page for agents. The exit codes and error codes are filled in.
//
//go:embed guide.md
var guidePage string

// skillFront turns the page into a skill: it tells an agent when to read it.
const skillFront = `---
name: ouro-timer
description: Wait, schedule and be woken from a shell, with the ouro-timer command. Use when something has to happen later or again and again, when a wait is longer than one tool call may last, when a service has to come up before going on, or when work is to be resumed after this session ends. Not for a pause of a few seconds.
---

`

func GuideCommand() cli.Command {
	return cli.Command{
		Name: "guide", Args: "[--json <command>... | --skill --write [<program or path>...]]",
		Short: "print the page for agents: when to use what, with real answers",
		Long: `
Prints how a program, or an agent that calls tools, gets on with ouro-timer: the contract, the commands that matter
with their answers, exit codes, and what to do about long waits and failures that pass.

--skill prints the same as a SKILL.md, to be put where your agent looks for skills; with --write it is put there: where
claude (Claude Code), codex, gemini, cursor or vscode looks for the user's own, or at a path. Without either it is put where
those look that have a folder here. No other skill is written over.
--json prints everything there is, made from the program itself: each command with its arguments, options, defaults
and environment, all exit codes and error codes, and the JSON Schema of each answer. With names of commands it is what
calling those needs; --json=full has the rest of them, and --schema the schema of one answer.`,
		Examples: []string{
			"ouro-timer guide",
			"ouro-timer guide --skill --write claude",
			"ouro-timer guide --json at inbox",
		},
		Arguments: []option.Argument{{Name: "command", Kind: option.Word, Many: true}},
		Options: option.Rows{
			option.Option{Name: "skill", Kind: option.Flag,
				Help: "print it as a SKILL.md, with its name and what it is for in front"},
			option.Option{Name: "schema", Kind: option.Name, Help: "print the JSON Schema of the answer NAME"},
			writeFlag("with --skill: put it where programs look for it, and print where that is"),
			cli.DryFlag(), cli.QuietFlag("with --write: print nothing but errors"), cli.JSONFlag(), cli.FieldsFlag(),
		},
		Answers: []cli.Shape{{Name: "guide", Of: guideJSON{},
			Means: "the whole command line: commands, options, codes, and the schemas of all answers"}, installShape},
		InAnyEnvironment: true,
		Brief:            true,
		Run:              func(_ context.Context, s *cli.Call) error { return runGuide(s) },
	}
}

// guideJSON is the answer of guide: the command line as data.
type guideJSON struct {
	Now         time.Time                  `json:"now"`
	Version     string                     `json:"version"`
	Commands    []commandJSON              `json:"commands"`
	ExitCodes   []exitJSON                 `json:"exit_codes,omitempty"`
	ErrorCodes  []errorCodeJSON            `json:"error_codes,omitempty" jsonschema:"all there are"`
	Environment []VariableJSON             `json:"environment,omitempty"`
	Schemas     map[string]json.RawMessage `json:"schemas,omitempty" jsonschema:"a JSON Schema (2020-12) of each answer, by its name"`
	SchemaCall  []string                   `json:"schema_call,omitempty" jsonschema:"of some commands: the call that prints the schema NAME"`
}

// commandJSON is a command.
type commandJSON struct {
	Name        string         `json:"name"`
	Usage       string         `json:"usage" jsonschema:"the line of use"`
	Summary     string         `json:"summary"`
	Description *string        `json:"description,omitempty"`
	Arguments   []argumentJSON `json:"arguments,omitempty" jsonschema:"in their order; an option in whose place one stands excludes it"`
	Tail        bool           `json:"tail,omitempty" jsonschema:"what follows -- is a command, not further arguments"`
	Flags       []flagJSON     `json:"flags,omitempty"`
	Options     []string       `json:"options,omitempty" jsonschema:"the same in a line each, when some commands are asked for"`
	Examples    []string       `json:"examples,omitempty"`
	ExitCodes   []int          `json:"exit_codes" jsonschema:"those it can end with, but for the ends by a signal, which all commands share"`
	Passes      bool           `json:"passes_exit_code,omitempty" jsonschema:"it ends with the exit code of the command that it ran, whichever that is"`
	Fields      string         `json:"fields,omitempty" jsonschema:"names that --fields takes, with commas between; not there when some commands are asked for"`
	Answers     []answerJSON   `json:"answers,omitempty" jsonschema:"the shapes of what it answers with --json, that of errors among them"`
}

// flagJSON is an option of a command.
type flagJSON struct {
	Name        string       `json:"name" jsonschema:"in full, with its dashes; the letter where there is no other"`
	Short       *string      `json:"short,omitempty" jsonschema:"a letter that means the same, with its dash"`
	Aliases     []string     `json:"aliases,omitempty" jsonschema:"other names, with their dashes"`
	Type        flagType     `json:"type,omitzero" enum:"boolean string integer" jsonschema:"boolean: it takes no value; absent: string"`
	Value       *string      `json:"value,omitempty" jsonschema:"what its value is called in the description"`
	Format      *option.Kind `json:"format,omitempty" jsonschema:"what the value has to be; absent for integers and booleans"`
	Values      []string     `json:"values,omitempty" jsonschema:"all that it may be; none: whatever has the format"`
	Optional    bool         `json:"value_optional,omitempty" jsonschema:"the value may be left out; it is joined on by = where it is not"`
	Repeatable  bool         `json:"repeatable,omitempty"`
	Default     any          `json:"default,omitempty" jsonschema:"absent: none, or it depends on more than the call, as the description says"`
	Environment *string      `json:"environment,omitempty" jsonschema:"the variable that says the same when the option is not given"`
	Description string       `json:"description"`
}

// flagType is the type of the value of an option in JSON.
type flagType string

// IsZero reports whether the type is the usual one, which answers leave out.
func (t flagType) IsZero() bool { return t == "string" }

// optionLine is an option in one line: its names, its value and its help.
func optionLine(o option.Option) string {
	var names []string
	for _, name := range o.Names() {
		dashes := "--"
		if len(name) == 1 {
			dashes = "-"
		}
		names = append(names, dashes+name)
	}
	line := strings.Join(names, ", ")
	if value := o.ValueName(); value != "" && o.Kind != option.Flag {
		line += " " + value
	}
	return line + ": " + o.Usage()
}

// answerJSON is a form of the answers of a command.
type answerJSON struct {
	Schema string `json:"schema" jsonschema:"its name among the schemas"`
	Says   string `json:"says"`
	Stream bool   `json:"stream,omitempty" jsonschema:"one such object a line, for each thing that happens"`
}

// exitJSON is an exit code.
type exitJSON struct {
	Code  int    `json:"code"`
	Means string `json:"means"`
}

// errorCodeJSON is a code of errors.
type errorCodeJSON struct {
	Code  problem.Code `json:"code"`
	Exit  int          `json:"exit" jsonschema:"the exit code of a call that failed by it"`
	Means string       `json:"means"`
}

// VariableJSON is a variable of the environment.
type VariableJSON struct {
	Name  string `json:"name"`
	Means string `json:"means"`
}

// Variables are the variables that are read, except the usual ones of the system.
var Variables = []VariableJSON{
	{"OURO_HOME", "the folder of the state (default ~/.ouro)"},
	{"OURO_STORE", "the servers of a fleet, as store in config.toml"},
	{"OURO_TZ", "the zone in which times are read and shown, as --tz"},
	{"OURO_MAX", "how long a call may block, as --max"},
	{"OURO_AUTOSTART", "0: no call starts a runner, as --no-autostart"},
	{runner.OriginVariable,
		"given to each run: the task that all it schedules came of, which is counted and limited; leave it as it is"},
	{"OURO_TASK_ID", "given to each run: the ID of its task"},
	{"OURO_TASK", "given to each run: the text of --task"},
	{"OURO_DUE", "given to each run: the instant that it is of"},
	{"OURO_OCCURRENCE", "given to each run: ID/N, the same for all attempts and after a crash"},
	{"OURO_ATTEMPT", "given to each run: which attempt it is, from 1"},
	{"OURO_FENCE",
		"given to each run in a fleet: a number that grows with each, so that what it writes to may refuse one that comes late"},
	{"OURO_LAST_OUTCOME", "given to each run: how the one before ended"},
	{"TZ", "the zone where neither --tz, OURO_TZ nor the config says one"},
	{"NO_COLOR", "no colours"},
	{"CLICOLOR", "0: no colours"},
	{"CLICOLOR_FORCE", "1: colours in pipes and files, too, but for fields with tabs and JSON"},
}

func runGuide(s *cli.Call) error {
	skill, write := s.Opt.Bool("skill"), s.Opt.Bool("write")
	switch {
	case s.Opt.Has("schema"):
		return runSchema(s, s.Opt.Text("schema"))
	case write && !skill:
		return cli.NeedsOption("write", "skill", problem.To("guide").With("skill", true).With("write", true))
	case skill && write:
		return writeSkill(s, skillFront+GuideText())
	case s.DryRun:
		return problem.Of(problem.T("%s is for calls that change something, and this one does not",
			problem.Option("dry-run")), problem.T("leave it out"))
	case s.InJSON && skill:
		return cli.Excluding("skill", "json")
	case !s.InJSON && len(s.Args) > 0:
		return problem.Of(problem.T("the page is one for all commands, but was asked for %s", cli.Quote(s.Args[0])),
			problem.T("%s, or %s", problem.To(s.Args[0]).With("help", true),
				problem.To("guide", s.Args[0]).With("json", true)))
	}
	if s.InJSON {
		cmds := s.Table.All()
		if len(s.Args) > 0 {
			var err error
			if cmds, err = named(s.Table, s.Args); err != nil {
				return err
			}
		}
		answer, err := guide(s, cmds, len(s.Args) > 0)
		if err != nil {
			return err
		}
		s.Emit(answer)
		return nil
	}
	text := GuideText()
	if skill {
		text = skillFront + text
	}
	s.Line("%s", strings.TrimSuffix(text, "\n"))
	return nil
}

// named returns the commands with these names.
func named(all cli.Table, names []string) (list []cli.Command, err error) {
	for _, name := range names {
		c := all.Find(name)
		if c == nil || c.Hidden {
			return nil, UnknownCommand(name, all)
		}
		list = append(list, *c)
	}
	return list, nil
}

// GuideText is the page with the codes filled in.
func GuideText() string {
	var codes, numbers, signals []string
	for _, e := range cli.ExitCodes {
		if _, by, is := strings.Cut(e.Means, "ended by "); is {
			numbers, signals = append(numbers, strconv.Itoa(e.Code)),
				append(signals, strings.TrimSuffix(by, ", as the shell tells it"))
			continue
		}
		text := fmt.Sprintf("%d %s", e.Code, e.Means)
		var of []string
		for _, p := range problem.Codes {
			if p.Exit == e.Code {
				of = append(of, string(p.Code))
			}
		}
		if of != nil {
			text += " (" + strings.Join(of, ", ") + ")"
		}
		codes = append(codes, text)
	}
	codes = append(codes, fmt.Sprintf("%s ended by %s", strings.Join(numbers, ", "), strings.Join(signals, ", ")))
	return strings.NewReplacer(
		"{{codes}}", strings.Join(wrap(strings.Join(codes, " · ")+". The list is closed.", 140), "\n"),
		"{{lineage}}", fmt.Sprintf("%d may wait, %d be made within an hour, %s lie between two of a recurrence",
			cli.LineagePending, cli.LineagePerHour, tasks.LineageMinInterval),
	).Replace(guidePage)
}

// runSchema prints the schema of an answer.
func runSchema(s *cli.Call, name string) error {
	var names []string
	for _, a := range EveryAnswer(s.Table.All()) {
		if a.Name == name {
			page, err := schema.Page(a.Name, a.Means, a.Of)
			if err != nil {
				return err
			}
			_, _ = s.Stdout.Write(page)
			return nil
		}
		names = append(names, a.Name)
	}
	hint := problem.T("they are %s", strings.Join(names, ", "))
	if near := problem.Nearest(name, names); near != "" {
		hint = problem.T("did you mean %s?", near)
	}
	return problem.Of(problem.T("no answer has the schema %s", cli.Quote(name)), hint)
}

// guide returns the command line as data. For some commands it has only what a call of them needs;
// what they share, and the schemas, come with all commands.
func guide(s *cli.Call, cmds []cli.Command, some bool) (guideJSON, error) {
	g := guideJSON{Now: s.Stamp(), Version: cli.Version}
	if some = some && s.Compact(); some {
		g.SchemaCall = []string{s.Program(), "guide", "--schema", "NAME"}
		for _, c := range cmds {
			j := asCommandJSON(c, s.Table)
			// The description is in --help, and the options are in Lines.
			j.Description, j.Flags, j.Fields = nil, nil, ""
			j.Examples = j.Examples[:min(len(j.Examples), 3)]
			j.Answers = slices.DeleteFunc(j.Answers, func(a answerJSON) bool { return a.Schema == errorAnswer.Name })
			for _, o := range c.Options.Shown() {
				j.Options = append(j.Options, optionLine(o))
			}
			g.Commands = append(g.Commands, j)
		}
		return g, nil
	}
	g.Environment, g.Schemas = Variables, map[string]json.RawMessage{}
	for _, e := range cli.ExitCodes {
		g.ExitCodes = append(g.ExitCodes, exitJSON{e.Code, e.Means})
	}
	for _, e := range problem.Codes {
		g.ErrorCodes = append(g.ErrorCodes, errorCodeJSON{e.Code, e.Exit, e.Means})
	}
	for _, c := range cmds {
		if !c.Hidden {
			g.Commands = append(g.Commands, asCommandJSON(c, s.Table))
		}
	}
	for _, a := range EveryAnswer(cmds) {
		page, err := schema.Page(a.Name, a.Means, a.Of)
		if err != nil {
			return guideJSON{}, fmt.Errorf("the schema of %s: %w", a.Name, err)
		}
		g.Schemas[a.Name] = page
	}
	return g, nil
}

func asCommandJSON(c cli.Command, all cli.Table) commandJSON {
	j := commandJSON{Name: c.Name, Usage: strings.TrimSpace("ouro-timer " + c.Name + " " + c.Args),
		Summary: c.Short, Description: cli.OrNull(strings.Trim(c.Long, "\n")),
		Arguments: AsArgumentsJSON(c, all), Tail: c.Tail, Flags: []flagJSON{}, Examples: cli.OrEmpty(c.Examples),
		ExitCodes: cli.ExitsOf(c), Passes: c.Passes, Fields: strings.Join(cli.FieldNames(&c), ","),
		Answers: []answerJSON{}}
	for _, o := range c.Options.Shown() {
		j.Flags = append(j.Flags, AsFlagJSON(o))
	}
	for _, a := range c.Answers {
		j.Answers = append(j.Answers, answerJSON{a.Name, a.Means, a.Stream})
	}
	if len(c.Answers) > 0 {
		j.Answers = append(j.Answers, answerJSON{errorAnswer.Name, errorAnswer.Means, false})
	}
	return j
}

func AsFlagJSON(o option.Option) flagJSON {
	j := flagJSON{Type: "string", Aliases: []string{}, Values: cli.OrEmpty(o.Choices), Optional: o.Bare,
		Repeatable: o.Many, Environment: cli.OrNull(o.Env),
		Value: cli.OrNull(o.ValueName()), Description: o.Usage()}
	for _, name := range o.Names() {
		switch {
		case len(name) == 1:
			j.Short = cli.OrNull("-" + name)
		case j.Name == "":
			j.Name = "--" + name
		default:
			j.Aliases = append(j.Aliases, "--"+name)
		}
	}
	if j.Name == "" {
		j.Name = cli.Deref(j.Short)
	}
	switch o.Kind {
	case option.Flag:
		j.Type, j.Default = "boolean", false
	case option.Whole:
		j.Type = "integer"
		if n, err := strconv.Atoi(o.Default); err == nil {
			j.Default = n
		}
	default:
		j.Format = &o.Kind
		if o.Default != "" {
			j.Default = o.Default
		}
	}
	return j
}

// argumentJSON is an argument of a command, in order.
type argumentJSON struct {
	Name       string      `json:"name" jsonschema:"as the line of use has it; word where it has the words themselves"`
	Required   bool        `json:"required,omitempty" jsonschema:"false: it may be left out, or an option may stand in its place"`
	Repeatable bool        `json:"repeatable,omitempty"`
	Format     option.Kind `json:"format"`
	Values     []string    `json:"values,omitempty" jsonschema:"all that it may be; none: whatever has the format"`
}

func AsArgumentsJSON(c cli.Command, all cli.Table) []argumentJSON {
	list := []argumentJSON{}
	for _, a := range c.Arguments {
		j := argumentJSON{a.Name, a.Required, a.Many, a.Kind, cli.OrEmpty(a.Choices)}
		if a.Name == "command" {
			j.Values = commandNames(all)
		}
		list = append(list, j)
	}
	return list
}
