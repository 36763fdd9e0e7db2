package mcp

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ouro-timer/ouro-timer/cmd/option"
	"github.com/ouro-timer/ouro-timer/timer/problem"
	"github.com/ouro-timer/ouro-timer/timer/when"
)

// surface words problems for a tool: options are arguments with JSON values, and calls are calls of
// tools.
type surface struct {
	tools []*tool
	tool  *tool         // the tool that was called
	line  problem.Shell // the surface of calls without a tool
}

// Option is the argument of an option. An option that the tool does not take is written as on a
// command line.
func (s surface) Option(name string) string {
	if o := s.tool.rows.Named(name); o != nil {
		return option.JSON(o.FieldKey())
	}
	return s.line.Option(name)
}

// Setting is an argument with its value. An empty text that is none would count as absent, so a
// tool that clears arguments is told to.
func (s surface) Setting(name string, value any) string {
	o := s.tool.rows.Named(name)
	if clear := s.tool.ownOptions.Named("clear"); o != nil && clear != nil && value == "" && !o.OrEmpty {
		return option.JSON(clear.FieldKey()) + ": " + clear.Written(o.FieldKey())
	}
	if o != nil {
		return option.JSON(o.FieldKey()) + ": " + o.Written(value)
	}
	return s.line.Setting(name, value)
}

// Call writes a call as a call of its tool, or as a line when there is no such tool.
func (s surface) Call(c problem.Call) string {
	tool, args := s.arguments(c)
	switch {
	case tool == nil:
		return s.line.Call(c)
	case len(args) == 0:
		return tool.name
	}
	return tool.name + " " + option.JSON(args)
}

// Usual is the default of an argument, if it is not that of the command line.
func (s surface) Usual(name string) string { return s.tool.defaults[name] }

// toolOf returns the tool of a command, and the arguments that stand for the command; nil when
// there is none.
func (s surface) toolOf(command string) (*tool, map[string]any) {
	name, with := command, map[string]any{}
	switch command {
	case "show":
		name = "ls"
	case "ack":
		name = "inbox"
	case "stop": // of a one-shot or of a removed task: a tool is told to stop no other
		name, with["kill"] = "rm", true
	case "pause", "resume", "restore":
		name, with["action"] = "edit", command
	}
	i := slices.IndexFunc(s.tools, func(t *tool) bool { return t.command == name })
	if i < 0 {
		return nil, nil
	}
	return s.tools[i], with
}

// arguments returns the arguments of a call of the tool; nil for a call that no tool can make.
func (s surface) arguments(c problem.Call) (*tool, map[string]any) {
	t, args := s.toolOf(c.Command)
	if t == nil {
		return nil, nil
	}
	for _, set := range c.Set {
		o := t.rows.Named(string(set.Name))
		switch {
		case set.Name == "json":
		case o == nil:
			return nil, nil
		case o.Name == "max":
			if most, err := when.Duration(fmt.Sprint(set.Value)); err == nil {
				args[maxSeconds] = most.Seconds()
			}
		default:
			args[o.FieldKey()] = o.InJSON(set.Value)
		}
	}
	if !t.placeWords(c, args) {
		return nil, nil
	}
	return t, args
}

// placeWords puts the words of a call that are not options into the arguments of the tool.
func (t *tool) placeWords(c problem.Call, args map[string]any) bool {
	words := slices.Concat(c.Args, c.Text)
	first := func(name string) {
		if len(words) > 0 {
			args[name], words = words[0], words[1:]
		}
	}
	rest := func(name string) {
		if len(words) > 0 {
			args[name], words = strings.Join(words, " "), nil
		}
	}
	all := func(name string) {
		if len(words) > 0 {
			args[name], words = words, nil
		}
	}
	switch c.Command {
	case "wait":
		if args["any"] != nil {
			all("any")
			break
		}
		if len(words) > 1 && olderModes[words[0]] != "" {
			first("mode")
			first("value")
		} else if args["resume"] == nil && !timed(func(name string) bool { return args[name] != nil }) {
			first("when")
		}
		rest("task")
	case "at", "when":
		rest("when")
	case "edit":
		first("id")
		rest("when")
	case "show", "log", "pause", "resume", "restore":
		first("id")
	case "stop": // names runs, too
		for i, word := range words {
			words[i], _, _ = strings.Cut(word, "/")
		}
		words = slices.Compact(words)
		all("ids")
	case "rm", "inbox":
		all("ids")
	case "ack":
		all("ack")
	case "health-wait":
		all("targets")
	case "notify":
		rest("body")
	}
	if c.Tail != nil {
		if t.rows.Named("command") == nil {
			return false
		}
		args["command"] = c.Tail
	}
	return len(words) == 0
}

// timed reports whether an option is given that says a time, or after what task.
func timed(has func(name string) bool) bool {
	return slices.ContainsFunc(option.Forms, has) || has("after")
}
