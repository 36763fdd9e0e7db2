package problem

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ouro-timer/ouro-timer/state"
)

// Text is a sentence, or a few. What stands in it are values, and parts that each surface says in
// its own words: Option, Setting, Call, and other texts.
type Text struct {
	format string
	args   []any
}

// T makes a text of a format, as package fmt has them, and what stands in it. A part stands where
// %s is. Without args the format is the text.
func T(format string, args ...any) Text { return Text{format, args} }

// Surface is where a call came from, and so how options, values and calls are written there.
type Surface interface {
	// Option is the name of an option, or of an argument.
	Option(name string) string
	// Setting is an option, or an argument, with its value.
	Setting(name string, value any) string
	// Call is a call as it can be made there.
	Call(c Call) string
}

// part is what a surface says in its own words.
type part interface{ in(Surface) string }

// Empty reports whether the text says nothing.
func (t Text) Empty() bool { return t.format == "" }

// String is the text in the words of a command line.
func (t Text) String() string { return t.In(Shell{}) }

// In is the text in the words of a surface. Of a value that is longer than valueMost it has the
// beginning and the end.
func (t Text) In(s Surface) string {
	if len(t.args) == 0 {
		return within(t.format, valueHead)
	}
	args := make([]any, len(t.args))
	for i, arg := range t.args {
		switch a := arg.(type) {
		case part:
			arg = a.in(s)
		case error:
			arg = within(a.Error(), valueHead)
		case string:
			arg = within(a, valueHead)
		}
		args[i] = arg
	}
	return fmt.Sprintf(t.format, args...)
}

func (t Text) in(s Surface) string { return t.In(s) }

// These are how many bytes of a value a text has, as callers may send a megabyte, and how many of
// them are its beginning: of a call all of them, because one without its middle could be made.
const (
	valueMost = 4096
	valueHead = valueMost / 2
	callHead  = valueMost
)

// within is a value, or as much of its beginning, and the rest from its end.
func within(value string, head int) string {
	if len(value) <= valueMost {
		return value
	}
	return strings.ToValidUTF8(value[:head], "") + "…" + strings.ToValidUTF8(value[len(value)-valueMost+head:], "")
}

// Option is an option of the call, by its first name; Command is the command that a task runs,
// which is an argument of its own on every surface.
type Option string

// Command and When are the arguments that have a place of their own in a command line, and a name
// elsewhere.
const (
	Command Option = "command"
	When    Option = "when"
)

func (o Option) in(s Surface) string { return s.Option(string(o)) }

// Setting is an option of the call with a value: a string, int, bool or []string. A value in
// capitals stands for what the caller has.
type Setting struct {
	Name  Option
	Value any
}

func (t Setting) in(s Surface) string { return within(s.Setting(string(t.Name), t.Value), callHead) }

// Set makes a setting.
func Set(name Option, value any) Setting { return Setting{name, value} }

// Bare is a value of an option that may stand without one; empty: it does.
type Bare string

// Call is a call of a command. The zero value is none.
type Call struct {
	Command string
	Args    []string
	Set     []Setting
	Text    []string // arguments that stand behind the options, whatever they begin with
	Tail    []string // behind --
}

// To makes the call of a command with arguments.
func To(command string, args ...string) Call { return Call{Command: command, Args: args} }

// With is the call with one more option. A value of true is an option that takes none.
func (c Call) With(name Option, value any) Call {
	c.Set = append(c.Set[:len(c.Set):len(c.Set)], Setting{name, value})
	return c
}

// Saying is the call with arguments behind its options: those that are free text.
func (c Call) Saying(words ...string) Call {
	c.Text = words
	return c
}

// Running is the call with a command behind it.
func (c Call) Running(words ...string) Call {
	c.Tail = words
	return c
}

// Words are those of the call on a command line, which begins with the program; nil for none.
func (c Call) Words(program string) []string {
	if c.Command == "" {
		return nil
	}
	return Shell{Program: program}.words(c)
}

func (c Call) in(s Surface) string { return within(s.Call(c), callHead) }

// list is parts with words between them.
type list struct {
	parts   []part
	between string
}

func (l list) in(s Surface) string {
	words := make([]string, len(l.parts))
	for i, p := range l.parts {
		words[i] = p.in(s)
	}
	return strings.Join(words, l.between)
}

// Options are several options, with the word between them.
func Options(between string, names ...Option) any {
	l := list{between: between}
	for _, name := range names {
		l.parts = append(l.parts, name)
	}
	return l
}

// Texts are several texts, with what stands between them. Empty ones are left out.
func Texts(between string, texts ...Text) Text {
	l := list{between: between}
	for _, t := range texts {
		if !t.Empty() {
			l.parts = append(l.parts, t)
		}
	}
	if len(l.parts) == 0 {
		return Text{}
	}
	return T("%s", l)
}

// Shell is a command line.
type Shell struct {
	// Program is what the program was called by; empty: ouro-timer.
	Program string
	// Typed are the names that options were given by, where those are not their first.
	Typed map[string]string
}

// Option has its dashes.
func (s Shell) Option(name string) string {
	if typed := s.Typed[name]; typed != "" {
		name = typed
	}
	switch {
	case name == string(Command):
		return "--"
	case len(name) == 1:
		return "-" + name
	}
	return "--" + name
}

// Setting is the option with its value behind it, as sh reads it back.
func (s Shell) Setting(name string, value any) string { return line(s.setting(name, value)) }

// setting are the words of an option with its value.
func (s Shell) setting(name string, value any) []string {
	option := s.Option(name)
	switch value := value.(type) {
	case Bare:
		if value == "" {
			return []string{option}
		}
		return []string{option + "=" + string(value)}
	case bool:
		if value {
			return []string{option}
		}
		return []string{option + "=false"}
	case []string:
		if name == string(Command) {
			return append([]string{option}, value...)
		}
		var words []string
		for _, v := range value {
			words = append(words, option, v)
		}
		return words
	}
	if name == string(When) {
		return []string{fmt.Sprint(value)}
	}
	return []string{option, fmt.Sprint(value)}
}

// Call is a line that can be typed.
func (s Shell) Call(c Call) string { return line(s.words(c)) }

// words are those of a call.
func (s Shell) words(c Call) []string {
	program := s.Program
	if program == "" {
		program = "ouro-timer"
	}
	words := append([]string{program, c.Command}, c.Args...)
	for _, set := range c.Set {
		words = append(words, s.setting(string(set.Name), set.Value)...)
	}
	if slices.ContainsFunc(c.Text, func(word string) bool { return strings.HasPrefix(word, "-") }) {
		words = append(words, "--")
	}
	words = append(words, c.Text...)
	if c.Tail != nil {
		words = append(append(words, "--"), c.Tail...)
	}
	return words
}

// line are words as sh reads them back.
func line(words []string) string {
	quoted := make([]string, len(words))
	for i, word := range words {
		if quoted[i] = state.ShellLine([]string{word}); word == "" {
			quoted[i] = `""`
		}
	}
	return strings.Join(quoted, " ")
}

// Usual is what an option stands for when it is left out. A surface may have another default.
type Usual struct {
	Name Option
	Text string // of a command line
}

func (u Usual) in(s Surface) string {
	if other, ok := s.(interface{ Usual(name string) string }); ok {
		if text := other.Usual(string(u.Name)); text != "" {
			return text
		}
	}
	return u.Text
}
