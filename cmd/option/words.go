package option

import (
	"errors"
	"flag"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/urfave/cli/v2" // reads options into their values; asked for by the user

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/state/plain"
	"github.com/ouro-timer/ouro-timer/timer/problem"
	"github.com/ouro-timer/ouro-timer/timer/when"
)

// Syntax is what a command takes.
type Syntax struct {
	Command string
	Options Rows
	Tail    bool // what follows "--" is a command, not further arguments
}

// Line is a call whose words were read.
type Line struct {
	Values Values
	Args   []string
	Tail   []string // what followed "--", for a command with a tail
	Dash   bool     // there was a "--"
	After  int      // how many of the arguments followed it, for a command without a tail
	Help   bool     // --help was given
}

// Words reads the words of a call. Options and arguments may mix; everything after the first "--"
// is an argument, or the tail. A word such as -5m, which begins with a dash and a digit, is an
// argument, because no option has such a name.
func (s Syntax) Words(words []string) (Line, error) {
	r := reader{Syntax: s, words: words}
	if err := r.read(); err != nil {
		return r.line, err
	}
	values, err := s.values(r.flags)
	r.line.Values = values
	r.line.Values.typed = r.typed
	return r.line, err
}

// values reads options with the library. Each of flags has the form --name=value.
func (s Syntax) values(flags []string) (Values, error) {
	v := Values{given: map[string]any{}}
	set := flag.NewFlagSet("ouro-timer", flag.ContinueOnError)
	set.SetOutput(io.Discard) // the caller reports errors
	for _, word := range flags {
		name, _, _ := strings.Cut(strings.TrimPrefix(word, "--"), "=")
		if set.Lookup(name) != nil {
			continue
		}
		if err := (&cli.GenericFlag{Name: name, Value: setter{*s.Options.Named(name), v.given}}).Apply(set); err != nil {
			return v, err
		}
	}
	if err := set.Parse(flags); err != nil {
		return v, problem.Of(problem.T("%s", err), problem.Text{})
	}
	return v, nil
}

// setter takes the values of an option from the library.
type setter struct {
	option Option
	given  map[string]any
}

func (s setter) String() string { return "" }

// Set takes one value.
func (s setter) Set(text string) error {
	switch {
	case s.option.Kind == Flag && slices.Contains(s.option.Choices, text):
		s.given[s.option.Name] = text
	case s.option.Kind == Flag:
		s.given[s.option.Name] = text == "true"
	case s.option.Kind == Whole:
		n, err := strconv.Atoi(text)
		if err != nil {
			return err
		}
		s.given[s.option.Name] = n
	case s.option.Many:
		list, _ := s.given[s.option.Name].([]string)
		s.given[s.option.Name] = append(list, text)
	default:
		s.given[s.option.Name] = text
	}
	return nil
}

// reader sorts words into options and arguments, because the library stops reading options at the
// first argument.
type reader struct {
	Syntax
	words []string
	at    int // the word that is read
	line  Line
	flags []string // each in the form --name=value
	typed map[string]string
}

