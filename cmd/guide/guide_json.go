package guide

import (
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
)

// guideJSON is the answer of guide: all commands and codes as data.
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
		names = append(names, problem.Shell{}.Option(name))
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

// Variables are the environment variables that this program reads or sets, except the usual ones of
// the system.
var Variables = []VariableJSON{
	{"OURO_HOME", "the folder of the state (default ~/.ouro)"},
	{"OURO_STORE", "the servers of a fleet, as store in config.toml"},
	{"OURO_TZ", "the zone in which times are read and shown, as --tz"},
	{"OURO_MAX", "how long a call may block, as --max"},
	{"OURO_AUTOSTART", "0: no call starts a runner, as --no-autostart"},
	{runner.OriginVariable,
		"given to each run: the origin of the tasks that it schedules, which are counted and limited; leave it as it is"},
	{"OURO_TASK_ID", "given to each run: the ID of its task"},
	{"OURO_TASK", "given to each run: the text of --task"},
	{"OURO_DUE", "given to each run: the instant for which it was due"},
	{"OURO_OCCURRENCE", "given to each run: ID/N, the same for all attempts and after a crash"},
	{"OURO_ATTEMPT", "given to each run: which attempt it is, from 1"},
	{"OURO_FENCE",
		"given to each run in a fleet: a number that grows with each run, so that what a run writes to can refuse an older one"},
	{"OURO_LAST_OUTCOME", "given to each run: how the one before ended"},
	{"TZ", "the zone when --tz, OURO_TZ and the config do not name one"},
	{"NO_COLOR", "no colours"},
	{"CLICOLOR", "0: no colours"},
	{"CLICOLOR_FORCE", "1: colours in pipes and files, too, but not in fields with tabs or JSON"},
}

// guide returns commands as data. For some commands it has only what a call of them needs, unless
// --json=full asks for more. For all commands it also has what they share, and the schemas.
func guide(s *cli.Call, cmds []cli.Command, some bool) (guideJSON, error) {
	g := guideJSON{Now: s.Stamp(), Version: cli.Version}
	if some && s.Compact() {
		g.SchemaCall = []string{s.Program(), "guide", "--schema", "NAME"}
		for _, c := range cmds {
			j := asCommandJSON(c, s.Table)
			// --help has the description, and Options has the flags in short.
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
		ExitCodes: cli.ExitsOf(c), Passes: c.Passes, Fields: strings.Join(cli.FieldNames(c.Answers), ","),
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

// AsFlagJSON is an option as data.
func AsFlagJSON(o option.Option) flagJSON {
	j := flagJSON{Type: "string", Aliases: []string{}, Values: cli.OrEmpty(o.Choices), Optional: o.Bare,
		Repeatable: o.Many, Environment: cli.OrNull(o.Env),
		Value: cli.OrNull(o.ValueName()), Description: o.Usage()}
	short, long := dashed(o)
	if len(short) > 0 {
		j.Short, j.Name = &short[0], short[0]
	}
	if len(long) > 0 {
		j.Name, j.Aliases = long[0], long[1:]
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

// AsArgumentsJSON are the arguments of a command as data.
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
