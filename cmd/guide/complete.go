package guide

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/ouro-timer/ouro-timer/cmd/cli"
	"github.com/ouro-timer/ouro-timer/cmd/option"
)

// CompleteCommand is what the completion scripts call on TAB. It gets the words up to the cursor,
// the last of which is being typed, and prints the words that could replace it. It never fails,
// because a shell cannot use an error in the middle of a line.
func CompleteCommand() cli.Command {
	return cli.Command{
		Name: "__complete", Args: "[--empty] -- [<word>...]",
		Short:  "print what could stand at the cursor, for the scripts of completion",
		Hidden: true, Tail: true,
		Options: option.Rows{
			// Windows PowerShell drops empty arguments.
			option.Option{Name: "empty", Kind: option.Flag,
				Help: "the word at the cursor is empty, and not among the words given"},
		},
		Run: func(ctx context.Context, s *cli.Call) error {
			words := s.Tail
			if s.Opt.Bool("empty") || len(words) == 0 {
				words = append(words[:len(words):len(words)], "")
			}
			// A key press cannot wait long. If the state is locked for longer, nothing is
			// suggested.
			ctx, cancel := context.WithTimeout(ctx, time.Second)
			defer cancel()
			writeSuggestions(s, suggest(ctx, s, words))
			return nil
		},
	}
}

// suggestions are the words that could stand at the cursor.
type suggestions struct {
	words []suggestion
	files bool // the shell suggests names of files, too
	// command is the index of the first word of a command to run; this program's own name has index
	// 0. It is 0 when there is no such command.
	command int
}

// suggestion is a word that could stand at the cursor, and what it means.
type suggestion struct{ word, about string }

// collection collects words, each once.
type collection struct {
	seen  map[string]bool
	words []suggestion
}

// except returns an empty collection that does not take some words.
func except(named []string) collection {
	l := collection{seen: map[string]bool{}}
	for _, word := range named {
		l.seen[word] = true
	}
	return l
}

func (l *collection) add(word, about string) {
	if !l.seen[word] {
		l.seen[word] = true
		l.words = append(l.words, suggestion{word, about})
	}
}

// writeSuggestions prints suggestions in the form that package completions describes.
func writeSuggestions(s *cli.Call, o suggestions) {
	switch {
	case o.command > 0:
		s.Line(":command %d", o.command)
	case o.files:
		s.Line(":files")
	}
	for _, w := range o.words {
		s.Line("%s\t%s", w.word, cli.Fit(cli.Visible(w.about), 70))
	}
}

// withPrefix keeps the words that begin as the word at the cursor does.
func withPrefix(words []suggestion, beginning string) suggestions {
	var o suggestions
	for _, w := range words {
		if strings.HasPrefix(w.word, beginning) {
			o.words = append(o.words, w)
		}
	}
	return o
}

// behind puts the part of the word before its value in front of each.
func (o suggestions) behind(prefix string) suggestions {
	for i := range o.words {
		o.words[i].word = prefix + o.words[i].word
	}
	return o
}

// suggest returns the suggestions for the last of the words.
func suggest(ctx context.Context, s *cli.Call, words []string) suggestions {
	before, current := words[:len(words)-1], words[len(words)-1]
	switch {
	case len(before) == 0 && strings.HasPrefix(current, "-"):
		return withPrefix([]suggestion{{"--help", "the commands, and how times are written"},
			{"--version", "the version of this build"}}, current)
	case len(before) == 2 && before[0] == "help" && before[1] == "--man":
		var names []suggestion
		for _, name := range ManualNames() {
			names = append(names, suggestion{name, "manual page"})
		}
		return withPrefix(names, current)
	case len(before) == 1 && before[0] == "help" && strings.HasPrefix(current, "-"):
		return withPrefix([]suggestion{{"--man", "the manual page, for man -l -"}, {"--json", "the answer of guide"}}, current)
	case len(before) == 0, len(before) == 1 && before[0] == "help":
		var names []suggestion
		for _, c := range s.Table.All() {
			if !c.Hidden {
				names = append(names, suggestion{c.Name, c.Short})
			}
		}
		return withPrefix(names, current)
	}
	c := s.Table.Find(before[0])
	if c == nil || c.Hidden {
		return suggestions{}
	}
	t := readTyped(before[1:], c)
	name, value, assigned := strings.Cut(current, "=")
	switch {
	case t.dash && c.Tail:
		return suggestions{command: len(before) - len(t.tail) + 1}
	case t.wants != nil:
		return suggestValues(ctx, s, *t.wants, "", current)
	case t.dash || !strings.HasPrefix(current, "-") || option.IsNumber(current):
		return suggestArguments(ctx, s, c, t, current)
	case assigned:
		if o := c.Options.Named(strings.TrimPrefix(name, "--")); o != nil && strings.HasPrefix(name, "--") &&
			(o.Kind != option.Flag || len(o.Choices) > 0) {
			return suggestValues(ctx, s, *o, name+"=", value)
		}
		return suggestions{}
	}
	return suggestOptions(c, t, current)
}

