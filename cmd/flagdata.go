package cmd

import (
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/ouro-timer/ouro-timer/state"
)

// choices are the words that a flag of the name takes, whichever command has it: the readers of flags and everything that shows them know
// them from here. What an empty value stands for comes first.
var choices = map[string][]string{
	"catchup":   {state.CatchupOnce, state.CatchupAll, state.CatchupSkip},
	"overlap":   {state.OverlapSkip, state.OverlapQueue, state.OverlapAllow, state.OverlapReplace},
	"notify-on": {state.NotifyAlways, state.NotifyFailure, state.NotifyOutput, state.NotifyChange, state.NotifyRecovery, state.NotifyNever},
	"priority":  {state.PriorityMedium, state.PriorityLow, state.PriorityHigh},
	"stdin":     {formJSONL, formLines, formJSON},
	"outcome": {string(state.OK), string(state.Failed), string(state.TimedOut), string(state.Interrupted), string(state.Missed), string(state.Skipped),
		string(state.Cancelled)},
}

// oneOf refuses a word that is none of the choices of the flag.
func oneOf(flag, word string) (string, error) {
	words := choices[flag]
	for _, w := range words {
		if strings.EqualFold(strings.TrimSpace(word), w) {
			return w, nil
		}
	}
	if strings.TrimSpace(word) == "" {
		return words[0], nil
	}
	hint := "it takes " + strings.Join(words[:len(words)-1], ", ") + " or " + words[len(words)-1]
	if n := nearest(word, words); n != "" {
		hint = "did you mean --" + flag + " " + n + "? " + hint
	}
	return "", usage("--"+flag+" is "+quote(word), hint)
}

// format is what the value of an option, or an argument, has to be.
type format string

// formats are all there are, for the guide and docs/json.md.
var formats = []struct {
	name  format
	means string
}{
	{"text", "any text"},
	{"duration", "a length of time: `90s`, `2h30m`, `1d`"},
	{"time", "a time expression, as `ouro-timer when` explains them: an instant, and where it fits a recurrence or a duration"},
	{"instant", "a time expression that is one instant: `10pm`, `tomorrow at 9am`, `2026-12-24T18:00`"},
	{"date-time", "an instant of RFC 3339, with its offset"},
	{"cron", "a line of cron, or `@daily`"},
	{"rrule", "a rule of RFC 5545"},
	{"zone", "a time zone by its IANA name"},
	{"id", "the ID of a task, or of a run or an item where it fits (`k7m2/3`)"},
	{"cursor", "a place, as an earlier answer gave it"},
	{"word", "one of `values`"},
	{"list", "words with commas between: of `values`, if there are any"},
	{"regex", "a regular expression of RE2"},
	{"file", "the path of a file or a program"},
	{"shell", "text for a shell"},
	{"name", "a name: of a variable, a key, a method of HTTP"},
	{"channel", "a channel: its name, NAME:RECIPIENT or a URL"},
	{"url", "a URL"},
	{"target", "what `health-wait` waits for: `tcp://HOST:PORT`, `http://…`, `file:PATH`"},
	{"span", "two instants with `..` between"},
	{"pair", "two values with `=` between"},
}

// Values is the closed list, for the schema.
func (format) Values() []string {
	list := make([]string, len(formats))
	for i, f := range formats {
		list[i] = string(f.name)
	}
	return list
}

// placeholders are the formats of values by what they are called in the line of the help. A word in small letters is one of the choices.
var placeholders = map[string]format{
	"DURATION": "duration", "WHEN": "time", "INSTANT": "instant", "TIMESTAMP": "date-time", "CRON": "cron", "RULE": "rrule", "ZONE": "zone",
	"ID": "id", "WAIT": "id", "CURSOR": "cursor", "PLACE": "cursor", "FORM": "word", "LIST": "list", "REGEX": "regex",
	"FILE": "file", "PROGRAM": "file", "TASKS": "file", "SHELL": "shell", "NAME": "name", "METHOD": "name", "CHANNEL": "channel",
	"RECIPIENT": "text", "URL": "url", "TEXT": "text", "LINE": "text", "A..B": "span", "T=±D": "pair", "ID=D": "pair",
}

