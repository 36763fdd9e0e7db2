package cmd

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/urfave/cli/v2"

	"github.com/ouro-timer/ouro-timer/cmd/mcp"
)

// fields are an object of --stdin, read: a call of at in which the object's keys stand for the options. What the object does
// not say is as the command line says.
type fields struct {
	table fieldTable
	call  given
	flags map[string]any // by the first name of the flag: string, int, bool or []string
	when  *string
	argv  []string          // executed directly; nil for none
	keys  map[string]string // what was read: the key by what it stands for
}

// aboutCall are the options of at that are about the call and not about a task.
var aboutCall = []string{"json", "quiet", "no-autostart", "dry-run", "stdin", "spread"}

// renamed are the flags of at whose keys have another name: c is the text for the shell, which --json calls shell, and
// --shell is the program that reads it.
var renamed = map[string]string{"c": "shell", "shell": "program"}

// seedKeys are what an agent's scheduling tool called the keys, whose calls are understood as they are.
var seedKeys = map[string]string{"timeExpression": "when", "taskPayload": "task", "humanReadableDescription": "description"}

// fieldTable is the flags of a command by the key that stands for each, of when and command nil. An option that at gets is a
// key from then on.
type fieldTable map[string]cli.Flag

func newFieldTable(c *command) fieldTable {
	keys := fieldTable{"when": nil, "command": nil}
	for _, f := range c.flags {
		if slices.Contains(aboutCall, f.Names()[0]) {
			continue
		}
		for _, name := range f.Names() {
			if len(name) > 1 || renamed[name] != "" {
				keys[fieldOf(name)] = f
			}
		}
	}
	return keys
}

// fieldOf is the key that stands for a flag of at.
func fieldOf(flag string) string {
	if name := renamed[flag]; name != "" {
		return name
	}
	return strings.ReplaceAll(flag, "-", "_")
}

func (f *fields) IsSet(name string) bool {
	if _, ok := f.flags[name]; ok {
		return true
	}
	return !f.hides(name) && f.call.IsSet(name)
}

// hides reports whether the object gives a time of its own, beside which that of the command line is not one.
func (f *fields) hides(flag string) bool {
	return isForm(flag) && f.timed()
}

// timed reports whether the object says when.
func (f *fields) timed() bool {
	return f.when != nil || f.form() != ""
}

// snapshot is what a command line says, looked up once: the library takes long to find an option.
func snapshot(call given, c *command) given {
	flags := map[string]any{}
	for _, f := range c.flags {
		name := f.Names()[0]
		if !call.IsSet(name) {
			continue
		}
		switch f.(type) {
		case *cli.IntFlag:
			flags[name] = call.Int(name)
		case *cli.BoolFlag:
			flags[name] = call.Bool(name)
		case *cli.StringSliceFlag:
			flags[name] = call.StringSlice(name)
		default:
			flags[name] = call.String(name)
		}
	}
	return &fields{call: unsaid{}, flags: flags}
}

// unsaid is a call without options.
type unsaid struct{}

func (unsaid) IsSet(string) bool           { return false }
func (unsaid) String(string) string        { return "" }
func (unsaid) Int(string) int              { return 0 }
func (unsaid) Bool(string) bool            { return false }
func (unsaid) StringSlice(string) []string { return nil }

// form is the flag that gives the time and forces how it is read; empty for none.
func (f *fields) form() string {
	for flag := range f.flags {
		if isForm(flag) {
			return flag
		}
	}
	return ""
}

func isForm(flag string) bool {
	for _, form := range forms {
		if form.flag == flag {
			return true
		}
	}
	return false
}

func (f *fields) String(name string) string { return field(f, name, given.String) }
func (f *fields) Int(name string) int       { return field(f, name, given.Int) }
func (f *fields) Bool(name string) bool     { return field(f, name, given.Bool) }

// StringSlice is a list of the command line, and what the object adds to it.
func (f *fields) StringSlice(name string) []string {
	own, _ := f.flags[name].([]string)
	return slices.Concat(f.call.StringSlice(name), own)
}

// field is what the object says, or else the command line.
func field[T any](f *fields, name string, get func(given, string) T) T {
	if v, ok := f.flags[name].(T); ok {
		return v
	}
	var none T
	if f.hides(name) {
		return none
	}
	return get(f.call, name)
}

// errNothing is of an object that says nothing to do.
var errNothing = usage("there is nothing to do at that time",
	`a command: "command": ["make", "backup"]; a line for the shell: "shell": "make backup"; a message: "task": "call Bob"; an agent: "agent": "./agent.py"`)

// check refuses an object that says too little or too much to be a task, in the words of objects.
func (f *fields) check() error {
	set := func(flag string) bool { return f.IsSet(flag) }
	var ways []string
	for _, w := range []struct {
		name string
		is   bool
	}{{"command", f.argv != nil}, {"shell", set("c")}, {"file", set("file")}, {"agent", set("agent")}} {
		if w.is {
			ways = append(ways, quote(w.name))
		}
	}
	switch {
	case f.when != nil && f.form() != "":
		return usage(quote(f.keys["when"])+" and "+quote(f.keys[f.form()])+" exclude each other", "give one of them")
	case len(ways) > 1:
		return usage(strings.Join(ways, " and ")+" exclude each other", "give one of them")
	case len(ways) == 0 && strings.TrimSpace(f.String("task")) == "":
		return errNothing
	case set("c") && strings.TrimSpace(f.String("c")) == "":
		return usage(`"shell" is empty`, `write the line for the shell, "shell": "make backup"`)
	case f.argv != nil && f.flags["shell"] != nil:
		return usage(`"program" is for "shell" and "file"; "command" runs without a shell`, "leave it out")
	case f.Bool("replace") && !f.IsSet("key"):
		return usage(`"replace" is for tasks that have a key`, `name the task, "key": "backup"`)
	case f.String("file") == "-":
		return usage(`"file" cannot be standard input, which the tasks are read from`, `name a file, or give the text in "shell"`)
	}
	return nil
}

// refusal is an error of a call that an object stands for, in the words of objects.
func (f *fields) refusal(err error) *failure {
	told := *explain(err)
	told.message, told.hint = asObject().Tell(told.message), asObject().Advise(told.hint)
	if len(f.argv) == 1 && strings.HasPrefix(told.message, "there is no program called") {
		b, _ := json.Marshal(strings.Fields(f.argv[0]))
		told.hint = fmt.Sprintf(`word by word, "command": %s; or for the shell, "shell": %s`, b, quote(f.argv[0]))
	}
	return &told
}

// objectWords are made when they are first needed.
var objectWords struct {
	sync.Once
	mcp.Object
}

// asObject writes the options of at in a sentence as the keys that stand for them.
func asObject() mcp.Object {
	objectWords.Do(func() {
		c := atCommand()
		objectWords.Object = mcp.NewObject(slices.DeleteFunc(mcpFlags(&c), func(f mcp.Flag) bool { return slices.Contains(aboutCall, f.Name) }))
	})
	return objectWords.Object
}