// typed is the call before the cursor.
type typed struct {
	args  []string
	given map[string]bool // the options that are given, by their first name
	wants *option.Option  // the option whose value is at the cursor
	dash  bool            // there is a "--" before the cursor
	tail  []string        // the words after it
}

// readTyped reads the words after the command as a call is read, but also accepts wrong and
// unfinished ones.
func readTyped(words []string, c *cli.Command) typed {
	t := typed{given: map[string]bool{}}
	for i := 0; i < len(words); i++ {
		w := words[i]
		switch {
		case w == "--":
			t.dash, t.tail = true, words[i+1:]
			if !c.Tail {
				t.args = append(t.args, t.tail...)
			}
			return t
		case w == "-" || !strings.HasPrefix(w, "-") || option.IsNumber(w):
			t.args = append(t.args, w)
			continue
		}
		o, takesNext := optionOf(w, c, t.given)
		if !takesNext {
			continue
		}
		if i++; i == len(words) {
			t.wants = o
		}
	}
	return t
}

// optionOf adds the options of one word to given: "--name", "--name=value" or a cluster "-qn5". It
// returns the last of them, and whether the next word is its value.
func optionOf(w string, c *cli.Command, given map[string]bool) (*option.Option, bool) {
	if long, ok := strings.CutPrefix(w, "--"); ok {
		name, _, assigned := strings.Cut(long, "=")
		o := c.Options.Named(name)
		if o == nil {
			return nil, false
		}
		given[o.Name] = true
		return o, !assigned && o.Kind != option.Flag && !o.Bare
	}
	for i, r := range w[1:] {
		o := c.Options.Named(string(r))
		if o == nil {
			return nil, false
		}
		given[o.Name] = true
		if o.Kind != option.Flag {
			return o, 1+i+len(string(r)) == len(w)
		}
	}
	return nil, false
}

// suggestOptions returns the options that are not given yet or may be repeated: each by its first
// long name, by another name if only that fits, and by its letter if it has no long name.
func suggestOptions(c *cli.Command, t typed, current string) suggestions {
	var found suggestions
	for _, o := range c.Options {
		if t.given[o.Name] && !o.Many {
			continue
		}
		short, long := dashed(o)
		if len(long) > 0 {
			short = nil
		}
		for _, n := range append(long, short...) {
			if strings.HasPrefix(n, current) {
				found.words = append(found.words, suggestion{n, o.Usage()})
				break
			}
		}
	}
	if strings.HasPrefix("--help", current) {
		found.words = append(found.words, suggestion{"--help", "what the command does, its options and examples"})
	}
	return found
}

