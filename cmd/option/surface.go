package option

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/ouro-timer/ouro-timer/state/plain"
	"github.com/ouro-timer/ouro-timer/timer/problem"
)

// Objects is the surface of objects that stand for tasks: options are written as keys with JSON
// values. Calls of other commands are written as command lines.
type Objects struct {
	Command string // the command that the objects stand for
	Rows    Rows
	Line    problem.Shell // the surface of other calls
}

// Option is the key of an option. An option about the whole call is written as on the command line.
func (s Objects) Option(name string) string {
	o := s.Rows.Named(name)
	switch {
	case name == string(problem.When), name == string(problem.Command):
		return JSON(name)
	case o == nil || o.OfCall:
		return s.Line.Option(name)
	}
	return JSON(o.FieldKey())
}

// Setting is a key with its value.
func (s Objects) Setting(name string, value any) string {
	o := s.Rows.Named(name)
	switch {
	case name == string(problem.When), name == string(problem.Command):
		return JSON(name) + ": " + JSON(value)
	case o == nil || o.OfCall:
		return s.Line.Setting(name, value)
	}
	return JSON(o.FieldKey()) + ": " + o.Written(value)
}

// Call writes a call of the command as an object, and other calls as command lines.
func (s Objects) Call(c problem.Call) string {
	if c.Command != s.Command {
		return s.Line.Call(c)
	}
	fields := map[string]any{}
	if len(c.Args) > 0 {
		fields["when"] = strings.Join(c.Args, " ")
	}
	for _, set := range c.Set {
		if o := s.Rows.Named(string(set.Name)); o != nil {
			fields[o.FieldKey()] = o.InJSON(set.Value)
		}
	}
	if c.Tail != nil {
		fields["command"] = c.Tail
	}
	return JSON(fields)
}

// InJSON returns a value of the option in its JSON type: true for one that may be left out, and is.
// A placeholder for a number, such as N, stays a text.
func (o Option) InJSON(value any) any {
	if bare, is := value.(problem.Bare); is && bare == "" {
		return true
	} else if is {
		return string(bare)
	}
	text, isText := value.(string)
	first, second, isPair := strings.Cut(text, "=")
	switch {
	case o.Pairs && isPair:
		return map[string]string{first: second}
	case o.Many && isText:
		return []string{text}
	case o.Kind == Whole && isText:
		if n, err := strconv.Atoi(text); err == nil {
			return n
		}
	}
	return value
}

// Written is a value of the option as JSON text. A placeholder for a number has no quotes.
func (o Option) Written(value any) string {
	v := o.InJSON(value)
	if text, ok := v.(string); ok && o.Kind == Whole {
		return text
	}
	return JSON(v)
}

// JSON writes a value as JSON that people can read, too.
func JSON(v any) string {
	text, err := plain.JSON(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return string(text)
}
