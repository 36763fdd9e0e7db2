// Package option has what commands take as data, one row an option, and reads calls into values:
// the words of a command line, a strict object of JSON, and an object as models write it. All that
// shows or checks options is made from the rows.
package option

import (
	"slices"
	"strings"

	"github.com/ouro-timer/ouro-timer/state/plain"
	"github.com/ouro-timer/ouro-timer/timer/problem"
)

// Option is one thing that a call can say of itself.
type Option struct {
	Name    string
	Aliases []string
	Key     string // in objects; empty: the name, with _ for -
	Kind    Kind
	Value   string // what the value is called in the help; empty: as the kind has it
	Help    string // what it does, in one line
	// what it stands for when it is not given; empty when that is nothing, or depends on more than
	// the call
	Default string
	Choices []string // all that the value may be; what an empty one stands for comes first
	Many    bool     // it may be given again
	Bare    bool     // its value may be left out
	Env     string   // the variable that says the same when it is not given
	OfCall  bool     // it is about the whole call, and not about one of the tasks that the call has
	Lone    bool     // in an object one text stands for a list of one
	// in an object it is an object of texts, too, which stands for a list of NAME=VALUE
	Pairs  bool
	Words  bool   // in an object it is a list of words, too, which stands for the line of them
	Like   string // a value to learn from, of those that may be given again
	Hidden bool   // it is for ourselves
	Group  string // what the help has it under; empty: the call as a whole
}

// Kind is what a value is.
type Kind string

// The kinds: what a value has to be, as the guide names it. Flag takes none.
const (
	Flag      Kind = "boolean"
	Whole     Kind = "integer"
	Text      Kind = "text"
	Duration  Kind = "duration"
	Time      Kind = "time"
	Instant   Kind = "instant"
	Timestamp Kind = "date-time"
	Cron      Kind = "cron"
	Rule      Kind = "rrule"
	Zone      Kind = "zone"
	ID        Kind = "id"
	Cursor    Kind = "cursor"
	Word      Kind = "word"
	List      Kind = "list"
	Regex     Kind = "regex"
	File      Kind = "file"
	Shell     Kind = "shell"
	Name      Kind = "name"
	Channel   Kind = "channel"
	URL       Kind = "url"
	Target    Kind = "target"
	Span      Kind = "span"
	Pair      Kind = "pair"
)

// Kinds say what each kind of a text is, for the guide and docs/json.md.
var Kinds = []struct {
	Kind  Kind
	Means string
	value string // what such a value is called
}{
	{Text, "any text", "TEXT"},
	{Duration, "a length of time: `90s`, `2h30m`, `1d`", "DURATION"},
	{Time,
		"a time expression, as `ouro-timer when` explains them: an instant, and where it fits a recurrence or a duration", "WHEN"},
	{Instant, "a time expression that is one instant: `10pm`, `tomorrow at 9am`, `2026-12-24T18:00`", "INSTANT"},
	{Timestamp, "an instant of RFC 3339, with its offset", "TIMESTAMP"},
	{Cron, "a line of cron, or `@daily`", "CRON"},
	{Rule, "a rule of RFC 5545", "RULE"},
	{Zone, "a time zone by its IANA name", "ZONE"},
	{ID, "the ID of a task, or of a run or an item where it fits (`k7m2/3`)", "ID"},
	{Cursor, "a place, as an earlier answer gave it", "CURSOR"},
	{Word, "one of `values`", ""},
	{List, "words with commas between: of `values`, if there are any", "LIST"},
	{Regex, "a regular expression of RE2", "REGEX"},
	{File, "the path of a file or a program", "FILE"},
	{Shell, "text for a shell", "SHELL"},
	{Name, "a name: of a variable, a key, a method of HTTP", "NAME"},
	{Channel, "a channel: its name, NAME:RECIPIENT or a URL", "CHANNEL"},
	{URL, "a URL", "URL"},
	{Target, "what `health-wait` waits for: `tcp://HOST:PORT`, `http://…`, `file:PATH`", ""},
	{Span, "two instants with `..` between", "A..B"},
	{Pair, "two values with `=` between", "T=D"},
}

// Values is the closed list of the kinds of texts, for the schema.
func (Kind) Values() []string {
	list := make([]string, len(Kinds))
	for i, k := range Kinds {
		list[i] = string(k.Kind)
	}
	return list
}

// IsText reports whether the value is a text, or a list of them.
func (o Option) IsText() bool { return o.Kind != Flag && o.Kind != Whole }

// Names are all its names, the first of them first.
func (o Option) Names() []string { return append([]string{o.Name}, o.Aliases...) }

// FieldKey is what an object calls it.
func (o Option) FieldKey() string {
	if o.Key != "" {
		return o.Key
	}
	return fieldKey(o.Name)
}

func fieldKey(name string) string { return strings.ReplaceAll(name, "-", "_") }

// ValueName is what stands in the place of its value: what it is called, or the words that it may
// be.
func (o Option) ValueName() string {
	switch {
	case o.Kind == Flag:
		return ""
	case o.Value != "":
		return o.Value
	case o.Kind == Word:
		return strings.Join(o.Choices, "|")
	case o.Kind == Whole:
		return "N"
	}
	for _, k := range Kinds {
		if k.Kind == o.Kind {
			return k.value
		}
	}
	return "VALUE"
}

// Usage is what it does, with its default.
func (o Option) Usage() string {
	if o.Default != "" {
		return o.Help + " (default " + o.Default + ")"
	}
	return o.Help
}

// Rows are the options of a command.
type Rows []Option

// Named is the option of a name, or nil.
func (r Rows) Named(name string) *Option {
	for i := range r {
		if r[i].Name == name || slices.Contains(r[i].Aliases, name) {
			return &r[i]
		}
	}
	return nil
}

// In puts those that have no group yet into one.
func (r Rows) In(group string) Rows {
	for i := range r {
		if r[i].Group == "" {
			r[i].Group = group
		}
	}
	return r
}

// Shown are those that are not for ourselves.
func (r Rows) Shown() Rows {
	return slices.DeleteFunc(slices.Clone(r), func(o Option) bool { return o.Hidden })
}

// Argument is a word of a call that is not an option, in its place.
type Argument struct {
	Name     string
	Kind     Kind
	Required bool // it may not be left out, and no option stands in its place
	Many     bool
	Choices  []string
}

// Choose is the one of the choices that a word means: in whatever letters, the first when it is
// empty.
func (o Option) Choose(word string) (string, error) {
	word = strings.TrimSpace(word)
	if word == "" {
		return o.Choices[0], nil
	}
	for _, choice := range o.Choices {
		if strings.EqualFold(word, choice) {
			return choice, nil
		}
	}
	last := len(o.Choices) - 1
	hint := problem.T("it takes %s or %s", strings.Join(o.Choices[:last], ", "), o.Choices[last])
	if near := problem.Nearest(word, o.Choices); near != "" {
		hint = problem.T("did you mean %s? %s", problem.Set(problem.Option(o.Name), near), hint)
	}
	return "", problem.Of(problem.T("%s is %s", problem.Option(o.Name), plain.Quote(word)), hint)
}
