// Package option has the options of commands as data, one row for each. It reads three forms of a
// call into values: the words of a command line, a JSON object, which is read strictly, and an
// object that a model wrote, which is read leniently. The rows are the one source for everything
// that shows or checks options.
package option

import (
	"math"
	"slices"
	"strings"

	"github.com/ouro-timer/ouro-timer/state/plain"
	"github.com/ouro-timer/ouro-timer/timer/problem"
)

// Option is an option of a command.
type Option struct {
	Name    string
	Aliases []string
	Key     string // the key in objects; empty means the name with _ for -
	Kind    Kind
	Value   string // the name of the value in the help; empty means that of the kind
	Help    string // what it does, in one line
	// Default is the value when it is not given. It is empty when there is none, or when it depends
	// on more than the call.
	Default string
	Choices []string // the values that it may have; an empty value means the first
	Many    bool     // it may be given more than once
	Bare    bool     // its value may be left out
	OrEmpty bool     // an empty text is a value of its own, and not none
	Env     string   // the variable that is read when it is not given
	OfCall  bool     // it is about the whole call, and not about one of its tasks
	// These say what an object may have in place of the list or text of the command line.
	OrText   bool   // one text, for a list of one
	Pairs    bool   // an object of texts, for a list of NAME=VALUE
	WordList bool   // a list of words, for a command line as one text
	Like     string // an example of a value
	Hidden   bool   // only this program uses it
	Group    string // its group in the help; empty means none
}

// Kind is what a value is.
type Kind string

// These are the kinds of values, as the guide names them. A Flag has no value.
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

// Kinds says what each kind of text is, for the guide and docs/json.md.
var Kinds = []struct {
	Kind  Kind
	Means string
	value string // the name of such a value
}{
	{Text, "any text", "TEXT"},
	{Duration, "a length of time: `90s`, `2h30m`, `1d`", "DURATION"},
	{Time, "a time expression, as `ouro-timer when` explains them: an instant, " +
		"and where it fits a recurrence or a duration", "WHEN"},
	{Instant, "a time expression that is one instant: `10pm`, `tomorrow at 9am`, `2030-12-24T18:00`", "INSTANT"},
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

// Values are the kinds of texts, for the schema.
func (Kind) Values() []string {
	list := make([]string, len(Kinds))
	for i, k := range Kinds {
		list[i] = string(k.Kind)
	}
	return list
}

// IsText reports whether the value is a text, or a list of them.
func (o Option) IsText() bool { return o.Kind != Flag && o.Kind != Whole }

// Names returns all its names, the first one first.
func (o Option) Names() []string { return append([]string{o.Name}, o.Aliases...) }

// FieldKey is its key in an object.
func (o Option) FieldKey() string {
	if o.Key != "" {
		return o.Key
	}
	return fieldKey(o.Name)
}

func fieldKey(name string) string { return strings.ReplaceAll(name, "-", "_") }

// ValueName is the placeholder for its value in the help: a name, or the choices.
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

// WithHelp returns the option with another help.
func (o Option) WithHelp(help string) Option {
	o.Help = help
	return o
}

// Usage is its help, with its default.
func (o Option) Usage() string {
	if o.Default != "" {
		return o.Help + " (default " + o.Default + ")"
	}
	return o.Help
}

// Rows are the options of a command.
type Rows []Option

// Named returns the option with a name, or nil.
func (r Rows) Named(name string) *Option {
	for i := range r {
		if r[i].Name == name || slices.Contains(r[i].Aliases, name) {
			return &r[i]
		}
	}
	return nil
}

// In puts the options without a group into one.
func (r Rows) In(group string) Rows {
	for i := range r {
		if r[i].Group == "" {
			r[i].Group = group
		}
	}
	return r
}

// Shown returns the options that are not hidden.
func (r Rows) Shown() Rows {
	return slices.DeleteFunc(slices.Clone(r), func(o Option) bool { return o.Hidden })
}

// beyond says that a number is too large or too small to be taken, as an adjective; empty for one
// that is taken. What an option takes may be less.
func beyond(n float64) string {
	switch {
	case n > math.MaxInt32:
		return "large"
	case n < math.MinInt32:
		return "small"
	}
	return ""
}

// Argument is a word of a call that is not an option. Its position decides what it means.
type Argument struct {
	Name     string
	Kind     Kind
	Required bool // it must be given, and no option can replace it
	Many     bool
	Choices  []string
}

// Choose returns the choice that a word means, in any capitals. An empty word means the first.
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
	hint := problem.T("it takes %s", plain.List(o.Choices, "or"))
	if near := problem.Nearest(word, o.Choices); near != "" {
		hint = problem.T("did you mean %s? %s", problem.Set(problem.Option(o.Name), near), hint)
	}
	return "", problem.Of(problem.T("%s is %s", problem.Option(o.Name), plain.Quote(word)), hint)
}

// ChooseAll is Choose for words with commas between.
func (o Option) ChooseAll(text string) (list []string, err error) {
	for word := range strings.SplitSeq(text, ",") {
		if strings.TrimSpace(word) == "" {
			return nil, problem.Of(problem.T("%s has an empty %s between its commas", problem.Option(o.Name), o.Name),
				problem.T("give one or more of %s, separated by commas", strings.Join(o.Choices, ", ")))
		}
		if word, err = o.Choose(word); err != nil {
			return nil, err
		}
		list = append(list, word)
	}
	return list, nil
}