func (r *reader) read() error {
	for ; r.at < len(r.words); r.at++ {
		w := r.words[r.at]
		if !utf8.ValidString(w) {
			return problem.Of(problem.T("an argument is not valid UTF-8"), problem.NotText)
		}
		var err error
		switch {
		case w == "--":
			return r.rest(r.words[r.at+1:])
		case w == "-" || !strings.HasPrefix(w, "-") || IsNumber(w):
			r.line.Args = append(r.line.Args, w)
		case strings.HasPrefix(w, "--"):
			err = r.long(w)
		default:
			err = r.cluster(w)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// rest reads the words after "--".
func (r *reader) rest(words []string) error {
	r.line.Dash = true
	for _, w := range words {
		if !utf8.ValidString(w) {
			return problem.Of(problem.T("an argument is not valid UTF-8"), problem.NotText)
		}
	}
	if r.Tail {
		r.line.Tail = words
	} else {
		r.line.Args, r.line.After = append(r.line.Args, words...), len(words)
	}
	return nil
}

// long reads --name, --name=value or --name value.
func (r *reader) long(w string) error {
	name, value, has := strings.Cut(w[2:], "=")
	o := r.Options.Named(name)
	switch {
	case o == nil && name == "help":
		r.line.Help = true
		return nil
	case o == nil:
		return r.unknown("--"+name, name)
	case o.Kind == Flag && has && value != "true" && value != "false" && !slices.Contains(o.Choices, value):
		return noValue(*o, name, value)
	case o.Kind == Flag && !has:
		value = "true"
	case o.Kind == Flag:
	case !has && o.Bare:
		var err error
		if value, err = r.lengthAfter(name); err != nil {
			return err
		}
	case !has:
		var err error
		if value, err = r.next("--"+name, *o); err != nil {
			return err
		}
	}
	return r.take(*o, "--"+name, value)
}

// noValue is the problem of a flag with a value that it does not take.
func noValue(o Option, name, value string) error {
	message, hint := problem.T("--%s takes no value", name), problem.T("write --%s alone", name)
	if len(o.Choices) > 0 {
		message = problem.T("--%s does not take the value %s", name, plain.Quote(value))
		hint = problem.T("%s, or --%s=%s", hint, name, strings.Join(o.Choices, ", --"+name+"="))
	}
	return problem.Of(message, hint)
}

// lengthAfter reads the next word as the value of an option whose value may be left out, if it is a
// duration.
func (r *reader) lengthAfter(name string) (string, error) {
	if r.at+1 == len(r.words) {
		return "", nil
	}
	next := r.words[r.at+1]
	switch {
	case strings.Trim(next, "0123456789") == "" && !state.WholeID(next):
		return "", problem.Of(problem.T("--%s %s is not a duration: the unit is missing", name, next),
			problem.T("write --%s 10m, or leave the time out; before the ID of a task --%s=10m", name, name))
	case !isLength(next):
		return "", nil
	case state.WholeID(strings.ToLower(next)):
		return "", problem.Of(problem.T("%s after --%s can be a duration or the ID of a task", plain.Quote(next), name),
			problem.T("write --%s=%s for the duration, or --%s=10m %s for the ID", name, next, name, next))
	}
	r.at++
	return next, nil
}

// cluster reads short options in one word, the last of which may have a value: -q, -n5, -qn 5.
func (r *reader) cluster(w string) error {
	for rest := w[1:]; rest != ""; {
		letter, n := utf8.DecodeRuneInString(rest)
		short := string(letter)
		rest = rest[n:]
		o := r.Options.Named(short)
		switch {
		case o == nil && short == "h":
			r.line.Help = true
			continue
		case o == nil:
			return r.unknown(w, short)
		case o.Kind == Flag:
			if err := r.take(*o, "-"+short, "true"); err != nil {
				return err
			}
			continue
		}
		value := strings.TrimPrefix(rest, "=")
		if rest == "" {
			var err error
			if value, err = r.next("-"+short, *o); err != nil {
				return err
			}
		}
		return r.take(*o, "-"+short, value)
	}
	return nil
}

// next reads the next word as the value of an option.
func (r *reader) next(flag string, o Option) (string, error) {
	if r.at+1 >= len(r.words) || r.words[r.at+1] == "--" {
		return "", problem.Of(problem.T("%s needs a value", flag), problem.T("write %s %s", flag, o.ValueName()))
	}
	r.at++
	return r.words[r.at], nil
}

// take adds an option with its value.
func (r *reader) take(o Option, flag, value string) error {
	if !utf8.ValidString(value) {
		return problem.Of(problem.T("the value of %s is not valid UTF-8", flag), problem.NotText)
	}
	if err := checkNumber(o, flag, value); err != nil {
		return err
	}
	if name := strings.TrimLeft(flag, "-"); name != o.Name {
		if r.typed == nil {
			r.typed = map[string]string{}
		}
		r.typed[o.Name] = name
	}
	r.flags = append(r.flags, "--"+o.Name+"="+value)
	return nil
}

// IsNumber reports whether a word that begins with a dash is not an option but a negative number or
// duration, such as -5m or "- 1 day".
func IsNumber(w string) bool {
	return len(w) > 1 && (w[1] >= '0' && w[1] <= '9' || w[1] == '.' || w[1] == ' ')
}

// isLength reports whether a word is a length of time, and not the ID of a task or the next option.
func isLength(w string) bool {
	if w == "" || w[0] < '0' || w[0] > '9' {
		return false
	}
	_, err := when.Duration(w)
	return err == nil
}

// checkNumber refuses a value that is not a whole number for an option that takes one.
func checkNumber(o Option, flag, value string) error {
	if o.Kind != Whole {
		return nil
	}
	_, err := strconv.Atoi(value)
	n, _ := strconv.ParseFloat(value, 64)
	too := beyond(n)
	digits := value[:len(value)-len(strings.TrimLeft(value, "0123456789"))]
	switch {
	case too != "" && (err == nil || errors.Is(err, strconv.ErrRange)):
		return problem.Of(problem.T("%s is %s, which is too %s", flag, plain.Quote(value), too),
			problem.T("write %s 5", flag))
	case err != nil && digits != "" && len(digits) < 9:
		return problem.Of(problem.T("%s is %s, not a whole number", flag, plain.Quote(value)),
			problem.T("write %s %s", flag, digits))
	case err != nil:
		return problem.Of(problem.T("%s is %s, not a whole number", flag, plain.Quote(value)),
			problem.T("write %s 5", flag))
	}
	return nil
}

// unknown is the problem of an option that the command does not have. Its hint has the most similar
// one.
func (s Syntax) unknown(flag, word string) error {
	var names []string
	for _, o := range s.Options {
		for _, n := range o.Names() {
			// a short name is similar to many words
			if len(n) > 1 && (len(n) > 4 || strings.HasPrefix(word, n[:1])) {
				names = append(names, n)
			}
		}
	}
	hint := "see ouro-timer " + s.Command + " --help"
	if flag == "-t" && s.Command == "health-wait" { // other programs write -t
		hint = "write --timeout 5s; " + hint
	} else if instead := Foreign(word, s.Command); instead != "" {
		return problem.Of(problem.T("ouro-timer %s has no option %s", s.Command, plain.Quote(flag)), problem.T(instead))
	} else if n := strings.ReplaceAll(word, "_", "-"); n != word && s.Options.Named(n) != nil {
		hint = "write --" + n
	} else if n := problem.Nearest(word, names); n != "" {
		hint = "did you mean --" + n + "? " + hint
	}
	if s.Tail {
		hint += "; put an option of the command to run after --"
	} else if s.Command == "wait" {
		hint += "; put a task that begins with a dash after --"
	}
	return problem.Of(problem.T("ouro-timer %s has no option %s", s.Command, plain.Quote(flag)), problem.T(hint))
}
