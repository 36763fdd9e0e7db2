package mcp

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/ouro-timer/ouro-timer/cmd/option"
	"github.com/ouro-timer/ouro-timer/timer/problem"
	"github.com/ouro-timer/ouro-timer/timer/when"
)

// arg is an argument in the description of a tool. The tool also takes all others that its command
// has.
type arg struct {
	name     string // the key
	help     string
	example  any  // an example; may be nil
	required bool // it is required
	choices  []string
}

// tool is a command as a model sees it.
type tool struct {
	name, title string
	help        string
	example     string // an example of its arguments
	command     string // the command whose options are its arguments
	ownOptions  option.Rows
	args        []arg
	aliases     map[string]string // its arguments by other names that callers use
	// instead says what to send in place of arguments that other systems have, by their names with
	// underscores.
	instead  map[string]string
	defaults map[string]string // where they are not those of the command line
	excluded []string          // options of the command that the tool does not take
	answers  []string          // the names of the forms of its answers
	// fields are those of its answers that its description names, beside those of every answer.
	fields      []string
	readOnly    bool // it changes nothing
	destructive bool
	idempotent  bool // repeating it changes nothing more
	openWorld   bool // it may reach other machines

	rows    option.Rows // all options that it takes
	request func(*Options, *tool, option.Values) (request, error)
}

// request is the call that a tool makes of a command.
type request struct {
	Request
	longest    time.Duration // the longest time that it blocks; 0 when it does not
	acts       bool          // it changes something before it waits
	boundGiven bool          // the caller gave the bound
	remaining  time.Duration // how long until what it waits for, if that is less; 0 when not known
	dueRequest *Request      // the call that says when that is; nil when no call has to be made
}

// maxSeconds is the argument of tools that block.
const maxSeconds = "max_seconds"

// allTools returns the tools in the order of the list.
func allTools(o *Options) []*tool {
	blocking := arg{name: maxSeconds, help: fmt.Sprintf("block at most so long (default and most: %d)",
		int(o.BlockMost/time.Second))}
	list := tools(blocking)
	for _, t := range list {
		t.addOptions(o.Rows(t.command))
	}
	return list
}

// notOfTools are options of many commands that no tool takes: what they write, and whether they
// start a runner, is not for the caller of a tool to say.
var notOfTools = []string{"json", "fields", "quiet", "no-autostart"}

// addOptions adds the options of the command to what the tool takes. A command that has a bound may
// wait, so the tool has the bound of tools.
func (t *tool) addOptions(rows option.Rows) {
	if rows.Named("max") != nil {
		t.ownOptions = append(t.ownOptions, maxArg)
	}
	t.rows = slices.Clone(t.ownOptions)
	for _, o := range rows {
		if t.ownOptions.Named(o.Name) == nil && !slices.Contains(slices.Concat(notOfTools, t.excluded), o.Name) {
			t.rows = append(t.rows, o)
		}
	}
}

// reader reads the arguments of a call. Several tools have arguments with these other names.
func (t *tool) reader() option.Lenient {
	others := map[string]string{"time_expression": "when", "task_payload": "task",
		"human_readable_description": "description", "timeout_seconds": "timeout", "task_id": "id", "timer_id": "id"}
	maps.Copy(others, t.aliases)
	l := option.Lenient{Name: t.name, Command: t.command, Example: t.example, Rows: t.rows, OtherKeys: others, Instead: t.instead}
	for _, a := range t.args {
		l.Shown = append(l.Shown, a.name)
	}
	return l
}

// blocks reports whether a call of the tool may wait.
func (t *tool) blocks() bool { return t.ownOptions.Named("max") != nil }

// argument returns the argument of a key, or nil.
func (t *tool) argument(key string) *option.Option {
	for i := range t.rows {
		if t.rows[i].FieldKey() == key {
			return &t.rows[i]
		}
	}
	return nil
}

// options returns the options of the command that were given.
func (t *tool) options(v option.Values) option.Values {
	for _, o := range t.ownOptions {
		v = v.Without(o.Name)
	}
	return v
}

// bound is how long a call may block: as it says, but no longer than clients wait.
func (o *Options) bound(v option.Values) (time.Duration, error) {
	text := v.Text("max")
	if text == "" {
		return o.BlockMost, nil
	}
	d, err := when.Duration(text)
	if err == nil && d <= 0 {
		return 0, refusal(fmt.Sprintf("%q must be more than 0", maxSeconds), fmt.Sprintf("send %q: 20", maxSeconds))
	}
	if err != nil {
		return 0, refusal(fmt.Sprintf("%q is %q, which is not a number of seconds", maxSeconds, text),
			fmt.Sprintf("send %q: 20", maxSeconds))
	}
	return min(d, o.BlockMost), nil
}

// refusal is the problem of a call that is refused before it reaches a command.
func refusal(message, hint string) error { return problem.Of(problem.T(message), problem.T(hint)) }

// schema is the JSON Schema of the arguments in the description.
func (t *tool) schema() json.RawMessage {
	type property struct {
		Type     string    `json:"type"`
		Items    *property `json:"items,omitempty"`
		Help     string    `json:"description,omitempty"`
		Choices  []string  `json:"enum,omitempty"`
		Examples []any     `json:"examples,omitempty"`
	}
	var b strings.Builder
	b.WriteString(`{"type":"object","properties":{`)
	required := []string{}
	for i, a := range t.args {
		p := property{Type: "string", Help: a.help, Choices: a.choices}
		switch row := t.argument(a.name); {
		case row.Kind == option.Whole:
			p.Type = "integer"
		case row.Kind == option.Flag, row.Bare:
			p.Type = "boolean"
		case row.Pairs:
			p.Type = "object"
		case row.Many:
			p.Type, p.Items = "array", &property{Type: "string"}
		}
		if a.name == maxSeconds {
			p.Type = "number"
		}
		if a.example != nil {
			p.Examples = []any{a.example}
		}
		if a.required {
			required = append(required, a.name)
		}
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, "%q:%s", a.name, option.JSON(p))
	}
	b.WriteByte('}')
	if len(required) > 0 {
		fmt.Fprintf(&b, `,"required":%s`, option.JSON(required))
	}
	b.WriteByte('}')
	return json.RawMessage(b.String())
}
