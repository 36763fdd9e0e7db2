package cmd

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/ouro-timer/ouro-timer/cmd/option"
	"github.com/ouro-timer/ouro-timer/cmd/schema"
	"github.com/ouro-timer/ouro-timer/timer/problem"
	"github.com/ouro-timer/ouro-timer/timer/runner"
)

// guidePage is the page for agents. What it says of codes is put in from their lists.
//
//go:embed guide.md
var guidePage string

// skillFront makes the page a skill: what a harness of agents reads to know when to open it.
const skillFront = `---
name: ouro-timer
description: Wait, schedule and be woken from a shell, with the ouro-timer command. Use when something has to happen later or again and again, when a wait is longer than one tool call may last, when a service has to come up before going on, or when work is to be resumed after this session ends. Not for a pause of a few seconds.
---

`

func guideCommand() command {
	return command{
		name: "guide", args: "[--json <command>...]", short: "print the page for agents: when to use what, with real answers",
		long: `
Prints how a program, or an agent that calls tools, gets on with ouro-timer: the contract, the commands that matter
with their answers, exit codes, and what to do about long waits and failures that pass.

--skill prints the same as a SKILL.md, to be put where your agent looks for skills.
--json prints everything there is, made from the program itself: each command with its arguments, options, defaults
and environment, all exit codes and error codes, and the JSON Schema of each answer; with names of commands, of
those alone.`,
		examples: []string{
			"ouro-timer guide",
			"ouro-timer guide --skill > ~/.claude/skills/ouro-timer/SKILL.md",
			"ouro-timer guide --json at inbox",
		},
		arguments: []option.Argument{{Name: "command", Kind: option.Word, Many: true}},
		options: option.Rows{
			option.Option{Name: "skill", Kind: option.Flag, Help: "print it as a SKILL.md, with its name and what it is for in front"},
			jsonFlag(),
		},
		answers: []answer{{name: "guide", of: guideJSON{}, says: "the whole command line: commands, options, codes, and the schemas of all answers"}},
		always:  true,
		run:     func(_ context.Context, s *session) error { return runGuide(s) },
	}
}

// guideJSON is the answer of guide: the command line as data.
type guideJSON struct {
	Now         time.Time                  `json:"now"`
	Version     string                     `json:"version"`
	Commands    []commandJSON              `json:"commands"`
	ExitCodes   []exitJSON                 `json:"exit_codes"`
	ErrorCodes  []errorCodeJSON            `json:"error_codes" jsonschema:"all there are"`
	Environment []variableJSON             `json:"environment"`
	Schemas     map[string]json.RawMessage `json:"schemas" jsonschema:"a JSON Schema (2020-12) of each answer, by its name"`
}

// commandJSON is a command.
type commandJSON struct {
	Name        string         `json:"name"`
	Usage       string         `json:"usage" jsonschema:"the line of use"`
	Summary     string         `json:"summary"`
	Description *string        `json:"description"`
	Arguments   []argumentJSON `json:"arguments" jsonschema:"in their order; an option in whose place one stands excludes it"`
	Tail        bool           `json:"tail" jsonschema:"what follows -- is a command, not further arguments"`
	Flags       []flagJSON     `json:"flags"`
	Examples    []string       `json:"examples"`
	ExitCodes   []int          `json:"exit_codes" jsonschema:"those it can end with, but for the ends by a signal, which all commands share"`
	Passes      bool           `json:"passes_exit_code" jsonschema:"it ends with the exit code of the command that it ran, whichever that is"`
	Answers     []answerJSON   `json:"answers" jsonschema:"the shapes of what it answers with --json, that of errors among them"`
}