// suggestValues returns the values that an option could have, if its kind tells. prefix is the part
// of the word before the value.
func suggestValues(ctx context.Context, s *cli.Call, of option.Option, prefix, beginning string) suggestions {
	var o suggestions
	switch of.Kind {
	case option.File:
		return suggestions{files: true}
	case option.Zone:
		o = withPrefix(suggestZones(s, "/usr/share/zoneinfo"), beginning)
	case option.Time:
		o = withPrefix(oneWordTimes, beginning)
	case option.ID:
		kind := "any"
		if of.Name == "resume" {
			kind = "waits"
		}
		o = suggestTasks(ctx, s, kind, nil, beginning)
	case option.Channel:
		o = withPrefix(suggestChannels(s), beginning)
	case option.Name:
		switch of.Name {
		case "tag":
			o = withPrefix(suggestTags(ctx, s), beginning)
		case "schema":
			for _, a := range EveryAnswer(s.Table.All()) {
				o.words = append(o.words, suggestion{a.Name, a.Means})
			}
			o = withPrefix(o.words, beginning)
		}
	default:
		for _, w := range of.Choices {
			o.words = append(o.words, suggestion{word: w})
		}
		o = withPrefix(o.words, beginning)
	}
	return o.behind(prefix)
}

// suggestArguments returns the words that could be the next argument of the command.
func suggestArguments(ctx context.Context, s *cli.Call, c *cli.Command, t typed, current string) suggestions {
	if len(c.Arguments) == 0 {
		return suggestions{}
	}
	named := t.given["match"] || t.given["all"]
	first, last := c.Arguments[0], c.Arguments[len(c.Arguments)-1]
	begun := len(t.args) > 0
	switch {
	case len(c.Arguments) == 2 && first.Kind == option.ID && (named || begun): // the time after it
		if len(t.args) > 1 || named && begun {
			return suggestions{}
		}
		return withPrefix(slices.Concat(oneWordTimes, timeStarts), current)
	case strings.HasPrefix(c.Ids, "item"):
		if named || t.given["task"] || t.given["up-to"] {
			return suggestions{}
		}
		return suggestItems(ctx, s, c.Ids == "items", t.args, current)
	case c.Ids != "":
		if named || begun && !first.Many {
			return suggestions{}
		}
		return suggestTasks(ctx, s, c.Ids, t.args, current)
	case first.Kind == option.Time && t.given["any"]: // the things of wait
		id, whole := strings.CutPrefix(current, "task:")
		words := suggestTasks(ctx, s, "any", nil, id).behind("task:").words
		if !whole {
			words = slices.Concat(oneWordTimes, []suggestion{{"inbox", "an item that nobody has"}}, words)
		}
		return withPrefix(words, current)
	case first.Kind == option.Time:
		formed := slices.ContainsFunc(option.Forms, func(name string) bool { return t.given[name] })
		switch {
		case begun || formed:
			return suggestions{}
		case first.Many:
			return withPrefix(slices.Concat(oneWordTimes, timeStarts), current)
		}
		return withPrefix(oneWordTimes, current)
	case first.Name == "command":
		if !t.given["json"] {
			return suggestions{}
		}
		var words []suggestion
		for _, other := range s.Table.All() {
			if !other.Hidden && !slices.Contains(t.args, other.Name) {
				words = append(words, suggestion{other.Name, other.Short})
			}
		}
		return withPrefix(words, current)
	case begun && (len(c.Arguments) == 1 || !last.Many):
		return suggestions{}
	}
	of := first
	if begun {
		of = last
	}
	if of.Kind == option.File {
		return suggestions{files: true}
	}
	var words []suggestion
	for _, w := range of.Choices {
		if !slices.Contains(t.args, w) {
			words = append(words, suggestion{word: w})
		}
	}
	return withPrefix(words, current)
}

// oneWordTimes are times of one word. timeStarts are words that may begin a longer time.
var (
	oneWordTimes = []suggestion{
		{"tomorrow", "the beginning of tomorrow"},
		{"noon", "the next 12:00"},
		{"midnight", "the next 00:00"},
		{"10m", "in ten minutes; also 90s, 2h30m, 1d"},
		{"@hourly", "every hour"},
		{"@daily", "every day at 00:00"},
		{"@weekly", "every Sunday at 00:00"},
	}
	timeStarts = []suggestion{
		{"in", "in 20 minutes"},
		{"next", "next Friday at noon"},
		{"every", "every weekday at 9am"},
	}
)
