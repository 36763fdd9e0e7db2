package guide

import (
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/ouro-timer/ouro-timer/cmd/cli"
	"github.com/ouro-timer/ouro-timer/cmd/option"
	"github.com/ouro-timer/ouro-timer/timer/problem"
	"github.com/ouro-timer/ouro-timer/timer/when"
	"github.com/ouro-timer/ouro-timer/timer/when/fault"
)

// UnknownCommand is the problem of a word that is not a command. Its hint has the most similar one.
func UnknownCommand(word string, all cli.Table) error {
	names := commandNames(all)
	if word == "--" {
		return problem.Of(problem.T("-- comes before the command"),
			problem.T("put the command first: %s", problem.To("at", "10:00").Running("make", "backup")))
	}
	if strings.HasPrefix(word, "-") {
		return problem.Of(problem.T("unknown option %s", cli.Quote(word)),
			problem.T("options follow the command: ouro-timer <command> %s; see ouro-timer --help", word))
	}
	hint := problem.T("the commands are %s", strings.Join(names, ", "))
	if call := ForeignCommands()[strings.ReplaceAll(strings.ToLower(word), "_", "-")]; call != "" {
		hint = problem.T("did you mean ouro-timer %s?", call)
	} else if n := problem.Nearest(word, names); n != "" && !strings.ContainsAny(word, "0123456789") {
		// A word with a digit is not a misspelt command.
		hint = problem.T("did you mean %s?", problem.To(n))
	}
	return problem.Of(problem.T("unknown command %s", cli.Quote(word)), hint)
}

// TimeFirst returns the problem of a call that has a time where the command belongs, or nil.
func TimeFirst(words []string, now time.Time, all cli.Table) error {
	words = slices.DeleteFunc(slices.Clone(words),
		func(w string) bool { return w == "--json" || w == "-q" || w == "--quiet" })
	end := slices.IndexFunc(words, func(w string) bool { return strings.HasPrefix(w, "-") && !option.IsNumber(w) })
	if end < 0 {
		end = len(words)
	}
	for n := min(end, cli.MaxTimeWords); n > 0; n-- {
		if isTime(strings.Join(words[:n], " "), now) {
			hint := asCall(words[:n], words[n:end], words[end:])
			if other := problem.Nearest(words[0], commandNames(all)); other != "" &&
				!strings.ContainsAny(words[0], "0123456789") {
				hint = problem.T("%s; or did you mean %s?", hint, problem.To(other))
			}
			return problem.Of(problem.T("%s is a time, and the command comes first",
				cli.Quote(strings.Join(words[:n], " "))), hint)
		}
	}
	return nil
}

// isTime reports whether at or wait reads a text as a time. An ambiguous time, which both refuse,
// counts as one.
func isTime(text string, now time.Time) bool {
	for _, seconds := range []bool{false, true} {
		var refused *fault.Error
		if _, err := when.Parse(text, when.Options{Now: now, Zone: time.UTC,
			BareSeconds: seconds}); !errors.As(err, &refused) || refused.Code == fault.CodeAmbiguous {
			return true
		}
	}
	return false
}

// asCall returns the calls that a time and the words after it could mean, as a hint.
func asCall(time, rest, options []string) problem.Text {
	at := problem.To("at", time...)
	wait := problem.To("wait", append([]string{strings.Join(time, " ")}, rest...)...)
	number := strings.Trim(strings.Join(time, " "), "0123456789.") == ""
	switch {
	case number && len(time[0]) != 4: // it is seconds, which only wait reads
		return problem.T("to wait for so many seconds: %s", wait)
	case len(options) > 0:
		if len(rest) > 0 {
			at = at.With("task", strings.Join(rest, " "))
		}
		return problem.T("did you mean %s %s?", at, cli.ShellLine(options))
	}
	hint := problem.T("to get a reminder then: %s; to run something: %s", at.With("task", "TEXT"),
		at.Running("COMMAND"))
	if len(rest) > 0 {
		hint = problem.T("to get a reminder then: %s; to run it: %s", at.With("task", strings.Join(rest, " ")),
			at.Running(rest...))
	}
	if !number { // only at reads four digits as a time of day
		hint = problem.T("%s; to wait for it here: %s", hint, wait)
	}
	return hint
}

// commandNames are the names of the commands that are not hidden.
func commandNames(all cli.Table) []string {
	var names []string
	for _, c := range all.All() {
		if !c.Hidden {
			names = append(names, c.Name)
		}
	}
	return names
}