// argumentFormats are those of arguments, by their names in the line of use.
var argumentFormats = map[string]format{
	"when": "time", "id": "id", "item": "id", "task": "text", "body": "text", "target": "target", "command": "word",
}

// formatOf is the format of the value of a flag; empty for one that is a number or takes none.
func formatOf(f cli.Flag) format {
	switch f.(type) {
	case *cli.BoolFlag, *cli.IntFlag:
		return ""
	}
	name := placeholder(f)
	if name == strings.ToLower(name) {
		return "word"
	}
	return placeholders[name]
}

// defaultOf is what a flag stands for that is not given; empty when that is nothing, or depends on more than the call.
func defaultOf(f cli.Flag) string {
	switch f := f.(type) {
	case *cli.IntFlag:
		if f.DefaultText == "" && f.Value != 0 {
			return strconv.Itoa(f.Value)
		}
		return f.DefaultText
	case *cli.StringFlag:
		return orElse(f.DefaultText, f.Value)
	}
	return ""
}

// spanText writes a default that is a length of time, in days or seconds.
func spanText(d time.Duration) string {
	if day := 24 * time.Hour; d%day == 0 {
		return strconv.Itoa(int(d/day)) + "d"
	}
	return strconv.FormatFloat(d.Seconds(), 'f', -1, 64) + "s"
}

// argumentJSON is an argument of a command, in its order.
type argumentJSON struct {
	Name       string   `json:"name" jsonschema:"as the line of use has it; word where it has the words themselves"`
	Required   bool     `json:"required" jsonschema:"false: it may be left out, or an option may stand in its place"`
	Repeatable bool     `json:"repeatable"`
	Format     format   `json:"format"`
	Values     []string `json:"values" jsonschema:"all that it may be; none: whatever has the format"`
}

// usageWords are the parts of a line of use: <an argument>, -f or --flag, --, brackets, and words that are meant as they are.
var usageWords = regexp.MustCompile(`<[^>]+>(?:\.\.\.)?|--?[a-z][a-z-]*|--|[][{}|]|[a-z]+`)

// argumentsOf are the arguments of a command, read from its line of use. What follows -- is told by tail.
func argumentsOf(c command) []argumentJSON {
	list := []argumentJSON{}
	var choice *argumentJSON
	depth, valued := 0, false // inside [ ]; behind an option that takes a value
	for _, w := range usageWords.FindAllString(c.args, -1) {
		behind := valued
		valued = false
		switch {
		case w == "--":
			return list
		case w == "[":
			depth++
		case w == "]":
			depth--
		case w == "{":
			choice = &argumentJSON{Name: "word", Required: depth == 0, Format: "word"}
		case w == "}":
			if choice != nil && len(choice.Values) > 0 {
				list = append(list, *choice)
			}
			choice = nil
		case w == "|":
		case strings.HasPrefix(w, "-"):
			f := flagNamed(&c, strings.TrimLeft(w, "-"))
			valued = f != nil && !isBool(f)
		case !strings.HasPrefix(w, "<"):
			if choice != nil && !behind {
				choice.Values = append(choice.Values, w)
			}
		case !behind && !strings.Contains(w, " "): // <options of at> are told among the options
			name, more := strings.CutSuffix(w, "...")
			name = strings.Trim(name, "<>")
			a := argumentJSON{Name: name, Required: depth == 0 && !strings.Contains(c.args, "|") && !standsIn(c, name), Repeatable: more,
				Format: argumentFormats[name], Values: []string{}}
			if name == "command" {
				for _, other := range table() {
					if !other.hidden {
						a.Values = append(a.Values, other.name)
					}
				}
			}
			list = append(list, a)
		}
	}
	return list
}

// standsIn reports whether the command has options that say the argument.
func standsIn(c command, argument string) bool {
	return argument == "when" && flagNamed(&c, forms[0].flag) != nil
}