// flagJSON is an option of a command.
type flagJSON struct {
	Name        string       `json:"name" jsonschema:"in full, with its dashes; the letter where there is no other"`
	Short       *string      `json:"short" jsonschema:"a letter that means the same, with its dash"`
	Aliases     []string     `json:"aliases" jsonschema:"other names, with their dashes"`
	Type        string       `json:"type" enum:"boolean string integer" jsonschema:"boolean: it takes no value"`
	Value       *string      `json:"value" jsonschema:"what its value is called in the description"`
	Format      *option.Kind `json:"format" jsonschema:"what the value has to be; null for integers and booleans"`
	Values      []string     `json:"values" jsonschema:"all that it may be; none: whatever has the format"`
	Optional    bool         `json:"value_optional" jsonschema:"the value may be left out; it is joined on by = where it is not"`
	Repeatable  bool         `json:"repeatable"`
	Default     any          `json:"default" jsonschema:"null: none, or it depends on more than the call, as the description says"`
	Environment *string      `json:"environment" jsonschema:"the variable that says the same when the option is not given"`
	Description string       `json:"description"`
}

// answerJSON is a shape of what a command answers.
type answerJSON struct {
	Schema string `json:"schema" jsonschema:"its name among the schemas"`
	Says   string `json:"says"`
	Stream bool   `json:"stream" jsonschema:"one such object a line, for each thing that happens"`
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

// variableJSON is a variable of the environment.
type variableJSON struct {
	Name  string `json:"name"`
	Means string `json:"means"`
}

// variables are those of the environment that are read, but for the usual ones of the system.
var variables = []variableJSON{
	{"OURO_HOME", "the folder of the state (default ~/.ouro)"},
	{"OURO_TZ", "the zone that times are meant in, as --tz"},
	{"OURO_MAX", "how long a call may block, as --max"},
	{"OURO_AUTOSTART", "0: no call starts a runner, as --no-autostart"},
	{runner.OriginVariable, "given to each run: the task that all it schedules came of, which is counted and limited; leave it as it is"},
	{"OURO_TASK_ID", "given to each run: the ID of its task"},
	{"OURO_TASK", "given to each run: the text of --task"},
	{"OURO_DUE", "given to each run: the instant that it is of"},
	{"OURO_OCCURRENCE", "given to each run: ID/N, the same for all attempts and after a crash"},
	{"OURO_ATTEMPT", "given to each run: which attempt it is, from 1"},
	{"OURO_LAST_OUTCOME", "given to each run: how the one before ended"},
	{"TZ", "the zone where neither --tz, OURO_TZ nor the config says one"},
	{"NO_COLOR", "no colours"},
}

func runGuide(s *session) error {
	switch {
	case s.inJSON && s.opt.Bool("skill"):
		return excluding("skill", "json")
	case !s.inJSON && len(s.args) > 0:
		return problem.Of(problem.T("the page is one for all commands, but was asked for %s", quote(s.args[0])),
			problem.T("%s, or %s", problem.To(s.args[0]).With("help", true), problem.To("guide", s.args[0]).With("json", true)))
	}
	if s.inJSON {
		cmds := s.table
		if len(s.args) > 0 {
			var err error
			if cmds, err = named(cmds, s.args); err != nil {
				return err
			}
		}
		answer, err := guide(s, cmds)
		if err != nil {
			return err
		}
		s.emit(answer)
		return nil
	}
	text := guideText()
	if s.opt.Bool("skill") {
		text = skillFront + text
	}
	s.line("%s", strings.TrimSuffix(text, "\n"))
	return nil
}

// named are the commands of the names.
func named(cmds []command, names []string) (list []command, err error) {
	for _, name := range names {
		c := find(cmds, name)
		if c == nil || c.hidden {
			return nil, unknownCommand(name, cmds)
		}
		list = append(list, *c)
	}
	return list, nil
}

// guideText is the page, with the codes put in.
func guideText() string {
	var exits, codes []string
	for _, e := range exitCodes {
		exits = append(exits, fmt.Sprintf("%d %s", e.code, e.means))
	}
	for _, e := range problem.Codes {
		codes = append(codes, fmt.Sprintf("`%s` (%d)", e.Code, e.Exit))
	}
	return strings.NewReplacer(
		"{{exit codes}}", strings.Join(wrap(strings.Join(exits, " · ")+".", 140), "\n"),
		"{{lineage}}", fmt.Sprintf("%d may wait, %d be made within an hour, %s lie between two of a recurrence", lineagePending, lineagePerHour, lineageMinInterval),
		"{{error codes}}", strings.Join(wrap(strings.Join(codes, " ")+". The list is closed.", 140), "\n"),
	).Replace(guidePage)
}

// guide is the command line as data.
func guide(s *session, cmds []command) (guideJSON, error) {
	g := guideJSON{Now: s.stamp(), Version: Version, Environment: variables, Schemas: map[string]json.RawMessage{}}
	for _, e := range exitCodes {
		g.ExitCodes = append(g.ExitCodes, exitJSON{e.code, e.means})
	}
	for _, e := range problem.Codes {
		g.ErrorCodes = append(g.ErrorCodes, errorCodeJSON{e.Code, e.Exit, e.Means})
	}
	for _, c := range cmds {
		if !c.hidden {
			g.Commands = append(g.Commands, asCommandJSON(c, s.table))
		}
	}
	for _, a := range everyAnswer(cmds) {
		page, err := schema.Page(a.name, a.says, a.of)
		if err != nil {
			return guideJSON{}, fmt.Errorf("the schema of %s: %w", a.name, err)
		}
		g.Schemas[a.name] = page
	}
	return g, nil
}

func asCommandJSON(c command, all []command) commandJSON {
	j := commandJSON{Name: c.name, Usage: strings.TrimSpace("ouro-timer " + c.name + " " + c.args), Summary: c.short, Description: orNull(strings.Trim(c.long, "\n")),
		Arguments: asArgumentsJSON(c, all), Tail: c.tail, Flags: []flagJSON{}, Examples: orEmpty(c.examples), ExitCodes: exitsOf(c), Passes: c.passes, Answers: []answerJSON{}}
	for _, o := range c.options.Shown() {
		j.Flags = append(j.Flags, asFlagJSON(o))
	}
	for _, a := range c.answers {
		j.Answers = append(j.Answers, answerJSON{a.name, a.says, a.stream})
	}
	if len(c.answers) > 0 {
		j.Answers = append(j.Answers, answerJSON{errorAnswer.name, errorAnswer.says, false})
	}
	return j
}

func asFlagJSON(o option.Option) flagJSON {
	j := flagJSON{Type: "string", Aliases: []string{}, Values: orEmpty(o.Choices), Optional: o.Bare, Repeatable: o.Many, Environment: orNull(o.Env),
		Value: orNull(o.ValueName()), Description: o.Usage()}
	for _, name := range o.Names() {
		switch {
		case len(name) == 1:
			j.Short = orNull("-" + name)
		case j.Name == "":
			j.Name = "--" + name
		default:
			j.Aliases = append(j.Aliases, "--"+name)
		}
	}
	if j.Name == "" {
		j.Name = deref(j.Short)
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

// argumentJSON is an argument of a command, in its order.
type argumentJSON struct {
	Name       string      `json:"name" jsonschema:"as the line of use has it; word where it has the words themselves"`
	Required   bool        `json:"required" jsonschema:"false: it may be left out, or an option may stand in its place"`
	Repeatable bool        `json:"repeatable"`
	Format     option.Kind `json:"format"`
	Values     []string    `json:"values" jsonschema:"all that it may be; none: whatever has the format"`
}

func asArgumentsJSON(c command, all []command) []argumentJSON {
	list := []argumentJSON{}
	for _, a := range c.arguments {
		j := argumentJSON{a.Name, a.Required, a.Many, a.Kind, orEmpty(a.Choices)}
		if a.Name == "command" {
			j.Values = commandNames(all)
		}
		list = append(list, j)
	}
	return list
}
